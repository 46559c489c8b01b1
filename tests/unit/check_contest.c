/* Draws of the contenders, and what the knowledge gradient chooses of them. */
#include "tune/contest.h"

#include "frame.h"
#include "unit/tune_case.h"

enum { DRAWS = 20000 };

/* Errors turned out twice as large as expected: draws are as wide as the view says, and those of a
 * layout that may need too much memory are infinite as often. */
CALC_TEST(draws_are_what_the_view_says)
{
    calc_tune_prior prior = tune_prior_of_own(0.02);
    prior.term[CALC_TUNE_TERM_MATRIX] = 0.03;
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
    ck_assert_double_gt(scene.spread, 1.5);
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
        ck_assert_double_eq_tol(sqrt(squares / fit) / v->sd, 1, 4 / sqrt(2 * fit));
    }
    ck_assert_double_lt(scene.view[3].fits, 0.7);
    ck_assert_double_gt(scene.view[3].fits, 0.3);
    calc_tune_contest_free(&contest);
    calc_tune_scene_free(&scene);
}

/* All are expected to take as long. What shares its error with what was measured is known; of the
 * others the more uncertain is the better to measure, but for the chance that it does not run. */
CALC_TEST(knowledge_is_sought_where_there_is_none)
{
    calc_tune_prior prior = tune_prior_of_own(0.001);
    prior.term[CALC_TUNE_TERM_MATRIX] = 0.3;
    prior.term[CALC_TUNE_TERM_ATTENTION] = 0.05;
    prior.term[CALC_TUNE_TERM_MEMORY] = 0.06;
    calc_tune_candidate four[4] = {tune_case(1, 12, 0), tune_case(1, 13, 0), tune_case(1, 14, 0),
                                   tune_case(1, 15, 0)};
    for (int i = 2; i < 4; i++) {
        four[i].term[CALC_TUNE_TERM_MATRIX] = 0;
    }
    four[2].term[CALC_TUNE_TERM_ATTENTION] = 1;
    four[3].term[CALC_TUNE_TERM_MEMORY] = 1;
    const calc_tune_measurement m = {0, CALC_TUNE_END_FINE, 1, (double)NAN};
    calc_tune_options options = calc_tune_options_default(&prior);
    options.chooser = CALC_TUNE_CHOOSER_KNOWLEDGE;
    calc_tune_decision d = tune_decide(four, 4, &m, 1, &options);
    ck_assert_uint_eq(d.pick[0], 3);
    calc_tune_decision_free(&d);
    four[3].memory_bytes = 80e9; /* an even chance */
    d = tune_decide(four, 4, &m, 1, &options);
    ck_assert_double_eq_tol(d.outlook[3].fits, 0.5, 0.2);
    ck_assert_uint_eq(d.pick[0], 2);
    calc_tune_decision_free(&d);
}
