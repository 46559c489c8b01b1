#include "validate/serving_recipes.h"

#include <string.h>

enum { VLLM, SGLANG, TENSORRT_LLM, ATOM, OTHER };

static int family_of(calc_serving_engine engine)
{
    switch (engine) {
    case CALC_SERVING_ENGINE_VLLM_0_2:
    case CALC_SERVING_ENGINE_VLLM_0_5:
    case CALC_SERVING_ENGINE_VLLM_0_6:
    case CALC_SERVING_ENGINE_VLLM_0_8:
    case CALC_SERVING_ENGINE_VLLM_0_11:
    case CALC_SERVING_ENGINE_VLLM_ROCM_0_6:
        return VLLM;
    case CALC_SERVING_ENGINE_SGLANG_0_5:
        return SGLANG;
    case CALC_SERVING_ENGINE_TENSORRT_LLM_0_5:
    case CALC_SERVING_ENGINE_TENSORRT_LLM_0_9:
    case CALC_SERVING_ENGINE_TENSORRT_LLM_1_0:
    case CALC_SERVING_ENGINE_TENSORRT_LLM_1_1:
    case CALC_SERVING_ENGINE_TENSORRT_LLM_1_2:
        return TENSORRT_LLM;
    case CALC_SERVING_ENGINE_ATOM_0_1:
        return ATOM;
    default:
        return OTHER;
    }
}

static const char inferencex[] = "cache format and tokens per step from the recipes of InferenceX "
                                 "(benchmarks/, 2025-10 to 2026-01)";
static const char early[] = "cache in 8 bits beside weights in 8 bits: published batches do not "
                            "fit with another";
static const char defaults[] = "tokens per step: 8,192, a default of engines";

/* The first that fits counts. InferenceX: benchmarks/dsr1_*, 70b_*, with max_num_tokens of
 * TensorRT-LLM, a prompt and a token of each sequence, not below 8,192. */
static const struct {
    const char *source;  /* contained */
    int family;          /* of the engine */
    const char *machine; /* start of its name; "": any */
    const char *weights; /* start of the format; "": any */
    calc_format kv_datatype;
    int64_t chunk_size;
    const char *assumed;
} recipes[] = {{"InferenceX", TENSORRT_LLM, "", "", CALC_FORMAT_FLOAT8, 8192, inferencex},
               {"InferenceX", VLLM, "", "", CALC_FORMAT_FLOAT8, 8192, inferencex},
               {"InferenceX", ATOM, "", "", CALC_FORMAT_FLOAT8, 16384, inferencex},
               {"InferenceX", SGLANG, "h", "", CALC_FORMAT_AUTO, 32768, inferencex},
               {"InferenceX", SGLANG, "mi3", "", CALC_FORMAT_AUTO, 196608, inferencex},
               {"InferenceX", SGLANG, "", "fp4", CALC_FORMAT_FLOAT8, 16384, inferencex},
               {"InferenceX", SGLANG, "", "", CALC_FORMAT_FLOAT8, 32768, inferencex},
               {"TensorRT-LLM", TENSORRT_LLM, "", "fp8", CALC_FORMAT_FLOAT8, 8192, early},
               {"", OTHER, "", "", CALC_FORMAT_AUTO, 8192, defaults}};

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

calc_serving_recipe calc_serving_recipe_of(const calc_serving_row *row, calc_serving_engine engine,
                                           const char *system)
{
    size_t i = 0;
    while (recipes[i].family != OTHER &&
           !(strstr(row->source, recipes[i].source) && recipes[i].family == family_of(engine) &&
             starts(system, recipes[i].machine) && starts(row->weight_dtype, recipes[i].weights))) {
        i++;
    }
    return (calc_serving_recipe){recipes[i].kv_datatype, recipes[i].chunk_size, recipes[i].assumed};
}
