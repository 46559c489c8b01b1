/** @file serving_names.h  Publishers' names of models, machines and engines, in calc's words. */
#ifndef CALC_VALIDATE_SERVING_NAMES_H
#define CALC_VALIDATE_SERVING_NAMES_H

#include "validate/serving_rows.h"

/** Number formats that a checkpoint is published in. */
typedef enum calc_serving_checkpoint {
    CALC_SERVING_CHECKPOINT_16_BITS,
    CALC_SERVING_CHECKPOINT_FLOAT8,       /**< a scale per tensor */
    CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK, /**< a scale per block */
    CALC_SERVING_CHECKPOINT_MXFP4         /**< experts alone */
} calc_serving_checkpoint;

/** A model. */
typedef struct calc_serving_model {
    const char *name; /**< of its file */
    calc_serving_checkpoint checkpoint;
} calc_serving_model;

/** The model that a row means: one of the table, or the file of that name, if there is one. */
calc_serving_model calc_serving_model_of(const calc_serving_row *row);

/** The name of the file of a row's machine: one of the table, or the row's own word.
 *  @param assumed  filled with the assumption made; NULL: none */
const char *calc_serving_machine_of(const calc_serving_row *row, const char **assumed);

/** The engine of a row: by its version, or if that is not known by the date.
 *  @param year  filled with that of the row's date; without one that of the engine's version
 *  @return CALC_SERVING_ENGINE_NONE with a reason: the engine or its version is not known */
calc_serving_engine calc_serving_engine_of(const calc_serving_row *row, int *year,
                                           const char **reason);

/** The publisher of a source's runs: a source that passes on another's runs names it. */
const char *calc_serving_publisher(const char *source);

/* ---- Recipes --------------------------------------------------------------------------------- */

/* Options that a publisher gave the engine, but does not print in its rows: number format of the
 * cache, tokens of a step, drafts. */

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
