#include "worker.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "model/verdict.h"
#include "point.h"
#include "serve.h"
#include "variants.h"

/* ---- Layouts one by one ---------------------------------------------------------------------- */

/* Layouts evaluated one by one, for cases that the kernel does not cover. */

/* Every point of a choice of a row as calc_run() has it. */
static void run_points(calc_worker *w, const calc_row *row, calc_exec *e)
{
    const calc_cell *c = &w->cell;
    size_t flags = c->reduces * c->gathers;
    bool rejected = calc_verdict_offload_blocks(e, c->fewest_blocks);
    for (size_t chunking = 0; chunking < c->fitting; chunking++) {
        for (size_t pair = 0; pair < c->pipelines * c->datas; pair++) {
            if (!calc_cell_pairs_with(c, row->data_network, pair) ||
                c->verdict[row->network][pair] != CALC_VERDICT_OK) {
                continue;
            }
            if (rejected) {
                w->counts.rejected[CALC_VERDICT_OFFLOAD_BLOCKS] += flags;
                continue;
            }
            for (size_t flag = 0; flag < flags && w->status == CALC_OK; flag++) {
                calc_cell_put_point(c, pair, &c->chunking[chunking], flag, e);
                calc_batch_take(w, e);
            }
        }
    }
}

/* Evaluate every point of worker->cell that networks and chunks allow. */
static void points_run(calc_worker *w)
{
    const calc_cell *c = &w->cell;
    calc_exec e = c->exec;
    e.pipeline_interleaving = 1;
    for (size_t i = 0; i < w->rows.count; i++) {
        const calc_row *row = &w->rows.row[i];
        int64_t expert_par = row->exec.strategy.expert_par;
        size_t choices = calc_cell_choices_count(c, &w->rows, expert_par, row->choices);
        if (!c->legal[row->spread]) {
            continue;
        }
        /* Rows of a table differ in their strategies. */
        e.strategy = row->exec.strategy;
        e.strategy.data_par = c->exec.strategy.data_par;
        for (size_t choice = 0; choice < choices && w->status == CALC_OK; choice++) {
            calc_worker_put_choice(w, choice, &e);
            if (w->serve) {
                size_t legal = calc_cell_choices_of(c, expert_par)[choice];
                calc_serve_row(w->serve, i * w->rows.choices + legal, &e);
            }
            run_points(w, row, &e);
        }
    }
}

/* ---- Workers --------------------------------------------------------------------------------- */

/* Whether a shorter step that needs less memory is never worse. */
static bool bounded(const calc_sweep_options *o)
{
    bool fine = o->top == 0 || o->top_by.up == (o->top_by.kind == CALC_OBJECTIVE_SAMPLE_RATE);
    for (size_t i = 0; i < o->objectives; i++) {
        fine = fine && o->objective[i].up == (o->objective[i].kind == CALC_OBJECTIVE_SAMPLE_RATE);
    }
    return fine;
}

calc_worker *calc_worker_create(const calc_space *space, const calc_sweep_options *options,
                                const calc_kernel *kernel, size_t groups)
{
    size_t size = (sizeof(calc_worker) + CALC_PANEL_ALIGN - 1) / CALC_PANEL_ALIGN;
    calc_worker *w = aligned_alloc(CALC_PANEL_ALIGN, size * CALC_PANEL_ALIGN);
    if (!w) {
        return NULL;
    }
    memset(w, 0, sizeof *w);
    w->space = space;
    w->axes = calc_legal_axes_of(space);
    w->options = options;
    w->kernel = kernel;
    bool serves = space->inference.phase != CALC_INFERENCE_PHASE_NONE;
    w->by_run = calc_worker_by_run(options) || calc_space_by_run(space) != NULL || serves;
    w->bounded = bounded(options);
    calc_conditions_init(&w->conditions, options);
    w->best = INFINITY;
    w->guest = groups == 0;
    w->serve = serves ? calc_serve_create(options) : NULL;
    w->groups_count = groups;
    w->groups = groups > 0 ? calloc(groups, sizeof *w->groups) : NULL; /* a guest's are lent */
    w->screens = groups > 0 ? calloc(groups, sizeof *w->screens) : NULL;
    w->lock = groups > 0 ? malloc(groups * sizeof *w->lock) : NULL;
    for (size_t i = 0; w->lock && i < groups; i++) {
        pthread_mutex_init(&w->lock[i], NULL); /* of a plain one it cannot fail */
    }
    if ((serves && !w->serve) || (groups > 0 && (!w->groups || !w->screens || !w->lock))) {
        calc_worker_free(w);
        return NULL;
    }
    return w;
}

static void free_groups(calc_worker *w)
{
    for (size_t i = 0; w->groups && i < w->groups_count; i++) {
        calc_front_free(&w->groups[i].front);
        calc_front_free(&w->groups[i].top);
    }
    for (size_t i = 0; w->lock && i < w->groups_count; i++) {
        pthread_mutex_destroy(&w->lock[i]);
    }
    free(w->groups);
    free(w->screens);
    free(w->lock);
}

void calc_worker_free(calc_worker *w)
{
    if (!w) {
        return;
    }
    if (!w->guest) {
        free_groups(w);
    }
    free(w->batch);
    calc_rows_free(&w->rows);
    calc_sheets_free(&w->sheets);
    calc_serve_free(w->serve);
    free(w);
}

void calc_worker_begin(calc_worker *w, const calc_app *app, const calc_system *system,
                       uint64_t design)
{
    w->app = app;
    w->system = system;
    w->design = design;
    w->known = 0;
    w->rows.timings = 0; /* times are of another model or system */
    if (!w->guest) {
        calc_screening_begin(w);
    }
}

calc_status calc_worker_rows(calc_worker *w, const calc_exec *base)
{
    w->base = *base;
    calc_status status = calc_rows_fill(&w->rows, w->space, w->app, w->system, base,
                                        w->options->compat, !w->counts_only && !w->by_run);
    w->rows_filled += w->rows.count;
    w->laid_out = false;
    if (status == CALC_OK && w->serve && !w->counts_only) {
        status = calc_serve_rows(w->serve, w);
    }
    return status;
}

bool calc_worker_prunes(const calc_worker *w)
{
    return w->bounded && !w->options->no_prune;
}

bool calc_worker_by_run(const calc_sweep_options *o)
{
    bool other = o->top > 0 && o->top_by.kind == CALC_OBJECTIVE_OTHER;
    for (size_t i = 0; i < o->objectives; i++) {
        other = other || o->objective[i].kind == CALC_OBJECTIVE_OTHER;
    }
    for (size_t i = 0; i < o->constraints && o->no_prune; i++) {
        other = other || o->constraint[i].when == CALC_CONDITION_OTHER;
    }
    return other || o->point;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static void put_row(const calc_worker *w, const calc_row *row, calc_exec *e)
{
    const calc_exec *cell = &w->cell.exec;
    calc_space_copy(e, &row->exec);
    e->num_procs = cell->num_procs;
    e->pipeline_par = cell->pipeline_par;
    e->strategy.data_par = cell->strategy.data_par;
    e->batch_size = cell->batch_size;
    e->pipeline_interleaving = 1;
    calc_variant_put_stages(cell, e);
}

calc_exec calc_worker_exec_of(const calc_worker *w, const calc_row *row)
{
    calc_exec e = row->exec;
    put_row(w, row, &e);
    return e;
}

void calc_worker_put_lane(const calc_worker *w, size_t row, size_t choice, calc_exec *e)
{
    put_row(w, &w->rows.row[row], e);
    calc_row_choice_put(&w->rows.choice[choice], &e->strategy);
}

void calc_worker_put_choice(const calc_worker *w, size_t choice, calc_exec *e)
{
    const unsigned char *legal = calc_cell_choices_of(&w->cell, e->strategy.expert_par);
    calc_row_choice_put(&w->rows.choice[legal[choice]], &e->strategy);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Points of so many rows that are legal where one is, counted: those that networks and chunks do
 * not allow are never visited. */
static void count_rows(calc_worker *w, const calc_row_kind *kind)
{
    const calc_cell *c = &w->cell;
    int64_t expert_par = w->rows.spreads.expert_par[kind->spread];
    if (!c->legal[kind->spread]) {
        return;
    }
    uint64_t per_chunking = kind->rows *
                            calc_cell_choices_count(c, &w->rows, expert_par, kind->choices) *
                            c->reduces * c->gathers;
    uint64_t per_pair = per_chunking * (c->fitting + c->unfit);
    for (size_t i = 0; i < c->pipelines * c->datas; i++) {
        calc_verdict verdict = c->verdict[kind->network][i];
        if (!calc_cell_pairs_with(c, kind->data_network, i)) {
            continue;
        }
        w->counts.total += per_pair;
        if (verdict != CALC_VERDICT_OK) {
            w->counts.rejected[verdict] += per_pair;
        } else {
            w->counts.rejected[CALC_VERDICT_INTERLEAVING] += per_chunking * c->unfit;
        }
    }
}

void calc_worker_fill(calc_worker *w)
{
    calc_cell *c = &w->cell;
    bool settles = !w->counts_only && !w->by_run;
    calc_cell_fill(c, w->space, w->system, &w->rows);
    calc_cell_split(c, w->space, &w->rows, w->options->compat);
    if (settles && c->fitting > 0) {
        /* Micro-batches in flight, and what bounds have in common. */
        calc_stage_terms t = {.compat = w->options->compat, .training = w->cell.exec.training};
        calc_stage_terms_pipeline(&w->rows.shape, &w->cell.exec, &t);
        calc_cell_settle(&w->cell, &t, calc_worker_prunes(w));
    }
    calc_filter_cell(w);
}

pthread_mutex_t *calc_worker_set_group(calc_worker *w)
{
    size_t group = w->options->per_num_procs ? w->cell.procs_index : 0;
    w->group = &w->groups[group];
    w->screen = &w->screens[group];
    return &w->lock[group];
}

static void run_rows(calc_worker *w)
{
    calc_cell *c = &w->cell;
    if (c->reduces * c->gathers * c->fitting == 0) {
        return;
    }
    pthread_mutex_t *lock = calc_worker_set_group(w);
    pthread_mutex_lock(lock);
    if (w->by_run) {
        points_run(w);
    } else {
        if (!w->laid_out) {
            w->status = calc_rows_terms(&w->rows);
            w->status = w->status == CALC_OK ? calc_sheets_list(&w->sheets, &w->rows) : w->status;
            w->laid_out = true;
        }
        calc_evaluate_cell(w);
    }
    pthread_mutex_unlock(lock);
}

void calc_worker_cell(calc_worker *w)
{
    calc_worker_fill(w);
    if (w->cell.fitting + w->cell.unfit == 0) {
        return;
    }
    for (size_t i = 0; i < w->rows.count && w->visit; i++) {
        const calc_row *row = &w->rows.row[i];
        calc_worker_place place = {w, row, w->counts.total};
        count_rows(w,
                   &(calc_row_kind){row->spread, row->network, row->data_network, row->choices, 1});
        if (w->counts.total > place.first) {
            w->visit(w->visit_context, &place);
        }
    }
    for (size_t i = 0; i < w->rows.kinds && !w->visit; i++) {
        count_rows(w, &w->rows.kind[i]);
    }
    if (!w->counts_only) {
        run_rows(w);
    }
}

/* ---- A point by its number ------------------------------------------------------------------- */

calc_verdict calc_worker_decode(const calc_worker_place *place, uint64_t index, calc_exec *exec)
{
    const calc_worker *w = place->worker;
    const calc_cell *c = &w->cell;
    size_t pairs = 0; /* of networks, of the row's points */
    for (size_t i = 0; i < c->pipelines * c->datas; i++) {
        pairs += calc_cell_pairs_with(c, place->row->data_network, i);
    }
    size_t chunkings = c->fitting + c->unfit;
    size_t flags = c->reduces * c->gathers;
    size_t pair = 0;
    assert(pairs > 0); /* the point is there */
    for (size_t left = (size_t)(index % pairs);; pair++) {
        if (calc_cell_pairs_with(c, place->row->data_network, pair) && left-- == 0) {
            break;
        }
    }
    index /= pairs;
    size_t chunking = (size_t)(index % chunkings);
    index /= chunkings;
    bool fits = chunking < c->fitting;
    *exec = calc_worker_exec_of(w, place->row);
    calc_worker_put_choice(w, (size_t)(index / flags), exec);
    calc_cell_put_point(c, pair,
                        fits ? &c->chunking[chunking] : &c->unfit_chunking[chunking - c->fitting],
                        (size_t)(index % flags), exec);
    calc_verdict verdict = c->verdict[place->row->network][pair];
    if (verdict != CALC_VERDICT_OK) {
        return verdict;
    }
    if (!fits) {
        return CALC_VERDICT_INTERLEAVING;
    }
    return calc_verdict_offload_blocks(exec, c->fewest_blocks) ? CALC_VERDICT_OFFLOAD_BLOCKS
                                                               : CALC_VERDICT_OK;
}
