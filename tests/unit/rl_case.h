/** @file rl_case.h  Llama 3.1 8B on H100: a model, a machine, and layouts that train and serve. */
#ifndef CALC_TEST_RL_CASE_H
#define CALC_TEST_RL_CASE_H

#include <math.h>
#include <string.h>

#include "frame.h"
#include "rl/step.h"

typedef struct rl_case {
    calc_app app;
    calc_system system;
    calc_exec train, serve;
    calc_job job;
    calc_rl_case problem;
} rl_case;

static inline void rl_set(rl_case *c, calc_exec *to, const char *assignment)
{
    calc_errors errors = {0};
    calc_status status = calc_set(&c->app, &c->system, to, assignment, NULL, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", assignment, errors.item[0].text);
}

/** Both on `procs` processors, all in data parallelism; the job has equal responses of 1,019 tokens
 *  after prompts of 127, runs the actor and the rollout alone, and has no overhead. */
static inline void rl_case_make(rl_case *c, int64_t procs)
{
    memset(c, 0, sizeof *c);
    ck_assert_int_eq(
        calc_load(CALC_KIND_APP, &c->app, CALC_DATA_DIR_SOURCE "/models/llama3-8B.json", NULL),
        CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &c->system,
                               CALC_DATA_DIR_SOURCE "/systems/h100_sxm.json", NULL),
                     CALC_OK);
    ck_assert_int_eq(calc_load(CALC_KIND_EXEC, &c->train,
                               CALC_DATA_DIR_SOURCE "/executions/llama3-8B_8.json", NULL),
                     CALC_OK);
    c->train.num_procs = c->train.strategy.data_par = procs;
    c->train.strategy.context_par = 1;
    c->train.microbatch_size = 2;
    c->serve = c->train;
    c->serve.training = false;
    c->serve.strategy.zero_stage = 0;
    c->serve.strategy.optimizer_sharding = false;
    c->serve.strategy.data_par_overlap = false;
    c->serve.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    calc_job_init(&c->job);
    c->job.prompts = 16;
    c->job.samples = 8;
    c->job.lengths.prompt = 127;
    c->job.lengths.response = (calc_job_response){.mean = 1019};
    c->job.overhead = 0;
    c->job.old_logprob = CALC_JOB_OLD_LOGPROB_NONE;
    c->job.roles.reference.given = CALC_JOB_OFF;
    c->problem = (calc_rl_case){.job = &c->job, .pools = 1, .chips = {(double)procs}};
    c->problem.seat[CALC_JOB_ACTOR] = (calc_rl_seat){true, 0, &c->app, &c->system, &c->train};
    c->problem.seat[CALC_JOB_ROLLOUT] = (calc_rl_seat){true, 0, &c->app, &c->system, &c->serve};
}

static inline calc_rl_step rl_step(const rl_case *c)
{
    calc_rl_step step;
    calc_errors errors = {0};
    calc_status status = calc_rl_step_of(&c->problem, &step, &errors);
    ck_assert_msg(status == CALC_OK, "%s: %s", errors.item[0].file, errors.item[0].text);
    return step;
}

#endif
