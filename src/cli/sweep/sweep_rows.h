/** @file sweep_rows.h  Selects the layouts of a sweep that are rows of a table. */
#ifndef CALC_CLI_SWEEP_SWEEP_ROWS_H
#define CALC_CLI_SWEEP_SWEEP_ROWS_H

#include "cli/shell/opt.h"
#include "io/output.h"
#include "plan/sweep_more.h"
#include "report/sweep_data.h"
#include "session/sweep_order.h"

/** Maximum number of rows shown. */
enum { CALC_SWEEP_ROWS_FRONT = 20, CALC_SWEEP_ROWS_GROUPS = 64 };

/** A table. Owns its rows and layouts; free with calc_sweep_rows_free(). Start with {0} and
 *  `measured`. */
typedef struct calc_sweep_rows {
    size_t count;
    size_t of; /**< size of the list the rows are from, evenly spread or the first ones */
    bool near; /**< the order of two layouts is not known: those within 1 % count as equal */
    bool each; /**< rows are the best of each model and length, which nothing ranks in one list */
    calc_sweep_row *row;
    size_t without;         /**< things compared of which no layout can run */
    calc_found *side;       /**< layouts to start with of what is compared: rows borrow them */
    calc_sweep_result more; /**< a longer list of the best, likewise */
    const calc_residuals *measured; /**< borrowed; NULL: residuals for predicting what fits are not
                                     *  known */
} calc_sweep_rows;

/** The best of a sweep without groups. First the layout to start with; then, if the study compares
 *  things, that of each other one: of each design and each number format and length that was
 *  asked for, as if these were swept alone. Then up to `top` rows the one that is worth most
 *  (calc_sweep_row) of each other sizes, less 3 % for each doubling of tensor parallelism in
 * training by a time or a rate. A row stands for all layouts of its design, its sizes, and its
 * values of the fields that the user asked to compare; if all have the same, also of its
 * micro-batch, and then for itself alone, as do all of more than 1,000. If the study mixes models
 * or lengths (calc_sweep_study_mixes()), the layouts to start with are all of the table.
 *  @param start  calc_sweep_advice.start
 *  @param again  it takes little time to sweep again, for what is compared and where too few
 *                different layouts were kept */
void calc_sweep_rows_best(calc_sweep_rows *rows, const calc_sweep_study *study,
                          const calc_front *best, size_t top, const calc_sweep_row *start,
                          bool again);

/** The front, evenly spread. */
void calc_sweep_rows_front(calc_sweep_rows *rows, const calc_sweep_study *study,
                           const calc_front *front);

/** The best of each group that has one: designs from the best to the worst, groups of the same
 *  number of processors together; without designs in the order of these numbers, evenly spread. */
void calc_sweep_rows_groups(calc_sweep_rows *rows, const calc_sweep_study *study,
                            const calc_sweep_result *result);

/** Free what it owns. Fine on {0}. */
void calc_sweep_rows_free(calc_sweep_rows *rows);

/* Writes the results of a sweep as files. Except for the summary, they
 * contain nothing that depends on the machine, the clock or the number of threads. */

/** Front and best as one JSON object; with groups (--per) one of each per group. */
void calc_sweep_write_json(calc_output *out, const calc_sweep_study *study,
                           const calc_sweep_result *result);

/** Write the same as CSV: list, rank in its group, model, machine, swept fields, layout,
 *  statistics. */
void calc_sweep_write_csv(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_result *result);

/** Write the column names of a row of calc_sweep_write_row(); `first`: names of preceding columns,
 *  or NULL. */
void calc_sweep_write_header(calc_output *out, const calc_sweep_study *study, const char *first);

/** Write a layout as the end of a row of CSV, with the end of the line. @param is_first  the row is
 *  empty so far */
void calc_sweep_write_row(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_found *found, bool is_first);

/* Writes the results of a sweep as a page for a browser. */

/** Write the page: the best and the front, a cloud of layouts, the best of every split and of every
 *  number of processors. Evaluates layouts again for that.
 *  @param args      of the sweep
 *  @param start     the layout to start with: calc_sweep_order_advise()
 *  @param measured  residuals for predicting what fits; NULL: not known
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                                const calc_sweep_result *result,
                                                const calc_args *args, const calc_sweep_row *start,
                                                const calc_residuals *measured,
                                                calc_errors *errors);

#endif
