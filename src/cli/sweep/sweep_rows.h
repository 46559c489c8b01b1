/** @file sweep_rows.h  Selects the layouts of a sweep that are rows of a table. */
#ifndef CALC_CLI_SWEEP_SWEEP_ROWS_H
#define CALC_CLI_SWEEP_SWEEP_ROWS_H

#include "base/error.h"
#include "cli/shell/opt.h"
#include "io/output.h"
#include "io/text.h"
#include "plan/sweep_more.h"
#include "report/sweep_data.h"
#include "tune/model.h"
#include "validate/residuals.h"

/** Maximum number of rows shown. */
enum { CALC_SWEEP_ROWS_FRONT = 20, CALC_SWEEP_ROWS_GROUPS = 64 };

/** One row. */
typedef struct calc_sweep_row {
    const calc_found *layout; /**< borrowed from the result */
    size_t number;            /**< its index in the whole list */
    size_t alike;             /**< layouts after it that the row stands for */
    double share;             /**< of the best: calc_sweep_order_share(); 0 on a front, of groups */
    double sure;              /**< that the best is faster: calc_sweep_order_sure(), likewise */
    bool equal;               /**< not the fastest, and calc_sweep_order_equal() to it */
    bool starts;              /**< a framework can run it: calc_export_starts() */
    bool spread;    /**< trains, with experts over several domains of the fastest network */
    calc_fits fits; /**< fits in memory, as far as measured runs tell */
} calc_sweep_row;

/** A table. Owns its rows; free with calc_sweep_rows_free(). Start with {0} and `measured`. */
typedef struct calc_sweep_rows {
    size_t count;
    size_t of; /**< size of the list the rows are from, evenly spread or the first ones */
    bool near; /**< the order of two layouts is not known: those within 1 % count as equal */
    calc_sweep_row *row;
    const calc_residuals *measured; /**< borrowed; NULL: residuals for predicting what fits are not
                                     *  known */
} calc_sweep_rows;

/** The machine whose runs the constants of a system of the study were fitted to; "": none. */
const char *calc_sweep_rows_calibrated(const calc_sweep_study *study, const char *machine);

/** Three layouts to choose from, often one and the same: rows with their index among the best, 0:
 *  not among them. Nothing fits: {0}. */
typedef struct calc_sweep_advice {
    calc_sweep_row start;   /**< the one to start with */
    calc_sweep_row fastest; /**< the best by --top-by */
    calc_sweep_row safe;    /**< the best that is as good as sure to fit (CALC_FITS_SURE) and that a
                             *   framework runs; {0}: none that is not far behind */
} calc_sweep_advice;

/** Choose them among the best and, if these do not settle it, the front. A layout that a framework
 *  runs is worth its share of the best (calc_sweep_order_share()), times the probability that it
 *  fits over CALC_FITS_SURE where that is less than 1, and less 13 % if its experts are spread
 *  (calc_sweep_row::spread). The start is the simplest
 * (calc_sweep_found_simpler()) of those that are worth at most 2 % less than the most; of several,
 * and of training by another objective than time (calc_sweep_order), the one that is worth most.
 * If no framework runs any, with several groups, or under Calculon's rules, the start is the best.
 * Examines all layouts kept, so call it before lists are cut. */
calc_sweep_advice calc_sweep_rows_advise(const calc_residuals *measured,
                                         const calc_sweep_study *study,
                                         const calc_sweep_result *result);

/** The best of a sweep without groups, at most `top`: the layout to start with, then the others in
 *  their order. A layout is folded into a row that stands before it in both orders if design,
 *  sizes, micro-batch and the fields that the user asked to compare are the same, its objective is
 *  within 1 %, and its need of the first tier within 10 %.
 *  @param start  calc_sweep_advice.start */
void calc_sweep_rows_best(calc_sweep_rows *rows, const calc_sweep_study *study,
                          const calc_front *best, size_t top, const calc_sweep_row *start);

/** The front, evenly spread. */
void calc_sweep_rows_front(calc_sweep_rows *rows, const calc_sweep_study *study,
                           const calc_front *front);

/** The best of each group that has one: designs from the best to the worst, groups of the same
 *  number of processors together; without designs in the order of these numbers, evenly spread. */
void calc_sweep_rows_groups(calc_sweep_rows *rows, const calc_sweep_study *study,
                            const calc_sweep_result *result);

/** Free what it owns. Fine on {0}. */
void calc_sweep_rows_free(calc_sweep_rows *rows);

/* Computes how sure it is that the best layout of a sweep is faster than
 * another one. Both predictions have errors, which are the more alike the more the layouts are
 * (tune/model.h). */

/** A layout less sure to be slower than this counts as equal to the best: the odds are below three
 *  to one. */
#define CALC_SWEEP_ORDER_SURE 0.75

/** The best of a sweep, for comparison with others. */
typedef struct calc_sweep_order {
    const calc_sweep_study *study;
    bool known; /**< the objective is a time or a rate of training */
    calc_tune_prior prior;
    calc_tune_candidate best;
    calc_stats stats;
    uint64_t design;
} calc_sweep_order;

/** Fill it. @param best  NULL: nothing is known */
calc_sweep_order calc_sweep_order_of(const calc_sweep_study *study, const calc_found *best);

/** The probability that the best is better than this layout; a member of calc_sweep_data; at least
 * 0.5 if the prediction says so.
 *  @return NaN: not known */
double calc_sweep_order_sure(const void *order, uint64_t design, const calc_exec *exec,
                             const calc_stats *stats);

/** Whether a layout counts as equal to the best; where nothing is known, if it is within 1 % of it.
 *  @param sure  calc_sweep_order_sure() of it */
bool calc_sweep_order_equal(const calc_sweep_order *order, double sure, const calc_stats *stats);

/** How good a layout is by the objective, as a share of the best: a rate over the best one, or the
 *  best time over its time; 0 if they cannot be compared. */
double calc_sweep_order_share(const calc_sweep_order *order, const calc_stats *stats);

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
 *  @param start     the layout to start with: calc_sweep_rows_advise()
 *  @param measured  residuals for predicting what fits; NULL: not known
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                                const calc_sweep_result *result,
                                                const calc_args *args, const calc_sweep_row *start,
                                                const calc_residuals *measured,
                                                calc_errors *errors);

#endif
