/* The numbers of calc_tune_prior_default() are what the published runs say. If runs, machines or
 * the model change, `build/release/tests/bench/study_tune` prints the new ones. */
#include <stdint.h>

#include "bench/tune_runs.h"
#include "bench/tune_words.h"
#include "frame.h"

static void compare(const char *what, double shipped, double learnt)
{
    ck_assert_msg(fabs(shipped - learnt) < 0.0006 + 0.002 * learnt,
                  "%s: model.c has %.4f, the runs say %.4f", what, shipped, learnt);
}

CALC_TEST(the_prior_is_learnt_from_the_shipped_runs)
{
    calc_errors errors = {0};
    ck_assert(tune_runs_read());
    calc_tune_known *known = tune_runs_known();
    calc_tune_prior learnt, shipped = calc_tune_prior_default();
    ck_assert_int_eq(calc_tune_learn(&learnt, known, tune_runs.count, SIZE_MAX, &errors), CALC_OK);
    compare("common", shipped.common, learnt.common);
    for (int i = 0; i < CALC_TUNE_TERMS; i++) {
        compare(tune_term_words((calc_tune_term)i), shipped.term[i], learnt.term[i]);
    }
    compare("kernels", shipped.kernels.sd, learnt.kernels.sd);
    compare("schedule", shipped.schedule.sd, learnt.schedule.sd);
    for (int i = 0; i < CALC_TUNE_COORDINATES; i++) {
        compare("length of kernels", shipped.kernels.length[i], learnt.kernels.length[i]);
        compare("length of schedules", shipped.schedule.length[i], learnt.schedule.length[i]);
    }
    compare("own", shipped.own, learnt.own);
    compare("memory: common", shipped.memory_common, learnt.memory_common);
    for (int i = 0; i < CALC_TUNE_SPACES; i++) {
        compare(tune_space_words((calc_tune_space)i), shipped.memory_space[i],
                learnt.memory_space[i]);
    }
    compare("memory: own", shipped.memory_own, learnt.memory_own);
    free(known);
    tune_runs_free();
}
