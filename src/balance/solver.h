/** @file solver.h  glpsol, the program of the GNU Linear Programming Kit: a second opinion on a
 *  division of layers, by a solver of mixed-integer programs. */
#ifndef CALC_BALANCE_SOLVER_H
#define CALC_BALANCE_SOLVER_H

#include "balance/milp.h"
#include "balance/solve.h"

typedef enum calc_solver_outcome {
    CALC_SOLVER_OPTIMAL,    /**< proven */
    CALC_SOLVER_FEASIBLE,   /**< a solution, not proven */
    CALC_SOLVER_INFEASIBLE, /**< proven to have no solution */
    CALC_SOLVER_LIMIT       /**< neither a solution nor a proof */
} calc_solver_outcome;

typedef struct calc_solver_result {
    calc_solver_outcome outcome;
    double objective_s; /**< of the solution; INFINITY: none */
    double bound_s;     /**< no solution is less; -INFINITY: not known */
    double *value;      /**< [columns]; owned; NULL without a solution */
} calc_solver_result;

/** Start glpsol, which has to be installed, on the text of milp.h, and wait for it.
 *  @param time_limit_s  whole seconds, others are rounded up; 0: none
 *  @param out           on CALC_OK to be freed; else empty
 *  @return CALC_OK, whatever the outcome; CALC_ERR_NOMEM; CALC_ERR_IO if it is not installed or
 *  gave up, with an error that says why */
CALC_MUST_USE calc_status calc_solver_glpsol(const calc_milp *milp, double time_limit_s,
                                             calc_solver_result *out, calc_errors *errors);

void calc_solver_free(calc_solver_result *result);

/** Divide the layers by glpsol instead of the search of solve.h, with the same answer;
 *  `evaluations`, `stage` and `needs_bytes` of it are 0, -1 and 0. Solvers tolerate small excesses
 *  of memory: where one occurs, the limit is lowered by 1e-4, and the answer is then not proven.
 *  @return as calc_milp_build() and calc_solver_glpsol() */
CALC_MUST_USE calc_status calc_solver_divide(const calc_balance_problem *problem,
                                             double time_limit_s, calc_balance_solution *out,
                                             calc_errors *errors);

#endif
