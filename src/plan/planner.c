#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "parallel.h"
#include "plan/planner_balance.h"
#include "plan/planner_list.h"

/* Divisions of a candidate to simulate: those with chunks take longer. */
enum { EFFORT_LINE = 500, EFFORT_CHUNKS = 100, BEST_LINE = 20000, BEST_CHUNKS = 2000 };

enum {
    BATCH = 8 /* candidates between two updates of the best found, whatever the number of
                 threads */
};

typedef struct search {
    const calc_planner *planner;
    calc_planner_list list;
    double start_s; /* of the clock */
    calc_planner_result *out;
    /* Of a batch. */
    const calc_planner_candidate *batch;
    size_t batch_count;
    double limit_s;
    struct {
        calc_planner_outcome outcome;
        calc_planner_found found;
        calc_exec exec;
        int stage;
        double needs_bytes, has_bytes;
    } done[BATCH];
} search;

/* ---- Balancing ------------------------------------------------------------------------------- */

static void balance(void *context, size_t i)
{
    search *s = context;
    const calc_planner_candidate *c = &s->batch[i];
    calc_planner_bench *bench = malloc(sizeof *bench);
    bool chunks = s->list.exec[c->exec].pipeline_interleaving > 1;
    s->done[i].outcome = CALC_PLANNER_NO_MEMORY;
    s->done[i].found.candidate = (size_t)(c - s->list.candidate);
    if (!bench) {
        return;
    }
    if (c->bound_s == INFINITY && chunks && s->out->has_bytes > 0) {
        s->done[i].outcome = CALC_PLANNER_NO_ROOM; /* chunks would not reduce the memory that it
                                                      lacks */
        free(bench);
        return;
    }
    s->done[i].outcome =
        calc_planner_balance(s->planner, &s->list.exec[c->exec], &c->place, s->limit_s,
                             chunks ? EFFORT_CHUNKS : EFFORT_LINE, bench, &s->done[i].found, NULL);
    if (s->done[i].outcome == CALC_PLANNER_NO_ROOM && bench->solution.stage >= 0) {
        s->done[i].stage = bench->solution.stage;
        s->done[i].needs_bytes = bench->solution.needs_bytes;
        s->done[i].has_bytes = bench->problem.stage[bench->solution.stage].limit_bytes;
    }
    free(bench);
}

/* The longest step that would still be listed. */
static double limit_of(const search *s)
{
    const calc_planner_result *r = s->out;
    return r->count < s->planner->top ? INFINITY : r->found[r->count - 1].stats.total_time;
}

/* Layouts that differ only in fields without effect count as one. */
static bool is_listed(const calc_planner_result *r, const calc_planner_found *f)
{
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_found *g = &r->found[i];
        bool same = g->stats.total_time == f->stats.total_time &&
                    g->stats.proc_mem_tier1_cap_req == f->stats.proc_mem_tier1_cap_req;
        if (same && g->exec.pipeline_par == f->exec.pipeline_par &&
            g->exec.strategy.tensor_par == f->exec.strategy.tensor_par &&
            g->exec.microbatch_size == f->exec.microbatch_size) {
            return true;
        }
    }
    return false;
}

/* A candidate balanced before gets the better bound learnt since. */
static void know_bound(const calc_planner_result *r, const calc_planner_found *f)
{
    for (size_t i = 0; i < r->count; i++) {
        calc_planner_found *g = &r->found[i];
        if (g->candidate == f->candidate) {
            g->bound_s = fmin(fmax(g->bound_s, f->bound_s), g->stats.total_time);
        }
    }
}

/* One result per candidate is kept: the quicker of this and an earlier one. */
static bool replaces(calc_planner_result *r, const calc_planner_found *f)
{
    size_t i = 0;
    while (i < r->count && r->found[i].candidate != f->candidate) {
        i++;
    }
    if (i < r->count && r->found[i].stats.total_time <= f->stats.total_time) {
        return false;
    }
    if (i < r->count) {
        memmove(&r->found[i], &r->found[i + 1], (r->count - i - 1) * sizeof *r->found);
        r->count--;
    }
    return true;
}

/* Shorter steps first; among equals the one with less memory, then the one that came first. */
static void take(search *s, const calc_planner_found *f)
{
    calc_planner_result *r = s->out;
    if (!replaces(r, f) || is_listed(r, f)) {
        return;
    }
    size_t at = r->count;
    while (at > 0) {
        const calc_stats *x = &r->found[at - 1].stats;
        bool less = f->stats.total_time < x->total_time ||
                    (f->stats.total_time == x->total_time &&
                     f->stats.proc_mem_tier1_cap_req < x->proc_mem_tier1_cap_req);
        if (!less) {
            break;
        }
        at--;
    }
    if (at == s->planner->top) {
        return;
    }
    r->count += r->count < s->planner->top;
    memmove(&r->found[at + 1], &r->found[at], (r->count - at - 1) * sizeof *r->found);
    r->found[at] = *f;
}

static void take_lacking(search *s, size_t i)
{
    calc_planner_result *r = s->out;
    double lacks = s->done[i].needs_bytes - s->done[i].has_bytes;
    if (s->done[i].has_bytes > 0 && (r->has_bytes == 0 || lacks < r->needs_bytes - r->has_bytes)) {
        r->lacking_stage = s->done[i].stage;
        r->needs_bytes = s->done[i].needs_bytes;
        r->has_bytes = s->done[i].has_bytes;
        r->lacking = s->list.exec[s->batch[i].exec];
    }
}

/* The least bound of the candidates from `next` on. */
static double least_bound_s(const search *s, size_t next)
{
    double least_s =
        s->list.evens < s->list.count ? s->list.candidate[s->list.evens].bound_s : INFINITY;
    for (size_t i = next; i < s->list.evens; i++) {
        least_s = fmin(least_s, s->list.candidate[i].bound_s);
    }
    return next < s->list.evens ? least_s : s->list.candidate[next].bound_s;
}

static bool is_stopped(const search *s, size_t next)
{
    const calc_planner *p = s->planner;
    const calc_planner_result *r = s->out;
    calc_planner_progress now = {s->list.count, r->balanced,
                                 r->count > 0 ? r->found[0].stats.total_time : INFINITY,
                                 least_bound_s(s, next)};
    bool late = p->time_limit_s > 0 && calc_parallel_now_s() - s->start_s > p->time_limit_s;
    return late || (p->progress && p->progress(p->context, &now));
}

/* Layouts as a sweep finds them: no plan may be slower. */
static void take_even(search *s)
{
    for (size_t i = 0; i < s->list.evens; i++) {
        const calc_planner_candidate *c = &s->list.candidate[i];
        calc_planner_found f = {.chip = c->place.chip[0],
                                .bound_s = c->bound_s,
                                .base = s->list.exec[c->exec],
                                .place = c->place,
                                .candidate = i};
        if (calc_planner_even(s->planner, &f.base, f.chip, &f.exec, &f.stats)) {
            f.planned_s = f.stats.total_time;
            take(s, &f);
        }
    }
}

/* Whether a candidate is still worth balancing. While nothing is found, even one that cannot fit
 * is: the answer is then the memory it lacks. */
static bool is_open(const search *s, size_t next)
{
    return next < s->list.evens || s->out->count == 0 ||
           s->list.candidate[next].bound_s < limit_of(s);
}

static calc_status balance_all(search *s)
{
    calc_planner_result *r = s->out;
    size_t next = 0;
    r->bound_s = INFINITY;
    take_even(s);
    while (next < s->list.count && is_open(s, next)) {
        if (is_stopped(s, next)) {
            r->complete = s->list.candidate[next].bound_s == INFINITY;
            r->bound_s = fmin(r->bound_s, least_bound_s(s, next));
            return CALC_OK;
        }
        s->limit_s = limit_of(s);
        s->batch = &s->list.candidate[next];
        size_t left = (next < s->list.evens ? s->list.evens : s->list.count) - next;
        s->batch_count = left < BATCH ? left : BATCH;
        memset(s->done, 0, sizeof s->done);
        calc_parallel_for(s->planner->threads, s->batch_count, balance, s);
        for (size_t i = 0; i < s->batch_count; i++) {
            r->balanced++;
            switch (s->done[i].outcome) {
            case CALC_PLANNER_FOUND:
                r->bound_s = fmin(r->bound_s, s->done[i].found.bound_s);
                take(s, &s->done[i].found);
                break;
            case CALC_PLANNER_NO_ROOM:
                r->infeasible++;
                take_lacking(s, i);
                break;
            case CALC_PLANNER_NO_MEMORY:
                return CALC_ERR_NOMEM;
            case CALC_PLANNER_SLOWER:
                r->bound_s = fmin(r->bound_s, s->done[i].found.bound_s);
                know_bound(r, &s->done[i].found);
                break;
            case CALC_PLANNER_UNBALANCED:
                break;
            }
        }
        next += s->batch_count;
    }
    r->complete = true;
    r->bound_s =
        next < s->list.count ? fmin(r->bound_s, s->list.candidate[next].bound_s) : r->bound_s;
    return CALC_OK;
}

/* Balance the best again, with more effort. */
static calc_status polish(const search *s)
{
    calc_planner_result *r = s->out;
    calc_planner_bench *bench = malloc(sizeof *bench);
    if (bench && r->count > 0) {
        const calc_planner_found before = r->found[0];
        bool chunks = before.base.pipeline_interleaving > 1;
        bool found = calc_planner_balance(s->planner, &before.base, &before.place, INFINITY,
                                          chunks ? BEST_CHUNKS : BEST_LINE, bench, &r->found[0],
                                          NULL) == CALC_PLANNER_FOUND;
        if (!found || r->found[0].stats.total_time > before.stats.total_time) {
            r->found[0] = before;
        }
    }
    free(bench);
    return bench ? CALC_OK : CALC_ERR_NOMEM;
}

static calc_status search_all(search *s, calc_errors *errors)
{
    calc_planner_result *r = s->out;
    calc_status status = calc_planner_list_make(s->planner, &s->list);
    if (status == CALC_OK) {
        r->candidates = s->list.count;
        status = balance_all(s);
    }
    if (status == CALC_OK && r->candidates == 0 && s->planner->only) {
        status = calc_errors_add(
            errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL, "nothing to balance: a layout %s",
            s->list.why
                ? s->list.why
                : "that no chip can run, or that has more stages than there are processors for");
    }
    status = status == CALC_OK ? polish(s) : status;
    for (size_t i = 0; i < r->count; i++) {
        r->bound_s = fmin(r->bound_s, r->found[i].bound_s);
    }
    calc_planner_list_free(&s->list);
    return status == CALC_ERR_RULE ? status : calc_errors_status(errors, status);
}

calc_status calc_planner_run(const calc_planner *planner, calc_planner_result *out,
                             calc_errors *errors)
{
    search *s = calloc(1, sizeof *s);
    *out = (calc_planner_result){.found = calloc(planner->top + 1, sizeof *out->found)};
    calc_status status;
    if (s && out->found) {
        s->planner = planner;
        s->start_s = calc_parallel_now_s();
        s->out = out;
        status = search_all(s, errors);
    } else {
        status = calc_errors_no_memory(errors);
    }
    free(s);
    return status;
}

void calc_planner_result_free(calc_planner_result *result)
{
    free(result->found);
    *result = (calc_planner_result){0};
}
