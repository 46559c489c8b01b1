/** @file stage_parts.h  The parts of a layout in two steps, for callers with many layouts. */
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

/** One operator list, with the times of its operators. */
typedef struct calc_stage_operators {
    size_t count;
    calc_operator item[CALC_MAX_OPERATORS];
    calc_cost_times times[CALC_MAX_OPERATORS];
} calc_stage_operators;

/** The operators of a layout, and the context of their times. */
typedef struct calc_stage_timed {
    calc_cost_context context; /**< of the two below */
    calc_strategy strategy;
    calc_shape shape;
    calc_strategy key; /**< without the members that calc_stage_timed_find() leaves open */
    size_t begun;      /**< operators that blocks without experts and with them begin with; 0 where
                          there are none of the former */
    size_t routed;     /**< those that blocks with experts have before these */
    calc_stage_operators list[CALC_STAGE_LISTS];
} calc_stage_timed;

/** List and time the operators of a layout; those blocks that it does not have get none. */
void calc_stage_operators_of(const calc_cost_context *context, calc_stage_timed *out);

/** One of several layouts, of the same model and system, that has the same operators as another
 *  layout except those of experts: it may differ in the ranks that these are spread over, and in
 *  fields that calc_stage_operators_same() allows. NULL: there is none. */
calc_stage_timed *calc_stage_timed_find(const calc_cost_context *context, calc_stage_timed *timed,
                                        size_t count);

/** Make them those of the other. */
void calc_stage_timed_put_experts(const calc_cost_context *context, calc_stage_timed *timed);

/** Whether two strategies that differ in recomputation and in tensor_par_overlap alone have the
 *  same operators, which take the same time. */
static inline bool calc_stage_operators_same(const calc_strategy *a, const calc_strategy *b)
{
    return calc_operator_streamed(a) == calc_operator_streamed(b);
}

/** calc_stage_parts_of() from them.
 *  @param timed  of a strategy with the same operators: calc_stage_operators_same() */
void calc_stage_parts_sum(const calc_cost_context *context, const calc_stage_timed *timed,
                          calc_stage_parts *out);

/** Size of the messages at which bandwidths that depend on it are taken: a micro-batch's residual
 *  stream, or all of its streams; of residual attention with half of the snapshots [bytes]. */
double calc_stage_message_bytes(const calc_shape *shape);

#endif
