#include "balance/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Excess over a limit that solvers may tolerate, as a share of it: counts of layers may be off by
 * 1e-5. */
#define TOLERATED 1e-4

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

/* ---- Like the search --------------------------------------------------------------------------*/

static calc_status read_result(const calc_balance_problem *problem, const calc_milp *milp,
                               const calc_solver_result *result, calc_balance_solution *out)
{
    out->feasible = result->value != NULL;
    out->proven =
        result->outcome == CALC_SOLVER_OPTIMAL || result->outcome == CALC_SOLVER_INFEASIBLE;
    out->bound_s = result->bound_s > 0 ? result->bound_s : 0;
    if (!out->feasible) {
        return CALC_OK;
    }
    calc_milp_shares(milp, result->value, out->share);
    return calc_balance_evaluate(problem, out->share, &out->answer);
}

static calc_status divide(const calc_balance_problem *problem, const calc_balance_options *options,
                          calc_balance_solution *out, calc_errors *errors)
{
    calc_milp milp;
    calc_solver_result result;
    calc_solver_options o = {0};
    if (options) {
        o = (calc_solver_options){options->time_limit_s, options->gap, options->stop,
                                  options->context};
    }
    memset(out, 0, sizeof *out);
    out->stage = -1;
    calc_status status = calc_milp_build(problem, NULL, &milp, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = calc_solver_glpk(&milp, &o, &result, errors);
    if (status == CALC_OK) {
        status = read_result(problem, &milp, &result, out);
        calc_errors_status(errors, status);
        calc_solver_free(&result);
    }
    calc_milp_free(&milp);
    return status;
}

/* Lower the limits of the stages that need more. */
static void lower(calc_balance_problem *p, const calc_balance_answer *answer)
{
    for (int stage = 0; stage < p->shape.stages; stage++) {
        double *limit_bytes = &p->stage[stage].limit_bytes;
        *limit_bytes *= answer->peak_bytes[stage] > *limit_bytes ? 1 - TOLERATED : 1;
    }
}

calc_status calc_solver_divide(const calc_balance_problem *problem,
                               const calc_balance_options *options, calc_balance_solution *out,
                               calc_errors *errors)
{
    calc_status status = divide(problem, options, out, errors);
    if (status != CALC_OK || !out->feasible || out->answer.fits) {
        return status;
    }
    calc_balance_problem *less = malloc(sizeof *less);
    if (!less) {
        return calc_errors_no_memory(errors);
    }
    *less = *problem;
    double bound_s = out->bound_s;
    for (int i = 0; i < problem->shape.stages && out->feasible && !out->answer.fits; i++) {
        lower(less, &out->answer);
        status = divide(less, options, out, errors);
        if (status != CALC_OK) {
            break;
        }
    }
    free(less);
    out->feasible = out->feasible && out->answer.fits;
    out->proven = false;
    out->bound_s = bound_s;
    return status;
}
