#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/make.h"
#include "parallel.h"
#include "plan/in_order.h"
#include "plan/layers_join.h"
#include "plan/layers_list.h"

typedef struct search {
    const calc_planner *planner;
    calc_planner_result *out;
    calc_planner_stop stop;
    calc_layers_list list;
    calc_layers_case *ready; /* of each candidate */
    calc_status *status;     /* whether it is */
    size_t *order;           /* of candidates, by ascending bound */
    size_t next;             /* in that order */
    struct {
        double limit_s;
        calc_status status;
        calc_planner_found found;
    } at[CALC_IN_ORDER];
} search;

/* ---- Candidates ------------------------------------------------------------------------------ */

static void make_ready(void *context, size_t i)
{
    search *s = context;
    calc_layers_candidate *c = &s->list.candidate[i];
    s->status[i] = calc_layers_case_of(s->planner, c, &s->ready[i]);
    c->bound_s = s->status[i] == CALC_OK ? calc_layers_bound_s(&s->ready[i], -1) : INFINITY;
}

static void make_all_ready(search *s)
{
    size_t count = s->list.count;
    s->ready = calc_make(count, sizeof *s->ready);
    s->status = calc_make(count, sizeof *s->status);
    s->order = calc_make(count, sizeof *s->order);
    calc_parallel_for(s->planner->threads, count, make_ready, s);
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && s->list.candidate[i].bound_s < s->list.candidate[s->order[at - 1]].bound_s;
             at--) {
            s->order[at] = s->order[at - 1];
        }
        s->order[at] = i;
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Layouts as a sweep finds them: no plan may be slower. */
static void take_uniform(search *s)
{
    calc_planner_result *r = s->out;
    for (size_t i = 0; i < s->list.count; i++) {
        const calc_layers_candidate *c = &s->list.candidate[i];
        calc_planner_found f = {.exec = c->uniform,
                                .planned_s = c->uniform_s,
                                .bound_s = fmin(c->bound_s, c->uniform_s),
                                .candidate = i};
        if (!isfinite(c->uniform_s)) {
            continue;
        }
        calc_run(s->planner->app, &s->planner->chip[0].system, &f.exec, CALC_COMPAT_NONE, &f.stats);
        calc_planner_take(r, s->planner->top, &f);
    }
    r->uniform = r->count > 0;
    if (r->uniform) {
        r->uniform_exec = r->found[0].exec;
        r->uniform_stats = r->found[0].stats;
    }
}

/* ---- The search ------------------------------------------------------------------------------ */

static double bound_at(const search *s, size_t next)
{
    return next < s->list.count ? s->list.candidate[s->order[next]].bound_s : INFINITY;
}

static bool begin(void *context, size_t at)
{
    search *s = context;
    double limit_s = calc_planner_limit_s(s->out, s->planner->top);
    if (s->next == s->list.count || bound_at(s, s->next) >= limit_s) {
        return false;
    }
    calc_planner_stop_note(&s->stop, s->out, bound_at(s, s->next));
    if (calc_planner_stop_asked(&s->stop)) {
        return false;
    }
    s->at[at].limit_s = limit_s;
    s->at[at].found = (calc_planner_found){.candidate = s->order[s->next++]};
    return true;
}

static void solve(void *context, size_t at)
{
    search *s = context;
    calc_planner_found *f = &s->at[at].found;
    const size_t candidate = f->candidate;
    const calc_layers_candidate *c = &s->list.candidate[candidate];
    s->at[at].status = CALC_ERR_RULE;
    if (calc_planner_stop_asked(&s->stop)) {
        f->bound_s = c->bound_s;
    } else {
        s->at[at].status = calc_layers_solve(s->planner, &s->ready[candidate],
                                             fmin(s->at[at].limit_s, c->uniform_s), f);
        f->candidate = candidate;
    }
}

static void settle(void *context, size_t at)
{
    search *s = context;
    calc_planner_result *r = s->out;
    const calc_planner_found *f = &s->at[at].found;
    r->balanced++;
    r->bound_s = fmin(r->bound_s, f->bound_s);
    if (s->at[at].status == CALC_OK) {
        calc_planner_take(r, s->planner->top, f);
    }
    calc_planner_know_bound(r, f);
}

calc_status calc_planner_layers_run(const calc_planner *planner, calc_planner_result *out,
                                    calc_errors *errors)
{
    search *s = calc_make(1, sizeof *s);
    *out = (calc_planner_result){.found = calc_make(planner->top + 1, sizeof *out->found)};
    s->planner = planner;
    s->out = out;
    calc_planner_stop_begin(&s->stop, planner);
    calc_status status = calc_layers_list_make(planner, &s->list);
    if (status == CALC_OK) {
        make_all_ready(s);
        out->layouts = s->list.layouts;
        out->candidates = s->list.count;
        out->needs_bytes = s->list.needs_bytes;
        out->has_bytes = s->list.has_bytes;
        out->lacking = s->list.lacking;
        take_uniform(s);
        out->bound_s = INFINITY;
        calc_in_order(planner->threads, begin, solve, settle, s);
        out->complete = !atomic_load(&s->stop.stopped);
        out->bound_s = fmin(out->bound_s, bound_at(s, s->next));
        const calc_planner_found *best = &out->found[0];
        if (planner->curve && out->count > 0 && s->status[best->candidate] == CALC_OK) {
            calc_layers_curve_of(planner, &s->ready[best->candidate], &best->exec, &out->curve,
                                 &out->points);
        }
    }
    for (size_t i = 0; s->ready && i < s->list.count; i++) {
        calc_layers_case_free(&s->ready[i]);
    }
    free(s->ready);
    free(s->status);
    free(s->order);
    calc_layers_list_free(&s->list);
    free(s);
    return calc_errors_status(errors, status);
}
