#include "worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/data_par.h"
#include "model/memory.h"
#include "model/offload.h"
#include "model/pipeline.h"
#include "model/processor.h"
#include "model/verdict.h"
#include "point.h"
#include "stage_worker.h"

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
    w->stage_kernel = calc_stage_kernel_beside(kernel);
    w->by_run = calc_worker_by_run(options) || space->inference.phase != CALC_INFERENCE_PHASE_NONE;
    w->bounded = bounded(options);
    w->groups = calloc(groups, sizeof *w->groups);
    w->networks = aligned_alloc(CALC_KERNEL_ALIGN, CALC_MAX_NETWORKS * sizeof(calc_cell_networks));
    w->stage = calc_stage_work_create();
    if (!w->groups || !w->networks || !w->stage) {
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
    free(w->networks);
    calc_rows_free(&w->rows);
    calc_stage_work_free(w->stage);
    free(w);
}

calc_status calc_worker_rows(calc_worker *w, const calc_exec *base)
{
    return calc_rows_fill(&w->rows, w->space, w->app, w->system, base, w->options->compat,
                          !w->counts_only);
}

bool calc_worker_by_run(const calc_sweep_options *o)
{
    bool other = o->top > 0 && o->top_by.kind == CALC_OBJECTIVE_OTHER;
    for (size_t i = 0; i < o->objectives; i++) {
        other = other || o->objective[i].kind == CALC_OBJECTIVE_OTHER;
    }
    return other || o->constraints > 0 || o->point;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* Terms of a cell that do not depend on the row's micro-batch times: per kind of layers, and
 * sharded or not. */
typedef struct cell_terms {
    calc_optimizer_block optimizer[2][2]; /* [layers][sharded] */
    bool known[2][2];
    double reduction_s[2][CALC_MAX_NETWORKS]; /* [sharded][data network], of a block */
} cell_terms;

static void fill_terms(calc_worker *w, cell_terms *terms)
{
    const calc_row *row = &w->rows.row[0];
    calc_exec e = w->cell.exec;
    memset(terms->known, 0, sizeof terms->known);
    for (int sharded = 0; sharded < 2; sharded++) {
        e.optimizer_sharding = sharded;
        for (size_t d = 0; d < w->cell.data_networks; d++) {
            e.data_par_net = w->cell.data_network[d];
            terms->reduction_s[sharded][d] =
                calc_data_par_block_s(w->system, &e, row->block.weight_bytes);
        }
    }
}

static const calc_optimizer_block *optimizer_of(calc_worker *w, cell_terms *terms, size_t layers,
                                                bool sharded)
{
    calc_optimizer_block *block = &terms->optimizer[layers][sharded];
    if (!terms->known[layers][sharded]) {
        calc_exec e = w->cell.exec;
        e.optimizer_sharding = sharded;
        *block = (calc_optimizer_block){0};
        if (e.training) {
            calc_optimizer optimizer = calc_optimizer_of(w->system, &e);
            const calc_row_weights *weights = &w->rows.weights[layers];
            calc_optimizer_profile(&optimizer, weights->layer, weights->count, block);
        }
        terms->known[layers][sharded] = true;
    }
    return block;
}

/* Messages between stages, per lane. Their size depends on the row only by whether they are
 * scattered over the tensor-parallel ranks. */
static const calc_worker_messages *messages_of(calc_worker *w, const calc_row *row)
{
    const calc_cell *c = &w->cell;
    bool scattered = row->exec.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR;
    calc_worker_messages *m = &w->messages[scattered];
    if (m->known) {
        return m;
    }
    double bytes = c->stages > 1 ? row->message_bytes : 0;
    double bw_bytes = row->exec.training ? bytes : 0;
    double fw_sent = c->stages > 1;
    double bw_sent = c->stages > 1 && row->exec.training;
    double fw_s[CALC_MAX_NETWORKS];
    double bw_s[CALC_MAX_NETWORKS];
    for (size_t n = 0; n < c->pipeline_networks; n++) {
        const calc_network *network = &w->system->networks[c->pipeline_network[n]];
        fw_s[n] = calc_pipeline_message_s(network, bytes, c->stages, w->options->compat);
        bw_s[n] = calc_pipeline_message_s(network, bw_bytes, c->stages, w->options->compat);
    }
    size_t padded = (c->lanes + 7) / 8 * 8;
    for (size_t lane = 0; lane < padded; lane++) {
        size_t n = c->network[lane];
        m->fw_s[lane] = fw_s[n];
        m->bw_s[lane] = bw_s[n];
        m->uncharged_s[lane] = calc_step_uncharged_s(c->microbatches * c->chunks[lane], fw_s[n],
                                                     fw_sent, bw_s[n], bw_sent);
    }
    m->known = true;
    return m;
}

/* The part of a tile that all combinations of a row share. */
static void fill_tile(calc_worker *w, const calc_row *row, const calc_cell_networks *networks)
{
    const calc_cell *c = &w->cell;
    calc_kernel_tile *t = &w->tile;
    t->count = (c->lanes + 3) / 4 * 4; /* whole vectors: what is behind the last lane is padding */
    t->block = row->step;
    t->missing_blocks = c->missing_blocks;
    t->stages = c->stages;
    t->last_round = c->last_round;
    t->base_blocks = c->base_blocks;
    t->chunks = c->chunks;
    t->rounds = c->rounds;
    const calc_worker_messages *messages = messages_of(w, row);
    t->fw_message_s = messages->fw_s;
    t->bw_message_s = messages->bw_s;
    t->uncharged_s = messages->uncharged_s;
    t->plain = c->plain;
    t->overlapped = c->overlapped;
    t->reductions = c->data_networks;
    for (size_t d = 0; d < c->data_networks; d++) {
        calc_kernel_reduction *r = &t->reduction[d];
        bool same_link = c->data_network[d] == row->exec.tensor_par_net;
        r->usage = w->system->networks[c->data_network[d]].processor_usage;
        r->link_base_s = same_link ? row->step.link_base_s : 0;
        r->link_edge_s = same_link ? row->step.link_edge_s : 0;
        r->collides = c->collides[d];
        r->mask_s = networks->mask_s[d];
    }
}

/* The rest of it. */
static void fill_combo(calc_worker *w, const calc_point_place *at,
                       const calc_optimizer_block *optimizer, const double *reduction_s,
                       const calc_exec *exec)
{
    const calc_cell *c = &w->cell;
    calc_kernel_tile *t = &w->tile;
    calc_offload offload = calc_offload_of(exec, &at->row->block, optimizer);
    t->fw_offload_s = calc_memory_tier_s(&w->system->mem2, offload.fw_bytes);
    t->bw_offload_s = calc_memory_tier_s(&w->system->mem2, offload.bw_bytes);
    t->optimizer_s = c->blocks_per_proc * optimizer->step_s;
    t->optimizer_window_s = calc_optimizer_window_s(exec, optimizer);
    t->compute_s = calc_optimizer_slowed_s(exec, optimizer, at->row->step.compute_s);
    for (size_t d = 0; d < c->data_networks; d++) {
        t->reduction[d].block_s = reduction_s[d];
        t->reduction[d].plain_s = c->blocks_per_proc * reduction_s[d];
    }
}

/* Evaluate a tile: count its points and enter those that matter. */
static void run_tile(calc_worker *w, calc_point_place *at)
{
    const calc_cell *c = &w->cell;
    size_t networks = c->pipeline_networks;
    size_t points = at->networks->allowed_pairs * ((size_t)c->plain + c->overlapped);
    size_t feasible = 0;
    calc_point best = {INFINITY, INFINITY, INFINITY};

    w->kernel(&w->tile, &w->out);
    /* The lanes of one interleaving need the same memory. */
    for (size_t lane = 0; lane < c->lanes; lane += networks) {
        calc_point p = {
            .tier1_bytes = calc_memory_tier_bytes(&at->need.tier1, c->in_flight[lane]),
            .tier2_bytes = calc_memory_tier_bytes(&at->need.tier2, c->in_flight[lane]),
        };
        calc_verdict verdict = calc_point_fits(w, &p);
        if (verdict != CALC_VERDICT_OK) {
            w->counts.rejected[verdict] += points;
            continue;
        }
        feasible += points;
        best.tier1_bytes = calc_min(best.tier1_bytes, p.tier1_bytes);
        best.tier2_bytes = calc_min(best.tier2_bytes, p.tier2_bytes);
        for (size_t n = 0; n < networks; n++) {
            best.total_s = calc_min(best.total_s, w->out.best_s[lane + n]);
        }
    }
    w->counts.feasible += feasible;
    w->counts.evaluated += points * c->interleavings;
    /* No lane is better than the best of each objective together. */
    if (feasible == 0 || (w->bounded && !calc_point_matters(w, at->group, &best))) {
        return;
    }
    for (size_t lane = 0; lane < c->lanes; lane++) {
        calc_point p = {
            w->out.best_s[lane],
            calc_memory_tier_bytes(&at->need.tier1, c->in_flight[lane]),
            calc_memory_tier_bytes(&at->need.tier2, c->in_flight[lane]),
        };
        if (isfinite(p.total_s) && calc_point_fits(w, &p) == CALC_VERDICT_OK &&
            (!w->bounded || calc_point_matters(w, at->group, &p))) {
            calc_point_visit(w, at, lane, CALC_POINT_ENTER);
        }
    }
}

/* Compare a tile with calc_run(): every point, and the kernel's choice among those of a lane. */
static void verify_tile(calc_worker *w, const calc_point_place *at)
{
    const calc_kernel_tile *t = &w->tile;
    for (size_t lane = 0; lane < w->cell.lanes; lane++) {
        double best_s = INFINITY;
        for (size_t d = 0; d < t->reductions; d++) {
            for (int overlapped = !t->plain; overlapped <= t->overlapped; overlapped++) {
                best_s = calc_min(best_s, calc_kernel_lane_s(t, lane, d, overlapped));
            }
        }
        if (w->out.best_s[lane] != best_s) {
            w->status = CALC_ERR_RULE;
            w->failed = calc_point_exec(w, at->row, at->combo, lane, 0, t->overlapped);
        }
        calc_point_visit(w, at, lane, CALC_POINT_VERIFY);
    }
}

/* Whether a bound proves that no point of a row with these flags can matter: no step is shorter
 * than its blocks, and nothing needs less memory than with the fewest micro-batches in flight. */
static bool hopeless(const calc_worker *w, const calc_point_place *at,
                     const calc_optimizer_block *optimizer)
{
    const calc_cell *c = &w->cell;
    const calc_step_block *b = &at->row->step;
    double block_s = (b->fw_base_s < b->fw_edge_s ? b->fw_base_s : b->fw_edge_s) +
                     (b->bw_base_s < b->bw_edge_s ? b->bw_base_s : b->bw_edge_s);
    double steps = c->blocks_per_proc * c->microbatches;
    /* The factor keeps rounding on the safe side. */
    double least_s = (steps * block_s + c->blocks_per_proc * optimizer->step_s) * (1 - 1e-12);
    calc_point bound = {.total_s = least_s};
    bound.tier1_bytes = calc_memory_tier_bytes(&at->need.tier1, c->least_in_flight);
    bound.tier2_bytes = calc_memory_tier_bytes(&at->need.tier2, c->least_in_flight);
    return calc_point_fits(w, &bound) != CALC_VERDICT_OK ||
           !calc_point_matters(w, at->group, &bound);
}

/* All flags of offload and sharding with one row. */
static void run_row(calc_worker *w, cell_terms *terms, const calc_row *row, calc_sweep_group *group)
{
    const calc_cell *c = &w->cell;
    const calc_cell_networks *networks = &w->networks[row->network];
    bool prefix = row->full && w->space->axis[CALC_AXIS_activations_offload].all;
    size_t combos = prefix ? c->combos_without_activations : c->combos;
    size_t overlaps = (size_t)c->plain + c->overlapped;
    size_t interleavings = c->interleavings + c->unfit_interleavings;
    size_t per_pair = overlaps * combos;

    /* Whole tiles are rejected, and counted, without a look at their points. */
    uint64_t first = w->counts.total;
    w->counts.total += c->pipeline_networks * c->data_networks * interleavings * per_pair;
    for (size_t v = 0; v < CALC_VERDICT_COUNT; v++) {
        w->counts.rejected[v] += networks->rejected[v] * interleavings * per_pair;
    }
    w->counts.rejected[CALC_VERDICT_INTERLEAVING] +=
        networks->allowed_pairs * c->unfit_interleavings * per_pair;
    if (w->row_visit) {
        w->row_visit(w->row_context, w, row, networks, first);
    }
    if (networks->allowed_pairs == 0 || c->interleavings == 0 || overlaps == 0) {
        return;
    }
    if (w->counts_only) {
        return;
    }
    fill_tile(w, row, networks);
    size_t points = networks->allowed_pairs * c->interleavings * overlaps;
    calc_exec e = row->exec;
    e.data_par = c->exec.data_par;
    e.pipeline_par = c->exec.pipeline_par;
    for (size_t i = 0; i < combos; i++) {
        const calc_cell_combo *combo = &c->combo[i];
        e.optimizer_sharding = combo->sharding;
        e.weight_offload = combo->weight;
        e.activations_offload = combo->activations;
        e.optimizer_offload = combo->optimizer;
        if (calc_verdict_offload_blocks(&e, c->blocks_per_proc)) {
            w->counts.rejected[CALC_VERDICT_OFFLOAD_BLOCKS] += points;
            continue;
        }
        const calc_optimizer_block *optimizer =
            optimizer_of(w, terms, row->weights, combo->sharding);
        calc_point_place at = {row, combo, networks, group,
                               calc_memory_need_of(&e, &row->block, optimizer, c->blocks_per_proc)};
        if (w->by_run) {
            for (size_t lane = 0; lane < c->lanes; lane++) {
                calc_point_visit(w, &at, lane, CALC_POINT_RUN);
            }
            continue;
        }
        if (w->bounded && !w->options->no_prune && hopeless(w, &at, optimizer)) {
            w->counts.skipped += points;
            continue;
        }
        fill_combo(w, &at, optimizer, terms->reduction_s[combo->sharding], &e);
        run_tile(w, &at);
        if (w->options->verify > 0 && calc_point_verifies(w)) {
            verify_tile(w, &at);
        }
    }
}

void calc_worker_cell(calc_worker *w)
{
    calc_cell *c = &w->cell;
    calc_cell_fill(c, w->space, w->app, w->system);
    w->messages[0].known = false;
    w->messages[1].known = false;
    calc_sweep_group *group = &w->groups[w->options->per_num_procs ? c->procs_index : 0];
    for (size_t n = 0; n < w->rows.networks_count; n++) {
        calc_cell_networks_fill(&w->networks[n], c, w->system, w->rows.networks[n]);
    }
    cell_terms terms;
    if (w->rows.count > 0 && !w->counts_only) {
        fill_terms(w, &terms);
    }
    for (size_t i = 0; i < w->rows.count; i++) {
        run_row(w, &terms, &w->rows.row[i], group);
    }
}
