#include "balance/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/alike.h"
#include "balance/chunks.h"

/* Steps simulated, if the options do not say how many: those with chunks take longer. */
enum { OF_LINE = 200000, OF_CHUNKS = 20000 };

/* Relative difference that summing in another order may cause. */
#define SAME 4e-12

/* ---- One chunk per stage ----------------------------------------------------------------------*/

static void any(calc_balance_range *full)
{
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        full[chip] = CALC_BALANCE_ANY;
    }
}

/* Memory that every stage may need beside its limit, as little as lets a division fit, and the
 * stage that needs it. */
static void miss(calc_balance_line *l, calc_balance_solution *out)
{
    calc_balance_range full[CALC_BALANCE_CHIPS];
    any(full);
    int layers[CALC_BALANCE_STAGES];
    double low_bytes = 0;
    double high_bytes = 1;
    do {
        high_bytes *= 2;
        calc_balance_line_limit(l, full, high_bytes);
    } while (!calc_balance_line_fits(l, layers) && high_bytes < INFINITY);
    if (high_bytes == INFINITY) {
        return; /* more or fewer layers than stages may have */
    }
    for (int i = 0; i < 60; i++) {
        double bytes = (low_bytes + high_bytes) / 2;
        calc_balance_line_limit(l, full, bytes);
        int tried[CALC_BALANCE_STAGES];
        if (calc_balance_line_fits(l, tried)) {
            high_bytes = bytes;
            memcpy(layers, tried, sizeof layers);
        } else {
            low_bytes = bytes;
        }
    }
    calc_balance_line_limit(l, full, high_bytes);
    double worst_bytes = -INFINITY;
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        calc_balance_choice c = calc_balance_line_choice(l, s, from, layers[s]);
        if (c.bytes - l->problem->stage[s].limit_bytes > worst_bytes) {
            worst_bytes = c.bytes - l->problem->stage[s].limit_bytes;
            out->stage = s;
            out->needs_bytes = c.bytes;
        }
        from += layers[s];
    }
}

static void take(calc_balance_line *l, const calc_balance_best *best, calc_balance_solution *out)
{
    calc_balance_line_limit(l, best->full, 0);
    int from = 0;
    for (int s = 0; s < l->stages; s++) {
        out->share[s] = calc_balance_line_choice(l, s, from, best->layers[s]).share;
        from += best->layers[s];
    }
}

static calc_status solve_line(const calc_balance_problem *p, calc_balance_effort *e,
                              calc_balance_solution *out)
{
    calc_balance_line l;
    calc_status status = calc_balance_line_begin(&l, p);
    calc_balance_best best = {0};
    double least_s = INFINITY;
    if (status == CALC_OK) {
        status = p->alike_on_chip ? calc_balance_alike(&l, e, &best, &least_s)
                                  : calc_balance_branch(&l, e, &best, &least_s);
    }
    if (l.no_memory) {
        status = CALC_ERR_NOMEM;
    }
    out->feasible = best.any;
    out->bound_s = least_s;
    if (status == CALC_OK && best.any) {
        take(&l, &best, out);
    } else if (status == CALC_OK) {
        miss(&l, out);
    }
    calc_balance_line_end(&l);
    return status;
}

/* ---- All --------------------------------------------------------------------------------------*/

calc_status calc_balance_solve(const calc_balance_problem *p, const calc_balance_options *options,
                               calc_balance_solution *out)
{
    memset(out, 0, sizeof *out);
    out->stage = -1;
    if (calc_schedule_check(&p->shape) != CALC_SCHEDULE_OK) {
        return CALC_ERR_RULE;
    }
    bool line = calc_balance_is_line(&p->shape);
    calc_balance_effort e = calc_balance_effort_of(options, line ? OF_LINE : OF_CHUNKS);
    calc_status status = line ? solve_line(p, &e, out) : calc_balance_chunks(p, &e, out);
    if (status == CALC_OK && out->feasible) {
        status = calc_balance_evaluate(p, out->share, &out->answer);
    }
    out->evaluations = e.evaluations;
    double step_s = out->feasible ? out->answer.step_s : INFINITY;
    if (out->bound_s >= step_s * (1 - SAME)) {
        out->bound_s = step_s;
    }
    out->proven = out->bound_s >= calc_balance_effort_goal_s(&e, step_s);
    return status;
}
