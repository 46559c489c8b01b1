/* Differences of two layouts beside the covariances that decisions are made with. */
#include "tune/model.h"

#include "frame.h"
#include "unit/tune_case.h"

static calc_tune_prior prior;

/* By the effects of a whole model: the variances of both, less twice what they share. */
static double by_effects(const calc_tune_candidate pair[2], bool alike)
{
    calc_tune_model model;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_tune_model_make(&model, &prior, NULL, pair, 2, &errors), CALC_OK);
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
