#include "cell.h"

#include <math.h>

#include "model/pipeline.h"
#include "model/verdict.h"

/* The largest value of an axis below one of them; 0 if that is the first. */
static int64_t value_before(const calc_values *axis, int64_t value)
{
    int64_t before = 0;
    for (size_t i = 0; i < axis->count && axis->value[i] < value; i++) {
        before = axis->value[i];
    }
    return before;
}

bool calc_cell_at(calc_cell *cell, const calc_space *space, const calc_app *app,
                  const calc_exec *base, int64_t num_procs, int64_t batch, int64_t pipeline_par)
{
    int64_t replica = base->tensor_par * pipeline_par;
    replica *= base->context_par > 1 ? base->context_par : 1;
    if (num_procs % replica != 0 || pipeline_par > app->num_blocks) {
        return false;
    }
    int64_t data_par = num_procs / replica;
    if (data_par > batch || !calc_space_has(space, CALC_AXIS_data_par, data_par)) {
        return false;
    }
    if (batch % data_par != 0) {
        if (!space->batch_is_maximum) {
            return false;
        }
        int64_t multiple = batch - batch % data_par;
        if (value_before(&space->axis[CALC_AXIS_batch_size], batch) >= multiple) {
            return false; /* it stands for the same */
        }
        batch = multiple;
    }
    if (batch / data_par % base->microbatch_size != 0) {
        return false;
    }
    cell->exec = *base;
    cell->exec.num_procs = num_procs;
    cell->exec.pipeline_par = pipeline_par;
    cell->exec.data_par = data_par;
    cell->exec.batch_size = batch;
    return true;
}

static void fill_combos(calc_cell *cell, const calc_space *space, const calc_system *system)
{
    const calc_exec *e = &cell->exec;
    bool tier2 = system->mem2.capacity_bytes > 0;
    /* Only where it is every legal value does an empty second tier rule offload out. */
    bool weights = tier2 || !space->axis[CALC_AXIS_weight_offload].all;
    bool activations = tier2 || !space->axis[CALC_AXIS_activations_offload].all;
    bool optimizers = e->training && (tier2 || !space->axis[CALC_AXIS_optimizer_offload].all);
    int64_t sharding[2], weight[2], activation[2], optimizer[2], overlap[2];
    size_t shardings =
        calc_space_pick_bool(space, CALC_AXIS_optimizer_sharding, e->data_par > 1, sharding);
    size_t weight_count = calc_space_pick_bool(space, CALC_AXIS_weight_offload, weights, weight);
    size_t activation_count =
        calc_space_pick_bool(space, CALC_AXIS_activations_offload, activations, activation);
    size_t optimizer_count =
        calc_space_pick_bool(space, CALC_AXIS_optimizer_offload, optimizers, optimizer);
    cell->combos = 0;
    cell->combos_without_activations = 0;
    for (size_t a = 0; a < activation_count; a++) {
        for (size_t s = 0; s < shardings; s++) {
            for (size_t w = 0; w < weight_count; w++) {
                for (size_t o = 0; o < optimizer_count; o++) {
                    cell->combo[cell->combos++] = (calc_cell_combo){
                        sharding[s] != 0, weight[w] != 0, activation[a] != 0, optimizer[o] != 0};
                }
            }
        }
        if (activation[a] == 0) {
            cell->combos_without_activations = cell->combos;
        }
    }
    size_t overlaps = calc_space_pick_bool(space, CALC_AXIS_data_par_overlap,
                                           e->training && e->data_par > 1, overlap);
    cell->plain = overlaps > 0 && overlap[0] == 0;
    cell->overlapped = overlaps > 0 && overlap[overlaps - 1] != 0;
}

/* Lanes of one interleaving, one per pipeline network. */
static void add_lanes(calc_cell *cell, const calc_pipeline *p)
{
    for (size_t n = 0; n < cell->pipeline_networks; n++) {
        size_t lane = cell->lanes++;
        cell->base_blocks[lane] = p->base_blocks;
        cell->chunks[lane] = p->chunks;
        cell->rounds[lane] = p->rounds;
        cell->in_flight[lane] = p->in_flight;
        cell->network[lane] = (unsigned char)n;
        for (size_t d = 0; d < cell->data_networks; d++) {
            cell->collides[d][lane] = cell->data_network[d] == cell->pipeline_network[n];
        }
    }
}

bool calc_cell_lanes_fit(const calc_space *space, const calc_app *app, const calc_system *system)
{
    const calc_values *axis = &space->axis[CALC_AXIS_pipeline_interleaving];
    /* A number has less than twice as many divisors as its root. */
    size_t most = axis->all ? (size_t)(2 * sqrt((double)app->num_blocks)) : axis->count;
    /* Free layouts, which are lists of stages, may have any number of chunks. */
    bool any =
        axis->all && calc_space_has(space, CALC_AXIS_pipeline_balance, CALC_PIPELINE_BALANCE_FREE);
    size_t stage_lanes = 2 * (any ? (size_t)app->num_blocks / 2 + 1 : most);
    return most * (size_t)system->networks_count <= CALC_KERNEL_LANES &&
           stage_lanes <= CALC_KERNEL_LANES;
}

void calc_cell_fill(calc_cell *cell, const calc_space *space, const calc_app *app,
                    const calc_system *system)
{
    const calc_exec *e = &cell->exec;
    int64_t microbatches = e->batch_size / e->data_par / e->microbatch_size;
    const calc_values *interleaving = &space->axis[CALC_AXIS_pipeline_interleaving];

    fill_combos(cell, space, system);
    cell->pipeline_networks = calc_space_networks(space, CALC_AXIS_pipeline_par_net,
                                                  e->pipeline_par, system, cell->pipeline_network);
    cell->data_networks =
        calc_space_networks(space, CALC_AXIS_data_par_net, e->data_par, system, cell->data_network);
    cell->lanes = 0;
    cell->interleavings = 0;
    cell->unfit_interleavings = 0;
    calc_pipeline one = calc_pipeline_split(app->num_blocks, e->pipeline_par, 1, microbatches);
    cell->blocks_per_proc = one.blocks_per_proc;
    cell->missing_blocks = one.missing_blocks;
    cell->stages = one.stages;
    cell->last_round = one.last_round;
    cell->microbatches = one.microbatches;
    int64_t blocks = (int64_t)one.blocks_per_proc;
    int64_t most = e->pipeline_par == 1 ? 1 : blocks;
    size_t candidates = interleaving->all ? (size_t)most : interleaving->count;
    for (size_t i = 0; i < candidates; i++) {
        int64_t value = interleaving->all ? (int64_t)i + 1 : interleaving->value[i];
        if (e->pipeline_par == 1 && value != 1) {
            continue;
        }
        if (value > blocks || blocks % value != 0) {
            if (!interleaving->all) {
                cell->unfit_interleaving[cell->unfit_interleavings++] = value;
            }
            continue;
        }
        calc_pipeline p =
            calc_pipeline_split(app->num_blocks, e->pipeline_par, value, microbatches);
        add_lanes(cell, &p);
        bool less = cell->interleavings == 0 || p.in_flight < cell->least_in_flight;
        cell->least_in_flight = less ? p.in_flight : cell->least_in_flight;
        cell->interleavings++;
    }
    /* Kernels read whole vectors: what is behind the last lane must be harmless numbers. */
    size_t padded = (cell->lanes + 7) / 8 * 8;
    for (size_t lane = cell->lanes; lane < padded && lane > 0; lane++) {
        cell->base_blocks[lane] = cell->base_blocks[0];
        cell->chunks[lane] = cell->chunks[0];
        cell->rounds[lane] = cell->rounds[0];
        cell->in_flight[lane] = cell->in_flight[0];
        cell->network[lane] = cell->network[0];
        for (size_t d = 0; d < cell->data_networks; d++) {
            cell->collides[d][lane] = cell->collides[d][0];
        }
    }
}

void calc_cell_networks_fill(calc_cell_networks *out, const calc_cell *cell,
                             const calc_system *system, int64_t tensor_network)
{
    calc_exec e = cell->exec;
    e.tensor_par_net = tensor_network;
    out->allowed_pairs = 0;
    for (size_t v = 0; v < CALC_VERDICT_COUNT; v++) {
        out->rejected[v] = 0;
    }
    for (size_t p = 0; p < cell->pipeline_networks; p++) {
        e.pipeline_par_net = cell->pipeline_network[p];
        out->allowed[p] = 0;
        for (size_t d = 0; d < cell->data_networks; d++) {
            e.data_par_net = cell->data_network[d];
            calc_verdict verdict = CALC_VERDICT_OK;
            for (int64_t i = 0; i < system->networks_count && verdict == CALC_VERDICT_OK; i++) {
                verdict =
                    calc_verdict_network(&system->networks[i], calc_verdict_network_ranks(&e, i));
            }
            out->verdict[p][d] = verdict;
            if (verdict == CALC_VERDICT_OK) {
                out->allowed[p]++;
                out->allowed_pairs++;
            } else {
                out->rejected[verdict]++;
            }
        }
    }
    size_t padded = (cell->lanes + 7) / 8 * 8;
    for (size_t d = 0; d < cell->data_networks; d++) {
        for (size_t lane = 0; lane < padded; lane++) {
            bool fine = out->verdict[cell->network[lane]][d] == CALC_VERDICT_OK;
            out->mask_s[d][lane] = fine ? 0 : INFINITY;
        }
    }
}
