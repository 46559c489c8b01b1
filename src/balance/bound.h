/** @file bound.h  A lower bound of the step of all divisions of a line, from the paths of line.h:
 *  dynamic programming over stages and layers.
 *
 *  The stages from some stage on, with the layers from some layer on, enter the paths by two
 *  numbers only: the time that they add for each visit, and the longest path that stays on one of
 *  them. So it is enough to keep the Pareto front of their divisions in these two. */
#ifndef CALC_BALANCE_BOUND_H
#define CALC_BALANCE_BOUND_H

#include "balance/line.h"

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

/** @return CALC_OK or CALC_ERR_NOMEM; in either case calc_balance_bound_end() may be called */
calc_status calc_balance_bound_begin(calc_balance_bound *bound, calc_balance_line *line);
void calc_balance_bound_end(calc_balance_bound *bound);

/** Find the least bound of all divisions that may take less than below_s.
 *  @param most  divisions kept for a stage and a layer; if there are more, neighbours are merged
 *               into one that is better than both
 *  @return CALC_OK or CALC_ERR_NOMEM */
calc_status calc_balance_bound_find(calc_balance_bound *bound, double below_s, int most);

/** A lower bound of all divisions that begin with these stages; INFINITY if none may be below
 *  below_s.
 *  @param from  layers of the stages before */
double calc_balance_bound_behind(const calc_balance_bound *bound, int stage, int from,
                                 const calc_balance_before *before);

/** The division whose bound is least, or close to it if not exact; false if there is none.
 *  @param layers  [stages], written */
bool calc_balance_bound_layers(const calc_balance_bound *bound, int *layers);

#endif
