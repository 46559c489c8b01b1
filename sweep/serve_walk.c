#include "serve_walk.h"

#include <stdlib.h>

#include "batch.h"
#include "filter.h"
#include "legal.h"
#include "model/verdict.h"
#include "serve.h"

/* Where a walk is. */
typedef struct walk {
    calc_worker *w;
    const calc_unit *unit;
    const calc_exec *base;
    bool filled;      /* the rows of the unit are */
    bool conditioned; /* some conditions are on fields */
    size_t batches;   /* that are legal in the cell */
    int64_t *batch;
} walk;

bool calc_serve_walk_takes(const calc_worker *w)
{
    return w->serve && !w->visit && !w->counts_only && !w->batch;
}

static bool is_legal(calc_worker *w, calc_exec *exec)
{
    return calc_legal_cell(w->space, &w->axes, w->app, &w->spreads, exec, w->cell.legal);
}

/* The batches of a cell, which is at one of them. */
static void list_batches(walk *k)
{
    const calc_space *space = k->w->space;
    const calc_values *axis = &space->axis[CALC_AXIS_batch_size];
    calc_exec *e = &k->w->cell.exec;
    bool same = !calc_legal_by_batch(e);
    bool fine = same && is_legal(k->w, e);
    k->batches = 0;
    for (size_t i = k->unit->batches_begin; i < k->unit->batches_end && (fine || !same); i++) {
        int64_t batch = calc_cell_batch(space, k->base, e->strategy.data_par, axis->value[i]);
        e->batch_size = batch;
        if (batch > 0 && (same || is_legal(k->w, e))) {
            k->batch[k->batches++] = batch;
        }
    }
}

/* Go to the cell of so many processors and stages, whose blocks are those of a variant.
 * @return whether it has layouts */
static bool go_to(walk *k, const calc_exec *variant, size_t procs, int64_t pipeline_par)
{
    calc_worker *w = k->w;
    const calc_values *axis = &w->space->axis[CALC_AXIS_batch_size];
    const calc_strategy *s = &k->base->strategy;
    int64_t num_procs = w->space->axis[CALC_AXIS_num_procs].value[procs];
    int64_t replica = s->tensor_par * pipeline_par * (s->context_par > 1 ? s->context_par : 1);
    bool found = false;
    if (num_procs % replica != 0) {
        return false;
    }
    /* The largest has room for most replicas. */
    for (size_t i = k->unit->batches_end; i-- > k->unit->batches_begin && !found;) {
        found = calc_cell_at(&w->cell, w->space, w->app, k->base, num_procs, axis->value[i],
                             pipeline_par);
    }
    if (found) {
        calc_variant_put_stages(variant, &w->cell.exec);
        list_batches(k);
    }
    if (!found || k->batches == 0) {
        return false;
    }
    if (!k->filled) {
        w->status = calc_worker_rows(w, k->base);
        k->filled = true;
    }
    w->cell.procs_index = procs;
    if (w->status == CALC_OK) {
        calc_worker_fill(w);
    }
    return w->status == CALC_OK && w->cell.reduces * w->cell.gathers > 0;
}

/* Count layouts of which nothing is computed, in all batches. */
static void reject(walk *k, calc_verdict verdict, size_t layouts)
{
    k->w->counts.total += layouts * k->batches;
    k->w->counts.rejected[verdict] += layouts * k->batches;
}

/* A layout in every batch. */
static void run_batches(walk *k, calc_exec *e)
{
    calc_worker *w = k->w;
    calc_serve_at(w->serve, e);
    for (size_t i = 0; i < k->batches && w->status == CALC_OK && !w->stopped; i++) {
        e->batch_size = k->batch[i];
        w->counts.total++;
        if (k->conditioned && !calc_filter_fields(w, e)) {
            w->counts.skipped++;
            continue;
        }
        calc_batch_serve(w, w->group, e);
        if (w->counts.evaluated % CALC_BATCH_LOOK == 0) {
            calc_batch_look(w);
        }
    }
}

/* A choice of a row. */
static void run_choice(walk *k, const calc_row *row, calc_exec *e)
{
    calc_worker *w = k->w;
    const calc_cell *c = &w->cell;
    size_t flags = c->reduces * c->gathers;
    bool away = calc_verdict_offload_blocks(e, c->fewest_blocks);
    for (size_t pair = 0; pair < c->pipelines * c->datas; pair++) {
        calc_verdict verdict = c->verdict[row->network][pair];
        if (!calc_cell_pairs_with(c, row->data_network, pair)) {
            continue;
        }
        if (verdict != CALC_VERDICT_OK) {
            reject(k, verdict, flags * (c->fitting + c->unfit));
            continue;
        }
        reject(k, CALC_VERDICT_INTERLEAVING, flags * c->unfit);
        if (away) {
            reject(k, CALC_VERDICT_OFFLOAD_BLOCKS, flags * c->fitting);
            continue;
        }
        for (size_t i = 0; i < flags * c->fitting; i++) {
            calc_cell_put_point(c, pair, &c->chunking[i / flags], i % flags, e);
            run_batches(k, e);
        }
    }
}

static void run_rows(walk *k)
{
    calc_worker *w = k->w;
    const calc_cell *c = &w->cell;
    calc_exec e = c->exec;
    e.pipeline_interleaving = 1;
    for (size_t i = 0; i < w->rows.count; i++) {
        const calc_row *row = &w->rows.row[i];
        int64_t expert_par = row->exec.strategy.expert_par;
        const unsigned char *legal = calc_cell_choices_of(c, expert_par);
        size_t choices = calc_cell_choices_count(c, &w->rows, expert_par, row->choices);
        e.strategy = row->exec.strategy;
        e.strategy.data_par = c->exec.strategy.data_par;
        for (size_t choice = 0; choice < choices && w->status == CALC_OK && !w->stopped; choice++) {
            calc_worker_put_choice(w, choice, &e);
            calc_serve_row(w->serve, i * w->rows.choices + legal[choice], &e);
            run_choice(k, row, &e);
        }
    }
}

/* The cells of a variant with so many stages. */
static void run_cells(walk *k, const calc_exec *variant, int64_t pipeline_par)
{
    calc_worker *w = k->w;
    for (size_t n = k->unit->procs_begin;
         n < k->unit->procs_end && w->status == CALC_OK && !w->stopped; n++) {
        if (go_to(k, variant, n, pipeline_par)) {
            pthread_mutex_t *lock = calc_worker_set_group(w);
            pthread_mutex_lock(lock);
            run_rows(k);
            pthread_mutex_unlock(lock);
        }
    }
}

void calc_serve_walk(calc_worker *w, const calc_units *units, const calc_unit *unit,
                     const calc_exec *base)
{
    const calc_conditions *known = &w->conditions;
    const calc_variant *variant = &units->variants.item[unit->variant];
    walk k = {.w = w, .unit = unit, .base = base};
    k.batch = malloc((unit->batches_end - unit->batches_begin) * sizeof *k.batch);
    if (!k.batch) {
        w->status = CALC_ERR_NOMEM;
        return;
    }
    k.conditioned = !w->options->no_prune &&
                    (known->any[CALC_CONDITION_TILE] || known->any[CALC_CONDITION_LANE] ||
                     known->any[CALC_CONDITION_FLAG]);
    for (size_t i = unit->stages_begin; i < unit->stages_end; i++) {
        for (size_t v = 0; v < unit->variants; v++) {
            run_cells(&k, &variant[v].exec, units->pipeline[i]);
        }
    }
    free(k.batch);
}
