/** @file stage_spent.h  Breakdown of the time of one micro-batch on one stage of a layout: the
 *  parts of calc_stage_pass_of(). */
#ifndef CALC_MODEL_STAGE_SPENT_H
#define CALC_MODEL_STAGE_SPENT_H

#include "model/stages/stages.h"

/** Both passes over a stage [s]; they add up to `all_s`. */
typedef struct calc_stage_spent {
    double fw_s, bw_s, re_s;              /**< kernels of blocks: forward, backward, repeated */
    double tensor_s, context_s, expert_s; /**< exposed communication */
    double repeated_s;                    /**< exposed communication that is repeated */
    double sharded_s;                     /**< exposed, of sharded weights */
    double fw_offload_s, bw_offload_s;    /**< exposed, to and from the second memory tier */
    double message_s;                     /**< exposed, between stages */
    double host_s;                        /**< waiting for the host */
    double ends_s;                        /**< embedding, head, loss, multi-token prediction */
    double all_s;
} calc_stage_spent;

/** Time of the messages that a stage sends for a micro-batch and chunk, both ways [s]. */
static inline double calc_stage_spent_message_s(const calc_stage_terms *t,
                                                const calc_stage_links *l)
{
    double back_s = t->training ? l->back_message_s : 0;
    return t->stages > 1 ? l->message_s + back_s : 0;
}

/** The parts for a stage of a class.
 *  @param chunks  model chunks per stage */
calc_stage_spent calc_stage_spent_of(const calc_cost_context *context, const calc_exec *exec,
                                     const calc_stage_parts *parts, const calc_stage_lines *lines,
                                     const calc_stage_terms *terms, const calc_stage_links *links,
                                     const calc_stage_class *class, double chunks);

/** Breakdown of two stages together.
 *  @param share  of the sum: 0.5 for the mean */
calc_stage_spent calc_stage_spent_sum(const calc_stage_spent *a, const calc_stage_spent *b,
                                      double share);

#endif
