#include "validate/error_groups.h"

#include "base/rng.h"
#include "frame.h"

enum { MAX = 8 };

static calc_prediction prediction[MAX];
static calc_result item[MAX];
static const calc_result *result[MAX];
static size_t count;

static void enter(void)
{
    count = 0;
}

const calc_test_frame calc_tests = {.setup = enter};

/* A run of a model of that width. */
static void add(int64_t hidden, double measured, double predicted)
{
    static const calc_runs_row row = {.sys = "h100_sxm"};
    prediction[count] = (calc_prediction){.map = {.row = &row, .app = {.hidden = hidden}}};
    item[count] = (calc_result){.prediction = &prediction[count],
                                .measured = measured,
                                .predicted = predicted,
                                .error = predicted / measured - 1};
    result[count] = &item[count];
    count++;
}

static calc_ranking ranking(void)
{
    return calc_ranking_of(result, count);
}

CALC_TEST(the_right_order_has_tau_1_and_no_regret)
{
    add(1, 1, 3);
    add(1, 2, 4);
    add(1, 3, 5);
    calc_ranking r = ranking();
    ck_assert_uint_eq(r.pairs, 3);
    ck_assert(r.tau == 1 && r.choices == 1 && r.regret_mean == 0 && r.regret_worst == 0);
}

CALC_TEST(one_pair_of_three_in_the_wrong_order)
{
    add(1, 1.0, 2.0);
    add(1, 1.5, 1.0); /* chosen */
    add(1, 3.0, 4.0);
    calc_ranking r = ranking();
    ck_assert_double_eq_tol(r.tau, 1.0 / 3, 1e-12);
    ck_assert_double_eq_tol(r.regret_mean, 0.5, 1e-12);
}

CALC_TEST(only_equal_problems_compete)
{
    add(1, 1, 2);
    add(2, 2, 1);
    calc_ranking r = ranking();
    ck_assert_uint_eq(r.pairs, 0);
    ck_assert_uint_eq(r.choices, 0);
    ck_assert(isnan(r.tau) && isnan(r.regret_mean) && isnan(r.regret_worst));
    prediction[1].map.app.hidden = 1;
    ck_assert_uint_eq(ranking().pairs, 1);
    prediction[1].map.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    ck_assert_uint_eq(ranking().pairs, 0);
    prediction[1].map = (calc_run_map){.row = result[0]->prediction->map.row, .app = {.hidden = 2}};
    add(1, 2, 3);
    add(2, 1, 2); /* predicted slower, measured faster */
    r = ranking();
    ck_assert_uint_eq(r.pairs, 2);
    ck_assert_uint_eq(r.choices, 2);
    ck_assert_double_eq_tol(r.tau, 0, 1e-12);
    ck_assert_double_eq_tol(r.regret_mean, 0.5, 1e-12);
    ck_assert_double_eq_tol(r.regret_worst, 1, 1e-12);
}

CALC_TEST(times_within_half_a_percent_are_no_pair)
{
    add(1, 1, 2);
    add(1, 1.004, 1);
    calc_ranking r = ranking();
    ck_assert_uint_eq(r.pairs, 0);
    ck_assert_uint_eq(r.choices, 1);
    item[1].measured = 1.006;
    ck_assert_uint_eq(ranking().pairs, 1);
}

CALC_TEST(equal_predictions_are_not_in_the_right_order)
{
    add(1, 1, 2);
    add(1, 2, 2);
    prediction[1].map.exec.strategy.tensor_par = 8;
    calc_ranking r = ranking();
    ck_assert(r.pairs == 1 && r.tau == -1);
}

CALC_TEST(a_layout_measured_twice_does_not_compete_with_itself)
{
    add(1, 1.2, 2);
    add(1, 1.0, 2);
    calc_ranking r = ranking();
    ck_assert_uint_eq(r.pairs, 0);
    ck_assert_uint_eq(r.choices, 0);
    add(1, 0.8, 3);
    r = ranking();
    ck_assert(r.pairs == 2 && r.tau == -1 && r.choices == 1);
    ck_assert_double_eq_tol(r.regret_mean, 1.0 / 0.8 - 1, 1e-12); /* the shorter of the two */
}

CALC_TEST(memory_is_not_ranked)
{
    add(1, 1, 2);
    add(1, 2, 3);
    item[0].quantity = CALC_QUANTITY_MEMORY;
    calc_ranking r = ranking();
    ck_assert_uint_eq(r.pairs, 0);
    ck_assert_uint_eq(r.choices, 0);
}

/* Beside all pairs, each looked at. */
CALC_TEST(sorting_counts_the_pairs_that_looking_at_all_of_them_counts)
{
    calc_rng rng;
    for (uint64_t k = 0; k < 200; k++) {
        calc_rng_init(&rng, 20261127, k);
        enter();
        for (int i = 0; i < MAX; i++) {
            add(1 + (int64_t)calc_rng_below(&rng, 2), 1 + 0.003 * (double)calc_rng_below(&rng, 6),
                1 + (double)calc_rng_below(&rng, 3));
            prediction[i].map.exec.pipeline_par = (int64_t)calc_rng_below(&rng, 2);
        }
        size_t pairs = 0;
        double score = 0;
        for (int i = 0; i < MAX; i++) {
            for (int j = 0; j < i; j++) {
                const calc_prediction *p = &prediction[i], *q = &prediction[j];
                double left = item[i].predicted, right = item[j].predicted;
                double ratio = log(item[i].measured / item[j].measured);
                bool same = left == right && p->map.exec.pipeline_par == q->map.exec.pipeline_par;
                if (p->map.app.hidden == q->map.app.hidden && !same && fabs(ratio) >= 0.005) {
                    score += left != right && (ratio > 0) == (left > right) ? 1 : -1;
                    pairs++;
                }
            }
        }
        calc_ranking r = ranking();
        ck_assert_uint_eq(r.pairs, pairs);
        ck_assert(pairs == 0 ? isnan(r.tau) : r.tau == score / (double)pairs);
    }
}
