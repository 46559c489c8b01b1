#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "parallel.h"
#include "plan/planner_balance.h"
#include "plan/planner_bound.h"
#include "units.h"
#include "worker.h"

/* Divisions of a candidate that are simulated: those with chunks take longer. */
enum { EFFORT_LINE = 500, EFFORT_CHUNKS = 100, BEST_LINE = 20000, BEST_CHUNKS = 2000 };

enum { BATCH = 8 /* candidates between two looks at what was found; whatever the threads */ };

/* A layout in a place. */
typedef struct candidate {
    size_t exec; /* index */
    calc_planner_place place;
    double bound_s;
} candidate;

/* The places of one layout. */
typedef struct placed_list {
    candidate *item;
    size_t count, capacity;
    bool failed; /* without memory */
} placed_list;

typedef struct search {
    const calc_planner *planner;
    calc_exec *exec;
    size_t execs, exec_capacity;
    placed_list *places; /* [execs] */
    candidate *candidate;
    size_t count;
    bool failed;
    double start_s;  /* of the clock */
    const char *why; /* the one layout has no candidate */
    calc_planner_result *out;
    /* Of a batch. */
    const candidate *batch;
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

static void *grown(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return list;
    }
    size_t more = *capacity > 0 ? 2 * *capacity : 64;
    void *out = realloc(list, more * size);
    *capacity = out ? more : *capacity;
    return out;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static void add_exec(search *s, const calc_exec *e)
{
    calc_exec *list = grown(s->exec, s->execs, &s->exec_capacity, sizeof *list);
    s->failed = s->failed || !list;
    if (list) {
        s->exec = list;
        s->exec[s->execs++] = *e;
    }
}

static bool is_wanted(const calc_planner *p, int64_t chunks)
{
    bool wanted = !p->chunks;
    for (size_t i = 0; i < p->chunks_count; i++) {
        wanted = wanted || p->chunks[i] == chunks;
    }
    return wanted;
}

/* Interleaving goes with everything else: a division need not be even. */
static void add_chunks(search *s, calc_exec e)
{
    int64_t m = e.batch_size / e.strategy.data_par / e.microbatch_size;
    bool may = e.pipeline_par > 1 && m % e.pipeline_par == 0 &&
               e.pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    int64_t most = may ? s->planner->app->num_blocks / e.pipeline_par : 1;
    for (int64_t v = 1; v <= most && (v == 1 || e.pipeline_par * v <= CALC_MAX_PLACES); v++) {
        e.pipeline_interleaving = v;
        if (is_wanted(s->planner, v)) {
            add_exec(s, &e);
        }
    }
}

/* calc_worker_visit: all layouts of a row that networks connect. */
static void visit_row(void *context, const calc_worker_place *place)
{
    search *s = context;
    for (uint64_t i = place->first; i < place->worker->counts.total && !s->failed; i++) {
        calc_exec e;
        calc_verdict verdict = calc_worker_decode(place, i - place->first, &e);
        if (verdict == CALC_VERDICT_OK) {
            add_chunks(s, e);
        }
    }
}

/* One candidate per place, with its bound. */
typedef struct placing {
    search *s;
    size_t exec;
    calc_planner_layouts *layouts;
    calc_balance_problem *problem;
} placing;

static bool visit_place(void *context, const calc_planner_place *place)
{
    placing *p = context;
    placed_list *list = &p->s->places[p->exec];
    calc_balance_chip chip[CALC_MAX_CHIPS];
    const char *why = calc_planner_problem(p->s->planner, p->layouts, place, chip, p->problem);
    if (why) {
        if (p->s->planner->only) { /* one layout: no other thread writes */
            p->s->why = why;
        }
        return true;
    }
    candidate c = {p->exec, *place, calc_planner_bound_s(chip, p->problem)};
    candidate *item = grown(list->item, list->count, &list->capacity, sizeof *item);
    list->failed = !item;
    if (item) {
        list->item = item;
        list->item[list->count++] = c;
    }
    return item != NULL;
}

static void place_exec(void *context, size_t i)
{
    search *s = context;
    placing p = {s, i, malloc(sizeof *p.layouts), malloc(sizeof *p.problem)};
    s->places[i].failed = !p.layouts || !p.problem;
    if (p.layouts && p.problem && calc_planner_layouts_of(s->planner, &s->exec[i], p.layouts)) {
        calc_planner_places(s->planner, &s->exec[i], visit_place, &p);
    }
    free(p.layouts);
    free(p.problem);
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a;
    const candidate *y = b;
    if (x->bound_s != y->bound_s) {
        return x->bound_s < y->bound_s ? -1 : 1;
    }
    if (x->exec != y->exec) {
        return x->exec < y->exec ? -1 : 1;
    }
    return memcmp(&x->place, &y->place, sizeof x->place);
}

static calc_status list_candidates(search *s)
{
    const calc_planner *p = s->planner;
    calc_status status = CALC_OK;
    if (p->only) {
        add_exec(s, p->only);
    } else {
        const calc_designs one = p->design;
        calc_sweep_counts counts;
        status = calc_units_walk(p->space, &one, CALC_COMPAT_NONE, visit_row, s, &counts);
    }
    s->places = calloc(s->execs + 1, sizeof *s->places);
    if (status != CALC_OK || s->failed || !s->places) {
        return status != CALC_OK ? status : CALC_ERR_NOMEM;
    }
    calc_parallel_for(p->threads, s->execs, place_exec, s);
    size_t count = 0;
    for (size_t i = 0; i < s->execs; i++) {
        s->failed = s->failed || s->places[i].failed;
        count += s->places[i].count;
    }
    s->candidate = malloc((count + 1) * sizeof *s->candidate);
    if (s->failed || !s->candidate) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < s->execs; i++) {
        for (size_t k = 0; k < s->places[i].count; k++) {
            s->candidate[s->count++] = s->places[i].item[k];
        }
    }
    qsort(s->candidate, s->count, sizeof *s->candidate, compare_candidates);
    return CALC_OK;
}

/* ---- Balancing ------------------------------------------------------------------------------- */

static void balance(void *context, size_t i)
{
    search *s = context;
    const candidate *c = &s->batch[i];
    calc_planner_bench *bench = malloc(sizeof *bench);
    bool chunks = s->exec[c->exec].pipeline_interleaving > 1;
    s->done[i].outcome = CALC_PLANNER_NO_MEMORY;
    if (!bench) {
        return;
    }
    if (c->bound_s == INFINITY && chunks && s->out->has_bytes > 0) {
        s->done[i].outcome = CALC_PLANNER_NO_ROOM; /* chunks do not make it lack less */
        free(bench);
        return;
    }
    s->done[i].outcome =
        calc_planner_balance(s->planner, &s->exec[c->exec], &c->place, s->limit_s,
                             chunks ? EFFORT_CHUNKS : EFFORT_LINE, bench, &s->done[i].found, NULL);
    if (s->done[i].outcome == CALC_PLANNER_NO_ROOM && bench->solution.stage >= 0) {
        s->done[i].stage = bench->solution.stage;
        s->done[i].needs_bytes = bench->solution.needs_bytes;
        s->done[i].has_bytes = bench->problem.stage[bench->solution.stage].limit_bytes;
    }
    free(bench);
}

/* The worst that would still be listed. */
static double limit_of(const search *s)
{
    const calc_planner_result *r = s->out;
    return r->count < s->planner->top ? INFINITY : r->found[r->count - 1].stats.total_time;
}

/* Layouts that differ in what changes nothing are one. */
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

/* Shorter steps first; of equals the one with less memory, then the one that came first. */
static void take(search *s, const calc_planner_found *f)
{
    calc_planner_result *r = s->out;
    size_t at = r->count;
    if (is_listed(r, f)) {
        return;
    }
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
        r->lacking = s->exec[s->batch[i].exec];
    }
}

static bool is_stopped(const search *s, size_t next)
{
    const calc_planner *p = s->planner;
    const calc_planner_result *r = s->out;
    calc_planner_progress now = {s->count, r->balanced,
                                 r->count > 0 ? r->found[0].stats.total_time : INFINITY,
                                 s->candidate[next].bound_s};
    bool late = p->time_limit_s > 0 && calc_parallel_now_s() - s->start_s > p->time_limit_s;
    return late || (p->progress && p->progress(p->context, &now));
}

static calc_status balance_all(search *s)
{
    calc_planner_result *r = s->out;
    size_t next = 0;
    r->bound_s = INFINITY;
    /* While nothing is found even what cannot fit is balanced: the answer is what it lacks. */
    while (next < s->count && (r->count == 0 || s->candidate[next].bound_s < limit_of(s))) {
        if (is_stopped(s, next)) {
            r->complete = s->candidate[next].bound_s == INFINITY;
            r->bound_s = fmin(r->bound_s, s->candidate[next].bound_s);
            return CALC_OK;
        }
        s->limit_s = limit_of(s);
        s->batch = &s->candidate[next];
        s->batch_count = s->count - next < BATCH ? s->count - next : BATCH;
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
                break;
            case CALC_PLANNER_UNBALANCED:
                break;
            }
        }
        next += s->batch_count;
    }
    r->complete = true;
    r->bound_s = next < s->count ? fmin(r->bound_s, s->candidate[next].bound_s) : r->bound_s;
    return CALC_OK;
}

/* The best again, with more patience. */
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

calc_status calc_planner_run(const calc_planner *planner, calc_planner_result *out,
                             calc_errors *errors)
{
    search *s = calloc(1, sizeof *s);
    *out = (calc_planner_result){.found = calloc(planner->top + 1, sizeof *out->found)};
    calc_status status = s && out->found ? CALC_OK : CALC_ERR_NOMEM;
    if (status == CALC_OK) {
        s->planner = planner;
        s->start_s = calc_parallel_now_s();
        s->out = out;
        status = list_candidates(s);
    }
    if (status == CALC_OK) {
        out->candidates = s->count;
        status = balance_all(s);
    }
    if (status == CALC_OK && out->candidates == 0 && planner->only) {
        status = calc_errors_add(
            errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL, "nothing to balance: a layout %s",
            s->why ? s->why
                   : "that no chip can run, or that has more stages than there are processors for");
    }
    status = status == CALC_OK ? polish(s) : status;
    for (size_t i = 0; s && s->places && i < s->execs; i++) {
        free(s->places[i].item);
    }
    if (s) {
        free(s->places);
        free(s->exec);
        free(s->candidate);
    }
    free(s);
    return status == CALC_ERR_RULE ? status : calc_errors_status(errors, status);
}

void calc_planner_result_free(calc_planner_result *result)
{
    free(result->found);
    *result = (calc_planner_result){0};
}
