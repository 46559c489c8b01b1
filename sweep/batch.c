#include "batch.h"

#include <stdlib.h>

#include "filter.h"
#include "parallel.h"
#include "point.h"
#include "serve.h"

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

static void enter(calc_worker *w, calc_sweep_group *group, const calc_exec *exec,
                  const calc_stats *stats)
{
    const calc_sweep_options *o = w->options;
    double objective[CALC_MAX_OBJECTIVES] = {0};
    for (size_t i = 0; i < o->objectives; i++) {
        objective[i] = calc_objective_of(&o->objective[i], stats);
    }
    double top_objective = o->top > 0 ? calc_objective_of(&o->top_by, stats) : 0;
    (void)calc_point_enter(w, group, exec, top_objective, objective);
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
    enter(w, p->group, &p->exec, &p->stats);
}

void calc_batch_serve(calc_worker *w, calc_sweep_group *group, const calc_exec *exec)
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
        enter(w, group, exec, stats);
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

void calc_batch_take(calc_worker *w, calc_sweep_group *group, const calc_exec *exec)
{
    if (w->stopped) {
        w->counts.total--; /* it was counted with its row */
    } else if (!w->options->no_prune && !calc_filter_fields(w, exec)) {
        w->counts.skipped++;
    } else if (w->batch) {
        point *p = &w->batch->point[w->batch->count++];
        p->group = group;
        p->exec = *exec;
        if (w->batch->count == CALC_SWEEP_PLACES) {
            calc_batch_end(w);
        }
    } else {
        if (w->serve) {
            calc_serve_at(w->serve, exec);
            calc_batch_serve(w, group, exec);
        } else {
            point p = {.group = group, .exec = *exec};
            evaluate(w, &p, 0);
            finish(w, &p, 0);
        }
        if (w->counts.evaluated % CALC_BATCH_LOOK == 0) {
            calc_batch_look(w);
        }
    }
}
