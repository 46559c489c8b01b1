/* Pairs of runs that differ in one option, on results made from numbers. */
#include "validate/features.h"

#include "frame.h"
#include "run_case.h"

enum { MAX = 8 };

static calc_runs_row row[MAX];
static calc_prediction prediction[MAX];
static calc_result item[MAX];
static calc_results results;
static calc_features features;

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
}

static void leave(void)
{
    calc_features_free(&features);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* The first option that there is. */
static const calc_features_option *make(void)
{
    calc_features_make(&features, &results, CALC_QUANTITY_MEMORY);
    ck_assert_uint_ge(features.options, 1);
    return &features.option[0];
}

CALC_TEST(a_pair_differs_in_one_option)
{
    add(100, 120);
    add(60, 70)->document->exec.strategy.tensor_par = 4;
    calc_runs_row *two = add(50, 50);
    two->document->exec.strategy.tensor_par = 4;
    two->document->exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
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

CALC_TEST(repeats_are_one_cell_with_their_mean)
{
    add(100, 120);
    add(104, 120);
    add(51, 60)->document->exec.strategy.tensor_par = 4;
    const calc_features_option *o = make();
    ck_assert_uint_eq(features.cells, 2);
    ck_assert_uint_eq(features.cell[0].runs, 2);
    ck_assert_double_eq(features.cell[0].measured, 102);
    ck_assert_double_eq(features.pair[0].measured, -0.5);
    ck_assert_double_eq(features.pair[0].predicted, -0.5);
    ck_assert_double_eq(o->ratio, 60.0 / 51);
}

/* What goes up, what does not go at all, and what was never there. */
CALC_TEST(wrong_ways_and_misses_are_told_apart)
{
    add(100, 100);
    add(90, 100.5)->document->exec.strategy.tensor_par = 1;
    add(80, 120)->document->exec.strategy.tensor_par = 4;
    const calc_features_option *o = make();
    ck_assert_uint_eq(o->moved, 3);
    ck_assert_uint_eq(o->agreed, 0);
    ck_assert_uint_eq(o->missed, 1);
    ck_assert(o->has_wrong);
    ck_assert_double_eq(features.pair[o->wrong].measured, 80.0 / 100 - 1);
}

CALC_TEST(pairs_that_stay_must_stay)
{
    add(100, 100);
    add(100.5, 100.2)->document->exec.strategy.tensor_par = 1;
    add(99.5, 130)->document->exec.strategy.tensor_par = 4;
    const calc_features_option *o = make();
    ck_assert_uint_eq(o->moved, 0);
    ck_assert_uint_eq(o->still, 3);
    ck_assert_uint_eq(o->stayed, 1);
    ck_assert(isnan(o->ratio));
}

CALC_TEST(tau_compares_changes)
{
    add(100, 100);
    add(80, 90)->document->exec.strategy.tensor_par = 1;
    add(50, 60)->document->exec.strategy.tensor_par = 4;
    ck_assert_double_eq(make()->tau, 1);
    calc_features_free(&features);
    item[2].predicted = 95;
    ck_assert_double_lt(make()->tau, 1);
}

/* What a group of one rank would overlap, and what calc does not model. */
CALC_TEST(idle_options_are_none_and_unmodelled_ones_are_one)
{
    add(100, 100);
    add(100, 100)->document->exec.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_ULYSSES;
    add(50, 50)->unmodelled = "--deterministic-mode";
    calc_runs_row *r = add(50, 50);
    r->unmodelled = "--deterministic-mode";
    r->document->exec.strategy.tensor_par = 4;
    const calc_features_option *o = make();
    ck_assert_str_eq(o->name, "tensor parallelism");
    ck_assert_uint_eq(features.cells, 3);
    ck_assert_uint_eq(features.pairs, 2);
    ck_assert_str_eq(features.option[1].name, "options that are not modelled");
    ck_assert_uint_eq(features.option[1].moved, 1);
}

CALC_TEST(other_machines_and_unscored_runs_are_no_pairs)
{
    add(100, 100);
    add(50, 50)->document->exec.strategy.tensor_par = 4;
    item[1].use = CALC_USE_UNSCORED;
    add(50, 50)->document->exec.strategy.tensor_par = 1;
    row[2].sys = "h100_sxm";
    calc_run_map_row(&prediction[2].map, &row[2]);
    add(50, 50)->document->exec.strategy.tensor_par = 8;
    item[3].quantity = CALC_QUANTITY_STEP_TIME;
    calc_features_make(&features, &results, CALC_QUANTITY_MEMORY);
    ck_assert_uint_eq(features.cells, 2);
    ck_assert_uint_eq(features.pairs, 0);
    ck_assert_uint_eq(features.options, 0);
}

/* A run of the plain layout with that time. */
static calc_runs_row *add_time(double measured, double predicted)
{
    calc_runs_row *r = add(measured, predicted);
    item[results.count - 1].quantity = CALC_QUANTITY_STEP_TIME;
    return r;
}

static const calc_features_option *make_time(void)
{
    calc_features_make(&features, &results, CALC_QUANTITY_STEP_TIME);
    return features.option;
}

/* 10 to 8, predicted the other way: the slower one costs a quarter more. */
CALC_TEST(the_wrong_choice_costs_time)
{
    add_time(10, 10);
    add_time(8, 12)->document->exec.strategy.tensor_par = 1;
    add_time(8.1, 8)->document->exec.strategy.tensor_par = 4;
    add(1, 2)->document->exec.strategy.tensor_par = 8; /* of memory */
    const calc_features_option *o = make_time();
    ck_assert_uint_eq(features.options, 1);
    ck_assert_str_eq(o->name, "tensor parallelism");
    ck_assert_uint_eq(o->moved, 2);
    ck_assert_uint_eq(o->still, 1); /* less than 2 % */
    ck_assert_uint_eq(o->agreed, 1);
    ck_assert_double_eq_tol(o->regret, 0.25 / 2, 1e-15);
    ck_assert(isnan(o->tau));
}

CALC_TEST(runs_that_train_something_else_are_no_pairs_in_time)
{
    add_time(10, 10);
    add_time(20, 20)->document->exec.batch_size = 128;
    add_time(5, 5)->document->exec.num_procs = 32;
    add_time(5, 5)->document->app.seq_size = 4096;
    make_time();
    ck_assert_uint_eq(features.cells, 4);
    ck_assert_uint_eq(features.pairs, 0);
}

CALC_TEST(releases_are_no_pairs)
{
    add_time(10, 10)->release = "benchmarks 24.11";
    calc_runs_row *r = add_time(8, 8);
    r->release = "benchmarks 25.02";
    r->document->exec.strategy.tensor_par = 4;
    r = add_time(7, 7);
    r->release = "benchmarks 24.11";
    r->document->exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    make_time();
    ck_assert_uint_eq(features.pairs, 1);
    ck_assert_str_eq(features.option[0].name, "number format");
}

CALC_TEST(families_of_machines_are_told_apart)
{
    for (int i = 0; i < 2; i++) {
        add_time(10, 10)->document->exec.strategy.tensor_par = i ? 4 : 2;
        add_time(i ? 9 : 8, i ? 12 : 8)->document->exec.strategy.tensor_par = i ? 8 : 1;
    }
    for (size_t i = 2; i < 4; i++) {
        row[i].sys = "h100_sxm";
        row[i].family = "H100";
        calc_run_map_row(&prediction[i].map, &row[i]);
    }
    make_time();
    ck_assert_uint_eq(features.families, 2);
    ck_assert_str_eq(features.family[0].name, "A100");
    ck_assert_uint_eq(features.family[0].agreed, 1);
    ck_assert_str_eq(features.family[1].name, "H100");
    ck_assert_uint_eq(features.family[1].moved, 1);
    ck_assert_uint_eq(features.family[1].agreed, 0);
    ck_assert_double_eq_tol(features.family[1].regret, 1.0 / 9, 1e-15);
}
