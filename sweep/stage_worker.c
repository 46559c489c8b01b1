#include "stage_worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/verdict.h"
#include "point.h"

/** Networks of the pipeline and of data parallelism. */
enum { PAIRS = CALC_MAX_NETWORKS * CALC_MAX_NETWORKS };

/* One choice of networks in a cell. */
typedef struct pair {
    int64_t pipeline, data;
    calc_stage_lines lines; /* where the verdict of some row is fine */
} pair;

struct calc_stage_work {
    calc_stage_rows rows;
    /* The cell at hand. */
    calc_exec exec;
    bool alone; /* no replicas: nothing to shard or to overlap */
    size_t pairs;
    pair pair[PAIRS];
    calc_verdict verdict[CALC_MAX_NETWORKS][PAIRS]; /* [tensor-parallel network][pair] */
    calc_stage_lanes lanes;
    int64_t interleaving[CALC_STAGE_LANES];
    double fewest_blocks; /* of a stage, whatever its chunks */
    size_t unfit;         /* lanes whose interleaving does not divide the blocks */
    int64_t unfit_interleaving[CALC_STAGE_LANES];
    bool unfit_overlapped[CALC_STAGE_LANES];
    size_t first_state, states;
    size_t reduces, gathers; /* values of data_par_overlap and param_gather_overlap */
    int64_t reduce[2], gather[3];
    size_t first_flag, flags; /* of their combinations, those that the terms are for */
    calc_stage_terms terms;
    calc_stage_lane_links links;
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

/* ---- Cells ----------------------------------------------------------------------------------- */

static void add_lane(calc_stage_work *k, const calc_stages *s, int64_t interleaving,
                     bool overlapped)
{
    size_t lane = k->lanes.count++;
    k->interleaving[lane] = interleaving;
    k->lanes.chunks[lane] = (double)interleaving;
    k->lanes.overlapped[lane] = overlapped;
    int classes = calc_stages_classes(s);
    k->lanes.classes = classes > k->lanes.classes ? classes : k->lanes.classes;
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        calc_stage_lane_class *l = &k->lanes.item[i];
        const calc_stage_class *c = &s->item[i];
#define CALC_X(member) l->member[lane] = c->member;
        CALC_STAGE_CLASS_LIST(CALC_X)
#undef CALC_X
    }
}

static void fill_lanes(calc_stage_work *k, const calc_space *space)
{
    const calc_values *axis = &space->axis[CALC_AXIS_pipeline_interleaving];
    int64_t overlap[2];
    calc_exec e = k->exec;
    bool chunked = e.pipeline_par > 1 && e.pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B &&
                   e.inference.phase == CALC_INFERENCE_PHASE_NONE;
    int64_t most = chunked ? (int64_t)ceil(k->rows.shape.blocks / (double)e.pipeline_par) + 1 : 1;
    /* Where overlap is preferred, there must be something to overlap. */
    bool sends = e.pipeline_par > 1 || !space->axis[CALC_AXIS_pipeline_par_overlap].last;
    size_t overlaps = calc_space_pick_bool(space, CALC_AXIS_pipeline_par_overlap, sends, overlap);
    if (k->rows.pinned) {
        overlaps = 1;
        overlap[0] = e.pipeline_par_overlap;
    }
    size_t candidates = axis->all ? (size_t)most : axis->count;
    k->lanes.count = 0;
    k->lanes.classes = 1;
    k->unfit = 0;
    for (size_t i = 0; i < candidates; i++) {
        int64_t v = axis->all ? (int64_t)i + 1 : axis->value[i];
        if (v > 1 && !chunked) {
            continue;
        }
        e.pipeline_interleaving = v;
        calc_stages s = calc_stages_split(&k->rows.shape, &e);
        k->fewest_blocks = s.fewest_blocks;
        for (size_t o = 0; o < overlaps; o++) {
            if (s.fit) {
                add_lane(k, &s, v, overlap[o] != 0);
            } else if (!axis->all) {
                k->unfit_interleaving[k->unfit] = v;
                k->unfit_overlapped[k->unfit++] = overlap[o] != 0;
            }
        }
    }
    /* Kernels read whole vectors: what is behind the last lane must be harmless numbers. */
    size_t count = k->lanes.count;
    for (size_t lane = count; lane < (count + 3) / 4 * 4 && count > 0; lane++) {
        k->lanes.chunks[lane] = 1;
        k->lanes.overlapped[lane] = 0;
        for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
            calc_stage_lane_class *l = &k->lanes.item[i];
#define CALC_X(member) l->member[lane] = l->member[0];
            CALC_STAGE_CLASS_LIST(CALC_X)
#undef CALC_X
        }
    }
}

static void fill_flags(calc_stage_work *k, const calc_space *space)
{
    static const int64_t choices[] = {CALC_CHOICE_AUTO, CALC_CHOICE_TRUE, CALC_CHOICE_FALSE};
    k->reduces = calc_space_pick_bool(space, CALC_AXIS_data_par_overlap,
                                      k->exec.training && !k->alone, k->reduce);
    k->gathers = calc_space_pick(space, CALC_AXIS_param_gather_overlap, choices, 3, k->gather);
    if (k->rows.pinned) {
        k->gathers = 1;
        k->gather[0] = k->exec.param_gather_overlap;
    }
}

/* States that are legal in the cell: without replicas only the one that shards nothing. */
static void fill_states(calc_stage_work *k)
{
    const calc_stage_rows *r = &k->rows;
    k->first_state = r->alone_first && !k->alone;
    k->states = r->states - k->first_state;
    if (k->alone) {
        bool plain = r->states > 0 && !r->state[0].sharding && r->state[0].zero == 0;
        k->states = plain ? 1 : 0;
    }
}

/* Verdicts of the networks on a cell, per tensor-parallel network. */
static void fill_pairs(calc_stage_work *k, const calc_worker *w)
{
    const calc_exec *e = &k->exec;
    const calc_system *s = w->system;
    bool placed = e->rank_order != CALC_RANK_ORDER_NETWORKS;
    int64_t pipeline[CALC_MAX_NETWORKS];
    int64_t data[CALC_MAX_NETWORKS];
    size_t pipelines = calc_space_networks(w->space, CALC_AXIS_pipeline_par_net,
                                           placed ? 1 : e->pipeline_par, s, pipeline);
    size_t datas =
        calc_space_networks(w->space, CALC_AXIS_data_par_net, placed ? 1 : e->data_par, s, data);
    k->pairs = pipelines * datas;
    for (size_t i = 0; i < k->pairs; i++) {
        calc_exec x = *e;
        x.pipeline_par_net = pipeline[i / datas];
        x.data_par_net = data[i % datas];
        k->pair[i].pipeline = x.pipeline_par_net;
        k->pair[i].data = x.data_par_net;
        bool some = false;
        for (size_t n = 0; n < k->rows.networks_count; n++) {
            x.tensor_par_net = k->rows.networks[n];
            k->verdict[n][i] = calc_verdict_networks(s, &x);
            some = some || k->verdict[n][i] == CALC_VERDICT_OK;
        }
        if (some && !w->counts_only) {
            calc_groups groups = calc_groups_of(&x);
            k->pair[i].lines =
                calc_stage_lines_of(s, &x, &groups, calc_stage_message_bytes(&k->rows.shape));
        }
    }
}

/* ---- Points ---------------------------------------------------------------------------------- */

/* The layout of a point. */
static calc_exec exec_of(const calc_stage_work *k, const calc_stage_row *row, size_t pair_index,
                         size_t state, int64_t interleaving, bool messages_overlap, size_t reduce,
                         size_t gather)
{
    calc_exec e = row->exec;
    e.num_procs = k->exec.num_procs;
    e.pipeline_par = k->exec.pipeline_par;
    e.data_par = k->exec.data_par;
    e.batch_size = k->exec.batch_size;
    e.pipeline_par_net = k->pair[pair_index].pipeline;
    e.data_par_net = k->pair[pair_index].data;
    e.optimizer_sharding = k->rows.state[state].sharding;
    e.zero_stage = k->rows.state[state].zero;
    e.pipeline_interleaving = interleaving;
    e.pipeline_par_overlap = messages_overlap;
    e.data_par_overlap = k->reduce[reduce] != 0;
    e.param_gather_overlap = (calc_choice)k->gather[gather];
    return e;
}

/* Whether a row was made for the networks of a pair. */
static bool pairs_with(const calc_stage_work *k, const calc_stage_row *row, size_t pair_index)
{
    return row->data_network < 0 || row->data_network == k->pair[pair_index].data;
}

/* Points of a row in the cell. */
static uint64_t points_of(const calc_stage_work *k, const calc_stage_row *row)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i < k->pairs; i++) {
        pairs += pairs_with(k, row, i);
    }
    return pairs * k->states * (k->lanes.count + k->unfit) * k->reduces * k->gathers;
}

calc_verdict calc_stage_decode(const calc_stage_place *place, uint64_t index, calc_exec *exec)
{
    const calc_stage_work *k = place->work;
    size_t lanes = k->lanes.count + k->unfit;
    size_t gather = index % k->gathers;
    index /= k->gathers;
    size_t reduce = index % k->reduces;
    index /= k->reduces;
    size_t lane = index % lanes;
    index /= lanes;
    size_t state = index % k->states;
    size_t pair_index = 0;
    for (size_t left = (size_t)(index / k->states);; pair_index++) {
        if (pairs_with(k, place->row, pair_index) && left-- == 0) {
            break;
        }
    }
    bool fits = lane < k->lanes.count;
    size_t unfit = lane - k->lanes.count; /* if it does not fit */
    *exec =
        exec_of(k, place->row, pair_index, k->first_state + state,
                fits ? k->interleaving[lane] : k->unfit_interleaving[unfit],
                fits ? k->lanes.overlapped[lane] > 0 : k->unfit_overlapped[unfit], reduce, gather);
    calc_verdict verdict = k->verdict[place->row->network][pair_index];
    return verdict != CALC_VERDICT_OK ? verdict
           : fits                     ? CALC_VERDICT_OK
                                      : CALC_VERDICT_INTERLEAVING;
}

static bool gathers_beside(const calc_stage_work *k, size_t reduce, size_t gather)
{
    return k->gather[gather] == CALC_CHOICE_AUTO ? k->reduce[reduce] != 0
                                                 : k->gather[gather] == CALC_CHOICE_TRUE;
}

/* The points of a lane, with what is known of them. */
static void visit_lane(calc_worker *w, const calc_stage_row *row, size_t pair_index, size_t state,
                       size_t lane, calc_sweep_group *group, calc_point_purpose what)
{
    calc_stage_work *k = w->stage;
    calc_stage_step step = {0};
    if (what != CALC_POINT_RUN) {
        step = calc_stage_lane_step(&k->tile, lane);
    }
    size_t end = k->first_flag + k->flags;
    for (size_t i = k->first_flag; i < end && w->status == CALC_OK; i++) {
        size_t reduce = i / k->gathers;
        size_t gather = i % k->gathers;
        calc_exec exec = exec_of(k, row, pair_index, state, k->interleaving[lane],
                                 k->lanes.overlapped[lane] > 0, reduce, gather);
        calc_point p = {
            .total_s = step.total_s[k->reduce[reduce] != 0][gathers_beside(k, reduce, gather)],
            .tier1_bytes = step.tier1_bytes,
        };
        calc_point_take(w, group, &exec, &p, what);
    }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static void run_tile(calc_worker *w, const calc_stage_row *row, size_t pair_index, size_t state,
                     calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    size_t flags = k->flags;
    size_t feasible = 0;
    calc_point best = {INFINITY, INFINITY, 0};
    w->stage_kernel(&k->tile, &k->out);
    w->counts.evaluated += k->lanes.count * flags;
    for (size_t lane = 0; lane < k->lanes.count; lane++) {
        if (k->out.tier1_bytes[lane] > w->system->mem1.capacity_bytes) {
            w->counts.rejected[CALC_VERDICT_MEM1_CAPACITY] += flags;
            continue;
        }
        feasible++;
        best.total_s = calc_stage_min(best.total_s, k->out.best_s[lane]);
        best.tier1_bytes = calc_stage_min(best.tier1_bytes, k->out.tier1_bytes[lane]);
    }
    w->counts.feasible += feasible * flags;
    /* No lane is better than the best of each objective together. */
    if (feasible == 0 || (w->bounded && !calc_point_matters(w, group, &best))) {
        return;
    }
    for (size_t lane = 0; lane < k->lanes.count; lane++) {
        calc_point p = {k->out.best_s[lane], k->out.tier1_bytes[lane], 0};
        if (p.tier1_bytes <= w->system->mem1.capacity_bytes &&
            (!w->bounded || calc_point_matters(w, group, &p))) {
            visit_lane(w, row, pair_index, state, lane, group, CALC_POINT_ENTER);
        }
    }
}

/* What may overlap of what the terms are for. */
static void allow_flags(calc_stage_work *k)
{
    memset(k->tile.allowed, 0, sizeof k->tile.allowed);
    for (size_t i = k->first_flag; i < k->first_flag + k->flags; i++) {
        size_t reduce = i / k->gathers;
        k->tile.allowed[k->reduce[reduce] != 0][gathers_beside(k, reduce, i % k->gathers)] = true;
    }
}

static void run_flags(calc_worker *w, const calc_stage_row *row, size_t pair_index, size_t state,
                      calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    if (calc_verdict_offload_blocks(&row->exec, k->fewest_blocks)) {
        w->counts.rejected[CALC_VERDICT_OFFLOAD_BLOCKS] += k->lanes.count * k->reduces * k->gathers;
        return;
    }
    if (w->by_run || row->offloads) {
        for (size_t lane = 0; lane < k->lanes.count; lane++) {
            visit_lane(w, row, pair_index, state, lane, group, CALC_POINT_RUN);
        }
        return;
    }
    calc_exec e = exec_of(k, row, pair_index, state, 1, false, k->first_flag / k->gathers,
                          k->first_flag % k->gathers);
    k->terms = row->terms[state];
    calc_stage_terms_cell(&row->context, &e, &row->parts, &k->pair[pair_index].lines, &k->terms);
    calc_stage_links links = calc_stage_links_of(&row->context, &e, row->parts.message_bytes,
                                                 &k->pair[pair_index].lines);
    size_t count = (k->lanes.count + 3) / 4 * 4;
    for (size_t lane = 0; lane < count; lane++) {
#define CALC_X(member) k->links.member[lane] = links.member;
        CALC_STAGE_LINK_LIST(CALC_X)
#undef CALC_X
    }
    allow_flags(k);
    run_tile(w, row, pair_index, state, group);
    if (w->options->verify > 0 && calc_point_verifies(w)) {
        for (size_t lane = 0; lane < k->lanes.count; lane++) {
            visit_lane(w, row, pair_index, state, lane, group, CALC_POINT_VERIFY);
        }
    }
}

/* Sharded weights come and go within the passes, so that their terms depend on what overlaps. */
static void run_state(calc_worker *w, const calc_stage_row *row, size_t pair_index, size_t state,
                      calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    size_t all = k->reduces * k->gathers;
    k->flags = k->rows.state[state].zero >= 3 ? 1 : all;
    for (k->first_flag = 0; k->first_flag < all; k->first_flag += k->flags) {
        run_flags(w, row, pair_index, state, group);
    }
}

static void run_row(calc_worker *w, const calc_stage_row *row, calc_sweep_group *group)
{
    calc_stage_work *k = w->stage;
    uint64_t per_pair = k->states * k->reduces * k->gathers;
    calc_stage_place place = {k, row, w->counts.total};
    w->counts.total += points_of(k, row);
    for (size_t i = 0; i < k->pairs; i++) {
        calc_verdict verdict = k->verdict[row->network][i];
        if (!pairs_with(k, row, i)) {
            continue;
        }
        if (verdict != CALC_VERDICT_OK) {
            w->counts.rejected[verdict] += per_pair * (k->lanes.count + k->unfit);
        } else {
            w->counts.rejected[CALC_VERDICT_INTERLEAVING] += per_pair * k->unfit;
        }
    }
    if (w->stage_visit) {
        w->stage_visit(w->row_context, w, &place);
    }
    for (size_t i = 0; i < k->pairs && !w->counts_only; i++) {
        if (k->verdict[row->network][i] != CALC_VERDICT_OK || !pairs_with(k, row, i)) {
            continue;
        }
        for (size_t s = 0; s < k->states; s++) {
            run_state(w, row, i, k->first_state + s, group);
        }
    }
}

void calc_stage_work_cell(calc_worker *w)
{
    calc_stage_work *k = w->stage;
    k->exec = w->cell.exec;
    k->alone = k->exec.data_par == 1 && k->exec.context_par <= 1;
    fill_lanes(k, w->space);
    fill_flags(k, w->space);
    fill_states(k);
    fill_pairs(k, w);
    if (k->lanes.count + k->unfit == 0 || k->states == 0 || k->reduces == 0 || k->gathers == 0) {
        return;
    }
    k->tile = (calc_stage_tile){.terms = &k->terms,
                                .lanes = &k->lanes,
                                .links = &k->links,
                                .schedule = k->exec.pipeline_schedule};
    calc_sweep_group *group = &w->groups[w->options->per_num_procs ? w->cell.procs_index : 0];
    for (size_t i = 0; i < k->rows.count && w->status == CALC_OK; i++) {
        run_row(w, &k->rows.row[i], group);
    }
}
