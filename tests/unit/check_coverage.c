/* Shares of runs in their bands, on residuals and results made from numbers. */
#include "residuals_case.h"
#include "run_case.h"
#include "validate/error_groups.h"

#include "frame.h"

enum { MAX = 8 };

static calc_runs_row row[MAX];
static calc_prediction prediction[MAX];
static calc_result item[MAX];
static calc_results results;
static calc_covered covered[MAX];

/* A measurement on H100 that is exp(value) times what is predicted. */
static void add(const char *id, double value)
{
    size_t i = results.count++;
    row[i] = plain_row();
    row[i].id = id;
    row[i].sys = "h100_sxm";
    row[i].family = "H100";
    row[i].document->exec.num_procs = 8;
    calc_run_map_row(&prediction[i].map, &row[i]);
    item[i] = (calc_result){.prediction = &prediction[i], .measured = exp(value), .predicted = 1};
}

/* 39 runs off by 0.01 to 0.39, in fold 1 by width: a reach of 0.36; and run_39, off by 0.5, in
 * fold 2, with which it is 0.37. */
static void enter(void)
{
    results = (calc_results){.prediction = prediction, .item = item};
    case_begin();
    for (int i = 1; i <= 39; i++) {
        calc_residual run = case_run("one", 0.01 * i);
        run.fold[CALC_UNSEEN_WIDTH] = 1;
        case_add(run);
    }
    calc_residual last = case_run("one", 0.5);
    last.fold[CALC_UNSEEN_WIDTH] = 2;
    case_add(last);
    case_end();
}

static void leave(void)
{
    calc_residuals_free(&case_residuals);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_coverage cover(const char *family)
{
    calc_covered_make(covered, &results, &case_residuals, CALC_UNSEEN_WIDTH);
    return calc_coverage_of(&results, covered, CALC_QUANTITY_STEP_TIME,
                            (calc_coverage_group){.family = family});
}

CALC_TEST(a_run_of_the_residuals_is_left_out_with_its_fold)
{
    add("run_39", 0); /* predicted well now, but not by a fit that has not seen it */
    calc_coverage c = cover(NULL);
    ck_assert_uint_eq(c.count, 1);
    ck_assert_double_eq_tol(covered[0].value, 0.5, 1e-9);
    ck_assert_double_eq_tol(c.reach, 0.36, 1e-9);
    ck_assert(c.above == 1 && c.below == 0 && c.inside == 0 && c.weighed == 0);
}

CALC_TEST(any_other_run_is_as_far_off_as_it_is_predicted)
{
    add("mine", -0.4);
    add("other", 0.36);
    calc_coverage c = cover(NULL);
    ck_assert_double_eq_tol(covered[0].value, -0.4, 1e-9);
    ck_assert_double_eq_tol(covered[0].reach, 0.37, 1e-9);
    ck_assert_uint_eq(c.count, 2);
    ck_assert(c.below == 0.5 && c.above == 0 && c.inside == 0.5);
    row[1].family = "other";
    ck_assert_uint_eq(cover("other").count, 1);
    ck_assert(cover("other").inside == 1);
}

CALC_TEST(what_is_not_scored_does_not_count)
{
    add("mine", 0);
    add("other", 9);
    add("third", 9);
    item[1].use = CALC_USE_UNSCORED;
    item[2].use = CALC_USE_UNPREDICTED;
    ck_assert_uint_eq(cover(NULL).count, 1);
    ck_assert(cover(NULL).inside == 1);
    item[0].quantity = CALC_QUANTITY_MEMORY; /* of which there are no residuals */
    ck_assert_uint_eq(cover(NULL).count, 0);
    ck_assert(isnan(cover(NULL).inside) && isnan(cover(NULL).weighed) && isnan(cover(NULL).reach));
}

CALC_TEST(tables_weigh_less_than_their_runs)
{
    /* Four runs of one table inside, one of another outside: 4/5, or 4^0.6 / (4^0.6 + 1). */
    for (int i = 0; i < 4; i++) {
        add("mine", 0);
    }
    add("mine", 1);
    row[4].source = "another";
    calc_coverage c = cover(NULL);
    ck_assert_double_eq_tol(c.inside, 0.8, 1e-12);
    ck_assert_double_eq_tol(c.weighed, 0.69673045, 1e-8);
}
