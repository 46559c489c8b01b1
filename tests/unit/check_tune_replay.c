#include "bench/tune_replay.h"

#include "bench/tune_learn.h"
#include "frame.h"
#include "tune/model.h"
#include "unit/tune_case.h"

enum { MANY = 60, TRUTHS = 36 };

static void make_many(calc_tune_candidate *many, calc_rng *rng)
{
    for (int i = 0; i < MANY; i++) {
        many[i] = tune_case(1 + 0.5 * calc_rng_real(rng), 10 + calc_rng_below(rng, 4),
                            calc_rng_below(rng, 4));
        many[i].term[CALC_TUNE_TERM_MATRIX] = 0.7;
        many[i].term[CALC_TUNE_TERM_NETWORK0] = 0.3 * calc_rng_real(rng);
        many[i].memory_bytes = 80e9 * (0.6 + 0.45 * calc_rng_real(rng));
    }
}

/* Regret by hand: the model's order, of which the second does not fit. */
CALC_TEST(regret_is_that_of_the_best_found)
{
    const calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_candidate three[3] = {tune_case(1.0, 10, 0), tune_case(1.1, 11, 0),
                                    tune_case(1.2, 12, 0)};
    const double step_s[3] = {1.5, 1.0, 1.25}, bytes[3] = {50e9, 90e9, 50e9};
    calc_tune_options options = calc_tune_options_default(&prior);
    tune_replay replay;
    calc_errors errors = {0};
    options.chooser = CALC_TUNE_CHOOSER_ORDER;
    ck_assert_int_eq(tune_replay_play(&replay, three, step_s, bytes, 3, 10, false, &options, NULL,
                                      NULL, &errors),
                     CALC_OK);
    ck_assert_uint_eq(replay.measured, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(replay.choice[i], i);
    }
    ck_assert_double_eq_tol(replay.regret[0], 0.2, 1e-12);
    ck_assert_double_eq_tol(replay.regret[1], 0.2, 1e-12);
    ck_assert_double_eq_tol(replay.regret[2], 0, 1e-12);
}

/* On truths drawn from the prior the posterior finds sooner than the model's order alone. */
CALC_TEST(measurements_are_worth_something)
{
    const calc_tune_prior prior = calc_tune_prior_default();
    double sum[CALC_TUNE_CHOOSERS] = {0};
    for (int truth = 0; truth < TRUTHS; truth++) {
        calc_tune_candidate many[MANY];
        double step_s[MANY], bytes[MANY];
        calc_errors errors = {0};
        calc_rng rng;
        calc_rng_init(&rng, 5, (uint64_t)truth);
        make_many(many, &rng);
        ck_assert_int_eq(
            calc_tune_truth(&prior, many, MANY, (uint64_t)truth, step_s, bytes, &errors), CALC_OK);
        for (int c = 0; c < CALC_TUNE_CHOOSERS; c++) {
            calc_tune_options options = calc_tune_options_default(&prior);
            tune_replay replay;
            options.chooser = (calc_tune_chooser)c;
            ck_assert_int_eq(tune_replay_play(&replay, many, step_s, bytes, MANY, 8, true, &options,
                                              NULL, NULL, &errors),
                             CALC_OK);
            ck_assert_uint_eq(replay.measured, 8);
            sum[c] += fmin(replay.regret[7], 1);
        }
    }
    ck_assert_double_lt(sum[CALC_TUNE_CHOOSER_IMPROVEMENT], sum[CALC_TUNE_CHOOSER_ORDER]);
    ck_assert_double_lt(sum[CALC_TUNE_CHOOSER_IMPROVEMENT] / TRUTHS, 0.02);
}

CALC_TEST(a_truth_is_its_seeds)
{
    const calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_candidate many[MANY];
    double first[MANY], again[MANY], other[MANY], bytes[MANY];
    calc_errors errors = {0};
    calc_rng rng;
    int equal = 0;
    calc_rng_init(&rng, 5, 0);
    make_many(many, &rng);
    ck_assert_int_eq(calc_tune_truth(&prior, many, MANY, 1, first, bytes, &errors), CALC_OK);
    ck_assert_int_eq(calc_tune_truth(&prior, many, MANY, 1, again, bytes, &errors), CALC_OK);
    ck_assert_int_eq(calc_tune_truth(&prior, many, MANY, 2, other, bytes, &errors), CALC_OK);
    for (int i = 0; i < MANY; i++) {
        ck_assert_double_eq(first[i], again[i]);
        equal += first[i] == other[i];
    }
    ck_assert_int_eq(equal, 0);
}

/* What runs were made with is found again: errors drawn from a prior that has much of one term and
 * of kernels, and nothing of memory traffic. */
CALC_TEST(a_prior_is_learnt_from_its_own_draws)
{
    enum { CAMPAIGNS = 60, RUNS = 12 };
    static calc_tune_known known[CAMPAIGNS * RUNS];
    calc_tune_prior made = {.common = 0.02, .own = 0.01, .memory_own = 0.01};
    made.term[CALC_TUNE_TERM_NETWORK0] = 0.4;
    made.kernels.sd = 0.1;
    made.kernels.length[CALC_TUNE_COORDINATE_TOKENS] = 0.7;
    made.schedule.sd = 0.002;
    calc_errors errors = {0};
    calc_rng rng;
    calc_rng_init(&rng, 9, 9);
    for (size_t c = 0; c < CAMPAIGNS; c++) {
        calc_tune_candidate many[MANY];
        double step_s[MANY], bytes[MANY];
        make_many(many, &rng);
        ck_assert_int_eq(calc_tune_truth(&made, many, RUNS, c, step_s, bytes, &errors), CALC_OK);
        for (size_t i = 0; i < RUNS; i++) {
            known[c * RUNS + i] = (calc_tune_known){
                .candidate = many[i],
                .time_error = log(step_s[i] / many[i].step_s),
                .memory_error = log(bytes[i] / many[i].memory_bytes),
                .campaign = c,
                .publisher = c % 3,
            };
        }
    }
    calc_tune_prior learnt;
    ck_assert_int_eq(calc_tune_learn(&learnt, known, CAMPAIGNS * RUNS, SIZE_MAX, &errors), CALC_OK);
    ck_assert_double_eq_tol(learnt.term[CALC_TUNE_TERM_NETWORK0] / 0.4, 1, 0.25);
    ck_assert_double_eq_tol(learnt.kernels.sd / 0.1, 1, 0.25);
    ck_assert_double_eq_tol(learnt.own / 0.01, 1, 0.25);
    ck_assert_double_eq_tol(learnt.memory_own / 0.01, 1, 0.25);
    ck_assert_double_lt(learnt.schedule.sd, 0.02);
}
