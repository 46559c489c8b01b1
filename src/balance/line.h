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

#include "balance/evaluate.h"

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
    int least[CALC_BALANCE_STAGES], most; /**< layers of a stage */
    int behind[CALC_BALANCE_STAGES];      /**< the fewest of the stages behind */
    calc_balance_range full[CALC_BALANCE_CHIPS];
    double flight[CALC_BALANCE_STAGES]; /**< micro-batches in flight */
    double more_bytes;                  /**< that every stage may have on top of its limit */
    bool grows; /**< what a stage needs, with every layer: it has no whole_bytes for its ends */
    calc_balance_option *pure; /**< [stage][kind][layers], filled in when asked for */
} calc_balance_line;

/** To be freed by calc_balance_line_end(). */
void calc_balance_line_begin(calc_balance_line *line, const calc_balance_problem *problem);
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

/* A lower bound of the step of all divisions of a line, from its paths:
 * dynamic programming over stages and layers.
 *
 * The stages from some stage on, with the layers from some layer on, enter the paths by two
 * numbers only: the time that they add for each visit, and the longest path that stays on one of
 * them. So it is enough to keep the Pareto front of their divisions in these two. */

/** Stages up to some stage, whose layers are settled. */
typedef struct calc_balance_before {
    double down_s;
    /** The longest path that stays on one of them, without the visits to those behind. */
    double at_s[CALC_BALANCE_VISITS];
} calc_balance_before;

#define CALC_BALANCE_NOTHING_BEFORE ((calc_balance_before){0, {-INFINITY, -INFINITY, -INFINITY}})

/** With one stage more. */
calc_balance_before calc_balance_before_on(const calc_balance_before *before,
                                           const calc_balance_terms *terms);

/** Divisions of the stages behind that no other dominates. */
typedef struct calc_balance_behind {
    double around_s; /**< for a visit */
    double at_s;     /**< the longest path that stays on one of them */
    int32_t layers;  /**< of the first of them */
    int32_t next;    /**< index of the division of the rest */
} calc_balance_behind;

typedef struct calc_balance_bound {
    calc_balance_line *line;
    calc_balance_before *before; /**< [stage][layers before]: lower bound of each member */
    int32_t *first;              /**< [stage][layers before] index of its divisions, in behind */
    int32_t *count;
    calc_balance_behind *behind;
    size_t used, room;
    calc_balance_behind *scratch;
    size_t scratch_room;
    bool exact;     /**< nothing was merged: a division has exactly least_s */
    double least_s; /**< no division takes less, unless it takes below_s or more */
} calc_balance_bound;

/** To be freed by calc_balance_bound_end(). */
void calc_balance_bound_begin(calc_balance_bound *bound, calc_balance_line *line);
void calc_balance_bound_end(calc_balance_bound *bound);

/** Find the least bound of all divisions that may take less than below_s.
 *  @param most  divisions kept for a stage and a layer; if there are more, neighbours are merged
 *               into one that is better than both */
void calc_balance_bound_find(calc_balance_bound *bound, double below_s, int most);

/** A lower bound of all divisions that begin with these stages; INFINITY if none may be below
 *  below_s.
 *  @param from  layers of the stages before */
double calc_balance_bound_behind(const calc_balance_bound *bound, int stage, int from,
                                 const calc_balance_before *before);

/** The division whose bound is least, or close to it if not exact; false if there is none.
 *  @param layers  [stages], written */
bool calc_balance_bound_layers(const calc_balance_bound *bound, int *layers);

#endif
