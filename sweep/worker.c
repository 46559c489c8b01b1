#include "worker.h"

#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "bound.h"
#include "filter.h"
#include "model/verdict.h"
#include "point.h"
#include "points.h"
#include "serve.h"

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
                                calc_kernel *kernel, size_t groups)
{
    size_t size = (sizeof(calc_worker) + CALC_KERNEL_ALIGN - 1) / CALC_KERNEL_ALIGN;
    calc_worker *w = aligned_alloc(CALC_KERNEL_ALIGN, size * CALC_KERNEL_ALIGN);
    if (!w) {
        return NULL;
    }
    memset(w, 0, sizeof *w);
    w->space = space;
    w->options = options;
    w->kernel = kernel;
    bool serves = space->inference.phase != CALC_INFERENCE_PHASE_NONE;
    w->by_run = calc_worker_by_run(options) || serves;
    w->bounded = bounded(options);
    calc_conditions_init(&w->conditions, options);
    w->groups = calloc(groups, sizeof *w->groups);
    w->serve = serves ? calc_serve_create() : NULL;
    if (!w->groups || (serves && !w->serve)) {
        calc_worker_free(w, 0);
        return NULL;
    }
    return w;
}

void calc_worker_free(calc_worker *w, size_t groups)
{
    if (!w) {
        return;
    }
    for (size_t i = 0; i < groups; i++) {
        calc_front_free(&w->groups[i].front);
        calc_front_free(&w->groups[i].top);
    }
    free(w->groups);
    calc_batch_free(w->batch);
    calc_rows_free(&w->rows);
    calc_serve_free(w->serve);
    free(w);
}

calc_status calc_worker_rows(calc_worker *w, const calc_exec *base)
{
    w->base = *base;
    calc_status status = calc_rows_fill(&w->rows, w->space, w->app, w->system, base,
                                        w->options->compat, !w->counts_only && !w->by_run);
    w->rows_filled += w->rows.count;
    if (status == CALC_OK && w->serve && !w->counts_only) {
        status = calc_serve_rows(w->serve, w);
    }
    return status;
}

bool calc_worker_by_run(const calc_sweep_options *o)
{
    bool other = o->top > 0 && o->top_by.kind == CALC_OBJECTIVE_OTHER;
    for (size_t i = 0; i < o->objectives; i++) {
        other = other || o->objective[i].kind == CALC_OBJECTIVE_OTHER;
    }
    return other || (o->no_prune && calc_condition_needs_run(o)) || o->point;
}

/* ---- Points ---------------------------------------------------------------------------------- */

calc_exec calc_worker_exec_of(const calc_worker *w, const calc_row *row)
{
    const calc_exec *cell = &w->cell.exec;
    calc_exec e = row->exec;
    e.num_procs = cell->num_procs;
    e.pipeline_par = cell->pipeline_par;
    e.strategy.data_par = cell->strategy.data_par;
    e.batch_size = cell->batch_size;
    e.pipeline_interleaving = 1;
    return e;
}

void calc_worker_put_choice(const calc_worker *w, size_t choice, calc_exec *e)
{
    calc_row_choice_put(&w->rows.choice[w->cell.choice[choice]], e);
}

/* Where a flag's time is in a step. */
static bool reduces_beside(const calc_cell *c, size_t flag)
{
    return c->reduce[flag / c->gathers] != 0;
}

static bool gathers_beside(const calc_cell *c, size_t flag)
{
    int64_t gather = c->gather[flag % c->gathers];
    return gather == CALC_CHOICE_AUTO ? reduces_beside(c, flag) : gather == CALC_CHOICE_TRUE;
}

/* The points of a lane of the tile, with what is known of them. */
static void visit_lane(calc_worker *w, size_t lane, calc_sweep_group *group,
                       calc_point_purpose what)
{
    const calc_cell *c = &w->cell;
    calc_stage_step step = calc_kernel_lane_step(&w->tile, lane);
    calc_exec exec = w->exec;
    for (size_t i = 0; i < w->flags && w->status == CALC_OK; i++) {
        size_t flag = w->first_flag + i;
        if (what == CALC_POINT_ENTER && !w->conditions.flag_met[flag]) {
            continue;
        }
        calc_cell_put_point(c, calc_cell_pair_of(c, lane), calc_cell_chunking_of(c, lane), flag,
                            &exec);
        calc_point p = {
            .total_s = step.total_s[reduces_beside(c, flag)][gathers_beside(c, flag)],
            .tier1_bytes = step.tier1_bytes,
            .tier2_bytes = step.tier2_bytes,
        };
        calc_point_take(w, group, &exec, &p, what);
    }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static double least_s(const calc_kernel_tile *tile, const calc_stage_step *step)
{
    double least = CALC_KERNEL_NEVER_S;
    for (int i = 0; i < 4; i++) {
        bool allowed = tile->allowed[i / 2][i % 2];
        least = allowed ? calc_stage_min(least, step->total_s[i / 2][i % 2]) : least;
    }
    return least;
}

/* Compare a tile with calc_run(): every point, and the kernel's choice among those of a lane. */
static void verify_tile(calc_worker *w, calc_sweep_group *group)
{
    const calc_kernel_tile *t = &w->tile;
    for (size_t lane = t->first; lane < t->first + t->count && w->status == CALC_OK; lane++) {
        calc_stage_step step = calc_kernel_lane_step(t, lane);
        calc_stage_step least = calc_kernel_lane_least(t, lane);
        size_t chunking = lane % t->chunkings;
        visit_lane(w, lane, group, CALC_POINT_VERIFY);
        bool timed = w->out.feasible > 0;
        if ((timed && w->out.best_s[lane] != least_s(t, &least)) ||
            least_s(t, &least) > least_s(t, &step) ||
            w->out.tier1_bytes[chunking] != step.tier1_bytes ||
            w->out.tier2_bytes[chunking] != step.tier2_bytes) {
            w->status = CALC_ERR_RULE;
            w->failed = w->exec;
            calc_cell_put_point(&w->cell, calc_cell_pair_of(&w->cell, lane),
                                calc_cell_chunking_of(&w->cell, lane), w->first_flag, &w->failed);
        }
    }
}

static void run_tile(calc_worker *w, calc_sweep_group *group)
{
    const calc_kernel_tile *t = &w->tile;
    calc_kernel_out *out = &w->out;
    w->kernel(t, out);
    w->counts.evaluated += t->count * w->flags;
    w->counts.feasible += out->feasible * w->flags;
    w->counts.rejected[CALC_VERDICT_MEM1_CAPACITY] += out->over_tier1 * w->flags;
    w->counts.rejected[CALC_VERDICT_MEM2_CAPACITY] += out->over_tier2 * w->flags;
    /* No lane is better than the best of each objective together. */
    calc_point best = {out->least_s, out->least_tier1_bytes, out->least_tier2_bytes};
    bool some = out->feasible > 0 && (!w->bounded || calc_point_matters(w, group, &best));
    bool counts = out->feasible > 0 && calc_filter_counts(w);
    for (size_t lane = t->first; (some || counts) && lane < t->first + t->count; lane++) {
        size_t chunking = lane % t->chunkings;
        calc_point p = {out->best_s[lane], out->tier1_bytes[chunking], out->tier2_bytes[chunking]};
        if (out->skip_s[chunking] <= 0 && calc_filter_lane(w, lane, &p) &&
            (!w->bounded || (counts && w->conditions.any[CALC_CONDITION_TIME]) ||
             calc_point_matters(w, group, &p))) {
            visit_lane(w, lane, group, CALC_POINT_ENTER);
        }
    }
    if (w->options->verify > 0 && calc_point_verifies(w)) {
        verify_tile(w, group);
    }
}

/* Terms of the row and the choice at hand for the tile's lanes, and the tile, unless a bound proves
 * that it cannot matter. */
static void run_terms(calc_worker *w, const calc_row *row, calc_stage_terms *terms,
                      calc_sweep_group *group)
{
    calc_cell *c = &w->cell;
    size_t pair = calc_cell_pair_of(c, w->tile.first);
    if (!calc_filter_flags(w)) {
        w->counts.skipped += w->tile.count * w->flags;
        return;
    }
    const calc_stage_lines *lines = calc_cell_lines(c, w->system, &w->rows, pair);
    calc_cell_put_point(c, pair, &c->chunking[0], w->first_flag, &w->exec);
    if (!calc_stage_terms_refill(&row->context, &w->exec)) {
        w->terms = *terms;
        terms = &w->terms;
    }
    calc_stage_terms_cell(&row->context, &w->exec, &row->parts, lines,
                          calc_cell_optimizer_of(c, row, &w->exec, lines), terms);
    w->tile.terms = terms;
    if (w->bounded && !w->options->no_prune) {
        calc_point bound = calc_bound(c, terms, w->tile.schedule);
        if (calc_point_fits(w, &bound) != CALC_VERDICT_OK ||
            !calc_point_matters(w, group, &bound) || !calc_filter_bound(w, &bound)) {
            w->counts.skipped += w->tile.count * w->flags;
            return;
        }
    }
    memset(w->tile.allowed, 0, sizeof w->tile.allowed);
    for (size_t i = w->first_flag; i < w->first_flag + w->flags; i++) {
        w->tile.allowed[reduces_beside(c, i)][gathers_beside(c, i)] |=
            w->conditions.flag_met[i] || w->conditions.flags_met == 0;
    }
    w->tile.links = calc_cell_links(c, &w->rows, row, &w->exec);
    run_tile(w, group);
}

/* A row and a choice on the lanes at hand. Where weights are sharded they come and go within the
 * passes, so that their terms depend on the network of data parallelism and on what overlaps. */
static void run_choice(calc_worker *w, const calc_row *row, size_t choice, calc_sweep_group *group)
{
    const calc_cell *c = &w->cell;
    calc_stage_terms *terms = &w->rows.terms[row->terms + c->choice[choice]];
    calc_worker_put_choice(w, choice, &w->exec);
    bool each = calc_zero_stage(&w->exec.strategy) >= 3;
    size_t flags = c->reduces * c->gathers;
    if (calc_verdict_offload_blocks(&w->exec, c->fewest_blocks)) {
        w->counts.rejected[CALC_VERDICT_OFFLOAD_BLOCKS] += c->lanes.count * flags;
        return;
    }
    if (!calc_filter_tile(w)) {
        w->counts.skipped += c->lanes.count * flags;
        return;
    }
    w->tile.chunkings = c->fitting;
    w->flags = each ? 1 : flags;
    for (size_t first = 0; first < c->lanes.count; first += w->tile.count) {
        w->tile.count = each ? calc_cell_same_data(c, first) : c->lanes.count;
        for (size_t flag = 0; flag < flags && w->status == CALC_OK; flag += w->flags) {
            w->tile.first = first;
            w->first_flag = flag;
            run_terms(w, row, terms, group);
        }
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Points of a row, counted: those that networks and chunks do not allow are never visited. */
static void count_row(calc_worker *w, const calc_row *row)
{
    const calc_cell *c = &w->cell;
    uint64_t per_chunking = calc_cell_choices(c, &w->rows, row) * c->reduces * c->gathers;
    uint64_t per_pair = per_chunking * (c->fitting + c->unfit);
    calc_worker_place place = {w, row, w->counts.total};
    for (size_t i = 0; i < c->pipelines * c->datas; i++) {
        calc_verdict verdict = c->verdict[row->network][i];
        if (!calc_cell_pairs_with(c, row, i)) {
            continue;
        }
        w->counts.total += per_pair;
        if (verdict != CALC_VERDICT_OK) {
            w->counts.rejected[verdict] += per_pair;
        } else {
            w->counts.rejected[CALC_VERDICT_INTERLEAVING] += per_chunking * c->unfit;
        }
    }
    if (w->visit && w->counts.total > place.first) {
        w->visit(w->visit_context, &place);
    }
}

/* Whether a row has this tensor-parallel network, and is made for this network of data parallelism.
 */
static bool shares(const calc_worker *w, size_t row, size_t network, int64_t data_network)
{
    const calc_row *r = &w->rows.row[row];
    return r->network == network && r->data_network == data_network;
}

/* Those that do, on the same lanes. */
static void run_rows(calc_worker *w, size_t first, size_t last, size_t network,
                     int64_t data_network, calc_sweep_group *group)
{
    size_t next = 0;
    while (first < last && !shares(w, first, network, data_network)) {
        first++;
    }
    while (first < last && w->status == CALC_OK &&
           calc_cell_lanes(&w->cell, network, data_network, &next)) {
        calc_filter_lanes(w);
        for (size_t i = first; i < last && w->status == CALC_OK; i++) {
            const calc_row *row = &w->rows.row[i];
            size_t choices = calc_cell_choices(&w->cell, &w->rows, row);
            if (!shares(w, i, network, data_network)) {
                continue;
            }
            w->exec = calc_worker_exec_of(w, row);
            for (size_t choice = 0; choice < choices; choice++) {
                run_choice(w, row, choice, group);
            }
        }
    }
}

void calc_worker_fill(calc_worker *w)
{
    calc_cell *c = &w->cell;
    calc_cell_fill(c, w->space, w->system, &w->rows, w->options->compat);
    w->tile.lanes = &c->lanes;
    w->tile.schedule = c->exec.pipeline_schedule;
    w->tile.tier1_capacity_bytes = w->system->chip.mem1.capacity_bytes;
    w->tile.tier2_capacity_bytes = w->system->chip.mem2.capacity_bytes;
    calc_filter_cell(w);
}

void calc_worker_run(calc_worker *w, size_t first, size_t last)
{
    calc_cell *c = &w->cell;
    calc_sweep_group *group = &w->groups[w->options->per_num_procs ? c->procs_index : 0];
    bool any = c->reduces * c->gathers > 0;
    if (any && w->by_run) {
        calc_points_run(w, first, last, group);
    }
    for (size_t n = 0; n < w->rows.networks_count && any && !w->by_run; n++) {
        for (size_t d = 0; d < w->rows.datas; d++) {
            run_rows(w, first, last, n, w->rows.data[d], group);
        }
    }
}

void calc_worker_count(calc_worker *w, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        count_row(w, &w->rows.row[i]);
    }
}

void calc_worker_cell(calc_worker *w)
{
    calc_worker_fill(w);
    calc_worker_count(w, 0, w->rows.count);
    if (!w->counts_only) {
        calc_worker_run(w, 0, w->rows.count);
    }
}
