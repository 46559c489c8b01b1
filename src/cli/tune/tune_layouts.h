/** @file tune_layouts.h  Lists the layouts that may be tried, and their identities. */
#ifndef CALC_CLI_TUNE_TUNE_LAYOUTS_H
#define CALC_CLI_TUNE_TUNE_LAYOUTS_H

#include "plan/study.h"
#include "tune/candidate.h"
#include "validate/fits.h"

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

#endif
