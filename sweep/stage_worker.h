/** @file stage_worker.h  Evaluation of units whose layouts are lists of stages: cells, their lanes,
 *  and what becomes of their points. */
#ifndef CALC_SWEEP_STAGE_WORKER_H
#define CALC_SWEEP_STAGE_WORKER_H

#include "stage_kernel.h"
#include "stage_rows.h"
#include "worker.h"

/** What one thread needs for it. Made by calc_stage_work_create(). */
typedef struct calc_stage_work calc_stage_work;

/** The points of one row in one cell, in a fixed order. */
typedef struct calc_stage_place {
    const calc_stage_work *work;
    const calc_stage_row *row;
    uint64_t first; /**< number of the first of them in the space */
} calc_stage_place;

/** NULL if memory is short. */
calc_stage_work *calc_stage_work_create(void);
void calc_stage_work_free(calc_stage_work *work);

/** Fill the table of rows for a unit's base. */
CALC_MUST_USE calc_status calc_stage_work_rows(calc_worker *worker, const calc_exec *base);

/** Evaluate worker->cell.exec, which gives the sizes of a cell, with all rows. */
void calc_stage_work_cell(calc_worker *worker);

/** The layout of a point of a place, and the verdict on it before its evaluation.
 *  @param index  below the number of points of the place */
calc_verdict calc_stage_decode(const calc_stage_place *place, uint64_t index, calc_exec *exec);

#endif
