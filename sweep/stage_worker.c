#include "stage_worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "point.h"
#include "stage_bound.h"
#include "stage_cell.h"

struct calc_stage_work {
    calc_stage_rows rows;
    calc_stage_cell cell;
    calc_exec exec; /* of the row, the cell and the choice at hand */
    calc_stage_terms terms;
    calc_stage_tile tile;
    calc_stage_out out;
};

calc_stage_work *calc_stage_work_create(void)
{
    size_t size =
        (sizeof(calc_stage_work) + CALC_KERNEL_ALIGN - 1) / CALC_KERNEL_ALIGN * CALC_KERNEL_ALIGN;
    calc_stage_work *work = aligned_alloc(CALC_KERNEL_ALIGN, size);
    if (work) {
        memset(work, 0, sizeof *work);
    }
    return work;
}

void calc_stage_work_free(calc_stage_work *work)
{
    if (work) {
        calc_stage_rows_free(&work->rows);
        free(work);
    }
}

calc_status calc_stage_work_rows(calc_worker *w, const calc_exec *base)
{
    return calc_stage_rows_fill(&w->stage->rows, w->space, w->app, w->system, base,
                                !w->counts_only);
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* The layout of a row in the cell. */
static calc_exec exec_of(const calc_stage_work *k, const calc_stage_row *row)
{
    const calc_exec *cell = &k->cell.exec;
    calc_exec e = row->exec;
    e.num_procs = cell->num_procs;
    e.pipeline_par = cell->pipeline_par;
    e.data_par = cell->data_par;
    e.batch_size = cell->batch_size;
    e.pipeline_interleaving = 1;
    return e;
}

/* Put a choice of the cell into it. */
static void put_choice(const calc_stage_work *k, size_t choice, calc_exec *e)
{
    calc_stage_choice_put(&k->rows.choice[k->cell.choice[choice]], e);
}

/* Put the rest of a point into it. */
static void put_point(const calc_stage_cell *c, size_t pair, const calc_stage_chunking *chunking,
                      size_t reduce, size_t gather, calc_exec *e)
{
    e->pipeline_par_net = c->pair[pair].pipeline;
    e->data_par_net = c->pair[pair].data;
    e->pipeline_interleaving = chunking->interleaving;
    e->pipeline_par_overlap = chunking->overlapped;
    e->data_par_overlap = c->reduce[reduce] != 0;
    e->param_gather_overlap = (calc_choice)c->gather[gather];
}

/* Pairs of networks of a row's points. */
static size_t pairs_of(const calc_stage_cell *c, const calc_stage_row *row)
{
    size_t pairs = 0;
    for (size_t i = 0; i < c->pipelines * c->datas; i++) {
        pairs += calc_stage_pairs_with(c, row, i);
    }
    return pairs;
}

calc_verdict calc_stage_decode(const calc_stage_place *place, uint64_t index, calc_exec *exec)
{
    const calc_stage_cell *c = &place->work->cell;
    size_t pairs = pairs_of(c, place->row);
    size_t chunkings = c->fitting + c->unfit;
    size_t pair = 0;
    for (size_t left = (size_t)(index % pairs);; pair++) {
        if (calc_stage_pairs_with(c, place->row, pair) && left-- == 0) {
            break;
        }
    }
    index /= pairs;
    size_t chunking = (size_t)(index % chunkings);
    index /= chunkings;
    size_t gather = (size_t)(index % c->gathers);
    index /= c->gathers;
    size_t reduce = (size_t)(index % c->reduces);
    index /= c->reduces;
    bool fits = chunking < c->fitting;
    *exec = exec_of(place->work, place->row);
    put_choice(place->work, (size_t)index, exec);
    put_point(c, pair, fits ? &c->chunking[chunking] : &c->unfit_chunking[chunking - c->fitting],
              reduce, gather, exec);
    calc_verdict verdict = c->verdict[place->row->network][pair];
    return verdict != CALC_VERDICT_OK ? verdict
           : fits                     ? CALC_VERDICT_OK
                                      : CALC_VERDICT_INTERLEAVING;
}

/* The points of a lane of the tile, with what is known of them. */
static void visit_lane(calc_worker *w, size_t lane, calc_sweep_group *group,
                       calc_point_purpose what)
{
    calc_stage_work *k = w->stage;
    const calc_stage_cell *c = &k->cell;
    calc_stage_step step = calc_stage_lane_step(&k->tile, lane);
    calc_exec exec = k->exec;
    for (size_t i = 0; i < c->reduces * c->gathers && w->status == CALC_OK; i++) {
        size_t reduce = i / c->gathers;
        size_t gather = i % c->gathers;
        bool beside = calc_stage_cell_gathers(c, reduce, gather);
        put_point(c, calc_stage_cell_pair(c, lane), calc_stage_cell_chunking(c, lane), reduce,
                  gather, &exec);
        calc_point p = {
            .total_s = step.total_s[c->reduce[reduce] != 0][beside],
            .tier1_bytes = step.tier1_bytes,
            .tier2_bytes = step.tier2_bytes,
        };
        calc_point_take(w, group, &exec, &p, what);
    }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static double least_s(const calc_stage_tile *tile, const calc_stage_step *step)
{
    double least = CALC_STAGE_NEVER_S;
    for (int i = 0; i < 4; i++) {
        bool allowed = tile->allowed[i / 2][i % 2];
        least = allowed ? calc_stage_min(least, step->total_s[i / 2][i % 2]) : least;
    }
    return least;
}

/* Compare a tile with calc_run(): every point, and the kernel's choice among those of a lane. */
static void verify_tile(calc_worker *w, calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    const calc_stage_tile *t = &k->tile;
    for (size_t lane = t->first; lane < t->first + t->count && w->status == CALC_OK; lane++) {
        calc_stage_step step = calc_stage_lane_step(t, lane);
        size_t chunking = lane % t->chunkings;
        if (k->out.best_s[lane] != least_s(t, &step) ||
            k->out.tier1_bytes[chunking] != step.tier1_bytes ||
            k->out.tier2_bytes[chunking] != step.tier2_bytes) {
            w->status = CALC_ERR_RULE;
            w->failed = k->exec;
        }
        visit_lane(w, lane, group, CALC_POINT_VERIFY);
    }
}

static void run_tile(calc_worker *w, calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    const calc_stage_tile *t = &k->tile;
    calc_stage_out *out = &k->out;
    uint64_t flags = k->cell.reduces * k->cell.gathers;
    w->stage_kernel(t, out);
    w->counts.evaluated += t->count * flags;
    w->counts.feasible += out->feasible * flags;
    w->counts.rejected[CALC_VERDICT_MEM1_CAPACITY] += out->over_tier1 * flags;
    w->counts.rejected[CALC_VERDICT_MEM2_CAPACITY] += out->over_tier2 * flags;
    /* No lane is better than the best of each objective together. */
    calc_point best = {out->least_s, out->least_tier1_bytes, out->least_tier2_bytes};
    bool some = out->feasible > 0 && (!w->bounded || calc_point_matters(w, group, &best));
    for (size_t lane = t->first; some && lane < t->first + t->count; lane++) {
        size_t chunking = lane % t->chunkings;
        calc_point p = {out->best_s[lane], out->tier1_bytes[chunking], out->tier2_bytes[chunking]};
        if (out->skip_s[lane] <= 0 && (!w->bounded || calc_point_matters(w, group, &p))) {
            visit_lane(w, lane, group, CALC_POINT_ENTER);
        }
    }
    if (w->options->verify > 0 && calc_point_verifies(w)) {
        verify_tile(w, group);
    }
}

/* Terms of the row and the choice at hand for lanes from the first of the tile on, and the tile, or
 * nothing if a bound proves that it cannot matter. */
static void run_terms(calc_worker *w, const calc_stage_row *row, const calc_stage_terms *terms,
                      calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    calc_stage_cell *c = &k->cell;
    size_t pair = calc_stage_cell_pair(c, k->tile.first);
    const calc_stage_lines *lines = calc_stage_cell_lines(c, w->system, &k->rows, pair);
    k->terms = *terms;
    calc_stage_terms_cell(&row->context, &k->exec, &row->parts, lines, &k->terms);
    if (w->bounded && !w->options->no_prune) {
        calc_point bound = calc_stage_bound(c, &k->terms, k->tile.schedule);
        if (calc_point_fits(w, &bound) != CALC_VERDICT_OK ||
            !calc_point_matters(w, group, &bound)) {
            w->counts.skipped += k->tile.count * c->reduces * c->gathers;
            return;
        }
    }
    k->tile.links = calc_stage_cell_links(c, &k->rows, row, &k->exec);
    run_tile(w, group);
}

/* A row and a choice on the lanes at hand. Where weights are sharded, the networks decide how long
 * a block takes. */
static void run_choice(calc_worker *w, const calc_stage_row *row, size_t choice,
                       calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    const calc_stage_cell *c = &k->cell;
    const calc_stage_terms *terms = &k->rows.terms[row->terms + c->choice[choice]];
    put_choice(k, choice, &k->exec);
    k->tile.chunkings = c->fitting;
    bool each = calc_zero_stage(&k->exec) >= 3;
    size_t count = each ? c->fitting : c->lanes.count;
    for (size_t first = 0; first < c->lanes.count && w->status == CALC_OK; first += count) {
        k->tile.first = first;
        k->tile.count = count;
        run_terms(w, row, terms, group);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Points of a row, counted: those that networks and chunks do not allow are never visited. */
static void count_row(calc_worker *w, const calc_stage_row *row)
{
    calc_stage_work *k = w->stage;
    const calc_stage_cell *c = &k->cell;
    uint64_t per_chunking = calc_stage_cell_choices(c, &k->rows, row) * c->reduces * c->gathers;
    uint64_t per_pair = per_chunking * (c->fitting + c->unfit);
    calc_stage_place place = {k, row, w->counts.total};
    for (size_t i = 0; i < c->pipelines * c->datas; i++) {
        calc_verdict verdict = c->verdict[row->network][i];
        if (!calc_stage_pairs_with(c, row, i)) {
            continue;
        }
        w->counts.total += per_pair;
        if (verdict != CALC_VERDICT_OK) {
            w->counts.rejected[verdict] += per_pair;
        } else {
            w->counts.rejected[CALC_VERDICT_INTERLEAVING] += per_chunking * c->unfit;
        }
    }
    if (w->stage_visit && w->counts.total > place.first) {
        w->stage_visit(w->row_context, w, &place);
    }
}

/* Every point of a row by calc_run(). */
static void run_points(calc_worker *w, const calc_stage_row *row, calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    const calc_stage_cell *c = &k->cell;
    size_t choices = calc_stage_cell_choices(c, &k->rows, row);
    calc_exec e = exec_of(k, row);
    for (size_t i = 0; i < choices; i++) {
        put_choice(k, i, &e);
        for (size_t chunking = 0; chunking < c->fitting; chunking++) {
            for (size_t pair = 0; pair < c->pipelines * c->datas; pair++) {
                bool fine = calc_stage_pairs_with(c, row, pair) &&
                            c->verdict[row->network][pair] == CALC_VERDICT_OK;
                size_t flags = fine ? c->reduces * c->gathers : 0;
                for (size_t f = 0; f < flags && w->status == CALC_OK; f++) {
                    put_point(c, pair, &c->chunking[chunking], f / c->gathers, f % c->gathers, &e);
                    calc_point_take(w, group, &e, NULL, CALC_POINT_RUN);
                }
            }
        }
    }
}

/* The rows that share a tensor-parallel network, and the network of data parallelism that they are
 * made for, on the same lanes. */
static void run_rows(calc_worker *w, size_t network, int64_t data_network, calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    size_t next = 0;
    while (w->status == CALC_OK && calc_stage_cell_lanes(&k->cell, network, data_network, &next)) {
        for (size_t i = 0; i < k->rows.count && w->status == CALC_OK; i++) {
            const calc_stage_row *row = &k->rows.row[i];
            size_t choices = calc_stage_cell_choices(&k->cell, &k->rows, row);
            if (row->network != network || row->data_network != data_network) {
                continue;
            }
            k->exec = exec_of(k, row);
            for (size_t choice = 0; choice < choices; choice++) {
                run_choice(w, row, choice, group);
            }
        }
    }
}

void calc_stage_work_cell(calc_worker *w)
{
    calc_stage_work *k = w->stage;
    calc_stage_cell *c = &k->cell;
    calc_stage_cell_fill(c, w->space, w->system, &k->rows, &w->cell.exec);
    k->tile = (calc_stage_tile){
        .terms = &k->terms,
        .lanes = &c->lanes,
        .schedule = c->exec.pipeline_schedule,
        .tier1_capacity_bytes = w->system->mem1.capacity_bytes,
        .tier2_capacity_bytes = w->system->mem2.capacity_bytes,
    };
    for (size_t i = 0; i < c->reduces * c->gathers; i++) {
        size_t reduce = i / c->gathers;
        k->tile
            .allowed[c->reduce[reduce] != 0][calc_stage_cell_gathers(c, reduce, i % c->gathers)] =
            true;
    }
    calc_sweep_group *group = &w->groups[w->options->per_num_procs ? w->cell.procs_index : 0];
    for (size_t i = 0; i < k->rows.count; i++) {
        count_row(w, &k->rows.row[i]);
    }
    bool any = !w->counts_only && c->reduces * c->gathers > 0;
    for (size_t i = 0; i < k->rows.count && any && w->by_run && w->status == CALC_OK; i++) {
        run_points(w, &k->rows.row[i], group);
    }
    for (size_t n = 0; n < k->rows.networks_count && any && !w->by_run; n++) {
        for (size_t d = 0; d < k->rows.datas; d++) {
            run_rows(w, n, k->rows.data[d], group);
        }
    }
}
