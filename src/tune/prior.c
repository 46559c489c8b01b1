#include "tune/prior.h"

calc_tune_prior calc_tune_prior_default(void)
{
    /* The result of calc_tune_learn() on tests/measured, rounded: scripts/make_tune shows it. */
    return (calc_tune_prior){
        .common = 0.0175,
        .term = {[CALC_TUNE_TERM_MATRIX] = 0.0437,
                 [CALC_TUNE_TERM_ATTENTION] = 0.0845,
                 [CALC_TUNE_TERM_MEMORY] = 0.1485,
                 [CALC_TUNE_TERM_NETWORK0] = 0.1844,
                 [CALC_TUNE_TERM_NETWORK1] = 0.1222,
                 [CALC_TUNE_TERM_HOST] = 0.0371,
                 [CALC_TUNE_TERM_BUBBLE] = 0.0845,
                 [CALC_TUNE_TERM_DATA] = 0.6202,
                 [CALC_TUNE_TERM_OPTIMIZER] = 0.3345,
                 [CALC_TUNE_TERM_HEAD] = 0.6912},
        .kernels = {.sd = 0.0882,
                    .length = {[CALC_TUNE_COORDINATE_TOKENS] = 0.614,
                               [CALC_TUNE_COORDINATE_TENSOR] = 0.235,
                               [CALC_TUNE_COORDINATE_CONTEXT] = 0.343}},
        .schedule =
            {.sd = 0.0373,
             .length =
                 {[CALC_TUNE_COORDINATE_PIPELINE] = 4.110, [CALC_TUNE_COORDINATE_CHUNKS] = 0.601}},
        .own = 0.0182,
        .memory_common = 0.0040,
        .memory_space = {[CALC_TUNE_SPACE_STATE] = 0.0054,
                         [CALC_TUNE_SPACE_ACTIVATIONS] = 0.0514,
                         [CALC_TUNE_SPACE_OTHER] = 0.0267},
        .memory_own = 0.0114,
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
