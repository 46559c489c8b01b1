/** @file planner_place.h  Candidates of a planner: a layout, the assignment of its stages to chips,
 *  and the resulting balance problem. */
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

/* ---- Balancing ------------------------------------------------------------------------------- */

/* One candidate of a planner, balanced and then judged by calc_run(). */

/** Rounds in which memory limits are tightened where calc_run() needs more than the balance problem
 *  says. */
enum { CALC_PLANNER_ROUNDS = 5 };

/** Room for one candidate. Large: one per thread. */
typedef struct calc_planner_bench {
    calc_planner_layouts layouts;
    calc_balance_chip chip[CALC_MAX_CHIPS];
    calc_balance_problem problem;
    calc_balance_solution solution;
    calc_stage_stats stage[CALC_BALANCE_STAGES];
} calc_planner_bench;

typedef enum calc_planner_outcome {
    CALC_PLANNER_FOUND,
    CALC_PLANNER_SLOWER,    /**< than the limit */
    CALC_PLANNER_NO_ROOM,   /**< nothing fits; bench->solution has the need of a stage */
    CALC_PLANNER_UNBALANCED /**< not linear, not legal, or too large to be listed */
} calc_planner_outcome;

/** The best of a layout with equal stages on one chip: blocks divided evenly, or with embedding and
 *  head counted as blocks; with full recomputation or none.
 *  @param exec  with its pipeline_interleaving
 *  @param chip  index in planner->chip
 *  @return whether one of them fits; *best and *stats are then filled */
bool calc_planner_even(const calc_planner *planner, const calc_exec *exec, int chip,
                       calc_exec *best, calc_stats *stats);

/** Balance one layout in one place.
 *  @param exec     with its pipeline_interleaving
 *  @param limit_s  only steps below it are looked for
 *  @param effort   divisions to simulate at most in a search that cannot prove its optimum, with
 *                  chunks; and time
 *  @param bench    filled along the way */
calc_planner_outcome calc_planner_balance(const calc_planner *planner, const calc_exec *exec,
                                          const calc_planner_place *place, double limit_s,
                                          const calc_balance_options *effort,
                                          calc_planner_bench *bench, calc_planner_found *out);

#endif
