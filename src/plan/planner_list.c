#include "plan/planner_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "model/stages/stages.h"
#include "parallel.h"
#include "plan/planner_balance.h"
#include "plan/planner_place.h"
#include "units.h"
#include "worker.h"

enum {
    SWEPT = 64,  /* best layouts that are taken from a sweep of each chip; */
    EVENS = 16,  /* candidates of the best of them, which are balanced first, */
    LINES = 128, /* and then those with one chunk per stage that have the least bounds: they are
                    proven in milliseconds, and frameworks run most of them */
};

/* When a candidate is balanced. */
enum { FIRST, SECOND, LAST };

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

/* Every number of chunks that a sweep may try: a division need not be even. */
static void add_chunks(maker *m, calc_exec e)
{
    int64_t most = calc_stages_chunks_limit(m->planner->app, &e);
    for (int64_t v = 1; v <= most; v++) {
        e.pipeline_interleaving = v;
        if (calc_stages_rounds_fit(&e) &&
            calc_space_has(m->planner->space, CALC_AXIS_pipeline_interleaving, v)) {
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
    calc_planner_candidate c = {p->exec, *place, calc_planner_bound_s(chip, p->problem), LAST,
                                NULL};
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

/* ---- What a sweep finds ---------------------------------------------------------------------- */

/* calc_designs.get: the model and the first chip of a planner */
static void get_chip(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const calc_planner *p = context;
    (void)index;
    *app = *p->app;
    *system = p->chip[0].system;
}

static void add_even(maker *m, int chip, const calc_exec *e)
{
    calc_planner_list *out = m->out;
    calc_planner_even_layout *grown =
        calc_grown(out->even, out->evens, &out->even_room, sizeof *grown);
    m->failed = m->failed || !grown;
    if (grown) {
        calc_planner_even_layout *to = &grown[out->evens++];
        out->even = grown;
        *to = (calc_planner_even_layout){
            .layout = *e, .chip = chip, .exec = SIZE_MAX, .candidate = SIZE_MAX};
        calc_run(m->planner->app, &m->planner->chip[chip].system, &to->layout, CALC_COMPAT_NONE,
                 &to->stats);
    }
}

/* The best layouts of a chip, and those that take longer and need less memory. */
static calc_status sweep_chip(maker *m, int chip, calc_errors *errors)
{
    calc_planner of = *m->planner;
    const calc_designs one = {.count = 1, .get = get_chip, .context = &of};
    calc_space space = *m->planner->space; /* borrows its values */
    calc_values *procs = &space.axis[CALC_AXIS_num_procs];
    calc_sweep_options options = {.objectives = 2, .top = SWEPT, .threads = m->planner->threads};
    calc_sweep_result result = {0};
    of.chip += chip;
    while (procs->count > 0 && procs->value[procs->count - 1] > of.chip->most_procs) {
        procs->count--;
    }
    if (procs->count == 0) {
        return CALC_OK;
    }
    calc_status status = calc_objective_parse(&options.top_by, "total_time", errors);
    if (status == CALC_OK) {
        status = calc_objective_parse(&options.objective[1], "mem1", errors);
    }
    if (status == CALC_OK) {
        options.objective[0] = options.top_by;
        status = calc_sweep(&space, &one, &options, &result, errors);
    }
    for (int l = 0; status == CALC_OK && l < 2; l++) {
        const calc_front *list = l == 0 ? &result.group[0].top : &result.group[0].front;
        for (size_t i = 0; i < list->count; i++) {
            const calc_exec e = calc_found_exec(&list->item[i]);
            add_even(m, chip, &e);
        }
    }
    calc_sweep_result_free(&result);
    return status;
}

static calc_status sweep_chips(maker *m, calc_errors *errors)
{
    const calc_planner *p = m->planner;
    calc_status status = CALC_OK;
    for (int chip = 0; chip < p->chips && status == CALC_OK; chip++) {
        calc_exec even;
        calc_stats stats;
        if (!p->only) {
            status = sweep_chip(m, chip, errors);
        } else if (p->only->num_procs <= p->chip[chip].most_procs &&
                   calc_planner_even(p, p->only, chip, &even, &stats)) {
            add_even(m, chip, &even);
        }
    }
    return m->failed ? calc_errors_no_memory(errors) : status;
}

/* Whether a layout is one of the list, but for how its blocks are spread and recompute. */
static bool is_even_of(const calc_exec *even, const calc_exec *listed)
{
    calc_exec e;
    if (even->pipeline_par != listed->pipeline_par ||
        even->strategy.tensor_par != listed->strategy.tensor_par ||
        even->microbatch_size != listed->microbatch_size ||
        even->pipeline_interleaving != listed->pipeline_interleaving) {
        return false; /* sooner */
    }
    calc_space_copy(&e, even);
    e.pipeline_balance = listed->pipeline_balance;
    e.first_stage_blocks = listed->first_stage_blocks;
    e.last_stage_blocks = listed->last_stage_blocks;
    e.recompute_blocks = listed->recompute_blocks;
    e.strategy.activation_recompute = listed->strategy.activation_recompute;
    e.strategy.recompute_modules = listed->strategy.recompute_modules;
    e.strategy.seq_par_ag_redo = listed->strategy.seq_par_ag_redo;
    return calc_axis_compare(&e, listed) == 0;
}

/* Every candidate gets the best of its layouts with equal stages. */
static void join_evens(calc_planner_list *out)
{
    for (size_t i = 0; i < out->count; i++) {
        calc_planner_candidate *c = &out->candidate[i];
        for (size_t k = 0; c->place.kinds == 1 && k < out->evens; k++) {
            calc_planner_even_layout *even = &out->even[k];
            if (even->chip == c->place.chip[0] && is_even_of(&even->layout, &out->exec[c->exec])) {
                bool quicker = !c->even || even->stats.total_time < c->even->stats.total_time;
                c->even = quicker ? even : c->even;
                even->exec = c->exec;
            }
        }
    }
}

/* ---- The order ------------------------------------------------------------------------------- */

static int compare_candidates(const void *a, const void *b)
{
    const calc_planner_candidate *x = a;
    const calc_planner_candidate *y = b;
    if (x->turn != y->turn) {
        return x->turn < y->turn ? -1 : 1;
    }
    bool even = x->turn == FIRST && x->even->stats.total_time != y->even->stats.total_time;
    double before_s = even ? x->even->stats.total_time : x->bound_s;
    double after_s = even ? y->even->stats.total_time : y->bound_s;
    if (before_s != after_s) {
        return before_s < after_s ? -1 : 1;
    }
    if (x->exec != y->exec) {
        return x->exec < y->exec ? -1 : 1;
    }
    return memcmp(&x->place, &y->place, sizeof x->place);
}

/* The quickest with equal stages come first, then those with one chunk per stage, then the rest. */
static void put_in_order(calc_planner_list *out)
{
    size_t left = EVENS;
    for (size_t i = 0; i < out->count; i++) {
        out->candidate[i].turn = out->candidate[i].even ? FIRST : LAST;
    }
    for (int turn = FIRST; turn < LAST; turn++) {
        calc_planner_candidate *rest = out->candidate + out->ahead;
        size_t count = out->count - out->ahead;
        qsort(rest, count, sizeof *rest, compare_candidates);
        for (size_t i = 0; i < count; i++) {
            bool is_next = turn == FIRST ? rest[i].even != NULL
                                         : out->exec[rest[i].exec].pipeline_interleaving == 1;
            rest[i].turn = is_next && left > 0 ? turn : LAST;
            left -= rest[i].turn == turn;
            out->ahead += rest[i].turn == turn;
        }
        left = LINES;
    }
    qsort(out->candidate, out->count, sizeof *out->candidate, compare_candidates);
    for (size_t i = 0; i < out->count; i++) {
        for (size_t k = 0; k < out->evens; k++) {
            const calc_planner_candidate *c = &out->candidate[i];
            if (c->even && out->even[k].exec == c->exec && out->even[k].chip == c->place.chip[0]) {
                out->even[k].candidate = i;
            }
        }
    }
}

static calc_status list_candidates(maker *m)
{
    calc_planner_list *out = m->out;
    const calc_planner *p = m->planner;
    int64_t one[] = {1}, none[] = {CALC_ACTIVATION_RECOMPUTE_NONE},
            blocks[] = {CALC_PIPELINE_BALANCE_BLOCKS};
    calc_status status = CALC_OK;
    if (p->only) {
        add_exec(m, p->only);
    } else {
        calc_space listed = *p->space; /* borrows its values */
        calc_sweep_counts counts;
        listed.axis[CALC_AXIS_pipeline_interleaving] = (calc_values){.count = 1, .value = one};
        listed.axis[CALC_AXIS_activation_recompute] = (calc_values){.count = 1, .value = none};
        listed.axis[CALC_AXIS_pipeline_balance] = (calc_values){.count = 1, .value = blocks};
        status = calc_units_walk(&listed, &p->design, CALC_COMPAT_NONE, visit_row, m, &counts);
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
    out->candidate = calloc(count + 1, sizeof *out->candidate);
    if (m->failed || !out->candidate) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < out->execs; i++) {
        for (size_t k = 0; k < m->places[i].count; k++) {
            out->candidate[out->count++] = m->places[i].item[k];
        }
    }
    join_evens(out);
    put_in_order(out);
    return CALC_OK;
}

calc_status calc_planner_list_make(const calc_planner *planner, calc_planner_list *list,
                                   calc_errors *errors)
{
    *list = (calc_planner_list){.count = 0};
    maker m = {.planner = planner, .out = list};
    calc_status status = sweep_chips(&m, errors);
    if (status == CALC_OK) {
        status = calc_errors_status(errors, list_candidates(&m));
    }
    for (size_t i = 0; m.places && i < list->execs; i++) {
        free(m.places[i].item);
    }
    free(m.places);
    return status;
}

void calc_planner_list_free(calc_planner_list *list)
{
    free(list->even);
    free(list->exec);
    free(list->candidate);
    *list = (calc_planner_list){.count = 0};
}
