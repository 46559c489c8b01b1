#include "tune/prior.h"

calc_tune_prior calc_tune_prior_default(void)
{
    /* What calc_tune_learn() makes of tests/measured, rounded: scripts/make_tune shows it. */
    return (calc_tune_prior){
        .common = 0.0154,
        .term = {[CALC_TUNE_TERM_MATRIX] = 0.0363,
                 [CALC_TUNE_TERM_ATTENTION] = 0.0788,
                 [CALC_TUNE_TERM_MEMORY] = 0.0792,
                 [CALC_TUNE_TERM_NETWORK0] = 0.1133,
                 [CALC_TUNE_TERM_NETWORK1] = 0.112,
                 [CALC_TUNE_TERM_HOST] = 0.0398,
                 [CALC_TUNE_TERM_BUBBLE] = 0.4088,
                 [CALC_TUNE_TERM_DATA] = 0.5875,
                 [CALC_TUNE_TERM_OPTIMIZER] = 0.411,
                 [CALC_TUNE_TERM_HEAD] = 0.5812},
        .kernels = {.sd = 0.0858,
                    .length = {[CALC_TUNE_COORDINATE_TOKENS] = 0.607,
                               [CALC_TUNE_COORDINATE_TENSOR] = 0.231,
                               [CALC_TUNE_COORDINATE_CONTEXT] = 0.346}},
        .schedule =
            {.sd = 0.046,
             .length =
                 {[CALC_TUNE_COORDINATE_PIPELINE] = 4.246, [CALC_TUNE_COORDINATE_CHUNKS] = 0.319}},
        .own = 0.0178,
        .memory_common = 0.0039,
        .memory_space = {[CALC_TUNE_SPACE_STATE] = 0.0053,
                         [CALC_TUNE_SPACE_ACTIVATIONS] = 0.0378,
                         [CALC_TUNE_SPACE_OTHER] = 0.0272},
        .memory_own = 0.0099,
    };
}

calc_tune_prior calc_tune_prior_for(const calc_tune_prior *prior, bool probes)
{
    calc_tune_prior out = *prior;
    for (int i = 0; probes && i < CALC_TUNE_SPACES; i++) {
        out.memory_space[i] = 0.5;
    }
    return out;
}
