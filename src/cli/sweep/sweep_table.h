/** @file sweep_table.h  Writes the results of a sweep as tables for people. */
#ifndef CALC_CLI_SWEEP_SWEEP_TABLE_H
#define CALC_CLI_SWEEP_SWEEP_TABLE_H

#include "cli/draw/human.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_study.h"
#include "io/output.h"
#include "plan/sweep_more.h"
#include "spec/value_text.h"

/* Lists the columns that a table of a sweep may have. */

/* Writes the cells in the columns of a table of layouts. */

enum { CALC_SWEEP_CELL_SIZE = CALC_VALUE_TEXT, CALC_SWEEP_FLAGS = 12 };

/** A letter for a value of a field. */
typedef struct calc_sweep_flag {
    char letter;
    calc_axis axis;
    int64_t value;
    const char *meaning;
} calc_sweep_flag;

extern const calc_sweep_flag calc_sweep_flags[CALC_SWEEP_FLAGS];

/** Kinds of column, by the way their cells are written. */
typedef enum calc_sweep_column_kind {
    CALC_SWEEP_CELL_NUMBER, /**< of the row */
    CALC_SWEEP_CELL_APP,
    CALC_SWEEP_CELL_SYSTEM,
    CALC_SWEEP_CELL_DESIGN, /**< a swept field of model or machine */
    CALC_SWEEP_CELL_STAT,
    CALC_SWEEP_CELL_FITS, /**< how sure it is that the layout fits */
    CALC_SWEEP_CELL_ALIKE,
    CALC_SWEEP_CELL_SIZES, /**< tensor, pipeline, data parallelism */
    CALC_SWEEP_CELL_NETS,  /**< the networks of these three */
    CALC_SWEEP_CELL_FLAGS,
    CALC_SWEEP_CELL_FIELD /**< a field of the execution, or of its inference */
} calc_sweep_column_kind;

/** What a column shows. */
typedef struct calc_sweep_column {
    calc_sweep_column_kind cell;
    const calc_field *field; /**< STAT, FIELD */
    size_t offset;           /**< FIELD: of the member in calc_exec; DESIGN: which axis */
    bool always;             /**< shown even if it is the same in all rows */
    bool searched;           /**< if all rows are the same, the value is said above the table */
} calc_sweep_column;

/** Flags of an execution, by bit. */
unsigned calc_sweep_flags_of(const calc_exec *exec);

/** The text of a column in a row. @param text  filled: CALC_SWEEP_CELL_SIZE bytes */
void calc_sweep_cell_text(const calc_sweep_column *column, const calc_sweep_study *study,
                          const calc_sweep_row *row, const calc_sweep_found *found, char *text);

enum { CALC_SWEEP_COLUMNS = 192 };

/** All columns of a table. Start with calc_sweep_columns_list(). */
typedef struct calc_sweep_columns {
    size_t count;
    calc_sweep_column column[CALC_SWEEP_COLUMNS];
    calc_listing_column shown[CALC_SWEEP_COLUMNS]; /**< how each is shown */
    bool chosen; /**< chosen by --columns: in that order, all of them shown */
} calc_sweep_columns;

/** List the columns that a table of this study may have; if `names` is not NULL, only those it
 *  names (--columns): heads, statistics and fields.
 *  @return CALC_OK, or CALC_ERR_FIELD with an error for an unknown name */
CALC_MUST_USE calc_status calc_sweep_columns_list(calc_sweep_columns *columns,
                                                  const calc_sweep_study *study, const char *names,
                                                  calc_errors *errors);

/** Parts of the results to show, and how. */
typedef struct calc_sweep_view {
    const char *columns; /**< --columns; NULL: columns that vary */
    bool front;
    int width;                       /**< characters per line */
    const calc_sweep_rows *best;     /**< calc_sweep_rows_best(); with groups without rows */
    const calc_sweep_advice *advice; /**< calc_sweep_order_advise() */
    const calc_args *args;           /**< of the command */
    const char *saved;               /**< the file that the start was written to; NULL: none */
} calc_sweep_view;

/** Write how many layouts were feasible, rejected, ..., and the speed of the sweep.
 *  @param conditions  there are some: layouts that cannot meet them were skipped */
void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result, bool conditions);

/** Write the best, and the front if it is asked for; with groups (--per) the best of each.
 *  @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_FIELD with an error */
CALC_MUST_USE calc_status calc_sweep_table_found(calc_output *out, const calc_sweep_study *study,
                                                 const calc_sweep_result *result,
                                                 const calc_sweep_view *view, calc_errors *errors);

/* Writes the space of a sweep and the amount of work, for people. */

/** Write models, machines, sizes, and the axes that were asked for. */
void calc_sweep_plan_brief(calc_output *out, const calc_sweep_study *study);

/** Write models, machines and all axes. */
void calc_sweep_plan_axes(calc_output *out, const calc_sweep_study *study);

/** Write the number of layouts, the factors it is the product of, and the approximate duration.
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_plan_work(calc_output *out, const calc_sweep_study *study,
                                               calc_errors *errors);

/** Draw the parts of a sample's time of the best, up to ten: of trained layouts that are no groups.
 *  @param columns  width of the drawing */
void calc_sweep_plot_write(calc_output *out, const calc_paint *paint, const calc_sweep_study *study,
                           const calc_sweep_result *result, int columns);

/* What a sweep did not search, and what it would give to the layout to start
 *  with: changes that `calc why` finds outside the space, and narrower number formats. */

/** Write a line for each of the two, if there is something: single fields with a value outside the
 *  space that make the layout at least 1 % better, fit, and run in the frameworks of the sweep
 *  (calc_sweep_options.runs); formats of matrix multiplications that the machine has and the space
 *  does not name. For trained layouts of a sweep without rules of Calculon.
 *  @param layout  the one to start with */
void calc_sweep_next_write(calc_output *out, const calc_sweep_study *study,
                           const calc_found *layout);

/* Explains why no layout of a sweep can run, and gives advice. */

/** Write it to standard error. Layouts that bounds skipped are swept once more without bounds to
 *  find their reason, unless there are millions. */
void calc_sweep_infeasible(const calc_sweep_study *study, const calc_sweep_result *result);

#endif
