/** @file cost.h  Galvatron's cost model: time and memory of a layer, of the embedding and head, and
 *  of a whole step, from profiles (docs/layers.md). The functions are pure and do not allocate.
 *  Units are seconds, and MB of 2^20 bytes per GPU. The arithmetic is in upstream's order, so that
 *  ties are the same where its fits do not decide them.
 *
 *  A strategy must satisfy three rules: pp tp sp cp dp = GPUs of the request, at most one of tp and
 *  sp above 1, and at least one sample per micro-batch and replica: gbsz / chunks >= dp. The
 *  request must search its tp, sp and pp, because profiles contain no others. */
#ifndef CALC_GALVATRON_COST_H
#define CALC_GALVATRON_COST_H

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
    CALC_GALVATRON_PADDLE /**< the port in PaddleNLP */
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

/** Ranks that share the work on one sample's layer. */
static inline int calc_galvatron_degree(const calc_galvatron_strategy *s)
{
    return s->tp > s->sp ? s->tp : s->sp;
}

/** Profiles in the form that the model uses; filled by the functions of profiles.h. */
typedef struct calc_galvatron_profiles calc_galvatron_profiles;

/** The inputs of every cost: a batch divided into micro-batches. */
typedef struct calc_galvatron_case {
    const calc_galvatron_request *request;
    const calc_galvatron_profiles *profiles;
    int64_t gbsz;   /**< samples of a step */
    int64_t chunks; /**< micro-batches of a step */
} calc_galvatron_case;

/** Costs of one layer and one micro-batch. */
typedef struct calc_galvatron_layer_cost {
    double forward_s;  /**< computing [s] */
    double backward_s; /**< computing, with the second forward pass of a checkpointed layer */
    double tp_s;       /**< messages of tensor or sequence parallelism, fully exposed */
    double sync_s;     /**< total of the micro-batch after which gradients are reduced */
    double nosync_s;   /**< total of any other micro-batch */
} calc_galvatron_layer_cost;

/** Number of GPUs: nodes times GPUs of a node. */
int64_t calc_galvatron_world(const calc_galvatron_request *request);

/** Number of layers of all types. */
int64_t calc_galvatron_layer_count(const calc_galvatron_request *request);

/** Samples of a micro-batch on one rank. */
int64_t calc_galvatron_local_batch(const calc_galvatron_case *c,
                                   const calc_galvatron_strategy *strategy);

/** Times of a layer of a type. They do not depend on the stage. */
calc_galvatron_layer_cost calc_galvatron_layer_cost_of(const calc_galvatron_case *c,
                                                       const calc_galvatron_strategy *strategy,
                                                       int type);

/** Memory of a layer of a type on a stage (0-based): states and activations in flight. [MB] */
double calc_galvatron_layer_mb(const calc_galvatron_case *c,
                               const calc_galvatron_strategy *strategy, int type, int stage);

/** The part of this memory for parameters, gradients and optimizer. [MB] */
double calc_galvatron_layer_states_mb(const calc_galvatron_case *c,
                                      const calc_galvatron_strategy *strategy, int type);

/** Cost of embedding and head on a stage; 0 on stages without either. `checkpoint` is ignored. */
typedef struct calc_galvatron_ends_cost {
    double sync_s, nosync_s; /**< of a micro-batch, as of a layer */
    double mb;               /**< including the framework's own memory, on every stage */
} calc_galvatron_ends_cost;
calc_galvatron_ends_cost calc_galvatron_ends_cost_of(const calc_galvatron_case *c,
                                                     const calc_galvatron_strategy *strategy,
                                                     int stage);

/** Size of the buffer for gathered activations, on every stage, not rounded [MB]; 0 if the request
 *  has none. Do not call it if all strategies use Ulysses: the search then has no buffer.
 *  @param tp  largest degree that the search may use */
double calc_galvatron_buffer_mb(const calc_galvatron_case *c, int pp, int tp);

/** Cost that the search adds between two successive layers, the second of `type`: the time of
 *  re-sharding times 100, or the constants by which upstream breaks ties. */
double calc_galvatron_transition(const calc_galvatron_case *c, const calc_galvatron_strategy *from,
                                 const calc_galvatron_strategy *to, int type);

/** Number of layers of a stage: equal on all stages, with the remainder on the last. */
int64_t calc_galvatron_stage_layers(const calc_galvatron_request *request, int pp, int stage);

/** Time of the whole step from the sums over each stage. [s]
 *  @param sync_s    [pp]: sums of the stage's layers, without embedding and head
 *  @param nosync_s  [pp]: sums of the stage's layers plus nosync_s of embedding and head */
double calc_galvatron_pipeline_s(int pp, int64_t chunks, const double *sync_s,
                                 const double *nosync_s);

/** Number of micro-batches whose activations a stage holds at the same time. */
double calc_galvatron_in_flight(const calc_galvatron_case *c, int pp, int stage);

/* Differences of the cost model in PaddleNLP's port of Galvatron
 * (calc_galvatron_request.dialect): optimizer states beside parameters and gradients of other
 * formats, three ways of sharding states, and messages of tensor parallelism as all-reduces.
 * Everything else is as in upstream. */

static inline bool calc_galvatron_is_paddle(const calc_galvatron_case *c)
{
    return c->request->dialect == CALC_GALVATRON_PADDLE;
}

/** All states of a layer divided by its parameters of two bytes. With one micro-batch there are no
 *  accumulated gradients. */
double calc_galvatron_paddle_states(const calc_galvatron_case *c);

/** Share of the states on a rank. @param sdp  number of ranks that shard them */
double calc_galvatron_paddle_ratio(const calc_galvatron_case *c, calc_galvatron_dp type, int sdp);

/** Messages of tensor parallelism in one layer [ms]: four all-reduces, which recomputation does not
 *  repeat; all-gathers if Ulysses is searched too.
 *  @param mb  activations of the micro-batch */
double calc_galvatron_paddle_tp_ms(const calc_galvatron_case *c, const calc_galvatron_strategy *s,
                                   double mb);

/** Share of a backward pass that can hide the reduction of gradients. */
double calc_galvatron_paddle_hiding(const calc_galvatron_strategy *s);

#endif
