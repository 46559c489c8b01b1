#include "estimate.h"

#include "frame.h"
#include "small_case.h"

/* The clock is not asked how long anything takes: only that something was measured, and what. */

static calc_space space;
static calc_sweep_options options;
static calc_app app;
static calc_system sys;

static void get(const void *context, uint64_t index, calc_app *app_out, calc_system *system)
{
    (void)context;
    (void)index;
    *app_out = app;
    *system = sys;
}

static const calc_designs designs = {.count = 1, .get = get};

static void begin(void)
{
    static const int64_t procs[] = {4, 8};
    static const int64_t batch = 8;
    app = small_app();
    sys = small_system();
    ck_assert_int_eq(calc_space_init(&space), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_num_procs, procs, 2), CALC_OK);
    ck_assert_int_eq(calc_space_set(&space, CALC_AXIS_batch_size, &batch, 1), CALC_OK);
    options = (calc_sweep_options){.objectives = 1, .top = 3};
    ck_assert_int_eq(calc_objective_parse(&options.objective[0], "sample_rate", NULL), CALC_OK);
    ck_assert_int_eq(calc_objective_parse(&options.top_by, "sample_rate", NULL), CALC_OK);
}

static void end(void)
{
    calc_space_free(&space);
}

const calc_test_frame calc_tests = {.setup = begin, .teardown = end};

static calc_sweep_estimate estimate(void)
{
    calc_census census;
    calc_sweep_estimate out;
    ck_assert_int_eq(calc_census_take(&census, &space, &designs, options.compat, NULL), CALC_OK);
    double total = (double)census.counts.total;
    ck_assert_double_gt(total, 0);
    ck_assert_int_eq(calc_sweep_estimate_of(&space, &designs, &options, &census, &out, NULL),
                     CALC_OK);
    calc_census_free(&census);
    ck_assert(isfinite(out.cpu_s) && out.cpu_s > 0);
    ck_assert_double_gt(out.layouts, 0);
    ck_assert_double_le(out.layouts, total);
    ck_assert_double_gt(out.thread_bytes, 1e5); /* its tables */
    ck_assert_double_gt(out.found_bytes, 0);
    return out;
}

CALC_TEST(layouts_are_timed_by_the_kernel_or_by_calc_run)
{
    calc_constraint other;
    ck_assert(!estimate().by_run);
    options.per_num_procs = true;
    ck_assert(!estimate().by_run);
    ck_assert_int_eq(calc_constraint_parse(&other, "weight_space <= 1GiB", NULL), CALC_OK);
    options.constraint = &other;
    options.constraints = 1;
    ck_assert(!estimate().by_run);
    options.no_prune = true;
    ck_assert(estimate().by_run);
    options.constraints = 0;
    ck_assert(!estimate().by_run);
    ck_assert_int_eq(calc_objective_parse(&options.top_by, "total_efficiency", NULL), CALC_OK);
    ck_assert(estimate().by_run);
}

CALC_TEST(a_space_without_layouts_takes_no_time)
{
    const calc_census nothing = {0};
    calc_sweep_estimate out = {.cpu_s = NAN};
    ck_assert_int_eq(calc_sweep_estimate_of(&space, &designs, &options, &nothing, &out, NULL),
                     CALC_OK);
    ck_assert_double_eq(out.cpu_s, 0);
    ck_assert_double_eq(out.layouts, 0);
}
