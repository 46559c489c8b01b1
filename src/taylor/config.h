/** @file config.h  Reads the configuration that Taylor starts from, a MindSpore Transformers YAML
 *  file, as a calc model and the sizes that the planner searches. */
#ifndef CALC_TAYLOR_CONFIG_H
#define CALC_TAYLOR_CONFIG_H

#include "balance/evaluate.h"
#include "calc.h"

typedef struct calc_taylor_config {
    calc_app app;   /**< prediction layers count as blocks, as in the planner */
    calc_exec exec; /**< as in the file, with one chunk per stage; runner_config.batch_size
                     *  sequences per micro-batch */
    int64_t data, tensor, pipeline, expert;
    int64_t microbatches; /**< parallel_config.micro_batch_num */
    int64_t chunks;       /**< model.model_config.pp_interleave_num, or the rows of offset */
    int64_t layers;       /**< num_layers: without prediction layers */
    int64_t prediction;   /**< mtp_depth */
    int64_t dense;        /**< layers without experts, which come first */
    int64_t experts;      /**< 0: no layer has any */
    int64_t heads;        /**< attention heads */
    calc_balance_recompute again; /**< for a list of counts, the kind of its largest count */
    const char *layers_key;       /**< the key that gives their number; static text */
    int64_t strategies;           /**< rows of parallel.dataset_strategy; 0: it is missing */
    bool selects;                 /**< some operators are recomputed */
    bool shards;                  /**< the optimizer state is sharded over replicas */
    double memory_mb;             /**< context.max_device_memory, in GB * 1024; else 58 * 1024 */
    bool says_memory;             /**< otherwise the limit is Taylor's default */
} calc_taylor_config;

/** Number of processors: data * tensor * pipeline parallelism. */
int64_t calc_taylor_config_world(const calc_taylor_config *config);

/** Reads a file's text.
 *  @param name  the file's name in errors
 *  @return CALC_OK; CALC_ERR_SYNTAX, _FIELD, _RANGE or _RULE with errors that name the line, the
 *  key, the value found and the allowed values */
CALC_MUST_USE calc_status calc_taylor_config_parse(calc_taylor_config *out, const char *text,
                                                   size_t length, const char *name,
                                                   calc_errors *errors);

/** Sets this recomputation for the first `blocks` of each stage, or for all blocks if that is 0. */
void calc_taylor_config_recompute(const calc_taylor_config *config, calc_balance_recompute again,
                                  int64_t blocks, calc_exec *exec);

/** The execution of a layout of the same model. @param expert  0 means 1 */
calc_exec calc_taylor_config_exec(const calc_taylor_config *config, int64_t data, int64_t tensor,
                                  int64_t pipeline, int64_t expert, int64_t batch,
                                  calc_balance_recompute again);

/* The layouts that Taylor enumerates, and its filters for experts: quadruples (dp,
 * tp, cp, pp) whose product is the world, with every ep, optimizer shard, number of chunks,
 * micro-batch and setting of sequence parallelism. No list is built: loops count, and call
 * back. */

/** Bounds of the enumeration and its filters. */
typedef struct calc_taylor_space {
    int64_t world, batch;
    int64_t layers, prediction; /**< num_layers, and mtp_depth in addition */
    /** Upper bound of expert parallelism; 0: no bound; 1: there are no experts, and optimizer
     *  shards need not contain whole groups of an expert's replicas. */
    int64_t experts;
    int64_t heads; /**< tensor parallelism must divide it; 0: any */
    int64_t most_context, most_tensor, most_expert, fewest_stages, most_stages;
    int64_t sequence_from;      /**< smallest world with sequence parallelism */
    int64_t tensor_indivisible; /**< tensor parallelism must not be a multiple of it; 0: any */
    bool fills;                 /**< requires at least as many micro-batches and layers as stages */
    bool divides;               /**< replicas must divide the batch */
} calc_taylor_space;

typedef struct calc_taylor_layout {
    int64_t data, tensor, context, pipeline;
} calc_taylor_layout;

/** Numbers of candidates: all, those kept, and the quadruples of those kept. */
typedef struct calc_taylor_counts {
    int64_t total, kept, layouts;
} calc_taylor_counts;

enum { CALC_TAYLOR_MICROBATCH_MOST = 4 /**< 1, 2 and 4 are tried */ };

/** Counts the candidates, and calls `visit` with each quadruple that is kept, in ascending order of
 *  dp, tp, cp. The world must have 1 to 10^6 processors. */
calc_taylor_counts calc_taylor_space_walk(const calc_taylor_space *space,
                                          void (*visit)(void *context,
                                                        const calc_taylor_layout *layout),
                                          void *context);

#endif
