#include "balance/solver.h"

#include <math.h>
#include <stdlib.h>

void calc_solver_free(calc_solver_result *result)
{
    free(result->value);
    *result = (calc_solver_result){0};
}

void calc_solver_conclude(const calc_milp *milp, double objective, double bound,
                          calc_solver_result *result)
{
    /* Rounding may put the bound of an optimum a little above it. */
    bound = fmin(bound, objective);
    result->objective_s = objective * milp->unit_s;
    result->bound_s = bound * milp->unit_s;
    result->gap = objective == bound ? 0
                  : isinf(objective) || isinf(bound) || objective <= 0
                      ? INFINITY
                      : (objective - bound) / objective;
}
