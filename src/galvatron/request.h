/** @file request.h  The request of Galvatron's search: the entries of its `search_engine` block,
 *  with its names and defaults (docs/layers.md), and the layers of the model. */
#ifndef CALC_GALVATRON_REQUEST_H
#define CALC_GALVATRON_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALC_GALVATRON_TYPES = 4 /**< kinds of layers, one after the other */ };

typedef enum calc_galvatron_dp {
    CALC_GALVATRON_DDP,
    CALC_GALVATRON_ZERO2,
    CALC_GALVATRON_ZERO3
} calc_galvatron_dp;
typedef enum calc_galvatron_schedule {
    CALC_GALVATRON_GPIPE,
    CALC_GALVATRON_PIPEDREAM_FLUSH
} calc_galvatron_schedule;
typedef enum calc_galvatron_precision {
    CALC_GALVATRON_FP32,
    CALC_GALVATRON_FP16,
    CALC_GALVATRON_BF16
} calc_galvatron_precision;
typedef enum calc_galvatron_time_mode {
    CALC_GALVATRON_TIME_STATIC,
    CALC_GALVATRON_TIME_BATCH,
    CALC_GALVATRON_TIME_SEQUENCE
} calc_galvatron_time_mode;
typedef enum calc_galvatron_memory_mode {
    CALC_GALVATRON_MEMORY_STATIC,
    CALC_GALVATRON_MEMORY_SEQUENCE
} calc_galvatron_memory_mode;

/** The cost model. */
typedef enum calc_galvatron_dialect {
    CALC_GALVATRON_UPSTREAM,
    CALC_GALVATRON_PADDLE /**< the port in PaddleNLP: paddle.h */
} calc_galvatron_dialect;

/** Layers of equal sizes. */
typedef struct calc_galvatron_layers {
    int64_t hidden_size, layer_num, seq_len;
} calc_galvatron_layers;

/** The request. */
typedef struct calc_galvatron_request {
    char model[64]; /**< name used in its files */
    int types;
    calc_galvatron_layers layers[CALC_GALVATRON_TYPES];
    /* parallelism_info, common_train_info */
    calc_galvatron_dp default_dp_type; /**< DDP or ZERO2 */
    calc_galvatron_schedule pipeline_type;
    bool async_grad_reduce;
    calc_galvatron_precision mixed_precision;
    bool sequence_parallel, global_memory_buffer;
    /* hardware_info */
    int64_t num_nodes, num_gpus_per_node;
    double memory_constraint; /**< GB of 1,024 MB; upstream accepts whole ones only */
    /* batch_size_info */
    int64_t min_bsz, max_bsz, bsz_scale;
    int64_t settle_bsz, settle_chunk; /**< -1: all */
    /* search_space_info */
    bool disable_dp, disable_tp, disable_cp, disable_sp, disable_pp, disable_ckpt, disable_fsdp;
    bool disable_embedding_lmhead_tp, disable_embedding_lmhead_sp;
    int64_t max_tp_deg, max_pp_deg, max_sp_deg, max_cp_deg; /**< -1: no limit */
    /* profiling_info */
    calc_galvatron_time_mode time_profile_mode;
    calc_galvatron_memory_mode memory_profile_mode;
    /* options_info, debug_info */
    bool fine_grained; /**< fine_grained_mode: layers may differ */
    double debug_costmodel_coe;
    /* calc's own */
    calc_galvatron_dialect dialect;
    bool compat; /**< upstream's budget rule, whole MB, objective and ties */
} calc_galvatron_request;

/** Galvatron's defaults, without layers. */
calc_galvatron_request calc_galvatron_request_default(void);

/** Checks that a search is possible: there are layers, the number of GPUs is a power of two, there
 *  is a batch, and no options contradict one another.
 *  @param why  on failure, the mistake and a remedy */
bool calc_galvatron_request_check(const calc_galvatron_request *request, char *why, size_t size);

/** The split of one layer, or of embedding and head together, over the ranks. At most one of tp and
 *  sp is above 1. */
typedef struct calc_galvatron_strategy {
    int pp, tp, sp, cp, dp;
    calc_galvatron_dp type;
    bool checkpoint;
} calc_galvatron_strategy;
static inline int calc_galvatron_degree(const calc_galvatron_strategy *s)
{
    return s->tp > s->sp ? s->tp : s->sp;
}

#endif
