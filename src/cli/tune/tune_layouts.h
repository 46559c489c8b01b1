/** @file tune_layouts.h  Lists the layouts that may be tried, their identities, and their measured
 *  kernels. */
#ifndef CALC_CLI_TUNE_TUNE_LAYOUTS_H
#define CALC_CLI_TUNE_TUNE_LAYOUTS_H

#include "calibrate/points.h"
#include "io/json_put.h"
#include "plan/sweep_more.h"
#include "tune/kernels.h"
#include "tune/model.h"
#include "validate/residuals.h"

enum { CALC_TUNE_ID_SIZE = 17 };

/** Layouts, the best predicted first; those that were added later behind them. Owns its lists;
 *  start with {0}.
 *
 *  A layout's identity is the FNV-1a hash with 64 bits of its execution as JSON: the same in every
 *  run and on every machine. It is written as 16 hexadecimal digits, of which the first 8 will do
 *  unless another layout has them, too. */
typedef struct calc_tune_layouts {
    const calc_app *app; /**< borrowed */
    const calc_system *system;
    const calc_residuals *known; /**< runs that tell what fits, borrowed; NULL: none */
    const char *family;          /**< of the machine: calc_fits_family(); borrowed */
    size_t count, capacity;
    calc_tune_candidate *candidate;
    const calc_found **found; /**< borrowed, but for those that were added */
    uint64_t *hash;
    size_t *by_hash; /**< in order of hashes */
    size_t swept;    /**< the first so many are a sweep's */
} calc_tune_layouts;

/** Identity of an execution whose "auto"s are resolved.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_layouts_hash(const calc_exec *exec, uint64_t *hash,
                                                 calc_errors *errors);

/** Evaluate what a sweep found. Layouts that cannot be evaluated are left out.
 *  @param out      has app, system, known and family; all else is set
 *  @param best     kept by the caller as long as the layouts
 *  @param threads  0: as many as the machine has
 *  @return CALC_OK or CALC_ERR_NOMEM; free it in any case */
CALC_MUST_USE calc_status calc_tune_layouts_make(calc_tune_layouts *out, const calc_front *best,
                                                 int threads, calc_errors *errors);

/** Add a layout, unless it is there. @param index  filled
 *  @return CALC_OK; CALC_ERR_RULE if it cannot be evaluated, without an error; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_layouts_add(calc_tune_layouts *layouts, const calc_exec *exec,
                                                size_t *index, calc_errors *errors);

/** The execution of a layout. */
calc_exec calc_tune_layouts_exec(const calc_tune_layouts *layouts, size_t index);

/** How many layouts an identity means: its first digits, 8 at least, upper or lower case.
 *  @param index  filled with the first of them */
size_t calc_tune_layouts_find(const calc_tune_layouts *layouts, const char *text, size_t *index);

/** Its identity in as few digits as tell it from the others. @return text */
char *calc_tune_layouts_id(const calc_tune_layouts *layouts, size_t index,
                           char text[CALC_TUNE_ID_SIZE]);

void calc_tune_layouts_free(calc_tune_layouts *layouts);

/* Reads a file of measured kernels (`calc tune --operators`,
 * docs/operators.md), and applies it to the layouts that may be tried. */

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
 *  a new cell (kernels.h) must be learnt before a decision is made of them.
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
