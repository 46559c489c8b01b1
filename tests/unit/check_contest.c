/* Draws of the contenders. */
#include "tune/decision.h"

#include "frame.h"
#include "unit/tune_case.h"

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
