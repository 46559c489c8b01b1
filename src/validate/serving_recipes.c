#include "validate/serving_recipes.h"

#include <string.h>

#include "spec/serving_program.h"

enum {
    VLLM = CALC_SERVING_PROGRAM_VLLM,
    SGLANG = CALC_SERVING_PROGRAM_SGLANG,
    TENSORRT_LLM = CALC_SERVING_PROGRAM_TENSORRT_LLM,
    ATOM = CALC_SERVING_PROGRAM_ATOM,
    OTHER = CALC_SERVING_PROGRAM_OTHER
};

static int program_of(calc_serving_engine engine)
{
    return (int)calc_serving_program_of(engine);
}

bool calc_serving_reserves(calc_serving_engine engine)
{
    return program_of(engine) == TENSORRT_LLM;
}

bool calc_serving_mixes(calc_serving_engine engine)
{
    return program_of(engine) != SGLANG;
}

static const char inferencex[] = "cache format and tokens per step from the recipes of InferenceX "
                                 "(benchmarks/, 2025-10 to 2026-01)";
static const char early[] = "cache in 8 bits beside weights in 8 bits: published batches do not "
                            "fit with another";
static const char gap[] = "one prompt per step, as aiconfigurator sets up its benchmarks (room for "
                          "one and 1,500 tokens more), and its cache format";
static const char defaults[] = "tokens per step: 8,192, a default of engines";

/* The first that fits counts. InferenceX: benchmarks/dsr1_*, 70b_*, gptoss_*, minimaxm2.5_*;
 * TensorRT-LLM had room for one prompt there and a token of each sequence, until the commit of
 * 2026-01-21. */
static const struct {
    const char *source;  /* contained */
    int program;         /* of the engine */
    const char *machine; /* start of its name; "": any */
    const char *model;   /* contained; "": any */
    const char *weights; /* start of the format; "": any */
    const char *before;  /* that day; "": ever */
    calc_format kv_datatype;
    int64_t chunk_size;
    int prompts; /* of as many tokens instead; 0: chunk_size */
    const char *assumed;
} recipes[] = {
    {"InferenceX (", TENSORRT_LLM, "", "", "", "2026-01-21", CALC_FORMAT_FLOAT8, 0, 1, inferencex},
    {"InferenceX (", TENSORRT_LLM, "", "", "", "", CALC_FORMAT_FLOAT8, 8192, 0, inferencex},
    {"InferenceX", TENSORRT_LLM, "", "", "", "", CALC_FORMAT_FLOAT8, 16384, 0, inferencex},
    {"InferenceX", VLLM, "b", "MiniMax", "", "", CALC_FORMAT_FLOAT8, 0, 2, inferencex},
    {"InferenceX", VLLM, "h100", "MiniMax", "", "", CALC_FORMAT_AUTO, 8192, 0, inferencex},
    {"InferenceX", VLLM, "h200", "MiniMax", "", "", CALC_FORMAT_FLOAT8, 32768, 0, inferencex},
    {"InferenceX", VLLM, "", "", "", "", CALC_FORMAT_FLOAT8, 8192, 0, inferencex},
    {"InferenceX", ATOM, "", "", "", "", CALC_FORMAT_FLOAT8, 16384, 0, inferencex},
    {"InferenceX", SGLANG, "h", "", "", "", CALC_FORMAT_AUTO, 32768, 0, inferencex},
    {"InferenceX", SGLANG, "mi3", "", "", "", CALC_FORMAT_AUTO, 196608, 0, inferencex},
    {"InferenceX", SGLANG, "", "", "fp4", "", CALC_FORMAT_FLOAT8, 16384, 0, inferencex},
    {"InferenceX", SGLANG, "", "", "", "", CALC_FORMAT_FLOAT8, 32768, 0, inferencex},
    {"gap analysis", TENSORRT_LLM, "", "", "fp8", "", CALC_FORMAT_FLOAT8, 0, 1, gap},
    {"gap analysis", TENSORRT_LLM, "", "", "", "", CALC_FORMAT_AUTO, 0, 1, gap},
    {"gap analysis", VLLM, "", "", "", "", CALC_FORMAT_AUTO, 0, 1, gap},
    {"TensorRT-LLM", TENSORRT_LLM, "", "", "fp8", "", CALC_FORMAT_FLOAT8, 8192, 0, early},
    {"", OTHER, "", "", "", "", CALC_FORMAT_AUTO, 8192, 0, defaults}};

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* InferenceX on B200: SGLang's --scheduler-recv-interval, TensorRT-LLM's
 * attention_dp_config.timeout_iters. */
static int64_t hold_of(const calc_serving_row *row, int program, const char *system)
{
    const int64_t few = 10, many = 30, balanced = 60;
    if (!starts(row->source, "InferenceX ")) {
        return 0;
    }
    if (program == TENSORRT_LLM) {
        return strcmp(row->dp_attention, "True") == 0 ? balanced : 0;
    }
    bool polls = program == SGLANG && starts(system, "b");
    return !polls ? 0 : row->concurrency_or_batch >= 16 ? many : few;
}

/* InferenceX on one node (dsr1_*_mtp.sh): TensorRT-LLM's num_nextn_predict_layers, SGLang's
 * --speculative-num-steps. */
static int64_t drafts_of(const calc_serving_row *row, int program)
{
    const int64_t alone = 1, together = 3, sglang = 2;
    if (row->drafts >= 1) {
        return (int64_t)row->drafts;
    }
    if (!starts(row->source, "InferenceX ") || strcmp(row->spec_decode, "mtp") != 0 ||
        row->disagg_decode_gpus > 0) {
        return 0;
    }
    return program == TENSORRT_LLM ? strcmp(row->dp_attention, "True") == 0 ? alone : together
           : program == SGLANG     ? sglang
                                   : 0;
}

/* NVIDIA's pools have 1, 2, 4, ... sequences or half as many more for as many requests, or a few
 * more. */
int64_t calc_serving_recipe_slots(const calc_serving_row *row, calc_serving_engine engine,
                                  double each)
{
    double slots = 1;
    if (!starts(row->source, "InferenceX ") || program_of(engine) != TENSORRT_LLM) {
        return 0;
    }
    while (2 * slots <= each) {
        slots *= 2;
    }
    return (int64_t)(slots > 1 && 1.5 * slots <= each ? 1.5 * slots : slots);
}

calc_serving_limits calc_serving_limits_of(calc_serving_engine engine, const char *system)
{
    static const char *const small[] = {"a100", "a800", "l40s", "rtx", "v100"};
    const calc_serving_limits others = {0, 8192};
    calc_serving_limits vllm = {1024, 8192}; /* 70 GiB and more, but for A100 */
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        vllm = starts(system, small[i]) ? (calc_serving_limits){256, 2048} : vllm;
    }
    const calc_serving_limits tensorrt_llm = {2048, 8192};
    switch (program_of(engine)) {
    case VLLM:
        return vllm;
    case TENSORRT_LLM:
        return tensorrt_llm;
    default:
        return others;
    }
}

calc_serving_recipe calc_serving_recipe_of(const calc_serving_row *row, calc_serving_engine engine,
                                           const char *system)
{
    int program = program_of(engine);
    size_t i = 0;
    while (recipes[i].program != OTHER &&
           !(strstr(row->source, recipes[i].source) && recipes[i].program == program &&
             starts(system, recipes[i].machine) && strstr(row->model, recipes[i].model) &&
             starts(row->weight_dtype, recipes[i].weights) &&
             (!*recipes[i].before || strcmp(row->date, recipes[i].before) < 0))) {
        i++;
    }
    int prompts = recipes[i].prompts;
    int64_t tokens = prompts > 0 ? prompts * (int64_t)row->isl : recipes[i].chunk_size;
    return (calc_serving_recipe){recipes[i].kv_datatype, tokens, hold_of(row, program, system),
                                 drafts_of(row, program), recipes[i].assumed};
}
