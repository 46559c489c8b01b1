/** @file residuals.h  How far measured runs were from predictions that had not seen them: the file
 *  measured/residuals.csv, which `calc calibrate --residuals` writes; and
 * measured/unseen_software.csv, of runs whose software no constant was fitted to, which
 * `scripts/refit` writes. */
#ifndef CALC_VALIDATE_RESIDUALS_H
#define CALC_VALIDATE_RESIDUALS_H

#include "io/output.h"
#include "validate/forecasts.h"
#include "validate/results.h"

/** The data that the fit behind a prediction had not seen: X(NAME, column of the residual, of its
 *  fold). */
#define CALC_UNSEEN_LIST(X)                                                                        \
    X(WIDTH, unseen_width, width_fold)    /* models of this width */                               \
    X(SOURCE, unseen_source, source_fold) /* runs of this publisher */

typedef enum calc_unseen {
#define CALC_X(name, value, fold) CALC_UNSEEN_##name,
    CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
        CALC_UNSEEN_CROSSED,                   /**< so many has the file */
    CALC_UNSEEN_RELEASE = CALC_UNSEEN_CROSSED, /**< all published since: forecasts.h */
    CALC_UNSEEN_SOFTWARE,                      /**< all runs of this software, and of the others of
                                                    that file */
    CALC_UNSEEN_COUNT
} calc_unseen;

/** Quantities of runs of training, the first ones of CALC_QUANTITY_LIST. */
#define CALC_RESIDUAL_QUANTITIES 2

/** Properties by which a run is compared. Texts are borrowed. */
typedef struct calc_traits {
    const char *family; /**< of machines: "H100"; "": not one that is known */
    bool experts;       /**< a mixture of experts */
    int bits;           /**< of the numbers that matrices of blocks are multiplied in */
    double processors;
} calc_traits;

/** One measurement. Texts are borrowed from the file. */
typedef struct calc_residual {
    const char *id, *source, *machine;
    calc_quantity quantity;
    calc_traits traits;
    int table, family;               /**< numbers of source and family, from 0 */
    double value[CALC_UNSEEN_COUNT]; /**< log(measured / predicted); NaN: there is none */
    int fold[CALC_UNSEEN_COUNT];     /**< runs with the same number were left out together */
} calc_residual;

/** Runs that have a value, by its size without its sign. */
typedef struct calc_residual_list {
    const calc_residual **item;
    size_t count;
} calc_residual_list;

/** All of a file. Owns everything. Start with {0}. */
typedef struct calc_residuals {
    calc_residual *item;
    size_t count;
    calc_residual_list list[CALC_RESIDUAL_QUANTITIES][CALC_UNSEEN_COUNT];
    /** Median size of an unseen width's, of dense models and of mixtures of experts, tables
     * weighing as calc_spread_weight() says; 0: there are none. */
    double typical[CALC_RESIDUAL_QUANTITIES][2];
    int tables, families;
    calc_text text, software; /**< of both files */
} calc_residuals;

/** The traits of a layout on a machine of that family. */
calc_traits calc_traits_of(const calc_app *app, const calc_exec *exec, const char *family);

/** Read a file.
 *  @return CALC_OK; CALC_ERR_FIELD for a missing column or cell, CALC_ERR_TYPE for a cell of the
 *  wrong type, CALC_ERR_SYNTAX, CALC_ERR_NOMEM, or what calc_text_read() returns. Errors name file
 *  and line. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_residuals_read(calc_residuals *out, const char *path,
                                              calc_errors *errors);

/** The same from a text, which the residuals own from now on; `name` is its name in errors. */
CALC_MUST_USE calc_status calc_residuals_parse(calc_residuals *out, calc_text text,
                                               const char *name, calc_errors *errors);

/** Take forecasts as the values of CALC_UNSEEN_RELEASE; a month is a fold.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_residuals_take_forecasts(calc_residuals *residuals,
                                                        const calc_forecasts *forecasts,
                                                        calc_errors *errors);

/** Add the step times of runs whose software nothing was fitted to, from a text, which the
 * residuals own from now on: their values are of CALC_UNSEEN_SOFTWARE alone, and a publisher is a
 * fold.
 *  @return as calc_residuals_parse() */
CALC_MUST_USE calc_status calc_residuals_add_software(calc_residuals *residuals, calc_text text,
                                                      const char *name, calc_errors *errors);

/** That of a measurement; NULL if there is none. */
const calc_residual *calc_residuals_find(const calc_residuals *residuals, const char *id,
                                         calc_quantity quantity);

/** The family of a machine that has runs; NULL if it has none. */
const char *calc_residuals_family(const calc_residuals *residuals, const char *machine);

/** The family of a run's machine: its own, or that of other runs on the machine; "" if none is
 *  known. */
const char *calc_residuals_family_of(const calc_residuals *residuals, const calc_runs_row *row);

/** Write the names of the columns; then one row, values with four decimals. */
void calc_residuals_write_head(calc_output *out);
void calc_residuals_write(calc_output *out, const calc_residual *residual);

/** Free what they own; fine on {0}. */
void calc_residuals_free(calc_residuals *residuals);

#endif
