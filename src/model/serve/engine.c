#include "model/serve/engine.h"

#include <math.h>

#include "model/cost/cost.h"
#include "model/operators/processor.h"

/* Fitted to half of the measured runs of serving (docs/validation-serving.md), on kernels that were
 * measured alone; the others are the test. What runs do not show is that of the nearest engine:
 * vllm-0.8 of vllm-0.11, tensorrt_llm-0.5 of 0.9. */
static const calc_engine_traits traits[CALC_SERVING_ENGINE_COUNT] = {
    [CALC_SERVING_ENGINE_VLLM_0_2] = {.host_s = 9.8e-3,
                                      .host_sequence_s = 220e-6,
                                      .host_growth = 0.37,
                                      .matrix_share = 0.73},
    [CALC_SERVING_ENGINE_VLLM_0_5] = {.host_s = 1.5e-3,
                                      .host_sequence_s = 54e-6,
                                      .host_growth = 0.31},
    [CALC_SERVING_ENGINE_VLLM_0_6] = {.host_s = 4.6e-3,
                                      .host_sequence_s = 30e-6,
                                      .host_growth = 0.21,
                                      .gap_s = 0.032e-3,
                                      .matrix_share = 0.082,
                                      .cache_share = 0.65},
    [CALC_SERVING_ENGINE_VLLM_0_8] = {.host_s = 0.7e-3,
                                      .host_sequence_s = 44e-6,
                                      .issue_s = 0.48e-3,
                                      .request_s = 28e-3,
                                      .gap_s = 0.28e-3,
                                      .matrix_share = 0.8},
    [CALC_SERVING_ENGINE_VLLM_0_11] = {.host_s = 0.43e-3,
                                       .host_sequence_s = 44e-6,
                                       .issue_s = 0.48e-3,
                                       .request_s = 28e-3,
                                       .gap_s = 0.28e-3,
                                       .matrix_share = 0.8},
    [CALC_SERVING_ENGINE_VLLM_ROCM_0_6] = {.host_s = 0.56e-3,
                                           .host_sequence_s = 65e-6,
                                           .gap_s = 0.16e-3},
    [CALC_SERVING_ENGINE_SGLANG_0_5] = {.issue_s = 0.034e-3,
                                        .issue_moe_s = 0.97e-3,
                                        .request_s = 32e-3,
                                        .matrix_share = 0.87,
                                        .overlapped = true},
    [CALC_SERVING_ENGINE_TENSORRT_LLM_0_5] = {.host_s = 0.96e-3,
                                              .host_sequence_s = 14e-6,
                                              .host_growth = 0.22,
                                              .matrix_share = 0.8},
    [CALC_SERVING_ENGINE_TENSORRT_LLM_0_9] = {.host_s = 0.96e-3,
                                              .host_sequence_s = 14e-6,
                                              .host_growth = 0.22,
                                              .matrix_share = 0.8},
    [CALC_SERVING_ENGINE_TENSORRT_LLM_1_0] = {.host_s = 2.2e-3,
                                              .host_sequence_s = 32e-6,
                                              .issue_s = 0.52e-3,
                                              .request_s = 33e-3,
                                              .gap_s = 0.51e-3,
                                              .matrix_share = 0.91,
                                              .overlapped = true,
                                              .gathers = true},
    [CALC_SERVING_ENGINE_TENSORRT_LLM_1_1] = {.host_s = 3.9e-3,
                                              .host_sequence_s = 180e-6,
                                              .issue_s = 0.065e-3,
                                              .issue_moe_s = 0.23e-3,
                                              .request_s = 37e-3,
                                              .gap_s = 2.1e-3,
                                              .overlapped = true,
                                              .gathers = true},
    [CALC_SERVING_ENGINE_TENSORRT_LLM_1_2] = {.host_s = 3.5e-3,
                                              .host_sequence_s = 150e-6,
                                              .issue_s = 0.25e-3,
                                              .issue_moe_s = 1.9e-3,
                                              .request_s = 12e-3,
                                              .overlapped = true,
                                              .gathers = true},
    [CALC_SERVING_ENGINE_ATOM_0_1] = {.issue_s = 0.1e-3,
                                      .issue_moe_s = 0.3e-3,
                                      .request_s = 4e-3,
                                      .gap_s = 0.2e-3,
                                      .overlapped = true},
    [CALC_SERVING_ENGINE_GPT_FAST_2023] = {.host_s = 0.1e-3,
                                           .host_sequence_s = 1e-6,
                                           .host_growth = 0.05,
                                           .gap_s = 0.1e-3},
};

calc_engine_traits calc_engine_traits_of(calc_serving_engine engine)
{
    return traits[engine];
}

double calc_engine_beside_s(const calc_engine_traits *t, double pass_s, double sequences,
                            double ranks, double issued_s)
{
    double host_s =
        (t->host_s + t->host_sequence_s * sequences) * (1 + t->host_growth * log2(ranks));
    double late_s = calc_max(0, issued_s - pass_s);
    return t->gap_s + late_s + (t->overlapped ? calc_max(0, host_s - pass_s - late_s) : host_s);
}

/* An efficiency that is not said is that of all widths, or 1. */
static void slow_matrix(calc_serving_matrix *m, double share)
{
    m->efficiency = calc_share_or(m->efficiency, 1) * share;
    m->efficiency_8bit *= share;
    m->efficiency_4bit *= share;
}

calc_serving_rates calc_engine_rates_of(const calc_engine_traits *t, const calc_serving_rates *r)
{
    calc_serving_rates own = *r;
    if (t->matrix_share > 0) {
        slow_matrix(&own.matrix, t->matrix_share);
        slow_matrix(&own.grouped, t->matrix_share);
    }
    own.decode.memory_efficiency *= calc_share_or(t->cache_share, 1);
    return own;
}
