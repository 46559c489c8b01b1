/** @file planner_list.h  The candidates of a planner: every layout of its space, with every number
 *  of chunks, in every place; each with a lower bound. */
#ifndef CALC_PLAN_PLANNER_LIST_H
#define CALC_PLAN_PLANNER_LIST_H

#include "plan/planner.h"

/** A layout as a sweep finds it: no plan may be slower. */
typedef struct calc_planner_even_layout {
    calc_exec layout;
    calc_stats stats;
    int chip;
    size_t exec;      /**< the layout of the list that it is with equal stages; SIZE_MAX: none, */
    size_t candidate; /**< and the candidate on its chip */
} calc_planner_even_layout;

/** A layout in a place. */
typedef struct calc_planner_candidate {
    size_t exec; /**< index */
    calc_planner_place place;
    double bound_s;                       /**< no division takes less */
    int turn;                             /**< smaller ones are balanced before others */
    const calc_planner_even_layout *even; /**< the quickest with equal stages; NULL: not known */
} calc_planner_candidate;

/** In the order in which they are balanced. Owns its lists. */
typedef struct calc_planner_list {
    calc_planner_even_layout *even;
    size_t evens, even_room;
    calc_exec *exec;
    size_t execs, exec_room;
    calc_planner_candidate *candidate;
    size_t count;
    size_t ahead;    /**< so many come before the others, which are in the order of their bounds */
    const char *why; /**< why the one layout of the planner has no candidate; NULL: not known */
} calc_planner_list;

/** Fill it. @return CALC_OK or an error's status; in either case it is to be freed */
CALC_MUST_USE calc_status calc_planner_list_make(const calc_planner *planner,
                                                 calc_planner_list *list, calc_errors *errors);
void calc_planner_list_free(calc_planner_list *list);

#endif
