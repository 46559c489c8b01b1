#include "validate/serving_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/serving_program.h"

/* ---- Models ---------------------------------------------------------------------------------- */

/* Without the publisher, "Meta-" and endings that are no other shape. */
static const struct {
    const char *name, *model;
    calc_serving_checkpoint checkpoint; /* if its name does not say */
} models[] = {{"llama-7b", "llama-7B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-70b", "llama2-70B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-2-7b", "llama2-7B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-2-13b", "llama2-13B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-2-70b", "llama2-70B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-3-8b", "llama3-8B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-3-70b", "llama3-70B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-3.1-8b", "llama3-8B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-3.1-70b", "llama3-70B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"llama-3.1-405b", "llama3-405B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"mistral-7b", "mistral-7B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"mixtral-8x7b", "mixtral-8x7B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"qwen3-8b", "qwen3-8B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"qwen3-14b", "qwen3-14B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"qwen3-32b", "qwen3-32B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"qwen3-30b-a3b", "qwen3-30B-A3B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"qwen3-235b-a22b", "qwen3-235B-A22B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"gpt-oss-20b", "gpt-oss-20B", CALC_SERVING_CHECKPOINT_MXFP4},
              {"gpt-oss-120b", "gpt-oss-120B", CALC_SERVING_CHECKPOINT_MXFP4},
              {"deepseek-r1", "deepseek-v3-671B", CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK},
              {"minimax-m2.5", "minimax-m2-230B", CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK},
              {"falcon-180b", "falcon-180B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"gpt-j-6b", "gptj-6B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"decilm-7b", "decilm-7B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"bloom-176b", "bloom-176B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"bloom-7b1", "bloom-7.1B", CALC_SERVING_CHECKPOINT_16_BITS},
              {"opt-6.7b", "opt-6.7B", CALC_SERVING_CHECKPOINT_16_BITS}};

/* Remove `ending` if the name has it. */
static bool cut(char *name, const char *ending)
{
    size_t length = strlen(name), last = strlen(ending);
    bool has = length > last && strcmp(name + length - last, ending) == 0;
    name[has ? length - last : length] = '\0';
    return has;
}

/* "meta-llama/Meta-Llama-3-8B" is "llama-3-8b". @return whether its weights have 8 bits */
static bool plain_name(const char *printed, char *name, size_t size)
{
    static const char *const endings[] = {"-fp8", "-instruct", "-hf", "-v0.1", "-2507", "-0528"};
    enum { FP8, ENDINGS = sizeof endings / sizeof *endings };
    const char *slash = strrchr(printed, '/');
    const char *from = slash ? slash + 1 : printed;
    from += strncmp(from, "Meta-", 5) == 0 ? 5 : 0;
    size_t length = 0;
    for (; *from && length + 1 < size; from++) {
        name[length++] = *from == ' ' || *from == '_' ? '-' : (char)tolower((unsigned char)*from);
    }
    name[length] = '\0';
    bool float8 = false;
    for (int i = 0; i < ENDINGS; i++) {
        if (cut(name, endings[i])) {
            float8 = float8 || i == FP8;
            i = -1; /* others may stand before it */
        }
    }
    return float8;
}

calc_serving_model calc_serving_model_of(const calc_serving_row *row)
{
    char name[64];
    bool float8 = plain_name(row->model, name, sizeof name);
    calc_serving_model model = {row->model, CALC_SERVING_CHECKPOINT_16_BITS};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (strcmp(models[i].name, name) == 0) {
            model = (calc_serving_model){models[i].model, models[i].checkpoint};
        }
    }
    if (float8 && model.checkpoint == CALC_SERVING_CHECKPOINT_16_BITS) {
        /* Qwen publishes theirs with a scale per block of 128 x 128. */
        model.checkpoint = strncmp(name, "qwen", 4) == 0 ? CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK
                                                         : CALC_SERVING_CHECKPOINT_FLOAT8;
    }
    return model;
}

/* ---- Machines -------------------------------------------------------------------------------- */

/* The first whose name the row's starts with. */
static const struct {
    const char *start, *system, *assumed;
} machines[] = {
    {"A100-SXM (40GB or 80GB", "a100_sxm_40g",
     "40 GB: which A100 is not printed, and one sequence is decoded at the speed of its memory"},
    {"A100-SXM-80GB", "a100_sxm_80g", NULL},
    {"H100-SXM", "h100_sxm", NULL},
    {"H200-SXM", "h200", NULL},
    {"H800-SXM", "h800", NULL},
    {"GH200", "gh200", NULL},
    {"L40S", "l40s", NULL},
    {"B200-SXM", "b200", NULL},
    {"B300-SXM", "b300", NULL},
    {"GB200-NVL72", "gb200_nvl72", NULL},
    {"GB300-NVL72", "gb300_nvl72", NULL},
    {"MI250", "mi250", "GPUs are counted as dies, as programs see them"},
    {"MI300X", "mi300x", NULL},
    {"MI325X", "mi325x", NULL},
    {"MI355X", "mi355x", NULL},
    {"Ascend-910B", "ascend_910b", NULL}};

const char *calc_serving_machine_of(const calc_serving_row *row, const char **assumed)
{
    *assumed = NULL;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (strncmp(row->gpu, machines[i].start, strlen(machines[i].start)) == 0) {
            *assumed = machines[i].assumed;
            return machines[i].system;
        }
    }
    return row->gpu;
}

/* ---- Engines --------------------------------------------------------------------------------- */

/* From which version and month on an engine is as it is; the newest first. A version a.b.c is
 * VERSION(a, b, c), a month 100 year + month. */
#define VERSION(a, b, c) (1000000 * (a) + 1000 * (b) + (c))

static const struct {
    const char *word;
    int version, month;
    calc_serving_engine engine;
} engines[] = {{"vllm", VERSION(0, 11, 0), 202510, CALC_SERVING_ENGINE_VLLM_0_11},
               {"vllm", VERSION(0, 8, 0), 202503, CALC_SERVING_ENGINE_VLLM_0_8},
               {"vllm", VERSION(0, 6, 0), 202409, CALC_SERVING_ENGINE_VLLM_0_6},
               {"vllm", VERSION(0, 5, 0), 202406, CALC_SERVING_ENGINE_VLLM_0_5},
               {"vllm", VERSION(0, 2, 0), 202309, CALC_SERVING_ENGINE_VLLM_0_2},
               {"vllm-rocm", VERSION(6, 0, 0), 202501, CALC_SERVING_ENGINE_VLLM_ROCM_0_6},
               {"sglang", VERSION(0, 5, 0), 202508, CALC_SERVING_ENGINE_SGLANG_0_5},
               {"sglang-rocm", VERSION(0, 5, 5), 202601, CALC_SERVING_ENGINE_SGLANG_ROCM_0_5_5},
               {"sglang-rocm", VERSION(0, 5, 0), 202509, CALC_SERVING_ENGINE_SGLANG_ROCM_0_5},
               {"tensorrt-llm", VERSION(1, 2, 0), 202601, CALC_SERVING_ENGINE_TENSORRT_LLM_1_2},
               {"tensorrt-llm", VERSION(1, 1, 0), 202511, CALC_SERVING_ENGINE_TENSORRT_LLM_1_1},
               {"tensorrt-llm", VERSION(1, 0, 0), 202506, CALC_SERVING_ENGINE_TENSORRT_LLM_1_0},
               {"tensorrt-llm", VERSION(0, 7, 0), 202401, CALC_SERVING_ENGINE_TENSORRT_LLM_0_9},
               {"tensorrt-llm", VERSION(0, 5, 0), 202310, CALC_SERVING_ENGINE_TENSORRT_LLM_0_5},
               {"dynamo-trt", 0, 202510, CALC_SERVING_ENGINE_TENSORRT_LLM_1_2},
               {"atom", VERSION(0, 1, 0), 202601, CALC_SERVING_ENGINE_ATOM_0_1},
               {"gpt-fast", 0, 202311, CALC_SERVING_ENGINE_GPT_FAST_2023}};

/* Words that mean an engine; longer ones that contain others first. Dynamo and Mori run others'. */
static const struct {
    const char *word, *engine;
} words[] = {{"sglang", "sglang"},
             {"dynamo-trt", "dynamo-trt"},
             {" rocm ", "vllm-rocm"}, /* AMD's builds of vLLM, and the version of ROCm */
             {"vllm", "vllm"},
             {"tensorrt-llm", "tensorrt-llm"},
             {"tensorrt_llm", "tensorrt-llm"},
             {"trtllm", "tensorrt-llm"},
             {"trt", "tensorrt-llm"},
             {"atom", "atom"},
             {"gpt-fast", "gpt-fast"}};

/* A version a.b or a.b.c at `text`, behind a separator and "v"; -1: there is none. @param length
 * filled */
static int version_at(const char *text, const char **digits, size_t *length)
{
    text += strspn(text, " :-") > 0 ? 1 : 0;
    text += *text == 'v';
    char *end;
    long major = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
    if (major < 0 || major > 99 || *end != '.' || !isdigit((unsigned char)end[1])) {
        return -1;
    }
    long minor = strtol(end + 1, &end, 10);
    bool patched = *end == '.' && isdigit((unsigned char)end[1]);
    long patch = patched ? strtol(end + 1, &end, 10) : 0;
    *digits = text;
    *length = strcspn(text, " );");
    return minor < 1000 && patch < 1000 ? (int)VERSION(major, minor, patch) : -1;
}

/* The version behind one of the places of `word`; -1: none. The version of an image of Dynamo is
 * Dynamo's own, also where it is printed as the engine's. */
static int version_behind(const char *software, const char *word)
{
    const char *image = strstr(software, "-runtime:");
    image = image ? image + strlen("-runtime:") : "";
    for (const char *at = strstr(software, word); at; at = strstr(at + 1, word)) {
        const char *digits = "";
        size_t length = 0;
        int version = version_at(at + strlen(word), &digits, &length);
        if (version >= 0 && strncmp(image, digits, length) != 0) {
            return version;
        }
    }
    return -1;
}

/* The first month in a text; a year alone is its middle; 0: neither. */
static int month_of(const char *text)
{
    char *end;
    long year = strtol(text, &end, 10);
    long month = *end == '-' ? strtol(end + 1, NULL, 10) : 7;
    return year > 1999 && year < 2100 && month >= 1 && month <= 12 ? (int)(100 * year + month) : 0;
}

/* AMD's builds of SGLang have kernels of their own. */
static const char *build_of(const calc_serving_row *row, const char *engine)
{
    const char *assumed;
    bool amd = strncmp(calc_serving_machine_of(row, &assumed), "mi", 2) == 0;
    return amd && strcmp(engine, "sglang") == 0 ? "sglang-rocm" : engine;
}

calc_serving_engine calc_serving_engine_of(const calc_serving_row *row, int *year,
                                           const char **reason)
{
    char software[160];
    size_t length = 0;
    for (; row->software[length] && length + 1 < sizeof software; length++) {
        software[length] = (char)tolower((unsigned char)row->software[length]);
    }
    software[length] = '\0';
    int month = month_of(row->date);
    *year = month / 100;
    *reason = "the serving engine is not described, or not named";
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (!strstr(software, words[w].word)) {
            continue;
        }
        const char *engine = build_of(row, words[w].engine);
        int version = version_behind(software, words[w].word);
        version = version < 0 ? version_behind(software, "/release") : version;
        for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
            bool old = version >= 0 ? version < engines[i].version : month < engines[i].month;
            if (strcmp(engines[i].word, engine) == 0 && !old) {
                *year = month > 0 ? month / 100 : engines[i].month / 100;
                *reason = NULL;
                return engines[i].engine;
            }
        }
        *reason = version < 0 && month == 0 ? "neither version nor date of the engine"
                                            : "this version of the engine is not described";
        break;
    }
    return CALC_SERVING_ENGINE_NONE;
}

const char *calc_serving_publisher(const char *source)
{
    static const char *const handed_on[] = {"InferenceX"};
    for (size_t i = 0; i < sizeof handed_on / sizeof *handed_on; i++) {
        if (strstr(source, handed_on[i])) {
            return handed_on[i];
        }
    }
    return source;
}

/* ---- Recipes --------------------------------------------------------------------------------- */

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
