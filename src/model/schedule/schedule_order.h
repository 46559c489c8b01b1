/** @file schedule_order.h  The operations of a stage in order, under each pipeline schedule. An
 *  order depends on the shape only, not on how long anything takes.
 *
 *  A stage holds one or more *chunks*. Every schedule takes the micro-batches of a chunk in turn,
 *  so that an operation is a kind and a chunk, and its micro-batch is the number of equal ones
 *  before it.
 *
 *  Sources: GPipe: Huang et al. 2018, arXiv 1811.06965. 1F1B and interleaving: Narayanan et al.
 *  2021, arXiv 2104.04473. ZB-H1, ZB-H2, ZB-V: Qi et al. 2023, arXiv 2401.10241, and 2024,
 *  arXiv 2405.15362. DualPipe: DeepSeek-AI 2024, arXiv 2412.19437; DualPipeV is its half. */
#ifndef CALC_MODEL_SCHEDULE_ORDER_H
#define CALC_MODEL_SCHEDULE_ORDER_H

#include "model/schedule/schedule.h"

/** Kinds of operations. */
typedef enum calc_schedule_op_kind {
    CALC_SCHEDULE_FW,      /**< forward */
    CALC_SCHEDULE_BW,      /**< activation gradient only */
    CALC_SCHEDULE_WGRAD,   /**< weight gradient */
    CALC_SCHEDULE_BW_WHOLE /**< both gradients, one after the other */
} calc_schedule_op_kind;

/** One operation of a stage. If `paired`, it is the forward of `chunk` and the whole backward of
 *  the stage's other chunk at once. */
typedef struct calc_schedule_op {
    uint16_t chunk;
    uint8_t kind; /**< calc_schedule_op_kind */
    uint8_t paired;
} calc_schedule_op;

/** Operations that the orders of all stages have room for; those of stage i begin at i times
 *  calc_schedule_ops_room(). */
int64_t calc_schedule_ops_room(const calc_schedule_shape *shape);

/** Write the order of every stage.
 *  @param shape    one that calc_schedule_check() accepts
 *  @param op       room for shape->stages times calc_schedule_ops_room()
 *  @param count    [stages] operations of each stage */
void calc_schedule_orders(const calc_schedule_shape *shape, calc_schedule_op *op, int64_t *count);

#endif
