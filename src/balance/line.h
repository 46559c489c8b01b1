/** @file line.h  A pipeline with one chunk per stage as a row of choices: each stage takes a number
 *  of the remaining layers, from the first stage to the last.
 *
 *  Paths through the operations give bounds. A path comes down to a stage s, stays there, and goes
 *  back up; while the pipeline fills, and again while it drains, it may go on to the last stage and
 *  back. So a step takes at least
 *
 *      down of the stages before s  +  at_s[k] of stage s  +  k * around of the stages behind it
 *
 *  for each stage s, with k = 0, 1, 2 visits to those behind. For 1F1B with p stages, m
 *  micro-batches, passes f and b of a stage, c = f + b and r = p-1-s: down = around = c, and
 *
 *      at[0] = m c
 *      at[1] = c + max((m-1) b + max(m-1-r, 0) f, (m-1) f + max(m-1-r, 0) b)
 *      at[2] = (m - r) c, if m >= r + 2
 *
 *  With equal stages k = 2 is exact for each of them. GPipe: at[1] = m c alone. With weight
 *  gradients apart (zb_h1, zb_h2): down = f, around = f + b, at[0] = m (f + b + w), and at[1] = f +
 *  m (b + w) + what forwards are left after the warm-up. */
#ifndef CALC_BALANCE_LINE_H
#define CALC_BALANCE_LINE_H

#include "balance/choice.h"

enum { CALC_BALANCE_VISITS = 3 };

/** Contribution of a stage with its layers to paths [s]. */
typedef struct calc_balance_terms {
    double down_s, around_s;
    double at_s[CALC_BALANCE_VISITS]; /**< -INFINITY: no such path */
} calc_balance_terms;

/** A stage with its layers. */
typedef struct calc_balance_option {
    calc_balance_terms terms;
    calc_schedule_pass pass;
    bool known, fits;
} calc_balance_option;

typedef struct calc_balance_line {
    const calc_balance_problem *problem;
    int stages, layers;
    int least, most; /**< layers of a stage */
    calc_balance_range full[CALC_BALANCE_CHIPS];
    double flight[CALC_BALANCE_STAGES]; /**< micro-batches in flight */
    double more_bytes;                  /**< that every stage may have on top of its limit */
    calc_balance_option *pure;          /**< [stage][kind][layers], filled in when asked for */
    bool no_memory;                     /**< a step could not be simulated */
} calc_balance_line;

/** Whether a shape has one chunk per stage whose memory is its own. */
bool calc_balance_is_line(const calc_schedule_shape *shape);

/** @return CALC_OK or CALC_ERR_NOMEM; in either case calc_balance_line_end() may be called */
calc_status calc_balance_line_begin(calc_balance_line *line, const calc_balance_problem *problem);
void calc_balance_line_end(calc_balance_line *line);

/** Set how many layers of each chip may recompute in full, and the memory on top of the limits;
 *  options are chosen anew. */
void calc_balance_line_limit(calc_balance_line *line, const calc_balance_range *full,
                             double more_bytes);

/** A stage with `layers` layers, when the stages before have `from`. */
calc_balance_choice calc_balance_line_choice(const calc_balance_line *line, int stage, int from,
                                             int layers);
calc_balance_option calc_balance_line_option(calc_balance_line *line, int stage, int from,
                                             int layers);

/** Any division that fits.
 *  @param layers  [stages], written
 *  @return false if there is none */
bool calc_balance_line_fits(calc_balance_line *line, int *layers);

/** The division whose busiest stage is least busy, likewise. */
bool calc_balance_line_even(calc_balance_line *line, int *layers);

/** Time of a step [s]; INFINITY if a stage does not fit, or has more layers than allowed. */
double calc_balance_line_s(calc_balance_line *line, const int *layers);

#endif
