#include "plan/planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/relaxed.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/make.h"
#include "model/stages/stages.h"
#include "parallel.h"
#include "plan/in_order.h"
#include "plan/planner_place.h"
#include "spec/stage_list.h"
#include "units.h"
#include "worker.h"

/* ---- Candidates ------------------------------------------------------------------------------ */

/* The candidates of a planner: every layout of its space, with every number of chunks, in every
 * place; each with a lower bound. */

/* A layout as a sweep finds it: no plan may be slower. */
typedef struct planner_even_layout {
    calc_exec layout;
    calc_stats stats;
    int chip;
    size_t exec;      /* the layout of the list that it is with equal stages; SIZE_MAX: none, */
    size_t candidate; /* and the candidate on its chip */
} planner_even_layout;

/* A layout in a place. */
typedef struct planner_candidate {
    size_t exec; /* index */
    calc_planner_place place;
    double bound_s;                  /* no division takes less */
    int turn;                        /* smaller ones are balanced before others */
    const planner_even_layout *even; /* the quickest with equal stages; NULL: not known */
} planner_candidate;

/* In the order in which they are balanced. Owns its lists. */
typedef struct planner_list {
    planner_even_layout *even;
    size_t evens, even_room;
    calc_exec *exec;
    size_t execs, exec_room;
    planner_candidate *candidate;
    size_t count;
    size_t ahead;    /* so many come before the others, which are in the order of their bounds */
    const char *why; /* why the one layout of the planner has no candidate; NULL: not known */
    atomic_bool cut; /* it is late: not all layouts and places are listed */
} planner_list;

enum {
    SWEPT = 64,  /* best layouts that are taken from a sweep of each chip; */
    EVENS = 16,  /* candidates of the best of them, which are balanced first, */
    LINES = 128, /* and then those with one chunk per stage that have the least bounds: they are
                    proven in milliseconds, and frameworks run most of them */
};

/* Places of all layouts, at most: with many kinds of chips there are more than a search ever ends.
 */
#define MOST_PLACES 1e6

/* When a candidate is balanced. */
enum { FIRST, SECOND, LAST };

/* The places of one layout. */
typedef struct placed_list {
    planner_candidate *item;
    size_t count, room;
    bool is_even; /* the best of a sweep have this layout */
} placed_list;

/* A list under construction. */
typedef struct maker {
    const calc_planner *planner;
    planner_list *out;
    placed_list *places; /* [execs] */
    bool placing_evens;  /* of the layouts with equal stages, or of all others */
    calc_planner_stop *stop;
} maker;

static bool is_late(maker *m)
{
    bool late = calc_planner_stop_asked(m->stop);
    if (late) {
        atomic_store(&m->out->cut, true);
    }
    return late;
}

static void add_exec(planner_list *out, const calc_exec *e)
{
    CALC_ADD(out->exec, out->execs, out->exec_room, e);
}

/* calc_worker_visit: all layouts of a row that networks connect, with every number of chunks that a
 * sweep may try: a division need not be even. */
static void visit_row(void *context, const calc_worker_place *place)
{
    maker *m = context;
    for (uint64_t i = place->first;
         i < place->worker->counts.total && (m->out->execs == 0 || !is_late(m)); i++) {
        calc_exec e;
        calc_verdict verdict = calc_worker_decode(place, i - place->first, &e);
        int64_t most =
            verdict == CALC_VERDICT_OK ? calc_stages_chunks_limit(m->planner->app, &e) : 0;
        for (int64_t v = 1; v <= most; v++) {
            e.pipeline_interleaving = v;
            if (calc_stages_rounds_fit(&e) &&
                calc_space_has(m->planner->space, CALC_AXIS_pipeline_interleaving, v)) {
                add_exec(m->out, &e);
            }
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
    planner_candidate c = {
        p->exec, *place,
        calc_balance_least_total_s(chip, p->problem, calc_balance_quick_s(p->problem)), LAST, NULL};
    CALC_ADD(list->item, list->count, list->room, &c);
    return true;
}

static void place_exec(void *context, size_t i)
{
    maker *m = context;
    if (m->places[i].is_even != m->placing_evens || (!m->planner->only && is_late(m))) {
        return;
    }
    placing p = {m, i, calc_make(1, sizeof *p.layouts), calc_make(1, sizeof *p.problem)};
    if (calc_planner_layouts_of(m->planner, &m->out->exec[i], p.layouts)) {
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
    planner_list *out = m->out;
    planner_even_layout even = {
        .layout = *e, .chip = chip, .exec = SIZE_MAX, .candidate = SIZE_MAX};
    calc_run(m->planner->app, &m->planner->chip[chip].system, e, CALC_COMPAT_NONE, &even.stats);
    CALC_ADD(out->even, out->evens, out->even_room, &even);
}

/* calc_sweep_options.progress: a plan has a layout at least. */
static bool is_swept(void *context, const calc_sweep_progress *progress)
{
    maker *m = context;
    return !isnan(progress->best) && is_late(m);
}

/* The best layouts of a chip, and those that take longer and need less memory. */
static calc_status sweep_chip(maker *m, int chip, calc_errors *errors)
{
    calc_planner of = *m->planner;
    const calc_designs one = {.count = 1, .get = get_chip, .context = &of};
    calc_space space = *m->planner->space; /* borrows its values */
    calc_values *procs = &space.axis[CALC_AXIS_num_procs];
    calc_sweep_options options = {.objectives = 2,
                                  .top = SWEPT,
                                  .threads = m->planner->threads,
                                  .progress = is_swept,
                                  .progress_context = m};
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
    return status;
}

/* Find the layouts with equal stages among those of the list: of those without a part that every
 * layer recomputes, in full or not. */
static void find_evens(maker *m)
{
    planner_list *out = m->out;
    for (size_t i = 0; i < out->execs; i++) {
        const calc_exec *listed = &out->exec[i];
        bool part = calc_planner_keeps_part(listed);
        for (size_t k = 0; k < out->evens; k++) {
            const calc_exec *even = &out->even[k].layout;
            const calc_strategy *s = &even->strategy;
            if (part == calc_planner_keeps_part(even) && calc_planner_alike(even, listed) &&
                (!part || (s->activation_recompute == listed->strategy.activation_recompute &&
                           s->recompute_modules == listed->strategy.recompute_modules))) {
                out->even[k].exec = i;
                m->places[i].is_even = true;
            }
        }
    }
}

/* Every candidate gets the best of its layouts with equal stages. */
static void join_evens(planner_list *out)
{
    for (size_t i = 0; i < out->count; i++) {
        planner_candidate *c = &out->candidate[i];
        for (size_t k = 0; c->place.kinds == 1 && k < out->evens; k++) {
            planner_even_layout *even = &out->even[k];
            if (even->chip == c->place.chip[0] && even->exec == c->exec) {
                bool quicker = !c->even || even->stats.total_time < c->even->stats.total_time;
                c->even = quicker ? even : c->even;
            }
        }
    }
}

/* ---- The order ------------------------------------------------------------------------------- */

static int compare_candidates(const void *a, const void *b)
{
    const planner_candidate *x = a;
    const planner_candidate *y = b;
    if (x->turn != y->turn) {
        return x->turn < y->turn ? -1 : 1;
    }
    bool even = x->turn == FIRST && x->even->stats.total_time != y->even->stats.total_time;
    double before_s = even ? x->even->stats.total_time : x->bound_s;
    double after_s = even ? y->even->stats.total_time : y->bound_s;
    return before_s != after_s  ? CALC_ORDER(before_s, after_s)
           : x->exec != y->exec ? CALC_ORDER(x->exec, y->exec)
                                : memcmp(&x->place, &y->place, sizeof x->place);
}

/* The quickest with equal stages come first, then those with one chunk per stage, then the rest. */
static void put_in_order(planner_list *out)
{
    size_t left = EVENS;
    for (size_t i = 0; i < out->count; i++) {
        out->candidate[i].turn = out->candidate[i].even ? FIRST : LAST;
    }
    for (int turn = FIRST; turn < LAST; turn++) {
        planner_candidate *rest = out->candidate + out->ahead;
        size_t count = out->count - out->ahead;
        CALC_SORT(rest, count, compare_candidates);
        for (size_t i = 0; i < count; i++) {
            bool is_next = turn == FIRST ? rest[i].even != NULL
                                         : out->exec[rest[i].exec].pipeline_interleaving == 1;
            rest[i].turn = is_next && left > 0 ? turn : LAST;
            left -= rest[i].turn == turn;
            out->ahead += rest[i].turn == turn;
        }
        left = LINES;
    }
    CALC_SORT(out->candidate, out->count, compare_candidates);
    for (size_t i = 0; i < out->count; i++) {
        for (size_t k = 0; k < out->evens; k++) {
            const planner_candidate *c = &out->candidate[i];
            if (c->even && out->even[k].exec == c->exec && out->even[k].chip == c->place.chip[0]) {
                out->even[k].candidate = i;
            }
        }
    }
}

static bool count_place(void *context, const calc_planner_place *place)
{
    double *count = context;
    (void)place;
    return ++*count <= MOST_PLACES;
}

static calc_status list_candidates(maker *m, calc_errors *errors)
{
    planner_list *out = m->out;
    const calc_planner *p = m->planner;
    int64_t one[] = {1}, recompute[CALC_ACTIVATION_RECOMPUTE_MODULES + 1],
            blocks[] = {CALC_PIPELINE_BALANCE_BLOCKS};
    calc_status status = CALC_OK;
    if (p->only) {
        calc_exec e = *p->only;
        add_exec(m->out, &e);
        e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
        e.strategy.recompute_modules = 0;
        if (p->recompute && calc_planner_keeps_part(p->only)) {
            add_exec(m->out, &e);
        }
    } else {
        calc_space listed = *p->space; /* borrows its values */
        calc_sweep_counts counts;
        size_t words = 0;
        for (int64_t i = 0; i <= CALC_ACTIVATION_RECOMPUTE_MODULES; i++) {
            if (i == CALC_ACTIVATION_RECOMPUTE_NONE ||
                (i != CALC_ACTIVATION_RECOMPUTE_FULL &&
                 calc_space_has(p->space, CALC_AXIS_activation_recompute, i))) {
                recompute[words++] = i;
            }
        }
        listed.axis[CALC_AXIS_pipeline_interleaving] = (calc_values){.count = 1, .value = one};
        listed.axis[CALC_AXIS_activation_recompute] =
            (calc_values){.count = words, .value = recompute};
        listed.axis[CALC_AXIS_pipeline_balance] = (calc_values){.count = 1, .value = blocks};
        status = calc_units_walk(&listed, &p->design, CALC_COMPAT_NONE, visit_row, m, &counts);
    }
    double places = 0;
    for (size_t i = 0; i < out->execs && places <= MOST_PLACES; i++) {
        calc_planner_places(p, &out->exec[i], count_place, &places);
    }
    if (places > MOST_PLACES) {
        return calc_errors_add(
            errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
            "more than %.0f ways to place stages on %d kinds of processors: keep "
            "their order, or say how many there are of each",
            MOST_PLACES, p->chips);
    }
    if (status != CALC_OK) {
        return calc_errors_status(errors, status);
    }
    m->places = calc_make(out->execs, sizeof *m->places);
    find_evens(m);
    for (int turn = 0; turn < 2; turn++) {
        m->placing_evens = turn == 0;
        calc_parallel_for(p->threads, out->execs, place_exec, m);
    }
    size_t count = 0;
    for (size_t i = 0; i < out->execs; i++) {
        count += m->places[i].count;
    }
    out->candidate = calc_make(count, sizeof *out->candidate);
    for (size_t i = 0; i < out->execs; i++) {
        for (size_t k = 0; k < m->places[i].count; k++) {
            out->candidate[out->count++] = m->places[i].item[k];
        }
    }
    join_evens(out);
    put_in_order(out);
    return CALC_OK;
}

static CALC_FREES(planner_list_free, planner_list, of->even, of->exec, of->candidate)

/* ---- The search
   ------------------------------------------------------------------------------ */

/* Divisions of a candidate to simulate: those with chunks take longer. */
enum { EFFORT_LINE = 500, EFFORT_CHUNKS = 100, BEST_LINE = 20000, BEST_CHUNKS = 2000 };

/* Share of the time limit that listing may take, and that polishing has where the search took all
 * of it. */
#define LISTING 0.5
#define POLISH 0.2

enum {
    KEPT = 5 /* layouts that are kept at least, because those that are not the best at first may
                be when more divisions of them are tried */
};

typedef struct search {
    const calc_planner *planner;
    planner_list list;
    calc_planner_result *out;
    size_t kept;   /* at most */
    double best_s; /* of them, before they are polished, */
    calc_planner_stop stop;
    size_t next; /* candidate */
    bool left;   /* one that was begun, when it was late */
    struct {     /* a candidate that is balanced, */
        size_t candidate;
        double limit_s, start_s; /* with what was known when it began, */
        bool begun, any, lacking;
        calc_planner_outcome outcome; /* and what is found */
        calc_planner_found found;
        int stage;
        double needs_bytes, has_bytes;
    } at[CALC_IN_ORDER];
} search;

/* ---- Balancing ------------------------------------------------------------------------------- */

/* The longest step with which a layout that runs would be the best of those. */
static double start_limit_of(const search *s)
{
    const calc_planner_result *r = s->out;
    return !s->planner->runs ? 0 : r->starts ? r->start.stats.total_time : INFINITY;
}

static bool is_run(const search *s, int chip, const calc_exec *exec)
{
    return s->planner->runs(s->planner->runs_context, chip, exec);
}

/* Whether a framework may run divisions of a candidate: that with as many blocks everywhere. */
static bool may_run(search *s, const planner_candidate *c)
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
           is_run(s, c->place.chip[0], &e);
}

static void balance(void *context, size_t i)
{
    search *s = context;
    const calc_planner *p = s->planner;
    const planner_candidate *c = &s->list.candidate[s->at[i].candidate];
    const calc_exec *exec = &s->list.exec[c->exec];
    double limit_s = s->at[i].limit_s;
    bool chunks = exec->pipeline_interleaving > 1;
    s->at[i].found = (calc_planner_found){.candidate = s->at[i].candidate};
    s->at[i].found.bound_s = c->bound_s;
    if (limit_s < s->at[i].start_s && may_run(s, c)) {
        limit_s = s->at[i].start_s;
    }
    if ((s->at[i].any && c->bound_s >= limit_s) || atomic_load(&s->stop.stopped)) {
        s->at[i].outcome = CALC_PLANNER_UNBALANCED; /* no framework runs it */
        return;
    }
    if (c->bound_s == INFINITY && chunks && s->at[i].lacking) {
        s->at[i].outcome = CALC_PLANNER_NO_ROOM; /* chunks would not reduce the memory that it
                                                      lacks */
        return;
    }
    calc_planner_bench *bench = calc_make(1, sizeof *bench);
    const calc_balance_options effort = {.evaluations = chunks ? EFFORT_CHUNKS : EFFORT_LINE,
                                         .stop = calc_planner_stop_asked,
                                         .context = &s->stop};
    s->at[i].outcome =
        calc_planner_balance(p, exec, &c->place, limit_s, &effort, bench, &s->at[i].found);
    if (s->at[i].outcome == CALC_PLANNER_NO_ROOM && bench->solution.stage >= 0) {
        s->at[i].stage = bench->solution.stage;
        s->at[i].needs_bytes = bench->solution.needs_bytes;
        s->at[i].has_bytes = bench->problem.stage[bench->solution.stage].limit_bytes;
    }
    free(bench);
}

static void take(search *s, const calc_planner_found *f)
{
    calc_planner_result *r = s->out;
    if (f->stats.total_time < start_limit_of(s) && is_run(s, f->chip, &f->exec)) {
        r->start = *f;
        r->starts = true;
    }
    calc_planner_take(r, s->kept, f);
}

/* The least bound of the candidates from `next` on. */
static double least_bound_s(const search *s, size_t next)
{
    const planner_list *l = &s->list;
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
        const planner_even_layout *even = &s->list.even[i];
        calc_planner_found f = {.exec = even->layout,
                                .chip = even->chip,
                                .stats = even->stats,
                                .planned_s = even->stats.total_time,
                                .base = even->layout,
                                .place = {1, {even->chip}, {(int32_t)even->layout.pipeline_par}},
                                .candidate = s->list.count + i};
        if (even->candidate < s->list.count) {
            const planner_candidate *c = &s->list.candidate[even->candidate];
            f.base = s->list.exec[c->exec];
            f.bound_s = fmin(c->bound_s, f.planned_s);
            f.candidate = even->candidate;
        }
        take(s, &f);
    }
}

/* The next candidate that is worth balancing. While nothing is found, even one that cannot fit is:
 * the answer is then the memory it lacks. */
static bool begin(void *context, size_t at)
{
    search *s = context;
    const planner_list *l = &s->list;
    bool any = s->out->count > 0;
    double kept_s = calc_planner_limit_s(s->out, s->kept);
    double start_s = start_limit_of(s);
    double least_s = least_bound_s(s, s->next);
    for (size_t i = 0; i < CALC_IN_ORDER; i++) { /* of those begun, too */
        least_s =
            s->at[i].begun ? fmin(least_s, l->candidate[s->at[i].candidate].bound_s) : least_s;
    }
    calc_planner_stop_note(&s->stop, s->out, least_s);
    while (any && s->next < l->count && l->candidate[s->next].bound_s >= fmax(kept_s, start_s)) {
        if (s->next >= l->ahead) {
            return false; /* nor are those after it */
        }
        s->next++;
    }
    if (s->next == l->count || calc_planner_stop_asked(&s->stop)) {
        return false;
    }
    memset(&s->at[at], 0, sizeof s->at[at]);
    s->at[at].begun = true;
    s->at[at].candidate = s->next++;
    s->at[at].limit_s = kept_s;
    s->at[at].start_s = start_s;
    s->at[at].any = any;
    s->at[at].lacking = s->out->has_bytes > 0;
    return true;
}

static void settle(void *context, size_t at)
{
    search *s = context;
    calc_planner_result *r = s->out;
    const calc_planner_found *f = &s->at[at].found;
    double needs_bytes = s->at[at].needs_bytes, has_bytes = s->at[at].has_bytes;
    s->at[at].begun = false;
    r->balanced += s->at[at].outcome != CALC_PLANNER_UNBALANCED;
    if (atomic_load(&s->stop.stopped)) { /* amid its work */
        s->left = true;
        r->bound_s = fmin(r->bound_s, s->list.candidate[s->at[at].candidate].bound_s);
    }
    switch (s->at[at].outcome) {
    case CALC_PLANNER_FOUND:
        r->bound_s = fmin(r->bound_s, f->bound_s);
        take(s, f);
        calc_planner_know_bound(r, f); /* it may be as one listed, that a sweep has found */
        break;
    case CALC_PLANNER_NO_ROOM:
        r->infeasible++;
        if (has_bytes > 0 &&
            (r->has_bytes == 0 || needs_bytes - has_bytes < r->needs_bytes - r->has_bytes)) {
            r->lacking_stage = s->at[at].stage;
            r->needs_bytes = needs_bytes;
            r->has_bytes = has_bytes;
            r->lacking = s->list.exec[s->list.candidate[s->at[at].candidate].exec];
        }
        break;
    case CALC_PLANNER_SLOWER:
        r->bound_s = fmin(r->bound_s, f->bound_s);
        calc_planner_know_bound(r, f);
        break;
    case CALC_PLANNER_UNBALANCED:
        break;
    }
}

/* Balance one again with more effort, if a division of it may be the best. */
static void polish_one(void *context, size_t i)
{
    search *s = context;
    calc_planner_result *r = s->out;
    calc_planner_found *f = i < r->count ? &r->found[i] : &r->start;
    bool own = i < r->count ? f->bound_s < s->best_s : !f->proven;
    if (f->candidate >= s->list.count || f->proven || !own || calc_planner_stop_asked(&s->stop)) {
        return;
    }
    const calc_balance_options effort = {
        .evaluations = f->base.pipeline_interleaving > 1 ? BEST_CHUNKS : BEST_LINE,
        .within = i == 0 ? s->planner->within : 0,
        .stop = calc_planner_stop_asked,
        .context = &s->stop};
    calc_planner_found again = {.candidate = f->candidate};
    calc_planner_bench *bench = calc_make(1, sizeof *bench);
    if (calc_planner_balance(s->planner, &f->base, &f->place, INFINITY, &effort, bench, &again) ==
            CALC_PLANNER_FOUND &&
        again.stats.total_time <= f->stats.total_time &&
        (i < r->count || is_run(s, again.chip, &again.exec))) {
        *f = again;
    } else if (isfinite(again.bound_s)) {
        f->bound_s = fmax(f->bound_s, fmin(again.bound_s, f->stats.total_time));
    }
    free(bench);
}

static void polish(search *s)
{
    calc_planner_result *r = s->out;
    double limit_s = s->planner->time_limit_s;
    s->best_s = r->count > 0 ? r->found[0].stats.total_time : 0;
    calc_planner_stop_note(&s->stop, r, r->bound_s);
    s->stop.end_s = fmax(s->stop.end_s, calc_clock_s(CLOCK_MONOTONIC) + limit_s * POLISH);
    atomic_store(&s->stop.stopped, false); /* if it was by progress(), that says so again */
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
    const double end_s = s->stop.end_s;
    s->stop.end_s -= isfinite(end_s) ? (1 - LISTING) * s->planner->time_limit_s : 0;
    calc_planner_stop_note(&s->stop, r, 0);
    maker m = {.planner = s->planner, .out = &s->list, .stop = &s->stop};
    calc_status status = sweep_chips(&m, errors);
    status = status == CALC_OK ? list_candidates(&m, errors) : status;
    for (size_t i = 0; m.places && i < s->list.execs; i++) {
        free(m.places[i].item);
    }
    free(m.places);
    s->stop.end_s = end_s;
    atomic_store(&s->stop.stopped, false); /* if it was by progress(), that says so again */
    if (status == CALC_OK) {
        r->candidates = s->list.count;
        r->bound_s = INFINITY;
        take_evens(s);
        calc_in_order(s->planner->threads, begin, balance, settle, s);
        double least_s = least_bound_s(s, s->next);
        r->bound_s = fmin(r->bound_s, least_s);
        r->complete = !s->left && (least_s == INFINITY || !atomic_load(&s->stop.stopped));
    }
    if (atomic_load(&s->list.cut)) {
        r->complete = false;
        r->bound_s = 0;
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
    planner_list_free(&s->list);
    return status;
}

calc_status calc_planner_run(const calc_planner *planner, calc_planner_result *out,
                             calc_errors *errors)
{
    search *s = calc_make(1, sizeof *s);
    s->kept = planner->top > KEPT ? planner->top : KEPT;
    *out = (calc_planner_result){.found = calc_make(s->kept + 1, sizeof *out->found)};
    s->planner = planner;
    s->out = out;
    calc_planner_stop_begin(&s->stop, planner);
    calc_status status = search_all(s, errors);
    free(s);
    return status;
}

CALC_FREES(calc_planner_result_free, calc_planner_result, of->found, of->curve)
