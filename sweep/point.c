#include "point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "parallel.h"
#include "serve.h"

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

bool calc_point_matters(const calc_worker *w, const calc_point *p)
{
    double objective[CALC_MAX_OBJECTIVES];
    double best = objectives_of(w->options, (double)w->cell.exec.batch_size, p, objective);
    return matters(w, w->group, best, objective);
}

/* Enter a layout among the best, if it is one of them. @return false: it does not run
 * (calc_sweep_options.runs) */
static bool enter(calc_worker *w, calc_sweep_group *group, const calc_exec *exec,
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

void calc_point_verify(calc_worker *w, const calc_exec *exec, const calc_point *p)
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

void calc_point_enter(calc_worker *w, const calc_exec *exec, const calc_point *p)
{
    if (calc_filter_point(w, exec, p->total_s)) {
        double objective[CALC_MAX_OBJECTIVES] = {0};
        double top = objectives_of(w->options, (double)exec->batch_size, p, objective);
        if (enter(w, w->group, exec, top, objective)) {
            calc_screening_enter(w, objective);
            w->entered++;
        }
    } else if (!calc_filter_counts(w)) {
        w->counts.filtered++;
    }
}

bool calc_point_verifies(calc_worker *w)
{
    double share = w->options->verify;
    uint64_t tile = w->tiles++;
    return floor((double)(tile + 1) * share) > floor((double)tile * share);
}

/* ---- Points that need calc_run() ------------------------------------------------------------- */

/* A point, and its result. */
typedef struct point {
    calc_sweep_group *group;
    calc_exec exec;
    calc_stats stats;
    calc_verdict verdict;
    bool met; /* it is feasible, and meets the constraints */
} point;

struct calc_batch {
    int threads;
    size_t count;
    point point[CALC_SWEEP_PLACES];
};

/* Points that a thread takes at a time. */
enum { PIECE = 4 };

calc_batch *calc_batch_create(int threads)
{
    calc_batch *batch = malloc(sizeof *batch);
    if (batch) {
        batch->threads = threads;
        batch->count = 0;
    }
    return batch;
}

static void evaluate(const calc_worker *w, point *p, size_t place)
{
    const calc_sweep_options *o = w->options;
    p->verdict = calc_run(w->app, w->system, &p->exec, o->compat, &p->stats);
    p->met = p->verdict == CALC_VERDICT_OK;
    for (size_t i = 0; i < o->constraints && p->met; i++) {
        p->met = calc_constraint_met(&o->constraint[i], &p->exec, &p->stats);
    }
    if (p->met && o->prepare) {
        o->prepare(o->point_context, &(calc_sweep_point){w->design, &p->exec, &p->stats, place});
    }
}

/* The points of a batch are of one design: that of the worker. */
static void evaluate_piece(void *context, size_t piece)
{
    const calc_worker *w = context;
    calc_batch *b = w->batch;
    for (size_t i = piece * PIECE; i < b->count && i < (piece + 1) * PIECE; i++) {
        evaluate(w, &b->point[i], i);
    }
}

static void enter_stats(calc_worker *w, calc_sweep_group *group, const calc_exec *exec,
                        const calc_stats *stats)
{
    const calc_sweep_options *o = w->options;
    double objective[CALC_MAX_OBJECTIVES] = {0};
    for (size_t i = 0; i < o->objectives; i++) {
        objective[i] = calc_objective_of(&o->objective[i], stats);
    }
    double top_objective = o->top > 0 ? calc_objective_of(&o->top_by, stats) : 0;
    (void)enter(w, group, exec, top_objective, objective);
}

/* Count an evaluated point. @return whether it is feasible and meets the constraints */
static bool count(calc_worker *w, calc_verdict verdict, bool met)
{
    w->counts.evaluated++;
    w->counts.rejected[verdict] += verdict != CALC_VERDICT_OK;
    w->counts.feasible += verdict == CALC_VERDICT_OK;
    w->counts.filtered += verdict == CALC_VERDICT_OK && !met;
    return verdict == CALC_VERDICT_OK && met;
}

/* Count an evaluated point, show it and enter it. */
static void finish(calc_worker *w, const point *p, size_t place)
{
    const calc_sweep_options *o = w->options;
    if (!count(w, p->verdict, p->met)) {
        return;
    }
    if (o->point &&
        !o->point(o->point_context, &(calc_sweep_point){w->design, &p->exec, &p->stats, place})) {
        w->status = CALC_ERR_IO;
        return;
    }
    enter_stats(w, p->group, &p->exec, &p->stats);
}

void calc_batch_serve(calc_worker *w, const calc_exec *exec)
{
    const calc_sweep_options *o = w->options;
    const calc_stats *stats;
    calc_verdict verdict = calc_serve_run(w->serve, exec, &stats);
    if (o->verify > 0 && calc_point_verifies(w) && !calc_serve_agrees(w->serve, exec)) {
        w->status = CALC_ERR_RULE;
        w->failed = *exec;
        return;
    }
    bool met = verdict == CALC_VERDICT_OK;
    for (size_t i = 0; i < o->constraints && met; i++) {
        met = calc_constraint_met(&o->constraint[i], exec, stats);
    }
    if (count(w, verdict, met)) {
        enter_stats(w, w->group, exec, stats);
    }
}

void calc_batch_look(calc_worker *w)
{
    w->stopped = w->stopped || (w->stop && w->stop(w->stop_context, w));
}

void calc_batch_end(calc_worker *w)
{
    calc_batch *b = w->batch;
    if (!b || b->count == 0) {
        return;
    }
    size_t count = b->count;
    calc_parallel_for(b->threads, (count + PIECE - 1) / PIECE, evaluate_piece, w);
    b->count = 0;
    for (size_t i = 0; i < count && w->status == CALC_OK; i++) {
        finish(w, &b->point[i], i);
    }
    calc_batch_look(w);
}

void calc_batch_take(calc_worker *w, const calc_exec *exec)
{
    if (w->stopped) {
        w->counts.total--; /* it was counted with its row */
    } else if (!w->options->no_prune && !calc_filter_fields(w, exec)) {
        w->counts.skipped++;
    } else if (w->batch) {
        point *p = &w->batch->point[w->batch->count++];
        p->group = w->group;
        p->exec = *exec;
        if (w->batch->count == CALC_SWEEP_PLACES) {
            calc_batch_end(w);
        }
    } else {
        if (w->serve) {
            calc_serve_at(w->serve, exec);
            calc_batch_serve(w, exec);
        } else {
            point p = {.group = w->group, .exec = *exec};
            evaluate(w, &p, 0);
            finish(w, &p, 0);
        }
        if (w->counts.evaluated % CALC_BATCH_LOOK == 0) {
            calc_batch_look(w);
        }
    }
}
