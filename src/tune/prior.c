#include "tune/prior.h"

calc_tune_prior calc_tune_prior_default(void)
{
    /* What calc_tune_learn() makes of tests/measured, rounded: scripts/make_tune shows it. */
    return (calc_tune_prior){
        .common = 0.0162,
        .term = {[CALC_TUNE_TERM_MATRIX] = 0.0407,
                 [CALC_TUNE_TERM_ATTENTION] = 0.0841,
                 [CALC_TUNE_TERM_MEMORY] = 0.0738,
                 [CALC_TUNE_TERM_NETWORK0] = 0.1102,
                 [CALC_TUNE_TERM_NETWORK1] = 0.1151,
                 [CALC_TUNE_TERM_HOST] = 0.0398,
                 [CALC_TUNE_TERM_BUBBLE] = 0.3118,
                 [CALC_TUNE_TERM_DATA] = 0.6169,
                 [CALC_TUNE_TERM_OPTIMIZER] = 0.441,
                 [CALC_TUNE_TERM_HEAD] = 0.5907},
        .kernels = {.sd = 0.0882,
                    .length = {[CALC_TUNE_COORDINATE_TOKENS] = 0.617,
                               [CALC_TUNE_COORDINATE_TENSOR] = 0.235,
                               [CALC_TUNE_COORDINATE_CONTEXT] = 0.346}},
        .schedule =
            {.sd = 0.046,
             .length =
                 {[CALC_TUNE_COORDINATE_PIPELINE] = 4.044, [CALC_TUNE_COORDINATE_CHUNKS] = 0.317}},
        .own = 0.0187,
        .memory_common = 0.1131,
        .memory_space = {[CALC_TUNE_SPACE_STATE] = 0.0177,
                         [CALC_TUNE_SPACE_ACTIVATIONS] = 0.0165,
                         [CALC_TUNE_SPACE_OTHER] = 0.033},
        .memory_own = 0.0083,
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
