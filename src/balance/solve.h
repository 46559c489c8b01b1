/** @file solve.h  The division of layers and recomputation with the shortest step. */
#ifndef CALC_BALANCE_SOLVE_H
#define CALC_BALANCE_SOLVE_H

#include "balance/evaluate.h"
#include "balance/line.h"

typedef struct calc_balance_options {
    double time_limit_s; /**< 0: none */
    double gap;          /**< stop when proven within this share of the step; 0: the optimum */
    double within;       /**< with chunks, a bound within this share of the step is looked for with
                              much effort; 0: not */
    double below_s;      /**< only divisions below it [calc_balance_score_s()] are looked for: with
                              chunks there is no search if the bound is as long; 0: all */
    /** Number of divisions simulated at most; 0: a default. The result depends on this number, and
     *  never on the clock unless a time limit is hit. */
    int64_t evaluations;
    bool (*stop)(void *context); /**< asked now and then; true ends the search; NULL: never */
    void *context;
} calc_balance_options;

typedef struct calc_balance_solution {
    bool feasible;
    bool beyond; /**< nothing is known but that no division is below below_s */
    bool proven; /**< no division is shorter by more than the gap asked for; or none fits */
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_balance_answer answer;
    double score_s; /**< calc_balance_score_s() */
    double bound_s; /**< no division's is less */
    int64_t evaluations;
    /** If none is feasible: the stage that lacks most memory in the division that lacks least, and
     *  its need; -1 if the layers cannot be divided with any memory. */
    int stage;
    double needs_bytes;
} calc_balance_solution;

/** Search. Deterministic. Among steps equal up to rounding the search takes the smallest
 *  most_bytes, then the fewest layers on the first place, the second, and so on, as far as it meets
 *  them.
 *  @return CALC_OK, also if nothing fits; CALC_ERR_RULE if the schedule cannot run on the shape */
calc_status calc_balance_solve(const calc_balance_problem *problem,
                               const calc_balance_options *options, calc_balance_solution *out);

/* The effort limit of a search: a number of simulated steps, a time limit, and a
 * request to stop. */

typedef struct calc_balance_effort {
    int64_t evaluations, nodes;           /**< so far */
    int64_t most_evaluations, most_nodes; /**< limits of both; nodes are partial divisions */
    double until_s;                       /**< on the clock; INFINITY: any time */
    double look_s;                        /**< when it is next asked whether to stop */
    double gap;                           /**< allowed between bound and step, as a share of the
                                               step */
    double within;                        /**< calc_balance_options.within */
    bool (*stop)(void *context);
    void *context;
    bool spent; /**< the search ends */
} calc_balance_effort;

/** Count one more. @return false if the search ends */
bool calc_balance_effort_evaluation(calc_balance_effort *effort);
/** The bound from which on a division need not be searched for when there is one of step_s [s]. */
double calc_balance_effort_goal_s(const calc_balance_effort *effort, double step_s);

/* The shortest division of a line: bounds, moves of a few layers, and branching
 * over stages where these leave a gap. */

/** The best division so far. */
typedef struct calc_balance_best {
    bool any;
    int layers[CALC_BALANCE_STAGES];
    calc_balance_range full[CALC_BALANCE_CHIPS]; /**< limits under which it was found */
    double step_s, most_bytes;
    double open_s; /**< those tried take no less, whatever else of them recomputes */
} calc_balance_best;

/** Search.
 *  @param below_s  calc_balance_options.below_s, or INFINITY
 *  @param out  feasible, share and bound_s are written, or stage and needs_bytes of the division
 *              that lacks least */
void calc_balance_chunks(const calc_balance_problem *problem, calc_balance_effort *effort,
                         double below_s, calc_balance_solution *out);

#endif
