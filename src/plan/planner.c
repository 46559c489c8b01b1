#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "parallel.h"
#include "plan/planner_balance.h"
#include "plan/planner_list.h"
#include "spec/stage_list.h"

/* Divisions of a candidate to simulate: those with chunks take longer. */
enum { EFFORT_LINE = 500, EFFORT_CHUNKS = 100, BEST_LINE = 20000, BEST_CHUNKS = 2000 };

/* Share of the time limit that polishing has where the search took all of it. */
#define POLISH 0.2

enum {
    BATCH = 8, /* candidates between two updates of the best found, whatever the number of
                  threads */
    KEPT = 5   /* layouts that are kept at least, because those that are not the best at first may
                  be when more divisions of them are tried */
};

typedef struct search {
    const calc_planner *planner;
    calc_planner_list list;
    double start_s; /* of the clock */
    calc_planner_result *out;
    size_t kept;   /* at most */
    double best_s; /* of them, before they are polished, */
    double end_s;  /* for which there is time until then, by the clock */
    /* Of a batch. */
    size_t item[BATCH]; /* candidates */
    size_t items;
    struct {
        calc_planner_outcome outcome;
        calc_planner_found found;
        int stage;
        double needs_bytes, has_bytes;
    } done[BATCH];
} search;

/* ---- The best found -------------------------------------------------------------------------- */

double calc_planner_limit_s(const calc_planner_result *r, size_t kept)
{
    return r->count < kept ? INFINITY : r->found[r->count - 1].stats.total_time;
}

static bool is_less(const calc_stats *a, const calc_stats *b)
{
    return a->total_time < b->total_time || (a->total_time == b->total_time &&
                                             a->proc_mem_tier1_cap_req < b->proc_mem_tier1_cap_req);
}

/* Layouts that differ only in fields without effect count as one. */
static bool is_listed(const calc_planner_result *r, const calc_planner_found *f)
{
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_found *g = &r->found[i];
        if (g->stats.total_time == f->stats.total_time &&
            g->stats.proc_mem_tier1_cap_req == f->stats.proc_mem_tier1_cap_req &&
            g->exec.pipeline_par == f->exec.pipeline_par &&
            g->exec.strategy.tensor_par == f->exec.strategy.tensor_par &&
            g->exec.microbatch_size == f->exec.microbatch_size) {
            return true;
        }
    }
    return false;
}

void calc_planner_know_bound(calc_planner_result *r, const calc_planner_found *f)
{
    for (size_t i = 0; i < r->count; i++) {
        calc_planner_found *g = &r->found[i];
        if (g->candidate == f->candidate) {
            g->bound_s = fmin(fmax(g->bound_s, f->bound_s), g->stats.total_time);
        }
    }
}

void calc_planner_take(calc_planner_result *r, size_t kept, const calc_planner_found *f)
{
    size_t same = 0;
    while (same < r->count && r->found[same].candidate != f->candidate) {
        same++;
    }
    if ((same < r->count && !is_less(&f->stats, &r->found[same].stats)) || is_listed(r, f)) {
        return;
    }
    if (same < r->count) {
        memmove(&r->found[same], &r->found[same + 1], (r->count - same - 1) * sizeof *r->found);
        r->count--;
    }
    size_t at = r->count;
    while (at > 0 && is_less(&f->stats, &r->found[at - 1].stats)) {
        at--;
    }
    if (at == kept) {
        return;
    }
    r->count += r->count < kept;
    memmove(&r->found[at + 1], &r->found[at], (r->count - at - 1) * sizeof *r->found);
    r->found[at] = *f;
}

bool calc_planner_is_stopped(const calc_planner *p, const calc_planner_result *r, double start_s,
                             double bound_s)
{
    calc_planner_progress now = {r->candidates, r->balanced,
                                 r->count > 0 ? r->found[0].stats.total_time : INFINITY, bound_s};
    bool late = p->time_limit_s > 0 && calc_parallel_now_s() - start_s > p->time_limit_s;
    return late || (p->progress && p->progress(p->context, &now));
}

/* ---- Balancing ------------------------------------------------------------------------------- */

/* The longest step with which a layout that runs would be the best of those. */
static double start_limit_of(const search *s)
{
    const calc_planner_result *r = s->out;
    return !s->planner->runs ? 0 : r->starts ? r->start.stats.total_time : INFINITY;
}

/* Whether a framework may run divisions of a candidate: that with as many blocks everywhere. */
static bool may_run(const search *s, const calc_planner_candidate *c)
{
    const calc_planner *p = s->planner;
    calc_exec e = s->list.exec[c->exec];
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t places = e.pipeline_par * e.pipeline_interleaving;
    int64_t blocks = p->app->num_blocks;
    for (int64_t i = 0; i < places && places <= CALC_MAX_PLACES; i++) {
        place[i] = (calc_stage_run){.places = 1,
                                    .blocks = (int16_t)(blocks / places + (i < blocks % places)),
                                    .recompute = CALC_STAGE_AS_EXEC};
    }
    return places <= CALC_MAX_PLACES && places <= blocks &&
           (e.pipeline_par == 1 || calc_stage_list_pack(place, places, &e.stages)) &&
           p->runs(p->runs_context, c->place.chip[0], &e);
}

static void balance(void *context, size_t i)
{
    search *s = context;
    const calc_planner *p = s->planner;
    const calc_planner_candidate *c = &s->list.candidate[s->item[i]];
    const calc_exec *exec = &s->list.exec[c->exec];
    double limit_s = calc_planner_limit_s(s->out, s->kept);
    bool chunks = exec->pipeline_interleaving > 1;
    s->done[i].found.candidate = s->item[i];
    s->done[i].found.bound_s = c->bound_s;
    if (limit_s < start_limit_of(s) && may_run(s, c)) {
        limit_s = start_limit_of(s);
    }
    if (s->out->count > 0 && c->bound_s >= limit_s) {
        s->done[i].outcome = CALC_PLANNER_UNBALANCED; /* no framework runs it */
        return;
    }
    if (c->bound_s == INFINITY && chunks && s->out->has_bytes > 0) {
        s->done[i].outcome = CALC_PLANNER_NO_ROOM; /* chunks would not reduce the memory that it
                                                      lacks */
        return;
    }
    calc_planner_bench *bench = malloc(sizeof *bench);
    s->done[i].outcome = CALC_PLANNER_NO_MEMORY;
    if (!bench) {
        return;
    }
    const calc_balance_options effort = {.evaluations = chunks ? EFFORT_CHUNKS : EFFORT_LINE};
    s->done[i].outcome =
        calc_planner_balance(p, exec, &c->place, limit_s, &effort, bench, &s->done[i].found, NULL);
    if (s->done[i].outcome == CALC_PLANNER_NO_ROOM && bench->solution.stage >= 0) {
        s->done[i].stage = bench->solution.stage;
        s->done[i].needs_bytes = bench->solution.needs_bytes;
        s->done[i].has_bytes = bench->problem.stage[bench->solution.stage].limit_bytes;
    }
    free(bench);
}

static void take(search *s, const calc_planner_found *f)
{
    calc_planner_result *r = s->out;
    const calc_planner *p = s->planner;
    if (f->stats.total_time < start_limit_of(s) && p->runs(p->runs_context, f->chip, &f->exec)) {
        r->start = *f;
        r->starts = true;
    }
    calc_planner_take(r, s->kept, f);
}

static void take_lacking(search *s, size_t i)
{
    calc_planner_result *r = s->out;
    double lacks = s->done[i].needs_bytes - s->done[i].has_bytes;
    if (s->done[i].has_bytes > 0 && (r->has_bytes == 0 || lacks < r->needs_bytes - r->has_bytes)) {
        r->lacking_stage = s->done[i].stage;
        r->needs_bytes = s->done[i].needs_bytes;
        r->has_bytes = s->done[i].has_bytes;
        r->lacking = s->list.exec[s->list.candidate[s->item[i]].exec];
    }
}

/* The least bound of the candidates from `next` on. */
static double least_bound_s(const search *s, size_t next)
{
    const calc_planner_list *l = &s->list;
    size_t rest = next < l->ahead ? l->ahead : next;
    double least_s = rest < l->count ? l->candidate[rest].bound_s : INFINITY;
    for (size_t i = next; i < l->ahead; i++) {
        least_s = fmin(least_s, l->candidate[i].bound_s);
    }
    return least_s;
}

/* Layouts as a sweep finds them: no plan may be slower. */
static void take_evens(search *s)
{
    for (size_t i = 0; i < s->list.evens; i++) {
        const calc_planner_even_layout *even = &s->list.even[i];
        calc_planner_found f = {.exec = even->layout,
                                .chip = even->chip,
                                .stats = even->stats,
                                .planned_s = even->stats.total_time,
                                .base = even->layout,
                                .place = {1, {even->chip}, {(int32_t)even->layout.pipeline_par}},
                                .candidate = s->list.count + i};
        if (even->candidate < s->list.count) {
            const calc_planner_candidate *c = &s->list.candidate[even->candidate];
            f.base = s->list.exec[c->exec];
            f.bound_s = fmin(c->bound_s, f.planned_s);
            f.candidate = even->candidate;
        }
        take(s, &f);
    }
}

/* The next candidates that are worth balancing. While nothing is found, even one that cannot fit
 * is: the answer is then the memory it lacks. @return whether there are any */
static bool next_batch(search *s, size_t *next)
{
    const calc_planner_list *l = &s->list;
    double limit_s = s->out->count == 0
                         ? INFINITY
                         : fmax(calc_planner_limit_s(s->out, s->kept), start_limit_of(s));
    s->items = 0;
    for (; *next < l->count && s->items < BATCH; ++*next) {
        if (s->out->count == 0 || l->candidate[*next].bound_s < limit_s) {
            s->item[s->items++] = *next;
        } else if (*next >= l->ahead) {
            break;
        }
    }
    return s->items > 0;
}

static calc_status balance_all(search *s)
{
    calc_planner_result *r = s->out;
    size_t next = 0;
    r->bound_s = INFINITY;
    take_evens(s);
    while (next_batch(s, &next)) {
        double least_s = least_bound_s(s, s->item[0]);
        if (calc_planner_is_stopped(s->planner, r, s->start_s, least_s)) {
            r->complete = least_s == INFINITY;
            r->bound_s = fmin(r->bound_s, least_s);
            return CALC_OK;
        }
        memset(s->done, 0, sizeof s->done);
        calc_parallel_for(s->planner->threads, s->items, balance, s);
        for (size_t i = 0; i < s->items; i++) {
            r->balanced += s->done[i].outcome != CALC_PLANNER_UNBALANCED;
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
                calc_planner_know_bound(r, &s->done[i].found);
                break;
            case CALC_PLANNER_UNBALANCED:
                break;
            }
        }
    }
    r->complete = true;
    r->bound_s = fmin(r->bound_s, least_bound_s(s, next));
    return CALC_OK;
}

/* Balance one again with more effort, if a division of it may be the best. */
static void polish_one(void *context, size_t i)
{
    search *s = context;
    calc_planner_result *r = s->out;
    calc_planner_found *f = i < r->count ? &r->found[i] : &r->start;
    bool own = i < r->count ? f->bound_s < s->best_s : !f->proven;
    double left_s = s->end_s - calc_parallel_now_s();
    if (f->candidate >= s->list.count || f->proven || !own || left_s <= 0) {
        return;
    }
    const calc_balance_options effort = {
        .evaluations = f->base.pipeline_interleaving > 1 ? BEST_CHUNKS : BEST_LINE,
        .time_limit_s = isfinite(left_s) ? left_s : 0};
    calc_planner_found *again = malloc(sizeof *again);
    calc_planner_bench *bench = malloc(sizeof *bench);
    if (again && bench) {
        again->candidate = f->candidate;
        calc_planner_outcome outcome = calc_planner_balance(s->planner, &f->base, &f->place,
                                                            INFINITY, &effort, bench, again, NULL);
        if (outcome == CALC_PLANNER_FOUND && again->stats.total_time <= f->stats.total_time &&
            (i < r->count ||
             s->planner->runs(s->planner->runs_context, again->chip, &again->exec))) {
            *f = *again;
        }
    }
    free(again);
    free(bench);
}

static void polish(search *s)
{
    calc_planner_result *r = s->out;
    double limit_s = s->planner->time_limit_s;
    s->best_s = r->count > 0 ? r->found[0].stats.total_time : 0;
    s->end_s = s->start_s + (limit_s > 0 ? limit_s : INFINITY);
    s->end_s = fmax(s->end_s, calc_parallel_now_s() + limit_s * POLISH);
    calc_parallel_for(s->planner->threads, r->count + r->starts, polish_one, s);
    size_t count = r->count;
    r->count = 0;
    for (size_t i = 0; i < count; i++) {
        const calc_planner_found f = r->found[i];
        calc_planner_take(r, s->kept, &f); /* in their order again */
    }
    r->count = r->count < s->planner->top ? r->count : s->planner->top;
}

static calc_status search_all(search *s, calc_errors *errors)
{
    calc_planner_result *r = s->out;
    calc_status status = calc_planner_list_make(s->planner, &s->list, errors);
    if (status == CALC_OK) {
        r->candidates = s->list.count;
        status = calc_errors_status(errors, balance_all(s));
    }
    if (status == CALC_OK && r->candidates == 0 && s->planner->only) {
        status = calc_errors_add(
            errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL, "nothing to balance: a layout %s",
            s->list.why
                ? s->list.why
                : "that no chip can run, or that has more stages than there are processors for");
    }
    polish(s);
    for (size_t i = 0; i < r->count; i++) {
        double bound_s = r->found[i].bound_s;
        r->bound_s = bound_s > 0 ? fmin(r->bound_s, bound_s) : r->bound_s;
    }
    calc_planner_list_free(&s->list);
    return status;
}

calc_status calc_planner_run(const calc_planner *planner, calc_planner_result *out,
                             calc_errors *errors)
{
    search *s = calloc(1, sizeof *s);
    size_t kept = planner->top > KEPT ? planner->top : KEPT;
    *out = (calc_planner_result){.found = calloc(kept + 1, sizeof *out->found)};
    calc_status status;
    if (s && out->found) {
        s->planner = planner;
        s->start_s = calc_parallel_now_s();
        s->out = out;
        s->kept = kept;
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
    free(result->curve);
    *result = (calc_planner_result){0};
}
