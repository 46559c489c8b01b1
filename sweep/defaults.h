/** @file defaults.h  The default space for models that Calculon's list of layers cannot describe:
 *  current practice of training. Other models keep the space of calc_space_init(), every legal
 *  layout. A phase of inference selects serving for both. */
#ifndef CALC_SWEEP_DEFAULTS_H
#define CALC_SWEEP_DEFAULTS_H

#include "calc.h"
#include "designs.h"
#include "space.h"
#include "sweep.h"

/** Sequences from this length on are split over context-parallel ranks, too [tokens]. */
enum { CALC_DEFAULTS_LONG_SEQ = 32768 };

/** Set the axes that nobody set. Where a phase of inference is given: no training, requests in
 * flight on a replica, chunks of one pool, and how two pools share the processors; without training
 * no recomputation, sharding of state or overlap of tensor-parallel communication, and
 * micro-batches of one prompt. If every application of the builder is a model of today:
 *  - attention of the model, in one kernel; bfloat16 where all machines have it
 *  - ranks in the order tp-cp-ep-dp-pp, unless networks are asked for
 *  - sequence parallelism, gathering again, overlapped with the backward pass; `ar` for one rank
 *  - sharded optimizer, overlapped reduction and messages, where there is something to shard or
 * send
 *  - blocks spread evenly over stages, with and without embedding and head counted as blocks
 *  - recomputation of everything or nothing; Megatron-LM's memory; the loss in one kernel
 *  - every expert_par for experts; every context_par for long sequences, whether the model, an axis
 *    of the model or one of the execution says their length
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_defaults_set(calc_space *space, const calc_designs_builder *designs);

/** The same for training, whatever the applications are: how models of today are trained. */
CALC_MUST_USE calc_status calc_defaults_modern(calc_space *space,
                                               const calc_designs_builder *designs);

/** Set the values of an axis that nobody set. @param last  only the last one that is legal counts
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_defaults_put(calc_space *space, calc_axis axis, const int64_t *value,
                                            size_t count, bool last);

/** The same with every legal value. */
void calc_defaults_put_all(calc_space *space, calc_axis axis, bool last);

/** The largest number of a field of the application in any design: from its swept values, or from
 *  the applications. */
double calc_defaults_most(const calc_designs_builder *designs, const char *key);

/** The part of calc_defaults_set() for layouts that do not train: defaults_serving.c. */
CALC_MUST_USE calc_status calc_defaults_serving(calc_space *space,
                                                const calc_designs_builder *designs);

/** Where users are not to wait longer than a condition says, stages of a pipeline are on nodes of
 *  their own: within a node they only make a token wait for more messages. Sets pipeline_par if
 *  nobody did, layouts serve, and a condition is on a time or on the tokens of a user.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_defaults_stages(calc_space *space,
                                               const calc_designs_builder *designs,
                                               const calc_sweep_options *options);

/** Add an error for a task that no layout of the space could serve: in training, without a phase,
 *  tokens that are too few ... Nothing if nothing is served. */
void calc_defaults_check(const calc_space *space, const calc_designs_builder *designs,
                         calc_errors *errors);

#endif
