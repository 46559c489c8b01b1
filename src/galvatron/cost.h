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

#include "galvatron/request.h"

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

#endif
