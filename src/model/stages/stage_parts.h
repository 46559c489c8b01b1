/** @file stage_parts.h  The parts of a layout in two steps, for those who ask for many layouts. */
#ifndef CALC_MODEL_STAGE_PARTS_H
#define CALC_MODEL_STAGE_PARTS_H

#include "model/cost/cost_times.h"
#include "model/stages/stages.h"

/** Lists of operators that a layout is made of; first the blocks, as calc_block_kind has them. */
typedef enum calc_stage_list_kind {
    CALC_STAGE_EMBEDDING = CALC_BLOCK_KINDS,
    CALC_STAGE_HEAD,
    CALC_STAGE_PREDICTION, /**< of several tokens */
    CALC_STAGE_LISTS
} calc_stage_list_kind;

/** One of them, with what its operators take. */
typedef struct calc_stage_operators {
    size_t count;
    calc_operator item[CALC_MAX_OPERATORS];
    calc_cost_times times[CALC_MAX_OPERATORS];
} calc_stage_operators;

/** The operators of a layout, and what they were timed for. */
typedef struct calc_stage_timed {
    calc_cost_context context; /**< of the two below */
    calc_strategy strategy;
    calc_shape shape;
    calc_stage_operators list[CALC_STAGE_LISTS];
} calc_stage_timed;

/** List and time the operators of a layout; those of blocks that it does not have are none.
 *  @param like  those of another on the same system, whose times are taken where they are theirs,
 *               too; or NULL */
void calc_stage_operators_of(const calc_cost_context *context, const calc_stage_timed *like,
                             calc_stage_timed *out);

/** Whether two strategies that differ in recomputation and in tensor_par_overlap alone have the
 *  same operators, which take the same time. */
static inline bool calc_stage_operators_same(const calc_strategy *a, const calc_strategy *b)
{
    return calc_operator_tiled(a) == calc_operator_tiled(b);
}

/** calc_stage_parts_of() from them.
 *  @param operators  of a strategy with the same operators: calc_stage_operators_same() */
void calc_stage_parts_sum(const calc_cost_context *context, const calc_stage_operators *operators,
                          calc_stage_parts *out);

/** Size of the messages at which bandwidths that depend on it are taken: a micro-batch's residual
 *  stream [bytes]. */
double calc_stage_message_bytes(const calc_shape *shape);

#endif
