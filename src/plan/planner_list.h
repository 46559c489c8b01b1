/** @file planner_list.h  The candidates of a planner: every layout of its space, with every number
 *  of chunks, in every place; each with a lower bound. */
#ifndef CALC_PLAN_PLANNER_LIST_H
#define CALC_PLAN_PLANNER_LIST_H

#include "plan/planner.h"

/** A layout in a place. */
typedef struct calc_planner_candidate {
    size_t exec; /**< index */
    calc_planner_place place;
    double bound_s; /**< no division takes less */
    double even_s;  /**< step with equal stages; INFINITY: none fits */
} calc_planner_candidate;

/** In the order in which they are balanced. Owns its lists. */
typedef struct calc_planner_list {
    calc_exec *exec;
    size_t execs, exec_room;
    calc_planner_candidate *candidate;
    size_t count;
    size_t evens; /**< the quickest with equal stages come first, this many; the rest by ascending
                       bound */
    const char *why; /**< why the one layout of the planner has no candidate; NULL: not known */
} calc_planner_list;

/** Fill it. @return CALC_OK or CALC_ERR_NOMEM; in either case it is to be freed */
CALC_MUST_USE calc_status calc_planner_list_make(const calc_planner *planner,
                                                 calc_planner_list *list);
void calc_planner_list_free(calc_planner_list *list);

#endif
