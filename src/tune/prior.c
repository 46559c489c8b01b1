#include "tune/prior.h"

/* Chosen on truths that are not drawn from the prior (docs/tune.md). */
static const calc_tune_sizes sizes[] = {
    {12, 1, 0.5, 0},  {12, 1, 1, 0},     {12, 1, 2, 0},    {6, 2, 0.5, 0},   {6, 2, 1, 0},
    {6, 2, 2, 0},     {4, 1, 0.5, 0.05}, {4, 1, 1, 0.05},  {4, 1, 2, 0.05},  {2, 2, 0.5, 0.05},
    {2, 2, 1, 0.05},  {2, 2, 2, 0.05},   {4, 1, 0.5, 0.1}, {4, 1, 1, 0.1},   {4, 1, 2, 0.1},
    {2, 2, 0.5, 0.1}, {2, 2, 1, 0.1},    {2, 2, 2, 0.1},   {2, 1, 0.5, 0.2}, {2, 1, 1, 0.2},
    {2, 1, 2, 0.2},   {1, 2, 0.5, 0.2},  {1, 2, 1, 0.2},   {1, 2, 2, 0.2}};

calc_tune_prior calc_tune_prior_default(void)
{
    /* The result of calc_tune_learn() on tests/measured, rounded: scripts/make_tune shows it. */
    return (calc_tune_prior){
        .common = 0.0173,
        .term = {[CALC_TUNE_TERM_MATRIX] = 0.0461,
                 [CALC_TUNE_TERM_ATTENTION] = 0.0836,
                 [CALC_TUNE_TERM_MEMORY] = 0.1602,
                 [CALC_TUNE_TERM_NETWORK0] = 0.2111,
                 [CALC_TUNE_TERM_NETWORK1] = 0.1222,
                 [CALC_TUNE_TERM_HOST] = 0.0367,
                 [CALC_TUNE_TERM_BUBBLE] = 0.0652,
                 [CALC_TUNE_TERM_DATA] = 0.6202,
                 [CALC_TUNE_TERM_OPTIMIZER] = 0.4200,
                 [CALC_TUNE_TERM_HEAD] = 0.6949},
        .kernels = {.sd = 0.0877,
                    .length = {[CALC_TUNE_COORDINATE_TOKENS] = 0.614,
                               [CALC_TUNE_COORDINATE_TENSOR] = 0.234,
                               [CALC_TUNE_COORDINATE_CONTEXT] = 0.343}},
        .schedule =
            {.sd = 0.0367,
             .length =
                 {[CALC_TUNE_COORDINATE_PIPELINE] = 4.338, [CALC_TUNE_COORDINATE_CHUNKS] = 0.595}},
        .own = 0.0178,
        .memory_common = 0.0039,
        .memory_space = {[CALC_TUNE_SPACE_STATE] = 0.0053,
                         [CALC_TUNE_SPACE_ACTIVATIONS] = 0.0457,
                         [CALC_TUNE_SPACE_OTHER] = 0.0242},
        .memory_own = 0.0110,
        .size = sizes,
        .sizes = sizeof sizes / sizeof *sizes,
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
