/** @file effort.h  The effort limit of a search: a number of simulated steps, a time limit, and a
 *  request to stop. */
#ifndef CALC_BALANCE_EFFORT_H
#define CALC_BALANCE_EFFORT_H

#include "balance/solve.h"

typedef struct calc_balance_effort {
    int64_t evaluations, nodes;           /**< so far */
    int64_t most_evaluations, most_nodes; /**< limits of both; nodes are partial divisions */
    double until_s;                       /**< on the clock; INFINITY: any time */
    double gap;                           /**< allowed between bound and step, as a share of the
                                               step */
    bool (*stop)(void *context);
    void *context;
    bool spent; /**< the search ends */
} calc_balance_effort;

/** @param usual  evaluations if the options do not say how many */
calc_balance_effort calc_balance_effort_of(const calc_balance_options *options, int64_t usual);

/** Count one more. @return false if the search ends */
bool calc_balance_effort_evaluation(calc_balance_effort *effort);
bool calc_balance_effort_node(calc_balance_effort *effort);

/** The bound from which on a division need not be searched for when there is one of step_s [s]. */
double calc_balance_effort_goal_s(const calc_balance_effort *effort, double step_s);

#endif
