/** @file defaults.h  The default space: what people who train or serve models today turn on or
 *  search, given the models and the machines. With rules of Calculon, models that its list of
 *  layers can describe keep the space of calc_space_init(), every legal layout. */
#ifndef CALC_SWEEP_DEFAULTS_H
#define CALC_SWEEP_DEFAULTS_H

#include "calc.h"
#include "designs.h"
#include "space.h"
#include "sweep.h"

enum {
    CALC_DEFAULTS_RANK_TOKENS = 4096, /**< a sequence is split over context-parallel ranks as long
                                           as each has so many of its tokens */
    CALC_DEFAULTS_LEAST_NODE = 4,     /**< tensor parallelism stays on a fastest network of so many
                                           processors to ... */
    CALC_DEFAULTS_MOST_NODE = 128,    /**< ... so many */
    CALC_DEFAULTS_WIDE_DOMAIN = 32, /**< experts are not spread beyond a fastest network of so many
                                         processors: it was bought to hold them */
    CALC_DEFAULTS_MOST_TOKENS = 32768, /**< of a micro-batch of several sequences on a rank: kernels
                                            gain little beyond; few recipes, of FSDP that
                                            recomputes everything, have more */
    CALC_DEFAULTS_SMALL_WIDTH = 5120   /**< kernels of dense models that are no wider may be shorter
                                            than the host needs to launch them */
};

/** Set the axes that nobody set, each with the reason for its values (calc_values.reason). Where a
 *  phase of inference is given: no training, requests in flight on a replica, chunks of one pool,
 *  and how two pools share the processors; without training no recomputation, sharding of state or
 *  overlap of tensor-parallel communication, and micro-batches of one prompt.
 *  @param compat  with rules and a model that Calculon's list of layers can describe, every legal
 *                 layout stays
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_defaults_set(calc_space *space, const calc_designs_builder *designs,
                                            calc_compat compat);

/** The choices of training alone, whatever the rules are: one table, by what the models have
 *  (experts, latent attention, width, format they were trained in) and the machines offer
 *  (platform, formats). */
CALC_MUST_USE calc_status calc_defaults_modern(calc_space *space,
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

/** The fields that software gives (calc_exec.wished), where nobody asked for others: those that
 * depend on the layout where they are legal. After calc_defaults_set(). */
CALC_MUST_USE calc_status calc_defaults_software(calc_space *space, const calc_exec *software);

#endif
