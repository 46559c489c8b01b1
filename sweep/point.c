#include "point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "filter.h"

/* An objective of a point: less is better. */
static double objective_of(const calc_objective *objective, double batch, const calc_point *p)
{
    double value;
    switch (objective->kind) {
    case CALC_OBJECTIVE_SAMPLE_RATE:
        value = batch / p->total_s;
        break;
    case CALC_OBJECTIVE_TOTAL_TIME:
        value = p->total_s;
        break;
    case CALC_OBJECTIVE_MEM1:
        value = p->tier1_bytes;
        break;
    default:
        value = p->tier2_bytes;
        break;
    }
    return objective->up ? -value : value;
}

/* All of them. @return that of the list of the best, 0 without one */
static inline double objectives_of(const calc_sweep_options *o, double batch, const calc_point *p,
                                   double *out)
{
    for (size_t i = 0; i < o->objectives; i++) {
        out[i] = objective_of(&o->objective[i], batch, p);
    }
    return o->top > 0 ? objective_of(&o->top_by, batch, p) : 0;
}

/* Whether one of such objectives would be entered. */
static bool matters(const calc_worker *w, calc_sweep_group *group, double top_objective,
                    const double *objective)
{
    const calc_sweep_options *o = w->options;
    if (o->top > 0 && top_objective <= calc_top_threshold(&group->top, o->top)) {
        return true;
    }
    return o->objectives > 0 && !calc_front_dominates(&group->front, objective, o->objectives);
}

bool calc_point_matters(const calc_worker *w, calc_sweep_group *group, const calc_point *p)
{
    double objective[CALC_MAX_OBJECTIVES];
    double best = objectives_of(w->options, (double)w->cell.exec.batch_size, p, objective);
    return matters(w, group, best, objective);
}

bool calc_point_enter(calc_worker *w, calc_sweep_group *group, const calc_exec *exec,
                      double top_objective, const double *objective)
{
    const calc_sweep_options *o = w->options;
    if (!matters(w, group, top_objective, objective)) {
        return true;
    }
    bool runs = true;
    calc_status status =
        o->runs ? o->runs(o->runs_context, w->app, w->system, exec, &w->known, &runs) : CALC_OK;
    if (status == CALC_OK && !runs) {
        w->counts.refused++;
        return false;
    }
    calc_found found = calc_found_of(w->design, exec);
    if (o->top > 0 && status == CALC_OK) {
        found.objective[0] = top_objective;
        w->best = top_objective < w->best ? top_objective : w->best;
        status = calc_top_insert(&group->top, &found, o->top);
    }
    if (o->objectives > 0 && status == CALC_OK) {
        memcpy(found.objective, objective, o->objectives * sizeof *objective);
        status = calc_front_insert(&group->front, &found, o->objectives);
    }
    if (status != CALC_OK) {
        w->status = status;
    }
    return true;
}

/* Enter a point that the kernel evaluated. */
static void enter_point(calc_worker *w, calc_sweep_group *group, const calc_exec *exec,
                        const calc_point *p)
{
    double objective[CALC_MAX_OBJECTIVES] = {0};
    double top_objective = objectives_of(w->options, (double)exec->batch_size, p, objective);
    if (calc_point_enter(w, group, exec, top_objective, objective)) {
        calc_screening_enter(w, objective);
        w->entered++;
    }
}

/* Compare one point with calc_run(): every bit of time and memory must agree. */
static void verify(calc_worker *w, const calc_exec *exec, const calc_point *p)
{
    calc_stats s;
    calc_run(w->app, w->system, exec, w->options->compat, &s);
    bool equal = s.total_time == p->total_s && s.proc_mem_tier1_cap_req == p->tier1_bytes &&
                 s.proc_mem_tier2_cap_req == p->tier2_bytes;
    calc_verdict fits =
        p->tier1_bytes > w->system->chip.mem1.capacity_bytes   ? CALC_VERDICT_MEM1_CAPACITY
        : p->tier2_bytes > w->system->chip.mem2.capacity_bytes ? CALC_VERDICT_MEM2_CAPACITY
                                                               : CALC_VERDICT_OK;
    if (!equal || fits != s.verdict) {
        w->status = CALC_ERR_RULE;
        w->failed = *exec;
    }
}

void calc_point_take(calc_worker *w, calc_sweep_group *group, const calc_exec *exec,
                     const calc_point *p, calc_point_purpose what)
{
    if (what == CALC_POINT_RUN) {
        calc_batch_take(w, group, exec);
    } else if (what == CALC_POINT_VERIFY) {
        verify(w, exec, p);
    } else {
        /* Enter a point that the kernel evaluated, if it meets the conditions; if it does not,
         * count it if it would matter, unless all are counted. */
        if (calc_filter_point(w, exec, p->total_s)) {
            enter_point(w, group, exec, p);
        } else if (!calc_filter_counts(w)) {
            w->counts.filtered++;
        }
    }
}

bool calc_point_verifies(calc_worker *w)
{
    double share = w->options->verify;
    uint64_t tile = w->tiles++;
    return floor((double)(tile + 1) * share) > floor((double)tile * share);
}
