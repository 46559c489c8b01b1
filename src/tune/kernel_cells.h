/** @file kernel_cells.h  The kernels that candidates run, by cell: a combination of the coordinates
 *  TOKENS, TENSOR and CONTEXT, whose kernels are taken from one layout. */
#ifndef CALC_TUNE_KERNEL_CELLS_H
#define CALC_TUNE_KERNEL_CELLS_H

#include "model/layout_kernels.h"
#include "tune/candidate.h"

enum { CALC_TUNE_CELL_COORDINATES = 3 };

/** A cell. Its kernels are the caller's, or of calc_tune_kernel_cells. */
typedef struct calc_tune_kernel_cell {
    double coordinate[CALC_TUNE_CELL_COORDINATES]; /**< TOKENS, TENSOR, CONTEXT */
    double busy; /**< share of kernels in the time that kernels or hosts determine */
    const calc_layout_kernel *kernel;
    size_t kernels;
} calc_tune_kernel_cell;

/** Owns its lists; start with {0}. */
typedef struct calc_tune_kernel_cells {
    calc_tune_kernel_cell *cell;
    size_t count;
    calc_layout_kernel *kernel;
} calc_tune_kernel_cells;

/** The execution of a candidate. */
typedef calc_exec (*calc_tune_exec_of)(const void *context, size_t candidate);

/** Find the cells of candidates, in the order of their coordinates; each has the kernels of its
 *  first candidate.
 *  @return CALC_OK or CALC_ERR_NOMEM; free *out in any case */
CALC_MUST_USE calc_status calc_tune_kernel_cells_make(calc_tune_kernel_cells *out,
                                                      const calc_app *app,
                                                      const calc_system *system,
                                                      const calc_tune_candidate *candidate,
                                                      size_t count, calc_tune_exec_of exec,
                                                      const void *context, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_tune_kernel_cells_free(calc_tune_kernel_cells *cells);

#endif
