#include "plan/planner_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "parallel.h"
#include "plan/planner_balance.h"
#include "plan/planner_bound.h"
#include "units.h"
#include "worker.h"

/* Number of layouts that are balanced first: the ones that a sweep would find. */
enum { EVENS = 16 };

/* The places of one layout. */
typedef struct placed_list {
    calc_planner_candidate *item;
    size_t count, room;
    bool failed; /* without memory */
} placed_list;

/* A list under construction. */
typedef struct maker {
    const calc_planner *planner;
    calc_planner_list *out;
    placed_list *places; /* [execs] */
    bool failed;
} maker;

static void add_exec(maker *m, const calc_exec *e)
{
    calc_planner_list *out = m->out;
    calc_exec *grown = calc_grown(out->exec, out->execs, &out->exec_room, sizeof *grown);
    m->failed = m->failed || !grown;
    if (grown) {
        out->exec = grown;
        out->exec[out->execs++] = *e;
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

/* Interleaving combines with every layout here: a division need not be even. */
static void add_chunks(maker *m, calc_exec e)
{
    int64_t microbatches = e.batch_size / e.strategy.data_par / e.microbatch_size;
    bool may = e.pipeline_par > 1 && microbatches % e.pipeline_par == 0 &&
               e.pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    int64_t most = may ? m->planner->app->num_blocks / e.pipeline_par : 1;
    for (int64_t v = 1; v <= most && (v == 1 || e.pipeline_par * v <= CALC_MAX_PLACES); v++) {
        e.pipeline_interleaving = v;
        if (is_wanted(m->planner, v)) {
            add_exec(m, &e);
        }
    }
}

/* calc_worker_visit: all layouts of a row that networks connect. */
static void visit_row(void *context, const calc_worker_place *place)
{
    maker *m = context;
    for (uint64_t i = place->first; i < place->worker->counts.total && !m->failed; i++) {
        calc_exec e;
        calc_verdict verdict = calc_worker_decode(place, i - place->first, &e);
        if (verdict == CALC_VERDICT_OK) {
            add_chunks(m, e);
        }
    }
}

/* One candidate per place, with its bound. */
typedef struct placing {
    maker *m;
    size_t exec;
    calc_planner_layouts *layouts;
    calc_balance_problem *problem;
} placing;

static bool visit_place(void *context, const calc_planner_place *place)
{
    placing *p = context;
    placed_list *list = &p->m->places[p->exec];
    calc_balance_chip chip[CALC_MAX_CHIPS];
    const char *why = calc_planner_problem(p->m->planner, p->layouts, place, chip, p->problem);
    if (why) {
        if (p->m->planner->only) { /* one layout: no other thread writes */
            p->m->out->why = why;
        }
        return true;
    }
    calc_planner_candidate c = {p->exec, *place, calc_planner_bound_s(chip, p->problem), INFINITY};
    calc_exec even;
    calc_stats stats;
    if (place->kinds == 1 && c.bound_s < INFINITY &&
        calc_planner_even(p->m->planner, &p->m->out->exec[p->exec], place->chip[0], &even,
                          &stats)) {
        c.even_s = stats.total_time;
    }
    calc_planner_candidate *item = calc_grown(list->item, list->count, &list->room, sizeof *item);
    list->failed = !item;
    if (item) {
        list->item = item;
        list->item[list->count++] = c;
    }
    return item != NULL;
}

static void place_exec(void *context, size_t i)
{
    maker *m = context;
    placing p = {m, i, malloc(sizeof *p.layouts), malloc(sizeof *p.problem)};
    m->places[i].failed = !p.layouts || !p.problem;
    if (p.layouts && p.problem &&
        calc_planner_layouts_of(m->planner, &m->out->exec[i], p.layouts)) {
        calc_planner_places(m->planner, &m->out->exec[i], visit_place, &p);
    }
    free(p.layouts);
    free(p.problem);
}

static int compare_candidates(const void *a, const void *b);

static int compare_even(const void *a, const void *b)
{
    const calc_planner_candidate *x = a;
    const calc_planner_candidate *y = b;
    if (x->even_s != y->even_s) {
        return x->even_s < y->even_s ? -1 : 1;
    }
    return compare_candidates(a, b);
}

static int compare_candidates(const void *a, const void *b)
{
    const calc_planner_candidate *x = a;
    const calc_planner_candidate *y = b;
    if (x->bound_s != y->bound_s) {
        return x->bound_s < y->bound_s ? -1 : 1;
    }
    if (x->exec != y->exec) {
        return x->exec < y->exec ? -1 : 1;
    }
    return memcmp(&x->place, &y->place, sizeof x->place);
}

static calc_status list_candidates(maker *m)
{
    calc_planner_list *out = m->out;
    const calc_planner *p = m->planner;
    calc_status status = CALC_OK;
    if (p->only) {
        add_exec(m, p->only);
    } else {
        const calc_designs one = p->design;
        calc_sweep_counts counts;
        status = calc_units_walk(p->space, &one, CALC_COMPAT_NONE, visit_row, m, &counts);
    }
    m->places = calloc(out->execs + 1, sizeof *m->places);
    if (status != CALC_OK || m->failed || !m->places) {
        return status != CALC_OK ? status : CALC_ERR_NOMEM;
    }
    calc_parallel_for(p->threads, out->execs, place_exec, m);
    size_t count = 0;
    for (size_t i = 0; i < out->execs; i++) {
        m->failed = m->failed || m->places[i].failed;
        count += m->places[i].count;
    }
    out->candidate = malloc((count + 1) * sizeof *out->candidate);
    if (m->failed || !out->candidate) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < out->execs; i++) {
        for (size_t k = 0; k < m->places[i].count; k++) {
            out->candidate[out->count++] = m->places[i].item[k];
        }
    }
    /* The quickest with equal stages come first, the rest by ascending bound. */
    qsort(out->candidate, out->count, sizeof *out->candidate, compare_even);
    while (out->evens < out->count && out->evens < EVENS &&
           out->candidate[out->evens].even_s < INFINITY) {
        out->evens++;
    }
    qsort(out->candidate + out->evens, out->count - out->evens, sizeof *out->candidate,
          compare_candidates);
    return CALC_OK;
}

calc_status calc_planner_list_make(const calc_planner *planner, calc_planner_list *list)
{
    *list = (calc_planner_list){.count = 0};
    maker m = {.planner = planner, .out = list};
    calc_status status = list_candidates(&m);
    for (size_t i = 0; m.places && i < list->execs; i++) {
        free(m.places[i].item);
    }
    free(m.places);
    return status;
}

void calc_planner_list_free(calc_planner_list *list)
{
    free(list->exec);
    free(list->candidate);
    *list = (calc_planner_list){.count = 0};
}
