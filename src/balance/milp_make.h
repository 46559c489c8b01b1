/** @file milp_make.h  A mixed-integer program under construction: parts of milp.c. */
#ifndef CALC_BALANCE_MILP_MAKE_H
#define CALC_BALANCE_MILP_MAKE_H

#include "balance/evaluate.h"
#include "balance/milp.h"

/* The operations of each stage in order, in the form of
 * model/schedule/schedule_order.h: its orders, except that 1F1B with several chunks has the order
 * of evaluate.h. */

/** Write the order of every stage.
 *  @param shape        one that calc_schedule_check() accepts
 *  @param less_memory  as in calc_balance_problem
 *  @param op           room for shape->stages times calc_schedule_ops_room(); those of stage i
 * begin at i times that
 *  @param count        [stages] operations of each stage */
void calc_balance_orders(const calc_schedule_shape *shape, bool less_memory, calc_schedule_op *op,
                         int64_t *count);

/** Columns of a place: the first column of each kind, -1 where it has none. */
typedef struct calc_milp_place {
    int layers[CALC_BALANCE_KINDS], selective[CALC_BALANCE_KINDS], full[CALC_BALANCE_KINDS];
    int reaches, selects, fw_time, bw_time, flight;
    int fw_start, bw_start; /**< of micro-batch 0; the others follow */
} calc_milp_place;

typedef struct calc_milp_maker {
    const calc_balance_problem *problem;
    calc_milp *out;
    calc_status status;   /**< of the first failure; after it nothing is added */
    int64_t microbatches; /**< that are in the program */
    int64_t left_out;     /**< rounds of one micro-batch per stage that are left out */
    int places;
    calc_schedule_op *op; /**< of all stages, as calc_balance_orders() writes them */
    int64_t room, *count;
    double horizon; /**< in units: longer than any step */
    calc_milp_place place[CALC_BALANCE_PLACES];
} calc_milp_maker;

/** Most layers of a kind on a place. */
int calc_milp_most_layers(const calc_milp_maker *maker, int kind);

/** Columns and rows of the layers of all places and their recomputation. */
void calc_milp_make_layers(calc_milp_maker *maker);

/** Rows for the memory of stages, with the columns that they need. After the layers. */
void calc_milp_make_memory(calc_milp_maker *maker);

/** Columns and rows of passes, and the objective. After the layers. */
void calc_milp_make_times(calc_milp_maker *maker);

#endif
