/* What would do where nothing of a sweep fits: src/plan/sweep_more.c. */
#include "plan/sweep_more.h"
#include "sweep_case.h"

#include "frame.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static sweep_case example;
static calc_sweep_study study;
static calc_sweep_result result;
static calc_errors errors;

/* Few layouts, on machines of so much memory, which is too little for all. */
static void set_up_with(double tier1_bytes)
{
    static const int64_t one = 1;
    sweep_case_init(&example);
    example.system.chip.mem1.capacity_bytes = tier1_bytes;
    example.system.chip.mem2.capacity_bytes = 0;
    ck_assert_int_eq(calc_space_set(&example.space, CALC_AXIS_microbatch_size, &one, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&example.space, CALC_AXIS_pipeline_interleaving, &one, 1),
                     CALC_OK);
    study = (calc_sweep_study){
        .space = example.space, .designs = example.designs, .options = example.options};
    errors = (calc_errors){0};
    result = (calc_sweep_result){0};
    ck_assert_int_eq(calc_sweep(&study.space, &study.designs, &study.options, &result, &errors),
                     CALC_OK);
}

static void tear_down(void)
{
    calc_sweep_result_free(&result);
    calc_space_free(&example.space);
}

/* With exactly the memory that is said to be the least one layout fits, with a byte less none. */
CALC_TEST(the_least_is_the_least)
{
    calc_sweep_need need;
    set_up_with(10e9);
    ck_assert_uint_eq(result.counts.feasible, 0);
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(need.known);
    double least = need.least.stats.proc_mem_tier1_cap_req;
    ck_assert_double_gt(least, 10e9);
    ck_assert_int_eq(need.least.stats.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert_double_eq(need.least.stats.mem_tier1_capacity, 10e9);
    tear_down();
    set_up_with(least);
    ck_assert_uint_gt(result.counts.feasible, 0);
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(!need.known); /* something fits */
    tear_down();
    set_up_with(least - 1);
    ck_assert_uint_eq(result.counts.feasible, 0);
    tear_down();
}

/* On so many processors a layout fits, on half of them none. */
CALC_TEST(more_processors_are_the_first_that_do)
{
    calc_sweep_need need;
    set_up_with(20e9);
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert_int_eq(need.num_procs % 64, 0);
    ck_assert_int_gt(need.num_procs, 64);
    ck_assert_int_eq(need.larger.stats.verdict, CALC_VERDICT_OK);
    ck_assert_int_eq(need.larger.exec.num_procs, need.num_procs);
    const int64_t half = need.num_procs / 2;
    ck_assert_int_eq(calc_space_set(&study.space, CALC_AXIS_num_procs, &half, 1), CALC_OK);
    example.space = study.space;
    calc_sweep_result_free(&result);
    result = (calc_sweep_result){0};
    ck_assert_int_eq(calc_sweep(&study.space, &study.designs, &study.options, &result, &errors),
                     CALC_OK);
    ck_assert_uint_eq(result.counts.feasible, 0);
    tear_down();
}

/* Axes that nobody chose help where there is a second tier, and the layout found does fit; asked
 * for with one value, they are left as they are. */
CALC_TEST(what_was_not_searched_may_fit)
{
    calc_sweep_need need;
    static int64_t off[] = {false};
    set_up_with(20e9);
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(need.known && !need.spares); /* without a second tier */
    example.system.chip.mem2.capacity_bytes = 1e12;
    for (size_t i = 0; calc_sweep_need_axes[i] > 0; i++) {
        calc_values *values = &study.space.axis[calc_sweep_need_axes[i]];
        *values = (calc_values){.standard = true, .count = 1, .value = off};
    }
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(need.spares);
    ck_assert_int_eq(need.sparing.stats.verdict, CALC_VERDICT_OK);
    ck_assert_int_eq(need.sparing.exec.num_procs, 64);
    bool all = true;
    for (size_t i = 0; calc_sweep_need_axes[i] > 0; i++) {
        all = all && calc_sweep_need_has(&need, &study.space, calc_sweep_need_axes[i]);
        study.space.axis[calc_sweep_need_axes[i]].standard = false;
    }
    ck_assert(!all);
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(need.known && !need.spares);
    for (size_t i = 0; calc_sweep_need_axes[i] > 0; i++) {
        study.space.axis[calc_sweep_need_axes[i]] = example.space.axis[calc_sweep_need_axes[i]];
    }
    tear_down();
}

CALC_TEST(nothing_is_said_of_what_is_not_known)
{
    calc_sweep_need need;
    set_up_with(10e9);
    study.options.constraints = 1;
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(!need.known);
    study.options.constraints = 0;
    result.partial = true;
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(!need.known);
    result.partial = false;
    study.space.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    ck_assert_int_eq(calc_sweep_need_find(&need, &study, &result, &errors), CALC_OK);
    ck_assert(!need.known);
    tear_down();
}
