/** @file tune_operators.h  Reads a file of measured kernels (`calc tune --operators`,
 *  docs/operators.md), and applies it to the layouts that may be tried. */
#ifndef CALC_CLI_TUNE_TUNE_OPERATORS_H
#define CALC_CLI_TUNE_TUNE_OPERATORS_H

#include "calibrate/point_table.h"
#include "io/json_put.h"
#include "tune/kernels.h"

/** The file, and what was learnt of it. Owns both. Start with {0}. */
typedef struct calc_tune_operators {
    calc_points points;
    calc_point_table table;
    calc_tune_kernels_learnt learnt; /**< learnt.kernels is for calc_tune_options */
} calc_tune_operators;

/** Read a file of measured operators of a machine.
 *  @param path  kept by the caller
 *  @param rows  machines in the file, see calc_points_select()
 *  @return CALC_OK or what reading returns; free *out in any case */
CALC_MUST_USE calc_status calc_tune_operators_read(calc_tune_operators *out, const char *path,
                                                   const char *rows, const calc_system *system,
                                                   calc_errors *errors);

/** Learn what the measurements say of candidates, instead of what was learnt before. Candidates of
 *  a new cell (kernel_cells.h) must be learnt before a decision is made of them.
 *  @return CALC_OK; CALC_ERR_FIELD if no measurement is of a class of kernels that they run;
 *  CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_operators_learn(calc_tune_operators *operators,
                                                    const calc_app *app, const calc_system *system,
                                                    const calc_tune_prior *prior,
                                                    const calc_tune_candidate *candidate,
                                                    size_t count, calc_tune_exec_of exec,
                                                    const void *context, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_tune_operators_free(calc_tune_operators *operators);

/** A row per class of kernels, for people: what measurements say of it, or that there are none. */
void calc_tune_operators_write(calc_output *out, const calc_tune_operators *operators);

/** The member "kernels" of the object that is open: an object per class. */
void calc_tune_operators_put(calc_put *put, const calc_tune_operators *operators);

#endif
