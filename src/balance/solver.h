/** @file solver.h  GLPK, a solver of mixed-integer programs. */
#ifndef CALC_BALANCE_SOLVER_H
#define CALC_BALANCE_SOLVER_H

#include "balance/milp.h"
#include "balance/solve.h"

typedef struct calc_solver_options {
    double time_limit_s; /**< 0: none */
    double gap;          /**< stop when proven within this share of the objective; 0: optimum */
    bool (*stop)(void *context); /**< asked now and then whether to give up; NULL: never */
    void *context;
} calc_solver_options;

typedef enum calc_solver_outcome {
    CALC_SOLVER_OPTIMAL,    /**< proven, within `gap` */
    CALC_SOLVER_FEASIBLE,   /**< a solution, not proven */
    CALC_SOLVER_INFEASIBLE, /**< proven to have no solution */
    CALC_SOLVER_LIMIT       /**< neither a solution nor a proof */
} calc_solver_outcome;

typedef struct calc_solver_result {
    calc_solver_outcome outcome;
    double objective_s; /**< of the solution; INFINITY: none */
    double bound_s;     /**< no solution is less; -INFINITY: not known */
    double gap;         /**< (objective - bound) / objective; 0: none, INFINITY: not known */
    double *value;      /**< [columns]; owned; NULL without a solution */
} calc_solver_result;

/** Solve.
 *  @param options  NULL: none
 *  @param out      on CALC_OK to be freed; else empty
 *  @return CALC_OK, whatever the outcome; CALC_ERR_NOMEM; CALC_ERR_RULE if the solver gave up, with
 *  an error that says why */
CALC_MUST_USE calc_status calc_solver_glpk(const calc_milp *milp,
                                           const calc_solver_options *options,
                                           calc_solver_result *out, calc_errors *errors);

void calc_solver_free(calc_solver_result *result);

/** Divide the layers by GLPK instead of the search of solve.h, with the same answer. The number
 *  of evaluations in `options` is ignored; `evaluations`, `stage` and `needs_bytes` of the answer
 *  are 0, -1 and 0. Solvers tolerate small excesses of memory: where one occurs, the limit is
 *  lowered by 1e-4, and the answer is then not proven.
 *  @param options  NULL: none
 *  @return as calc_milp_build() and the solver */
CALC_MUST_USE calc_status calc_solver_divide(const calc_balance_problem *problem,
                                             const calc_balance_options *options,
                                             calc_balance_solution *out, calc_errors *errors);

/** Fill objective, bound and gap from a solver's, in the program's units; `objective` INFINITY: no
 *  solution. */
void calc_solver_conclude(const calc_milp *milp, double objective, double bound,
                          calc_solver_result *result);

/** The version of GLPK. Static text. */
const char *calc_solver_glpk_library(void);

#endif
