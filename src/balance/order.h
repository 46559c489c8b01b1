/** @file order.h  The operations of each stage in order, in the form of
 *  model/schedule/schedule_order.h: its orders, except that 1F1B with several chunks has the order
 *  of parts.h. */
#ifndef CALC_BALANCE_ORDER_H
#define CALC_BALANCE_ORDER_H

#include "balance/problem.h"

/** Write the order of every stage.
 *  @param shape        one that calc_schedule_check() accepts
 *  @param less_memory  as in calc_balance_problem
 *  @param op           room for shape->stages times calc_schedule_ops_room(); those of stage i
 * begin at i times that
 *  @param count        [stages] operations of each stage */
void calc_balance_orders(const calc_schedule_shape *shape, bool less_memory, calc_schedule_op *op,
                         int64_t *count);

#endif
