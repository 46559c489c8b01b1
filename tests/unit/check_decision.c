#include "tune/decision.h"

#include "frame.h"
#include "gauss/process.h"
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
