#include "tune/prior.h"

calc_tune_prior calc_tune_prior_default(void)
{
    /* scripts/make_tune writes what docs/tune.md says of these; learn.h has the method. */
    return (calc_tune_prior){
        .common = 0.018,
        .term = {[CALC_TUNE_TERM_MATRIX] = 0.050,
                 [CALC_TUNE_TERM_ATTENTION] = 0.086,
                 [CALC_TUNE_TERM_MEMORY] = 0.069,
                 [CALC_TUNE_TERM_NETWORK0] = 0.083,
                 [CALC_TUNE_TERM_NETWORK1] = 0.111,
                 [CALC_TUNE_TERM_HOST] = 0.054,
                 [CALC_TUNE_TERM_BUBBLE] = 0.100,
                 [CALC_TUNE_TERM_DATA] = 0.63,
                 [CALC_TUNE_TERM_OPTIMIZER] = 0.52,
                 [CALC_TUNE_TERM_HEAD] = 0.55},
        .kernels = {.sd = 0.090,
                    .length = {[CALC_TUNE_COORDINATE_TOKENS] = 0.67,
                               [CALC_TUNE_COORDINATE_TENSOR] = 0.23,
                               [CALC_TUNE_COORDINATE_CONTEXT] = 0.23}},
        .schedule =
            {.sd = 0.041,
             .length =
                 {[CALC_TUNE_COORDINATE_PIPELINE] = 0.41, [CALC_TUNE_COORDINATE_CHUNKS] = 0.41}},
        .own = 0.012,
        .memory_common = 0.02,
        .memory_space = {0.03, 0.08, 0.2},
        .memory_own = 0.02,
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
