/** @file serving_recipes.h  Options that a publisher gave the engine, but does not print in its
 * rows: number format of the cache, tokens of a step, drafts. */
#ifndef CALC_VALIDATE_SERVING_RECIPES_H
#define CALC_VALIDATE_SERVING_RECIPES_H

#include "validate/serving_names.h"

/** The options given to the engine. */
typedef struct calc_serving_recipe {
    calc_format kv_datatype;
    int64_t chunk_size;  /**< tokens of prompts in a step */
    int64_t hold_steps;  /**< for which prompts are let wait */
    int64_t drafts;      /**< tokens drafted where drafts are on; 0: not known */
    const char *assumed; /**< where that is from */
} calc_serving_recipe;

/** The recipe of a row whose engine, machine and model are known. */
calc_serving_recipe calc_serving_recipe_of(const calc_serving_row *row, calc_serving_engine engine,
                                           const char *system);

/** Sequences that a replica of a pool decodes at once at most, for `each` requests of its own; 0:
 *  not known. */
int64_t calc_serving_recipe_slots(const calc_serving_row *row, calc_serving_engine engine,
                                  double each);

/** The default limits of an engine. */
typedef struct calc_serving_limits {
    int64_t sequences; /**< that a replica runs at once; 0: as many as its cache holds */
    int64_t tokens;    /**< of prompts in a step */
} calc_serving_limits;

/** Sources: vLLM, vllm/engine/arg_utils.py (of its server); SGLang, python/sglang/srt/
 *  server_args.py; TensorRT-LLM, tensorrt_llm/llmapi/llm_args.py. */
calc_serving_limits calc_serving_limits_of(calc_serving_engine engine, const char *system);

/** Whether the engine admits a request only where it has room to its end (TensorRT-LLM's
 *  GUARANTEED_NO_EVICT), not as long as the current tokens fit. */
bool calc_serving_reserves(calc_serving_engine engine);

/** Whether chunks of prompts run beside decoded tokens; SGLang runs what has come between steps. */
bool calc_serving_mixes(calc_serving_engine engine);

#endif
