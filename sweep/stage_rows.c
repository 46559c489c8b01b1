#include "stage_rows.h"

#include <stdlib.h>

#include "spec/extended.h"

void calc_stage_rows_free(calc_stage_rows *rows)
{
    free(rows->row);
    *rows = (calc_stage_rows){0};
}

/* Values of the flags of offload. */
typedef struct offload_choices {
    size_t weights, activations, optimizers;
    int64_t weight[2], activation[2], optimizer[2];
} offload_choices;

static calc_stage_row *next(calc_stage_rows *rows)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 32;
        calc_stage_row *row = realloc(rows->row, capacity * sizeof *row);
        if (!row) {
            return NULL;
        }
        rows->row = row;
        rows->capacity = capacity;
    }
    return &rows->row[rows->count++];
}

static void profile_row(calc_stage_rows *rows, calc_stage_row *row, const calc_system *system)
{
    row->context = calc_cost_context_of(system, &row->exec, &rows->shape);
    calc_stage_parts_of(&row->context, &row->parts);
    for (size_t s = 0; s < rows->states; s++) {
        calc_exec e = row->exec;
        e.optimizer_sharding = rows->state[s].sharding;
        e.zero_stage = rows->state[s].zero;
        calc_stage_terms_row(&row->context, &e, &row->parts, &row->terms[s]);
    }
}

/* Networks of data parallelism that the cost of a block depends on: those of experts, where these
 * name none. */
static void list_data_networks(calc_stage_rows *rows, const calc_space *space,
                               const calc_system *system, const calc_exec *base)
{
    rows->datas = 1;
    rows->data[0] = -1;
    if (base->expert_par > 1 && base->expert_par_net < 0 &&
        base->rank_order == CALC_RANK_ORDER_NETWORKS) {
        rows->datas = calc_space_networks(space, CALC_AXIS_data_par_net, base->expert_par, system,
                                          rows->data);
    }
}

/* Whether a layout keeps something in the second memory tier. */
static bool offloads(const calc_exec *e)
{
    return e->weight_offload || e->activations_offload || e->optimizer_offload;
}

/* A row for each tensor-parallel network. */
static calc_status add_rows(calc_stage_rows *rows, const calc_app *app, const calc_system *system,
                            const calc_exec *exec, bool profile)
{
    for (size_t i = 0; i < rows->networks_count * rows->datas; i++) {
        size_t n = i / rows->datas;
        int64_t data = rows->data[i % rows->datas];
        calc_exec e = *exec;
        e.tensor_par_net = rows->networks[n];
        e.data_par_net = data < 0 ? e.data_par_net : data;
        if (!calc_extended(app, system, &e)) {
            continue;
        }
        calc_stage_row *row = next(rows);
        if (!row) {
            return CALC_ERR_NOMEM;
        }
        row->exec = e;
        row->network = n;
        row->data_network = data;
        row->offloads = offloads(&e);
        if (profile) {
            profile_row(rows, row, system);
        }
    }
    return CALC_OK;
}

static size_t pick(const calc_space *space, calc_axis axis, const int64_t *legal, size_t count,
                   int64_t *out)
{
    return calc_space_pick(space, axis, legal, count, out);
}

/* What may be recomputed: modules go with a list of them. Where `*` is asked for, attention alone
 * is left out under flash attention, which has next to nothing to spare. */
static size_t pick_recompute(const calc_space *space, const calc_exec *base, int64_t *out)
{
    static const int64_t with_modules[] = {CALC_ACTIVATION_RECOMPUTE_MODULES};
    static const int64_t plain[] = {CALC_ACTIVATION_RECOMPUTE_NONE};
    static const int64_t flash[] = {CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL};
    static const int64_t every[] = {CALC_ACTIVATION_RECOMPUTE_NONE,
                                    CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY,
                                    CALC_ACTIVATION_RECOMPUTE_FULL};
    const calc_axis axis = CALC_AXIS_activation_recompute;
    if (base->recompute_modules) {
        return pick(space, axis, with_modules, 1, out);
    }
    if (!base->training) {
        return pick(space, axis, plain, 1, out);
    }
    bool all = space->axis[axis].all;
    return base->flash_attention && all ? pick(space, axis, flash, 2, out)
                                        : pick(space, axis, every, 3, out);
}

/* Sharding of the state over replicas, of which there may be one only. */
static void list_states(calc_stage_rows *rows, const calc_space *space, const calc_exec *base)
{
    int64_t sharding[2];
    const calc_values *zero = &space->axis[CALC_AXIS_zero_stage];
    size_t shardings = calc_space_pick_bool(space, CALC_AXIS_optimizer_sharding, true, sharding);
    size_t zeros = rows->pinned ? 1 : zero->count;
    rows->states = 0;
    rows->alone_first = space->axis[CALC_AXIS_optimizer_sharding].last && sharding[0] &&
                        !rows->pinned && calc_space_has(space, CALC_AXIS_zero_stage, 0);
    if (rows->alone_first) {
        rows->state[rows->states++] = (calc_stage_state_choice){false, 0};
    }
    for (size_t s = 0; s < shardings; s++) {
        for (size_t z = 0; z < zeros && rows->states < CALC_STAGE_STATES; z++) {
            rows->state[rows->states++] = (calc_stage_state_choice){
                sharding[s] != 0, rows->pinned ? base->zero_stage : zero->value[z]};
        }
    }
}

/* What may be offloaded. Where `*` is asked for, nothing is without a second tier, and no
 * checkpoints are. */
static void pick_offloads(const calc_space *space, const calc_system *system, const calc_exec *e,
                          offload_choices *out)
{
    const calc_values *axis = space->axis;
    bool tier2 = system->mem2.capacity_bytes > 0;
    bool full = e->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    bool weights = tier2 || !axis[CALC_AXIS_weight_offload].all;
    bool activations = (tier2 && !full) || !axis[CALC_AXIS_activations_offload].all;
    bool optimizers = e->training && (tier2 || !axis[CALC_AXIS_optimizer_offload].all);
    out->weights = calc_space_pick_bool(space, CALC_AXIS_weight_offload, weights, out->weight);
    out->activations =
        calc_space_pick_bool(space, CALC_AXIS_activations_offload, activations, out->activation);
    out->optimizers =
        calc_space_pick_bool(space, CALC_AXIS_optimizer_offload, optimizers, out->optimizer);
}

/* Rows of one fusion and recomputation. */
static calc_status add_communications(calc_stage_rows *rows, const calc_space *space,
                                      const calc_app *app, const calc_system *system, calc_exec *e,
                                      bool profile)
{
    static const int64_t types[] = {CALC_TENSOR_PAR_COMM_TYPE_AR,
                                    CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG,
                                    CALC_TENSOR_PAR_COMM_TYPE_RS_AG};
    static const int64_t overlaps[] = {CALC_TENSOR_PAR_OVERLAP_NONE, CALC_TENSOR_PAR_OVERLAP_RING,
                                       CALC_TENSOR_PAR_OVERLAP_PIPE, CALC_TENSOR_PAR_OVERLAP_ASYNC,
                                       CALC_TENSOR_PAR_OVERLAP_FUSED};
    int64_t type[3];
    int64_t overlap[5];
    int64_t redo[2];
    bool scatters = (int64_t)rows->shape.tokens % e->tensor_par == 0;
    bool prefill_split = e->inference.prefill_tensor_par > 1 &&
                         (e->expert_par > 1 || e->inference.prefill_expert_par > 1);
    bool experts_split = (e->expert_par > 1 && e->tensor_par > 1) || prefill_split;
    /* Where one type is preferred, it is that of several ranks. */
    bool single = e->tensor_par == 1 && space->axis[CALC_AXIS_tensor_par_comm_type].last;
    size_t type_count =
        pick(space, CALC_AXIS_tensor_par_comm_type, types, scatters && !single ? 3 : 1, type);
    size_t overlap_count =
        pick(space, CALC_AXIS_tensor_par_overlap, overlaps, e->tensor_par > 1 ? 5 : 1, overlap);
    for (size_t k = 0; k < type_count; k++) {
        e->tensor_par_comm_type = (calc_tensor_par_comm_type)type[k];
        bool split = e->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
        if (experts_split && !split) {
            continue;
        }
        bool can_redo = split && e->activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL;
        size_t redo_count = calc_space_pick_bool(space, CALC_AXIS_seq_par_ag_redo, can_redo, redo);
        for (size_t l = 0; l < redo_count * overlap_count; l++) {
            e->seq_par_ag_redo = redo[l / overlap_count] != 0;
            e->tensor_par_overlap = (calc_tensor_par_overlap)overlap[l % overlap_count];
            if (add_rows(rows, app, system, e, profile) != CALC_OK) {
                return CALC_ERR_NOMEM;
            }
        }
    }
    return CALC_OK;
}

/* Rows of every choice of what is offloaded. */
static calc_status add_offloads(calc_stage_rows *rows, const calc_space *space, const calc_app *app,
                                const calc_system *system, calc_exec *e, bool profile)
{
    offload_choices c;
    pick_offloads(space, system, e, &c);
    for (size_t i = 0; i < c.weights * c.activations * c.optimizers; i++) {
        e->weight_offload = c.weight[i % c.weights] != 0;
        e->activations_offload = c.activation[i / c.weights % c.activations] != 0;
        e->optimizer_offload = c.optimizer[i / c.weights / c.activations] != 0;
        if (add_communications(rows, space, app, system, e, profile) != CALC_OK) {
            return CALC_ERR_NOMEM;
        }
    }
    return CALC_OK;
}

calc_status calc_stage_rows_fill(calc_stage_rows *rows, const calc_space *space,
                                 const calc_app *app, const calc_system *system,
                                 const calc_exec *base, bool profile)
{
    int64_t fused[2];
    int64_t recompute[4];
    calc_exec e = *base;
    rows->count = 0;
    rows->shape = calc_shape_of(app, base);
    bool placed = base->rank_order != CALC_RANK_ORDER_NETWORKS;
    rows->networks_count = calc_space_networks(
        space, CALC_AXIS_tensor_par_net, placed ? 1 : base->tensor_par, system, rows->networks);
    list_data_networks(rows, space, system, base);
    calc_exec without = *base;
    without.zero_stage = 0;
    without.pipeline_par_overlap = false;
    without.param_gather_overlap = CALC_CHOICE_AUTO;
    rows->pinned = !calc_extended(app, system, &without);
    list_states(rows, space, base);
    size_t fused_count = calc_space_pick_bool(space, CALC_AXIS_fused_activation, true, fused);
    size_t recompute_count = pick_recompute(space, base, recompute);
    for (size_t i = 0; i < fused_count; i++) {
        e.fused_activation = fused[i] != 0;
        for (size_t j = 0; j < recompute_count; j++) {
            e.activation_recompute = (calc_activation_recompute)recompute[j];
            if (add_offloads(rows, space, app, system, &e, profile) != CALC_OK) {
                return CALC_ERR_NOMEM;
            }
        }
    }
    /* The table has found its place. */
    for (size_t i = 0; i < rows->count; i++) {
        rows->row[i].context.shape = &rows->shape;
        rows->row[i].context.exec = &rows->row[i].exec;
    }
    return CALC_OK;
}
