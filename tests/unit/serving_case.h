/** @file serving_case.h  Shipped models on a machine of round numbers, to vary from. */
#ifndef CALC_TEST_SERVING_CASE_H
#define CALC_TEST_SERVING_CASE_H

#include <stdio.h>

#include "small_case.h"
#include "spec/absent.h"

/** A model of models/. */
static inline calc_app shipped_app(const char *name)
{
    calc_app app;
    char path[512];
    snprintf(path, sizeof path, "%s/models/%s.json", CALC_DATA_DIR_SOURCE, name);
    ck_assert_int_eq(calc_load(CALC_KIND_APP, &app, path, NULL), CALC_OK);
    return app;
}

/** 1e12 bytes/s of memory and nothing else that takes time: no arithmetic, no launches, networks
 *  without latency whose bandwidth is as good as infinite. */
static inline calc_system memory_bound_system(void)
{
    calc_system s = small_system();
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        s.chip.matrix[type] = (calc_engine){1e100, flat_curve(1)};
        s.chip.vector[type] = (calc_engine){1e100, flat_curve(1)};
    }
    s.chip.mem1 = (calc_memory_tier){1e13, 1e12, flat_curve(1), CALC_MEMORY_KIND_UNNAMED};
    s.networks[0] = ring_network(1e100, 64);
    s.networks[1] = ring_network(1e100, 4096);
    return s;
}

/** Decoding of `batch` sequences with flash attention in bfloat16: prompts of 1024 tokens, 512
 *  generated. */
static inline calc_exec serving_exec(calc_inference_phase phase, int64_t tensor_par,
                                     int64_t pipeline_par, int64_t data_par, int64_t batch)
{
    calc_exec e;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &e);
    e.num_procs = tensor_par * pipeline_par * data_par;
    e.strategy.tensor_par = tensor_par;
    e.pipeline_par = pipeline_par;
    e.strategy.data_par = data_par;
    e.pipeline_par_net = 1;
    e.strategy.data_par_net = 1;
    e.batch_size = batch;
    e.microbatch_size = 1;
    e.strategy.datatype = CALC_DATATYPE_BFLOAT16;
    e.strategy.fused_activation = true;
    e.pipeline_interleaving = 1;
    e.strategy.flash_attention = true;
    e.inference.phase = phase;
    e.inference.prompt_size = 1024;
    e.inference.generate_size = 512;
    return e;
}

#endif
