/** @file mindspeed_jobs.h  Jobs that the tests of MindSpeed's planner share. */
#ifndef CALC_TEST_MINDSPEED_JOBS_H
#define CALC_TEST_MINDSPEED_JOBS_H

#include "mindspeed/arguments.h"

/** A dense model of 7 billion parameters on 8 devices, 256 sequences of 2048 tokens: the example of
 *  the planner's guide. */
static inline calc_mindspeed_job mindspeed_7b(void)
{
    return (calc_mindspeed_job){.layers = 32,
                                .hidden = 4096,
                                .ffn = 11008,
                                .heads = 32,
                                .groups = 32,
                                .head = 128,
                                .seq = 2048,
                                .batch = 256,
                                .vocab = 32000,
                                .nodes = 1,
                                .per_node = 8,
                                .target_nodes = 1,
                                .swiglu = true,
                                .untied = true,
                                .fp16 = true};
}

/** One of 65 billion on 4 nodes of 8. */
static inline calc_mindspeed_job mindspeed_65b(void)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.layers = 80;
    job.hidden = 8192;
    job.ffn = 22016;
    job.heads = job.groups = 64;
    job.nodes = job.target_nodes = 4;
    return job;
}

/** Eight experts, of which a token takes two, on 16 devices. */
static inline calc_mindspeed_job mindspeed_experts(void)
{
    calc_mindspeed_job job = mindspeed_7b();
    job.ffn = 14336;
    job.groups = 8;
    job.seq = 4096;
    job.experts = 8;
    job.topk = 2;
    job.nodes = job.target_nodes = 2;
    job.fp16 = false;
    return job;
}

#endif
