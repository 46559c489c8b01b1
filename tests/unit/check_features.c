/* Pairs of runs that differ in one option, on results made from numbers. */
#include "validate/features.h"

#include "run_case.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 8 };

static calc_runs_row row[MAX];
static calc_prediction prediction[MAX];
static calc_result item[MAX];
static calc_results results;
static calc_features features;
static calc_errors errors;

/* A run of the plain layout with that memory; what differs is for the caller. */
static calc_runs_row *add(double measured, double predicted)
{
    size_t i = results.count++;
    row[i] = plain_row();
    calc_run_map_row(&prediction[i].map, &row[i]);
    item[i] = (calc_result){.prediction = &prediction[i],
                            .quantity = CALC_QUANTITY_MEMORY,
                            .measured = measured,
                            .predicted = predicted,
                            .error = predicted / measured - 1,
                            .remark = ""};
    return &row[i];
}

static void enter(void)
{
    results = (calc_results){.prediction = prediction, .item = item};
    features = (calc_features){0};
    errors = (calc_errors){0};
}

static void leave(void)
{
    calc_features_free(&features);
}

/* The first option that there is. */
static const calc_features_option *make(void)
{
    ck_assert_int_eq(calc_features_make(&features, &results, &errors), CALC_OK);
    ck_assert_uint_ge(features.options, 1);
    return &features.option[0];
}

START_TEST(a_pair_differs_in_one_option)
{
    add(100, 120);
    add(60, 70)->tp = 4;
    calc_runs_row *two = add(50, 50);
    two->tp = 4;
    two->recompute = "full";
    const calc_features_option *o = make();
    ck_assert_uint_eq(features.cells, 3);
    ck_assert_uint_eq(features.pairs, 2);
    ck_assert_uint_eq(features.options, 2);
    ck_assert_str_eq(features.option[1].name, "recomputation");
    ck_assert_str_eq(o->name, "tensor parallelism");
    ck_assert_uint_eq(o->moved, 1);
    ck_assert_uint_eq(o->agreed, 1);
    ck_assert_double_eq(o->ratio, 50.0 / 40);
    ck_assert(isnan(o->tau) && !o->has_wrong);
}
END_TEST

START_TEST(repeats_are_one_cell_with_their_mean)
{
    add(100, 120);
    add(104, 120);
    add(51, 60)->tp = 4;
    const calc_features_option *o = make();
    ck_assert_uint_eq(features.cells, 2);
    ck_assert_uint_eq(features.cell[0].runs, 2);
    ck_assert_double_eq(features.cell[0].measured_bytes, 102);
    ck_assert_double_eq(features.pair[0].measured, -0.5);
    ck_assert_double_eq(features.pair[0].predicted, -0.5);
    ck_assert_double_eq(o->ratio, 60.0 / 51);
}
END_TEST

/* What goes up, what does not go at all, and what was never there. */
START_TEST(wrong_ways_and_misses_are_told_apart)
{
    add(100, 100);
    add(90, 100.5)->tp = 1;
    add(80, 120)->tp = 4;
    const calc_features_option *o = make();
    ck_assert_uint_eq(o->moved, 3);
    ck_assert_uint_eq(o->agreed, 0);
    ck_assert_uint_eq(o->missed, 1);
    ck_assert(o->has_wrong);
    ck_assert_double_eq(features.pair[o->wrong].measured, 80.0 / 100 - 1);
}
END_TEST

START_TEST(pairs_that_stay_must_stay)
{
    add(100, 100);
    add(100.5, 100.2)->tp = 1;
    add(99.5, 130)->tp = 4;
    const calc_features_option *o = make();
    ck_assert_uint_eq(o->moved, 0);
    ck_assert_uint_eq(o->still, 3);
    ck_assert_uint_eq(o->stayed, 1);
    ck_assert(isnan(o->ratio));
}
END_TEST

START_TEST(tau_compares_changes)
{
    add(100, 100);
    add(80, 90)->tp = 1;
    add(50, 60)->tp = 4;
    ck_assert_double_eq(make()->tau, 1);
    calc_features_free(&features);
    item[2].predicted = 95;
    ck_assert_double_lt(make()->tau, 1);
}
END_TEST

/* Blank is none; options of a command line count by value. */
START_TEST(what_is_not_given_is_a_value)
{
    add(100, 100);
    add(100, 100)->cp = 1;
    add(50, 50)->arguments = "--hidden-dropout 0.0 --other 7";
    add(50, 50)->arguments = "--other 8 --hidden-dropout 0.0";
    const calc_features_option *o = make();
    ck_assert_str_eq(o->name, "dropout");
    ck_assert_uint_eq(features.cells, 2);
    ck_assert_uint_eq(o->moved, 1);
}
END_TEST

START_TEST(other_machines_and_unscored_runs_are_no_pairs)
{
    add(100, 100);
    add(50, 50)->tp = 4;
    item[1].use = CALC_USE_UNSCORED;
    add(50, 50)->tp = 1;
    row[2].hardware = "H100-SXM5-80GB";
    calc_run_map_row(&prediction[2].map, &row[2]);
    add(50, 50)->tp = 8;
    item[3].quantity = CALC_QUANTITY_STEP_TIME;
    ck_assert_int_eq(calc_features_make(&features, &results, &errors), CALC_OK);
    ck_assert_uint_eq(features.cells, 2);
    ck_assert_uint_eq(features.pairs, 0);
    ck_assert_uint_eq(features.options, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("features");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, a_pair_differs_in_one_option);
    tcase_add_test(tests, repeats_are_one_cell_with_their_mean);
    tcase_add_test(tests, wrong_ways_and_misses_are_told_apart);
    tcase_add_test(tests, pairs_that_stay_must_stay);
    tcase_add_test(tests, tau_compares_changes);
    tcase_add_test(tests, what_is_not_given_is_a_value);
    tcase_add_test(tests, other_machines_and_unscored_runs_are_no_pairs);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
