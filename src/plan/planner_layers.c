#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "parallel.h"
#include "plan/layers_join.h"
#include "plan/layers_list.h"

enum {
    BATCH = 8 /* candidates between two updates of the best found, whatever the number of
                 threads */
};

typedef struct search {
    const calc_planner *planner;
    calc_planner_result *out;
    calc_planner_stop stop;
    calc_layers_list list;
    calc_layers_case *ready; /* of each candidate */
    calc_status *status;     /* whether it is */
    size_t *order;           /* of candidates, by ascending bound */
    /* Of a batch. */
    const size_t *batch;
    double limit_s;
    struct {
        calc_status status;
        calc_planner_found found;
    } done[BATCH];
} search;

/* ---- Candidates ------------------------------------------------------------------------------ */

static void make_ready(void *context, size_t i)
{
    search *s = context;
    calc_layers_candidate *c = &s->list.candidate[i];
    s->status[i] = calc_layers_case_of(s->planner, c, &s->ready[i]);
    c->bound_s = s->status[i] == CALC_OK ? calc_layers_bound_s(&s->ready[i], -1) : INFINITY;
}

static calc_status make_all_ready(search *s)
{
    size_t count = s->list.count;
    s->ready = calloc(count + 1, sizeof *s->ready);
    s->status = calloc(count + 1, sizeof *s->status);
    s->order = malloc((count + 1) * sizeof *s->order);
    if (!s->ready || !s->status || !s->order) {
        return CALC_ERR_NOMEM;
    }
    calc_parallel_for(s->planner->threads, count, make_ready, s);
    for (size_t i = 0; i < count; i++) {
        if (s->status[i] == CALC_ERR_NOMEM) {
            return CALC_ERR_NOMEM;
        }
        size_t at = i;
        for (; at > 0 && s->list.candidate[i].bound_s < s->list.candidate[s->order[at - 1]].bound_s;
             at--) {
            s->order[at] = s->order[at - 1];
        }
        s->order[at] = i;
    }
    return CALC_OK;
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

static void solve(void *context, size_t i)
{
    search *s = context;
    size_t candidate = s->batch[i];
    if (calc_planner_stop_asked(&s->stop)) {
        s->done[i].status = CALC_ERR_RULE;
        s->done[i].found.candidate = candidate;
        s->done[i].found.bound_s = s->list.candidate[candidate].bound_s;
        return;
    }
    double uniform_s = s->list.candidate[candidate].uniform_s;
    s->done[i].status = calc_layers_solve(s->planner, &s->ready[candidate],
                                          fmin(s->limit_s, uniform_s), &s->done[i].found);
    s->done[i].found.candidate = candidate;
}

static double bound_at(const search *s, size_t next)
{
    return next < s->list.count ? s->list.candidate[s->order[next]].bound_s : INFINITY;
}

static calc_status solve_batch(search *s, size_t next, size_t count)
{
    calc_planner_result *r = s->out;
    s->limit_s = calc_planner_limit_s(s->out, s->planner->top);
    s->batch = s->order + next;
    calc_parallel_for(s->planner->threads, count, solve, s);
    for (size_t i = 0; i < count; i++) {
        calc_planner_found *f = &s->done[i].found;
        r->balanced++;
        r->bound_s = fmin(r->bound_s, f->bound_s);
        if (s->done[i].status == CALC_ERR_NOMEM) {
            return CALC_ERR_NOMEM;
        }
        if (s->done[i].status == CALC_OK) {
            calc_planner_take(r, s->planner->top, f);
        }
        calc_planner_know_bound(r, f);
    }
    return CALC_OK;
}

static calc_status solve_all(search *s)
{
    calc_planner_result *r = s->out;
    calc_status status = CALC_OK;
    size_t next = 0;
    r->bound_s = INFINITY;
    while (next < s->list.count &&
           bound_at(s, next) < calc_planner_limit_s(s->out, s->planner->top) && status == CALC_OK) {
        calc_planner_stop_note(&s->stop, r, bound_at(s, next));
        if (calc_planner_stop_asked(&s->stop)) {
            break;
        }
        size_t left = s->list.count - next;
        size_t count = left < BATCH ? left : BATCH;
        status = solve_batch(s, next, count);
        next += count;
    }
    r->complete = !atomic_load(&s->stop.stopped);
    r->bound_s = fmin(r->bound_s, bound_at(s, next));
    return status;
}

static void free_search(search *s)
{
    for (size_t i = 0; s->ready && i < s->list.count; i++) {
        calc_layers_case_free(&s->ready[i]);
    }
    free(s->ready);
    free(s->status);
    free(s->order);
    calc_layers_list_free(&s->list);
    free(s);
}

calc_status calc_planner_layers_run(const calc_planner *planner, calc_planner_result *out,
                                    calc_errors *errors)
{
    search *s = calloc(1, sizeof *s);
    *out = (calc_planner_result){.found = calloc(planner->top + 1, sizeof *out->found)};
    calc_status status = s && out->found ? CALC_OK : CALC_ERR_NOMEM;
    if (status == CALC_OK) {
        s->planner = planner;
        s->out = out;
        calc_planner_stop_begin(&s->stop, planner);
        status = calc_layers_list_make(planner, &s->list);
    }
    status = status == CALC_OK ? make_all_ready(s) : status;
    if (status == CALC_OK) {
        out->layouts = s->list.layouts;
        out->candidates = s->list.count;
        out->needs_bytes = s->list.needs_bytes;
        out->has_bytes = s->list.has_bytes;
        out->lacking = s->list.lacking;
        take_uniform(s);
        status = solve_all(s);
    }
    if (status == CALC_OK && planner->curve && out->count > 0) {
        const calc_planner_found *best = &out->found[0];
        if (s->status[best->candidate] == CALC_OK) {
            status = calc_layers_curve_of(planner, &s->ready[best->candidate], &best->exec,
                                          &out->curve, &out->points);
        }
    }
    if (s) {
        free_search(s);
    }
    return calc_errors_status(errors, status);
}
