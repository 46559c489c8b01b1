/** @file stage_spent.h  Breakdown of the time of one micro-batch on one stage of a layout: the
 *  parts of calc_stage_pass_of(). */
#ifndef CALC_MODEL_STAGE_SPENT_H
#define CALC_MODEL_STAGE_SPENT_H

#include "model/stages/stages.h"

/** Parts of a pass: X(NAME, words). */
#define CALC_SPENT_PART_LIST(X)                                                                    \
    X(RECOMPUTE, "recompute")                                                                      \
    X(REPEATED, "repeated communication")                                                          \
    X(COMPUTE, "compute")                                                                          \
    X(ENDS, "embedding, head")                                                                     \
    X(RESHARD, "rearranging")                                                                      \
    X(TENSOR, "tensor parallel")                                                                   \
    X(CONTEXT, "context parallel")                                                                 \
    X(EXPERT, "expert parallel")                                                                   \
    X(SHARDED, "sharded weights")                                                                  \
    X(OFFLOAD, "offload")                                                                          \
    X(HOST, "wait for host")                                                                       \
    X(MESSAGE, "message")

#define CALC_SPENT_PART_NAME(name, text) CALC_SPENT_##name,
typedef enum calc_spent_part {
    CALC_SPENT_PART_LIST(CALC_SPENT_PART_NAME) CALC_SPENT_PARTS
} calc_spent_part;
#undef CALC_SPENT_PART_NAME

/** Passes over a stage, or a chunk of one, for a micro-batch [s]; communication counts as far as it
 *  is exposed. */
typedef struct calc_stage_spent {
    double fw_s[CALC_SPENT_PARTS], bw_s[CALC_SPENT_PARTS], wgrad_s[CALC_SPENT_PARTS];
} calc_stage_spent;

/** A part of all passes. */
static inline double calc_spent_s(const calc_stage_spent *spent, calc_spent_part part)
{
    return spent->fw_s[part] + spent->bw_s[part] + spent->wgrad_s[part];
}

/** Adds blocks and ends of a layout, without messages and the host.
 *  @param class  how many of each
 *  @param again  share of the blocks that recompute */
void calc_stage_spend(const calc_cost_context *context, const calc_exec *exec,
                      const calc_stage_parts *parts, const calc_stage_lines *lines,
                      const calc_stage_terms *terms, const calc_stage_class *class, double again,
                      calc_stage_spent *out);

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
