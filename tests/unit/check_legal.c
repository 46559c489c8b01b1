/* Cells whose sizes do not belong together, and batches of a space. */
#include "variants.h"

#include "cell.h"
#include "frame.h"
#include "serving_case.h"

static calc_space space;
static calc_app app;

static void begin(void)
{
    app = shipped_app("llama3-70B");
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
}

static void end(void)
{
    calc_space_free(&space);
}

static bool legal(calc_exec *exec)
{
    const calc_legal_axes axes = calc_legal_axes_of(&space);
    const calc_spreads spreads = {1, {exec->strategy.expert_par}};
    bool fine;
    bool any = calc_legal_cell(&space, &axes, &app, &spreads, exec, &fine);
    ck_assert(any == fine);
    return any;
}

CALC_TEST(two_pools_have_the_processors_there_are)
{
    static const int64_t all[] = {16, 32};
    begin();
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_DISAGGREGATED, 8, 1, 1, 8);
    e.inference.prefill_procs = 8;
    ck_assert(legal(&e));
    ck_assert_int_eq(calc_values_set(&space.all_procs, all, 2), CALC_OK);
    ck_assert(legal(&e));
    e.inference.prefill_procs = 24;
    ck_assert(legal(&e));
    e.inference.prefill_procs = 16;
    ck_assert(!legal(&e));
    /* What is trained has one pool. */
    e.inference = (calc_inference){0};
    ck_assert(legal(&e));
    end();
}

CALC_TEST(a_run_of_fewer_requests_than_the_batch_is_not_legal)
{
    begin();
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 8, 1, 1, 8);
    ck_assert(!calc_legal_by_batch(&e));
    e.inference.requests = 8;
    ck_assert(calc_legal_by_batch(&e));
    ck_assert(legal(&e));
    e.batch_size = 9;
    ck_assert(!legal(&e));
    end();
}

CALC_TEST(requests_are_not_packed)
{
    begin();
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 8, 1, 1, 8);
    ck_assert(legal(&e));
    e.strategy.packed_size = 512;
    ck_assert(!legal(&e));
    end();
}

/* Stages that train different shares of their blocks are not modelled. */
CALC_TEST(the_last_blocks_are_trained_on_one_stage_only)
{
    begin();
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 8, 1, 1, 8);
    e.inference = (calc_inference){0};
    e.training = true;
    e.strategy.trained = CALC_TRAINED_BLOCKS;
    e.strategy.trained_blocks = 4;
    ck_assert(legal(&e));
    e.pipeline_par = 2;
    ck_assert(!legal(&e));
    e.strategy.trained_blocks = 0;
    ck_assert(legal(&e));
    end();
}

/* Exact ones divide; maxima stand for their largest multiple, the smallest of those that do; those
 * of a replica are as many times that. */
CALC_TEST(batches_are_exact_maxima_or_those_of_a_replica)
{
    static const int64_t batches[] = {4, 5, 6, 7};
    begin();
    calc_exec e = {.microbatch_size = 1};
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_batch_size, batches, 4), CALC_OK);
    space.batch_is_maximum = false;
    ck_assert_int_eq(calc_cell_batch(&space, &e, 3, 6), 6);
    ck_assert_int_eq(calc_cell_batch(&space, &e, 3, 7), 0);
    space.batch_is_maximum = true;
    ck_assert_int_eq(calc_cell_batch(&space, &e, 3, 4), 3);
    ck_assert_int_eq(calc_cell_batch(&space, &e, 3, 5), 0); /* 4 stands for it */
    ck_assert_int_eq(calc_cell_batch(&space, &e, 8, 7), 0);
    space.batch_is_of_replica = true;
    ck_assert_int_eq(calc_cell_batch(&space, &e, 8, 7), 56);
    e.microbatch_size = 2;
    ck_assert_int_eq(calc_cell_batch(&space, &e, 8, 7), 0);
    ck_assert_int_eq(calc_cell_batch(&space, &e, 8, 6), 48);
    end();
}
