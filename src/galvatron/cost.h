/** @file cost.h  Galvatron's cost model: what a layer, the embedding and head, and a whole step
 * take and hold, from profiles (docs/layers.md). Pure functions, without allocation; seconds, and
 * MB of 2^20 bytes on each GPU. The order of the arithmetic is upstream's, so that ties are.
 *
 *  A strategy must split the GPUs of the request (pp tp sp cp dp = their number), at most one of tp
 *  and sp above 1, and leave at least a sample to each micro-batch: gbsz / chunks >= dp. Its tp, sp
 *  and pp must be ones that the request searches: profiles have those and no others. */
#ifndef CALC_GALVATRON_COST_H
#define CALC_GALVATRON_COST_H

#include "galvatron/request.h"

/** Profiles as the model wants them; filled by the functions of profiles.h. */
typedef struct calc_galvatron_profiles calc_galvatron_profiles;

/** What every cost is of: a batch in micro-batches. */
typedef struct calc_galvatron_case {
    const calc_galvatron_request *request;
    const calc_galvatron_profiles *profiles;
    int64_t gbsz;   /**< samples of a step */
    int64_t chunks; /**< micro-batches of a step */
} calc_galvatron_case;

/** One layer, one micro-batch. */
typedef struct calc_galvatron_layer_cost {
    double forward_s;  /**< computing */
    double backward_s; /**< computing, with the second forward of a checkpointed layer */
    double tp_s;       /**< messages of tensor or sequence parallelism, all of them exposed */
    double sync_s;     /**< the micro-batch after which gradients are reduced: all of it */
    double nosync_s;   /**< any other micro-batch */
} calc_galvatron_layer_cost;

/** GPUs: nodes times those of a node. */
int64_t calc_galvatron_world(const calc_galvatron_request *request);

/** Layers of all types. */
int64_t calc_galvatron_layer_count(const calc_galvatron_request *request);

/** Samples of a micro-batch on one rank. */
int64_t calc_galvatron_local_batch(const calc_galvatron_case *c,
                                   const calc_galvatron_strategy *strategy);

/** Times of a layer of a type. They do not depend on the stage. */
calc_galvatron_layer_cost calc_galvatron_layer_cost_of(const calc_galvatron_case *c,
                                                       const calc_galvatron_strategy *strategy,
                                                       int type);

/** What a layer of a type holds on a stage, 0-based: states and activations in flight. */
double calc_galvatron_layer_mb(const calc_galvatron_case *c,
                               const calc_galvatron_strategy *strategy, int type, int stage);

/** Of these, its parameters, gradients and optimizer. */
double calc_galvatron_layer_states_mb(const calc_galvatron_case *c,
                                      const calc_galvatron_strategy *strategy, int type);

/** Embedding and head on a stage: nothing where there is neither. `checkpoint` is not looked at. */
typedef struct calc_galvatron_ends_cost {
    double sync_s, nosync_s; /**< of a micro-batch, as of a layer */
    double mb;               /**< with what the framework takes, on every stage */
} calc_galvatron_ends_cost;
calc_galvatron_ends_cost calc_galvatron_ends_cost_of(const calc_galvatron_case *c,
                                                     const calc_galvatron_strategy *strategy,
                                                     int stage);

/** The buffer that activations are gathered into, on every stage, unrounded; 0 if the request has
 *  none. Where all strategies are Ulysses', the search has none either: do not call it there.
 *  @param tp  the largest degree that the search may use */
double calc_galvatron_buffer_mb(const calc_galvatron_case *c, int pp, int tp);

/** What the search adds between two layers that follow one another, the second of them of `type`:
 *  re-sharding, a hundred times what it takes, or the constants by which upstream decides ties. */
double calc_galvatron_transition(const calc_galvatron_case *c, const calc_galvatron_strategy *from,
                                 const calc_galvatron_strategy *to, int type);

/** Layers of a stage: as many on each, the rest on the last. */
int64_t calc_galvatron_stage_layers(const calc_galvatron_request *request, int pp, int stage);

/** The whole step from sums over each stage.
 *  @param sync_s    [pp]: of its layers, without embedding and head
 *  @param nosync_s  [pp]: of its layers, with nosync_s of embedding and head */
double calc_galvatron_pipeline_s(int pp, int64_t chunks, const double *sync_s,
                                 const double *nosync_s);

/** The whole step from a strategy for every layer.
 *  @param layers  [calc_galvatron_layer_count()], all with the same pp */
double calc_galvatron_step_s(const calc_galvatron_case *c, const calc_galvatron_strategy *layers,
                             const calc_galvatron_strategy *ends);

#endif
