#include "worker.h"

#include <stdlib.h>

#include "small_case.h"
#include "units.h"

static calc_space space;
static calc_app app;
static calc_system sys;
static calc_sweep_options options;
static calc_kernel *right;

static void begin(void)
{
    static const int64_t procs = 4;
    static const int64_t batch = 8;
    calc_kernel_level level[4];
    right = level[calc_kernel_levels(level) - 1].run;
    app = small_app();
    sys = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, &procs, 1), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_batch_size, &batch, 1), CALC_OK);
    options = (calc_sweep_options){.objectives = 1, .no_prune = true, .verify = 1};
    ck_assert_int_eq(calc_objective_parse(&options.objective[0], "sample_rate", NULL), CALC_OK);
}

static void end(void)
{
    calc_space_free(&space);
}

/* Run all units. @return the worker's status */
static calc_status run(calc_kernel *kernel, calc_sweep_counts *counts)
{
    calc_units units = {0};
    calc_worker *w = calc_worker_create(&space, &options, kernel, 1);
    ck_assert_ptr_nonnull(w);
    w->app = &app;
    w->system = &sys;
    ck_assert_int_eq(calc_units_list(&units, &space, &app, &sys, options.compat), CALC_OK);
    for (size_t i = 0; i < units.count && w->status == CALC_OK; i++) {
        calc_units_run(w, &units, i);
    }
    calc_status status = w->status;
    if (status == CALC_ERR_RULE) {
        ck_assert_int_eq(calc_check(&app, &sys, &w->failed, NULL), CALC_OK);
    }
    *counts = w->counts;
    calc_units_free(&units);
    calc_worker_free(w, 1);
    return status;
}

/* Wrong in the last bit of one lane. */
static void wrong_kernel(const calc_kernel_tile *tile, calc_kernel_out *out)
{
    right(tile, out);
    out->best_s[0] = nextafter(out->best_s[0], INFINITY);
}

START_TEST(verification_passes_the_right_kernel)
{
    calc_sweep_counts counts;
    ck_assert_int_eq(run(right, &counts), CALC_OK);
    ck_assert_uint_gt(counts.evaluated, 0);
}
END_TEST

START_TEST(verification_catches_a_kernel_that_is_wrong_in_the_last_bit)
{
    calc_sweep_counts counts;
    ck_assert_int_eq(run(wrong_kernel, &counts), CALC_ERR_RULE);
    options.verify = 0;
    ck_assert_int_eq(run(wrong_kernel, &counts), CALC_OK);
}
END_TEST

START_TEST(pruned_points_are_counted_but_not_evaluated)
{
    calc_sweep_counts all, pruned;
    options.verify = 0;
    ck_assert_int_eq(run(right, &all), CALC_OK);
    ck_assert_uint_eq(all.skipped, 0);
    options.no_prune = false;
    ck_assert_int_eq(run(right, &pruned), CALC_OK);
    ck_assert_uint_eq(pruned.total, all.total);
    ck_assert_uint_gt(pruned.skipped, 0);
    ck_assert_uint_eq(pruned.evaluated + pruned.skipped, all.evaluated);
}
END_TEST

static bool ignore_point(void *context, const calc_sweep_point *point)
{
    (void)context;
    (void)point;
    return true;
}

START_TEST(all_statistics_are_needed_only_for_what_the_kernel_does_not_know)
{
    calc_constraint constraint = {.when = CALC_CONDITION_TIME};
    ck_assert(!calc_worker_by_run(&options));
    options.point = ignore_point;
    ck_assert(calc_worker_by_run(&options));
    options.point = NULL;
    options.constraints = 1;
    options.constraint = &constraint;
    ck_assert(!calc_worker_by_run(&options));
    constraint.when = CALC_CONDITION_OTHER;
    ck_assert(calc_worker_by_run(&options)); /* every one is counted */
    options.no_prune = false;
    ck_assert(!calc_worker_by_run(&options));
    options.constraints = 0;
    options.top_by.kind = CALC_OBJECTIVE_OTHER;
    ck_assert(!calc_worker_by_run(&options));
    options.top = 1;
    ck_assert(calc_worker_by_run(&options));
    options.top = 0;
    options.objective[0].kind = CALC_OBJECTIVE_OTHER;
    ck_assert(calc_worker_by_run(&options));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("worker");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, verification_passes_the_right_kernel);
    tcase_add_test(tests, verification_catches_a_kernel_that_is_wrong_in_the_last_bit);
    tcase_add_test(tests, pruned_points_are_counted_but_not_evaluated);
    tcase_add_test(tests, all_statistics_are_needed_only_for_what_the_kernel_does_not_know);
    return run_cases(tests);
}
