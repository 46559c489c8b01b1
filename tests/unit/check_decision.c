#include "tune/decision.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "cli/tune/tune_journal.h"
#include "frame.h"
#include "gauss/process.h"
#include "tune/model.h"
#include "unit/tune_case.h"

enum { MANY = 40 };

/* Independent errors of 5 %: who is faster is a matter of one normal variable. */
CALC_TEST(the_probability_to_be_best_is_that_of_the_difference)
{
    const calc_tune_prior prior = tune_prior_of_own(0.05);
    const calc_tune_candidate two[2] = {tune_case(1.00, 12, 0), tune_case(1.04, 13, 0)};
    calc_tune_options options = calc_tune_options_default(&prior);
    options.draws = 40000;
    calc_tune_decision d = tune_decide(two, 2, NULL, 0, &options);
    double better = calc_normal_below(log(1.04) / (0.05 * sqrt(2)));
    ck_assert_double_eq_tol(d.outlook[0].best, better, 4 * sqrt(0.25 / 40000));
    ck_assert_double_eq_tol(d.outlook[0].best + d.outlook[1].best, 1, 1e-9);
    ck_assert_double_eq_tol(d.outlook[0].p5_s, exp(-1.6448536 * 0.05), 1e-6);
    ck_assert_double_eq_tol(d.outlook[1].p95_s, 1.04 * exp(1.6448536 * 0.05), 1e-6);
    ck_assert_uint_eq(d.best, SIZE_MAX);
    ck_assert(!d.stop && d.chance == 1);
    ck_assert_uint_eq(d.pick[0], 0); /* what calc would start comes first */
    calc_tune_decision_free(&d);
}

/* The fastest that is 90 % sure to fit; where none is, the surest. */
CALC_TEST(the_first_run_is_sure_to_fit)
{
    const calc_tune_prior prior = tune_prior_of_own(0.05);
    const double fits[2][4] = {{0.6, 0.89, 0.91, 0.99}, {0.6, 0.7, 0.8, 0.2}};
    const calc_tune_options options = calc_tune_options_default(&prior);
    for (int k = 0; k < 2; k++) {
        calc_tune_candidate four[4];
        for (int i = 0; i < 4; i++) {
            four[i] = tune_case(1 + 0.01 * i, 10 + i, 0);
            four[i].fits = fits[k][i];
        }
        calc_tune_decision d = tune_decide(four, 4, NULL, 0, &options);
        ck_assert_uint_eq(d.pick[0], 2);
        calc_tune_decision_free(&d);
    }
}

/* Errors that are shared do not change an order, however large they are. */
CALC_TEST(layouts_that_are_wrong_together_keep_their_order)
{
    calc_tune_prior prior = tune_prior_of_own(0.002);
    prior.common = 0.3;
    prior.term[CALC_TUNE_TERM_MATRIX] = 0.3;
    const calc_tune_candidate two[2] = {tune_case(1.00, 12, 0), tune_case(1.04, 13, 0)};
    const calc_tune_options options = calc_tune_options_default(&prior);
    calc_tune_decision d = tune_decide(two, 2, NULL, 0, &options);
    ck_assert_double_eq(d.outlook[0].best, 1);
    ck_assert_double_gt(d.outlook[0].p95_s, 1.5);
    calc_tune_decision_free(&d);
    const calc_tune_measurement m = {0, CALC_TUNE_END_FINE, 1.5, (double)NAN};
    d = tune_decide(two, 2, &m, 1, &options);
    ck_assert_double_eq_tol(d.outlook[1].p50_s, 1.5 * 1.04, 1e-3);
    ck_assert_uint_eq(d.best, 0);
    ck_assert_double_eq(d.best_s, 1.5);
    ck_assert(d.stop && d.chance == 0);
    calc_tune_decision_free(&d);
}

/* Chance and gain against the normal distribution: the best is measured, without noise to speak
 * of, and errors turned out as large as expected. */
CALC_TEST(chance_and_gain_are_those_of_a_normal_variable)
{
    const calc_tune_prior prior = tune_prior_of_own(0.05);
    const calc_tune_candidate two[2] = {tune_case(1.00, 12, 0), tune_case(1.02, 13, 0)};
    const calc_tune_measurement m = {0, CALC_TUNE_END_FINE, exp(0.05), (double)NAN};
    calc_tune_options options = calc_tune_options_default(&prior);
    options.draws = 40000;
    options.noise = 1e-5;
    calc_tune_decision d = tune_decide(two, 2, &m, 1, &options);
    /* log of the second over the first */
    double mean = log(1.02) - 0.05, sd = 0.05;
    double chance = calc_normal_below((log(0.99) - mean) / sd);
    double gain = calc_normal_below(-mean / sd) -
                  exp(mean + sd * sd / 2) * calc_normal_below((-mean - sd * sd) / sd);
    ck_assert_double_eq_tol(d.chance, chance, 4 * sqrt(0.25 / 40000));
    ck_assert_double_eq_tol(d.outlook[1].gain, gain, 0.0015);
    ck_assert_double_eq(d.outlook[0].gain, 0);
    ck_assert(!d.stop);
    ck_assert_uint_eq(d.pick[0], 1);
    calc_tune_decision_free(&d);
}

/* Errors larger than expected make all others less certain, by Student's scale with the four
 * measurements that the sizes of errors are worth and the two that there are; errors of 0, smaller
 * than expected, make none more certain. */
CALC_TEST(errors_as_they_turn_out_widen_what_is_left)
{
    const calc_tune_prior prior = tune_prior_of_own(0.02);
    calc_tune_candidate three[3] = {tune_case(1, 12, 0), tune_case(1.1, 13, 0),
                                    tune_case(1.2, 14, 0)};
    calc_tune_measurement m[2] = {{0, CALC_TUNE_END_FINE, 1, (double)NAN},
                                  {1, CALC_TUNE_END_FINE, 1.1, (double)NAN}};
    const calc_tune_options options = calc_tune_options_default(&prior);
    calc_tune_decision calm = tune_decide(three, 3, m, 2, &options);
    m[1].step_s = 1.1 * exp(0.1);
    calc_tune_decision wild = tune_decide(three, 3, m, 2, &options);
    double factor = log(wild.outlook[2].p95_s / wild.outlook[2].p50_s) /
                    log(calm.outlook[2].p95_s / calm.outlook[2].p50_s);
    double variance = 0.02 * 0.02 + 0.005 * 0.005;
    ck_assert_double_eq_tol(factor, sqrt((4 + 0.01 / variance) / (4 + 2)), 1e-6);
    calc_tune_decision_free(&calm);
    calc_tune_decision_free(&wild);
}

/* A cause that the prior lacks: all layouts with one value of a coordinate may share an error of
 * 10 %, in one of two cases. Bayes' rule by hand: with one time measured, the case's probability is
 * Student's density of its error, and what shares values with it moves by their share. */
CALC_TEST(a_common_cause_that_the_prior_lacks_is_learnt)
{
    const double value = 0.1, noise = 0.005;
    const calc_tune_sizes sizes[] = {{3, 1, 1, 0}, {1, 1, 1, value}}; /* odds of 3 */
    calc_tune_prior prior = tune_prior_of_own(0.02);
    prior.size = sizes;
    prior.sizes = 2;
    const calc_tune_candidate two[2] = {tune_case(1.0, 12, 0), tune_case(1.1, 12, 1)};
    const calc_tune_options options = calc_tune_options_default(&prior);
    static const double error[] = {0.03, 0.06, 0.1};
    for (int i = 0; i < 3; i++) {
        const calc_tune_measurement m = {0, CALC_TUNE_END_FINE, exp(error[i]), (double)NAN};
        calc_tune_decision d = tune_decide(two, 2, &m, 1, &options);
        double alone = 0.02 * 0.02 + noise * noise, with = alone + 5 * value * value;
        double density[2] = {3 / sqrt(alone) * pow(1 + error[i] * error[i] / (4 * alone), -2.5),
                             1 / sqrt(with) * pow(1 + error[i] * error[i] / (4 * with), -2.5)};
        double lacking = density[1] / (density[0] + density[1]);
        /* four values are the same, twice as many stages are alike by exp(-1 / 0.35) */
        double shared = value * value * (4 + exp(-1 / 0.35)) / with;
        ck_assert_double_eq_tol(log(d.outlook[1].p50_s / 1.1), lacking * shared * error[i], 1e-9);
        ck_assert(i == 0 ? lacking < 0.15 : lacking > 0.3 * i);
        calc_tune_decision_free(&d);
    }
}

/* Kernels of each shape were off by up to 10 %, which the prior expects. Stages may be off by as
 * much: it does not stop before it has seen that they are not. */
CALC_TEST(it_does_not_stop_where_errors_may_have_a_cause_that_the_prior_lacks)
{
    enum { SHAPES = 4 };
    static const double error[SHAPES] = {0.1, -0.08, 0.06, -0.1};
    static const calc_tune_sizes sizes[] = {{1, 1, 1, 0}, {1, 1, 1, 0.1}};
    calc_tune_prior prior = tune_prior_of_own(0.005);
    prior.kernels.sd = 0.1;
    prior.kernels.length[CALC_TUNE_COORDINATE_TOKENS] = 0.5;
    prior.size = sizes;
    calc_tune_candidate many[2 * SHAPES];
    calc_tune_measurement m[2 * SHAPES];
    for (size_t i = 0; i < 2 * SHAPES; i++) {
        double stages = i < SHAPES ? 0 : 3;
        many[i] = tune_case(i < SHAPES ? 1 : 1.03, 10 + (double)(i % SHAPES), stages);
        m[i] = (calc_tune_measurement){i, CALC_TUNE_END_FINE,
                                       many[i].step_s * exp(error[i % SHAPES]), (double)NAN};
    }
    const calc_tune_options options = calc_tune_options_default(&prior);
    for (prior.sizes = 0; prior.sizes <= 2; prior.sizes += 2) {
        calc_tune_decision d = tune_decide(many, 2 * SHAPES, m, SHAPES, &options);
        ck_assert(d.stop == (prior.sizes == 0));
        ck_assert(prior.sizes == 0 ? d.chance < 0.001 : d.chance > 0.06);
        ck_assert_uint_eq(d.pick[0], 2 * SHAPES - 1);
        calc_tune_decision_free(&d);
    }
    prior.sizes = 2;
    calc_tune_decision d = tune_decide(many, 2 * SHAPES, m, SHAPES + 2, &options);
    ck_assert(d.stop);
    calc_tune_decision_free(&d);
}

/* What is known of the chance to fit holds before anything is measured, and gives way to what is.
 */
CALC_TEST(a_known_chance_to_fit_counts_until_memory_is_learnt)
{
    calc_tune_prior prior = tune_prior_of_own(0.05);
    prior.memory_common = 0.1;
    prior.memory_own = 0.01;
    calc_tune_candidate two[2] = {tune_case(1.0, 12, 0), tune_case(1.1, 13, 0)};
    two[1].step_s = 2;
    two[0].memory_bytes = two[1].memory_bytes = 72e9;
    two[0].fits = two[1].fits = 0.7; /* normal errors would say 85 % */
    calc_tune_options options = calc_tune_options_default(&prior);
    options.draws = 40000;
    calc_tune_decision d = tune_decide(two, 2, NULL, 0, &options);
    ck_assert(d.outlook[0].fits == 0.7 && d.outlook[1].fits == 0.7);
    /* In draws, too: the first is the best if it fits, and nearly all errors are shared. */
    ck_assert_double_eq_tol(d.outlook[0].best, 0.7, 4 * sqrt(0.25 / 40000));
    calc_tune_decision_free(&d);
    static const double peak[] = {72e9, 82e9};
    for (int i = 0; i < 2; i++) {
        two[0].capacity_bytes = i == 0 ? 80e9 : 90e9;
        const calc_tune_measurement m = {0, CALC_TUNE_END_FINE, 1, peak[i]};
        d = tune_decide(two, 2, &m, 1, &options);
        ck_assert_double_eq_tol(d.outlook[1].fits, i == 0 ? 1 : 0, 0.05);
        calc_tune_decision_free(&d);
    }
    two[1].fits = 0; /* none of the runs that are known would fit */
    d = tune_decide(two, 2, NULL, 0, &options);
    ck_assert_double_eq(d.outlook[1].fits, 0);
    calc_tune_decision_free(&d);
}

/* A layout that ran out of memory says that others need more, too; one that ran, the opposite. */
CALC_TEST(memory_is_learnt_from_what_ran_and_what_did_not)
{
    calc_tune_prior prior = tune_prior_of_own(0.05);
    prior.memory_common = 0.1;
    prior.memory_own = 0.01;
    calc_tune_candidate two[2] = {tune_case(1.0, 12, 0), tune_case(1.1, 13, 0)};
    two[0].memory_bytes = two[1].memory_bytes = 80e9;
    const calc_tune_options options = calc_tune_options_default(&prior);
    calc_tune_decision before = tune_decide(two, 2, NULL, 0, &options);
    ck_assert_double_eq_tol(before.outlook[1].fits, 0.5, 1e-9);
    calc_tune_measurement m = {0, CALC_TUNE_END_OOM, (double)NAN, (double)NAN};
    calc_tune_decision large = tune_decide(two, 2, &m, 1, &options);
    ck_assert_double_lt(large.outlook[1].fits, 0.1);
    ck_assert_double_eq(large.outlook[0].fits, 0);
    ck_assert_uint_eq(large.best, SIZE_MAX);
    ck_assert_double_eq(large.outlook[0].best, 0);
    m = (calc_tune_measurement){0, CALC_TUNE_END_FINE, 1, 70e9};
    calc_tune_decision small = tune_decide(two, 2, &m, 1, &options);
    ck_assert_double_gt(small.outlook[1].fits, 0.99);
    ck_assert_double_eq_tol(small.outlook[1].memory_p50_bytes, 70e9, 1e9);
    calc_tune_decision_free(&before);
    calc_tune_decision_free(&large);
    calc_tune_decision_free(&small);
}

CALC_TEST(what_failed_is_not_proposed_and_what_surprises_is_marked)
{
    const calc_tune_prior prior = tune_prior_of_own(0.02);
    const calc_tune_candidate three[3] = {tune_case(1, 12, 0), tune_case(1.1, 13, 0),
                                          tune_case(1.2, 14, 0)};
    const calc_tune_measurement m[3] = {{0, CALC_TUNE_END_FAILED, (double)NAN, (double)NAN},
                                        {1, CALC_TUNE_END_FINE, 1.1, (double)NAN},
                                        {2, CALC_TUNE_END_FINE, 2.4, (double)NAN}};
    calc_tune_options options = calc_tune_options_default(&prior);
    options.picks = 3;
    calc_tune_decision d = tune_decide(three, 3, m, 3, &options);
    ck_assert_uint_eq(d.picks, 0);
    ck_assert(d.stop);
    ck_assert_uint_eq(d.best, 1);
    ck_assert_double_gt(d.surprise[2], 3);
    ck_assert_double_lt(fabs(d.surprise[1]), 1);
    ck_assert_double_eq(d.surprise[0], 0);
    calc_tune_decision_free(&d);
}

CALC_TEST(a_layout_measured_twice_counts_with_its_mean)
{
    const calc_tune_prior prior = tune_prior_of_own(0.05);
    const calc_tune_candidate two[2] = {tune_case(1, 12, 0), tune_case(1.01, 13, 0)};
    const calc_tune_measurement m[3] = {{0, CALC_TUNE_END_FINE, 1.00, (double)NAN},
                                        {1, CALC_TUNE_END_FINE, 1.00, (double)NAN},
                                        {1, CALC_TUNE_END_FINE, 0.98, (double)NAN}};
    const calc_tune_options options = calc_tune_options_default(&prior);
    calc_tune_decision d = tune_decide(two, 2, m, 3, &options);
    ck_assert_uint_eq(d.best, 1);
    ck_assert_double_eq_tol(d.best_s, 0.99, 1e-12);
    calc_tune_decision_free(&d);
}

static void make_many(calc_tune_candidate many[MANY])
{
    for (int i = 0; i < MANY; i++) {
        many[i] = tune_case(1 + 0.003 * ((i * 17) % MANY), 10 + i % 5, i % 4);
    }
}

/* Every chooser: layouts that were not tried, all different, the same for the same seed. */
CALC_TEST_LOOP(choosers_propose_what_is_left, 0, CALC_TUNE_CHOOSERS)
{
    const calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_candidate many[MANY];
    calc_tune_measurement m[8];
    make_many(many);
    for (size_t i = 0; i < 8; i++) {
        m[i] = (calc_tune_measurement){i, CALC_TUNE_END_FINE, many[i].step_s * 1.02, 51e9};
    }
    calc_tune_options options = calc_tune_options_default(&prior);
    options.chooser = (calc_tune_chooser)_i;
    options.picks = 6;
    calc_tune_decision first = tune_decide(many, MANY, m, 8, &options);
    calc_tune_decision again = tune_decide(many, MANY, m, 8, &options);
    ck_assert_uint_eq(first.picks, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_uint_ge(first.pick[i], 8);
        ck_assert_uint_lt(first.pick[i], MANY);
        ck_assert_uint_eq(first.pick[i], again.pick[i]);
        for (size_t k = 0; k < i; k++) {
            ck_assert_uint_ne(first.pick[i], first.pick[k]);
        }
    }
    calc_tune_decision_free(&first);
    calc_tune_decision_free(&again);
}

/* After one measurement the likeliest gain comes next, after two the largest expected one: a layout
 * that is a third faster with one chance in six, since nobody knows its network, is worth more on
 * average than one that is surely two percent faster. */
CALC_TEST(what_is_least_known_waits_for_a_second_measurement)
{
    calc_tune_prior prior = tune_prior_of_own(0.005);
    prior.term[CALC_TUNE_TERM_NETWORK0] = 0.4;
    calc_tune_candidate four[4] = {tune_case(1, 10, 0), tune_case(0.98, 10, 0),
                                   tune_case(1.5, 10, 0), tune_case(2, 10, 0)};
    four[2].term[CALC_TUNE_TERM_NETWORK0] = 1;
    const calc_tune_measurement m[2] = {{0, CALC_TUNE_END_FINE, 1, 50e9},
                                        {3, CALC_TUNE_END_FINE, 2, 50e9}};
    calc_tune_options options = calc_tune_options_default(&prior);
    for (size_t i = 1; i <= 2; i++) {
        calc_tune_decision d = tune_decide(four, 4, m, i, &options);
        ck_assert_double_gt(d.outlook[2].gain, d.outlook[1].gain);
        ck_assert_uint_eq(d.pick[0], i);
        calc_tune_decision_free(&d);
    }
}

CALC_TEST(model_order_is_the_order_of_predictions)
{
    const calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_candidate many[MANY];
    make_many(many);
    many[0].memory_bytes = 81e9; /* the fastest, but too large */
    calc_tune_options options = calc_tune_options_default(&prior);
    options.chooser = CALC_TUNE_CHOOSER_ORDER;
    options.picks = 5;
    calc_tune_decision d = tune_decide(many, MANY, NULL, 0, &options);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_double_eq_tol(many[d.pick[i]].step_s, 1 + 0.003 * (double)(i + 1), 1e-12);
    }
    calc_tune_decision_free(&d);
}

CALC_TEST(probes_of_memory_come_first)
{
    const calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_candidate many[MANY];
    size_t probe[CALC_TUNE_PROBES];
    double condition;
    make_many(many);
    for (int i = 0; i < MANY; i++) {
        many[i].space[CALC_TUNE_SPACE_STATE] = 0.2 + 0.015 * i;
        many[i].space[CALC_TUNE_SPACE_ACTIVATIONS] = 0.1 + (i % 2) * 0.05;
        many[i].space[CALC_TUNE_SPACE_OTHER] =
            1 - many[i].space[CALC_TUNE_SPACE_STATE] - many[i].space[CALC_TUNE_SPACE_ACTIVATIONS];
    }
    ck_assert_uint_eq(calc_tune_probes(many, MANY, probe, &condition), CALC_TUNE_PROBES);
    calc_tune_options options = calc_tune_options_default(&prior);
    options.probes = true;
    options.picks = 3;
    calc_tune_decision d = tune_decide(many, MANY, NULL, 0, &options);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(d.pick[i], probe[i]);
    }
    calc_tune_decision_free(&d);
}

CALC_TEST(no_candidates_is_a_decision_too)
{
    const calc_tune_prior prior = calc_tune_prior_default();
    const calc_tune_options options = calc_tune_options_default(&prior);
    calc_tune_decision d = tune_decide(NULL, 0, NULL, 0, &options);
    ck_assert_uint_eq(d.picks, 0);
    ck_assert(d.stop);
    calc_tune_decision_free(&d);
}

/* Draws of the contenders. */

enum { DRAWS = 20000 };

/* Errors turned out twice as large as expected: draws are as wide as the view says, also where
 * errors may have several sizes, and those of a layout that may need too much memory are infinite
 * as often. */
CALC_TEST_LOOP(draws_are_what_the_view_says, 0, 2)
{
    static const calc_tune_sizes sizes[] = {{1, 1, 1, 0}, {2, 3, 2, 0}, {1, 1, 1, 0.1}};
    calc_tune_prior prior = tune_prior_of_own(0.02);
    prior.term[CALC_TUNE_TERM_MATRIX] = 0.03;
    prior.size = sizes;
    prior.sizes = _i == 0 ? 0 : 3;
    calc_tune_candidate four[4] = {tune_case(1, 12, 0), tune_case(1, 13, 0), tune_case(1, 14, 0),
                                   tune_case(1, 15, 0)};
    four[3].memory_bytes = 79e9;
    const calc_tune_measurement m[2] = {{0, CALC_TUNE_END_FINE, 1.2, (double)NAN},
                                        {1, CALC_TUNE_END_FINE, 0.9, (double)NAN}};
    calc_tune_options options = calc_tune_options_default(&prior);
    calc_tune_scene scene;
    calc_tune_contest contest;
    calc_errors errors = {0};
    options.draws = DRAWS;
    ck_assert_int_eq(calc_tune_scene_make(&scene, four, 4, m, 2, &options, &errors), CALC_OK);
    ck_assert_int_eq(calc_tune_contest_make(&contest, &scene, &errors), CALC_OK);
    ck_assert(_i == 0 ? scene.worlds == 1 : scene.worlds > 1);
    ck_assert(_i > 0 || scene.world[0].spread > 1.5);
    ck_assert_uint_eq(contest.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const calc_tune_view *v = &scene.view[contest.contender[i]];
        double sum = 0, squares = 0, fit = 0;
        for (size_t draw = 0; draw < DRAWS; draw++) {
            double value = calc_tune_contest_drawn(&contest, draw, i) - v->mean;
            fit += isfinite(value);
            sum += isfinite(value) ? value : 0;
            squares += isfinite(value) ? value * value : 0;
        }
        ck_assert_double_eq_tol(fit / DRAWS, v->fits, 4 * sqrt(0.25 / DRAWS));
        ck_assert_double_eq_tol(sum / fit, 0, 4 * v->sd / sqrt(fit));
        ck_assert_double_eq_tol(sqrt(squares / fit) / v->sd, 1, (_i == 0 ? 4 : 8) / sqrt(2 * fit));
    }
    ck_assert_double_lt(scene.view[3].fits, 0.7);
    ck_assert_double_gt(scene.view[3].fits, 0.3);
    calc_tune_contest_free(&contest);
    calc_tune_scene_free(&scene);
}

/* Differences of two layouts beside the covariances that decisions are made with. */

static calc_tune_prior prior;

/* By the effects of a whole model: the variances of both, less twice what they share. */
static double by_effects(const calc_tune_candidate pair[2], bool alike)
{
    calc_tune_model model;
    calc_tune_model_make(&model, &prior, NULL, pair, 2);
    double variance = 2 * prior.own * prior.own;
    for (int i = 0; i < 2; i++) {
        variance += calc_effects_covariance(&model.time, &model.time_item[i], &model.time_item[i]);
        variance -= alike ? calc_effects_covariance(&model.time, &model.time_item[i],
                                                    &model.time_item[1 - i])
                          : 0;
    }
    calc_tune_model_free(&model);
    return sqrt(variance);
}

CALC_TEST(differences_are_those_of_the_model)
{
    prior = calc_tune_prior_default();
    for (int tokens = 11; tokens < 15; tokens++) {
        for (int stages = 0; stages < 4; stages++) {
            calc_tune_candidate pair[2] = {tune_case(1, 12, 2), tune_case(1.1, tokens, stages)};
            pair[0].term[CALC_TUNE_TERM_BUBBLE] = 0.1 * stages;
            pair[1].term[CALC_TUNE_TERM_DATA] = 0.05;
            for (int alike = 0; alike < 2; alike++) {
                double sd = calc_tune_model_difference(&prior, &pair[0], &pair[1], alike);
                ck_assert_double_eq_tol(sd, by_effects(pair, alike), 1e-12);
                ck_assert_double_eq(sd,
                                    calc_tune_model_difference(&prior, &pair[1], &pair[0], alike));
            }
        }
    }
}

CALC_TEST(what_is_shared_does_not_count)
{
    prior = calc_tune_prior_default();
    calc_tune_candidate same = tune_case(1, 12, 2), other = tune_case(1, 13, 2);
    double own = calc_tune_model_difference(&prior, &same, &same, true);
    ck_assert_double_eq_tol(own, sqrt(2) * prior.own, 1e-12);
    ck_assert_double_gt(calc_tune_model_difference(&prior, &same, &other, true), own);
    ck_assert_double_gt(calc_tune_model_difference(&prior, &same, &other, false),
                        calc_tune_model_difference(&prior, &same, &other, true));
}

/* Quantiles of Student's distribution with four degrees of freedom, from its tables. */
CALC_TEST(orders_are_as_sure_as_a_student_t_distribution_is)
{
    static const double table[][2] = {{0, 0.5},         {0.740697, 0.75}, {1.533206, 0.9},
                                      {2.131847, 0.95}, {3.746947, 0.99}, {8.610302, 0.9995}};
    prior = calc_tune_prior_default();
    const calc_tune_candidate a = tune_case(1, 12, 2), b = tune_case(1.1, 13, 1);
    for (int alike = 0; alike < 2; alike++) {
        double sd = calc_tune_model_difference(&prior, &a, &b, alike);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            double ahead = table[i][0] * sd;
            ck_assert_double_eq_tol(calc_tune_model_sure(&prior, &a, &b, alike, ahead), table[i][1],
                                    1e-6);
            ck_assert_double_eq_tol(calc_tune_model_sure(&prior, &b, &a, alike, -ahead),
                                    1 - table[i][1], 1e-6);
        }
    }
}

enum { FEW = 11, SPACES = CALC_TUNE_SPACES };

static void make(calc_tune_candidate *c, calc_rng *rng)
{
    *c = tune_case(1 + calc_rng_real(rng), 12, 0);
    double state = 0.2 + 0.6 * calc_rng_real(rng);
    c->space[CALC_TUNE_SPACE_STATE] = state;
    c->space[CALC_TUNE_SPACE_ACTIVATIONS] = (1 - state) * calc_rng_real(rng);
    c->space[CALC_TUNE_SPACE_OTHER] = 1 - state - c->space[CALC_TUNE_SPACE_ACTIVATIONS];
}

/* Condition number of the normal matrix of the layouts of a set of bits. */
static double condition_of(const calc_tune_candidate *candidate, unsigned bits)
{
    double normal[SPACES * SPACES] = {0}, value[SPACES];
    for (unsigned i = 0; i < FEW; i++) {
        for (unsigned k = 0; bits >> i & 1 && k < SPACES * SPACES; k++) {
            normal[k] += candidate[i].space[k / SPACES] * candidate[i].space[k % SPACES];
        }
    }
    ck_assert(calc_gauss_eigenvalues(normal, SPACES, value));
    return value[SPACES - 1] / value[0];
}

static unsigned count_bits(unsigned bits)
{
    unsigned count = 0;
    for (; bits; bits &= bits - 1) {
        count++;
    }
    return count;
}

/* Exchanges end at the best set of five, or within a tenth of its condition number. */
CALC_TEST_LOOP(probes_are_the_best_conditioned, 0, 40)
{
    calc_tune_candidate candidate[FEW];
    size_t probe[CALC_TUNE_PROBES];
    double condition, best = (double)INFINITY;
    unsigned chosen = 0;
    calc_rng rng;
    calc_rng_init(&rng, 11, (uint64_t)_i);
    for (int i = 0; i < FEW; i++) {
        make(&candidate[i], &rng);
    }
    for (unsigned bits = 0; bits < 1U << FEW; bits++) {
        best =
            count_bits(bits) == CALC_TUNE_PROBES ? fmin(best, condition_of(candidate, bits)) : best;
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, FEW, probe, &condition), CALC_TUNE_PROBES);
    for (int i = 0; i < CALC_TUNE_PROBES; i++) {
        chosen |= 1U << probe[i];
    }
    ck_assert_uint_eq(count_bits(chosen), CALC_TUNE_PROBES);
    ck_assert_double_eq_tol(condition_of(candidate, chosen) / condition, 1, 1e-6);
    ck_assert_double_ge(condition, best * (1 - 1e-9));
    ck_assert_double_le(condition, best * 1.1);
}

CALC_TEST(what_may_not_fit_is_no_probe)
{
    calc_tune_candidate candidate[FEW];
    size_t probe[CALC_TUNE_PROBES];
    double condition;
    calc_rng rng;
    calc_rng_init(&rng, 1, 1);
    for (int i = 0; i < FEW; i++) {
        make(&candidate[i], &rng);
        candidate[i].memory_bytes = (i < 3 ? 0.79 : 0.81) * candidate[i].capacity_bytes;
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, FEW, probe, &condition), 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(probe[i], i);
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, 0, probe, &condition), 0);
    ck_assert(isinf(condition));
}

/* Layouts that are all alike cannot tell one part from another. */
CALC_TEST(layouts_alike_determine_nothing)
{
    calc_tune_candidate candidate[FEW];
    size_t probe[CALC_TUNE_PROBES];
    double condition;
    for (int i = 0; i < FEW; i++) {
        candidate[i] = tune_case(1, 12, 0);
    }
    ck_assert_uint_eq(calc_tune_probes(candidate, FEW, probe, &condition), CALC_TUNE_PROBES);
    ck_assert(isinf(condition));
}

/* Layouts that are tried: commands for them, and what these print. */

CALC_TEST(places_in_a_command_are_words_for_the_shell)
{
    static const struct {
        const char *command, *exe, *text;
    } cases[] = {
        {"run {exe}", "tune/3fa9c21e.json", "run tune/3fa9c21e.json"},
        {"run --on {slot} '{layout}'", "x", "run --on 2 '3fa9c21e'"},
        {"run {exe}{exe}", "a b", "run 'a b''a b'"},
        {"run {exe}", "it's", "run 'it'\\''s'"},
        {"run {exe}", "$(rm)", "run '$(rm)'"},
        {"run {exe}", "", "run ''"},
        {"awk '{print}' {} ${x} {exe", "x", "awk '{print}' {} ${x} {exe"},
        {"", "x", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const calc_tune_trial trial = {.exe = cases[i].exe, .layout = "3fa9c21e"};
        char *text = calc_tune_trial_command(cases[i].command, &trial, 2);
        ck_assert_ptr_nonnull(text);
        ck_assert_str_eq(text, cases[i].text);
        free(text);
    }
    ck_assert(calc_tune_trial_names_layout("a {exe}"));
    ck_assert(calc_tune_trial_names_layout("a {layout}"));
    ck_assert(!calc_tune_trial_names_layout("a {slot} {EXE}"));
}

CALC_TEST(the_last_line_is_a_time_with_or_without_memory_or_an_end)
{
    static const struct {
        const char *line;
        calc_tune_end end;
        double step_s, gib; /* 0: none */
    } good[] = {
        {"1.53", CALC_TUNE_END_FINE, 1.53, 0},
        {"  1.53s  ", CALC_TUNE_END_FINE, 1.53, 0},
        {"1530 ms", CALC_TUNE_END_FINE, 1.53, 0},
        {"1.53 61.25GiB", CALC_TUNE_END_FINE, 1.53, 61.25},
        {"1.53 s, 61.25 GiB\r", CALC_TUNE_END_FINE, 1.53, 61.25},
        {"1.53,61.25", CALC_TUNE_END_FINE, 1.53, 61.25},
        {"oom", CALC_TUNE_END_OOM, 0, 0},
        {" failed ", CALC_TUNE_END_FAILED, 0, 0},
    };
    static const char *const bad[] = {
        "",    "ok",  "done",  "-1",        "0",          "1.5 2 3", "1.5 2s",        "61GiB",
        "nan", "inf", "oom 1", "step 1.53", "1.53 sec x", "1.5 -2",  "out of memory", "1.53kg"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        calc_tune_trial t = {0};
        ck_assert_msg(calc_tune_trial_read(good[i].line, &t), "%s", good[i].line);
        ck_assert_int_eq(t.end, good[i].end);
        ck_assert(good[i].step_s > 0 ? t.step_s == good[i].step_s : isnan(t.step_s));
        ck_assert(good[i].gib > 0 ? t.memory_bytes == good[i].gib * 0x1p30 : isnan(t.memory_bytes));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        calc_tune_trial t = {.step_s = 7, .note = "as before"};
        ck_assert_msg(!calc_tune_trial_read(bad[i], &t), "%s", bad[i]);
        ck_assert_double_eq(t.step_s, 7);
        ck_assert_str_eq(t.note, "as before");
    }
}
