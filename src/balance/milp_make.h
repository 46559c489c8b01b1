/** @file milp_make.h  A mixed-integer program under construction: parts of milp.c. */
#ifndef CALC_BALANCE_MILP_MAKE_H
#define CALC_BALANCE_MILP_MAKE_H

#include "balance/milp.h"
#include "balance/order.h"

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

/** Add a column, or a row, or a term to the last row; column -1 or factor 0: none.
 *  @return index of the column */
int calc_milp_column_add(calc_milp_maker *maker, const calc_milp_column *column);
void calc_milp_row_add(calc_milp_maker *maker, calc_milp_sense sense, double bound);
void calc_milp_term_add(calc_milp_maker *maker, int column, double factor);

/** Most layers of a kind on a place. */
int calc_milp_most_layers(const calc_milp_maker *maker, int kind);

/** The layers of a place's stage on its chip. */
const calc_balance_layer *calc_milp_layers_of(const calc_milp_maker *maker, int place);

/** Columns and rows of the layers of all places and their recomputation. */
void calc_milp_make_layers(calc_milp_maker *maker);

/** Rows for the memory of stages, with the columns that they need. After the layers. */
void calc_milp_make_memory(calc_milp_maker *maker);

/** Columns and rows of passes, and the objective. After the layers. */
void calc_milp_make_times(calc_milp_maker *maker);

#endif
