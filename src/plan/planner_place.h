/** @file planner_place.h  Candidates of a planner: a layout, the assignment of its stages to chips,
 * the resulting balance problem, and a lower bound of its divisions without balancing it: a
 * relaxation in which stages may have fractions of layers, and recompute exactly as many as the
 * lack of memory requires. */
#ifndef CALC_PLAN_PLANNER_PLACE_H
#define CALC_PLAN_PLANNER_PLACE_H

#include "balance/from_layout.h"
#include "plan/planner.h"

/** Called with every place; false ends the walk. */
typedef bool calc_planner_visit(void *context, const calc_planner_place *place);

/** All ways to place the stages of a layout. @return false if the walk was ended */
bool calc_planner_places(const calc_planner *planner, const calc_exec *exec,
                         calc_planner_visit *visit, void *context);

/** A layout on every chip, without recomputation and with full recomputation. Large; points into
 *  itself. */
typedef struct calc_planner_layouts {
    calc_exec none, full;
    bool legal[CALC_MAX_CHIPS];
    bool recompute; /**< full is legal, too */
    calc_layout of_none[CALC_MAX_CHIPS], of_full[CALC_MAX_CHIPS];
    calc_balance_chip chip[CALC_MAX_CHIPS];
} calc_planner_layouts;

/** Fill them. @return whether a chip can run the layout */
bool calc_planner_layouts_of(const calc_planner *planner, const calc_exec *exec,
                             calc_planner_layouts *out);

/** The problem of a place.
 *  @param chip  filled: the layouts on the chips of the place, in its order, as the problem has
 * them
 *  @return NULL, or why there is no such problem (calc_balance_of_layouts) */
const char *calc_planner_problem(const calc_planner *planner, const calc_planner_layouts *layouts,
                                 const calc_planner_place *place,
                                 calc_balance_chip chip[CALC_MAX_CHIPS], calc_balance_problem *out);

/** The execution of a division, with its list of stages. */
calc_exec calc_planner_exec_of(const calc_planner *planner, const calc_planner_layouts *layouts,
                               const calc_planner_place *place, const calc_balance_problem *problem,
                               const calc_balance_share *share);

/** A lower bound of the pipeline [s]; INFINITY if the layers do not fit. */
double calc_planner_pipeline_s(const calc_balance_problem *problem);

/** A lower bound of a step [s]; INFINITY if the layers do not fit.
 *  @param chip  as calc_balance_total_s() */
double calc_planner_bound_s(const calc_balance_chip *chip, const calc_balance_problem *problem);

#endif
