#include "rows.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "model/cost/state.h"
#include "model/stages/stages.h"
#include "spec/rules.h"

enum { TIMED = 4 }; /* rooms for operators: current and previous ones */

CALC_FREES(calc_rows_free, calc_rows, of->row, of->terms, of->rule, of->timed)

void calc_row_choice_put(const calc_row_choice *c, calc_strategy *s)
{
    s->optimizer_sharding = c->sharding;
    s->zero_stage = c->zero;
    s->weight_offload = c->weights;
    s->activations_offload = c->activations;
    s->optimizer_offload = c->optimizer;
}

size_t calc_rows_bytes(const calc_rows *rows)
{
    return rows->capacity * sizeof *rows->row + rows->terms_capacity * sizeof *rows->terms +
           rows->rules_capacity * sizeof *rows->rule +
           (rows->timed ? TIMED * sizeof *rows->timed : 0);
}

/* Number the weights of row `index`: as those of a row before it
 * that has the same layers with weights, or new. */
static size_t weights_of(const calc_rows *rows, size_t index, size_t known)
{
    for (size_t i = 0; i < index; i++) {
        const calc_stage_parts *a = &rows->row[i].parts, *b = &rows->row[index].parts;
        bool same = rows->row[i].weights < CALC_ROW_WEIGHTS;
        for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS && same; kind++) {
            same = a->layers[kind] == b->layers[kind];
            for (size_t n = 0; n < a->layers[kind] && same; n++) {
                same = a->weights[kind][n] == b->weights[kind][n];
            }
        }
        if (same) {
            return rows->row[i].weights;
        }
    }
    return known < CALC_ROW_WEIGHTS ? known : CALC_ROW_WEIGHTS;
}

/* Whether two rows have the same operators, and these take the same time: rows differ in fusion,
 * recomputation, and how tensor parallelism communicates, gathers, overlaps and on which networks.
 */
static bool same_operators(const calc_row *a, const calc_row *b)
{
    const calc_strategy *s = &a->exec.strategy;
    const calc_strategy *t = &b->exec.strategy;
    return s->fused_activation == t->fused_activation &&
           s->tensor_par_comm_type == t->tensor_par_comm_type &&
           s->seq_par_ag_redo == t->seq_par_ag_redo && a->network == b->network &&
           a->spread == b->spread && a->data_network == b->data_network &&
           calc_stage_operators_same(s, t);
}

/* List and time the operators of a row. Those that differ from others before in experts alone, as
 * those of the units of one tensor parallelism and micro-batch do, take their place. */
static calc_stage_timed *operators_of(calc_rows *rows, const calc_row *row)
{
    size_t rooms = rows->timings < TIMED ? rows->timings : TIMED;
    calc_stage_timed *found = calc_stage_timed_find(&row->context, rows->timed, rooms);
    if (found) {
        calc_stage_timed_put_experts(&row->context, found);
        return found;
    }
    found = &rows->timed[rows->timings++ % TIMED];
    calc_stage_operators_of(&row->context, found);
    return found;
}

/* Costs of the rows. Operators are listed and timed once for all rows that have them. */
static calc_status profile_parts(calc_rows *rows)
{
    if (!rows->timed) {
        rows->timed = malloc(TIMED * sizeof *rows->timed);
    }
    for (size_t i = 0; i < rows->count && rows->timed; i++) {
        const calc_row *row = &rows->row[i];
        size_t first = 0;
        while (!same_operators(&rows->row[first], row)) {
            first++;
        }
        if (first < i) {
            continue; /* that one was summed with it */
        }
        calc_stage_timed *operators = operators_of(rows, row);
        for (size_t k = i; k < rows->count; k++) {
            if (same_operators(row, &rows->row[k])) {
                calc_stage_parts_sum(&rows->row[k].context, operators, &rows->row[k].parts);
            }
        }
    }
    return rows->timed ? CALC_OK : CALC_ERR_NOMEM;
}

const calc_optimizer_step *calc_row_optimizer_of(calc_row_optimizer *of_weights,
                                                 const calc_row *row, const calc_strategy *strategy,
                                                 double shards)
{
    calc_row_optimizer *o = &of_weights[row->weights];
    if (row->weights >= CALC_ROW_WEIGHTS ||
        !calc_compat_has(row->context.compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        return NULL;
    }
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS && !o->known; kind++) {
        o->step[kind] =
            calc_stage_rules_optimizer(&row->context, strategy, &row->parts, kind, shards);
    }
    o->known = true;
    return o->step;
}

/* The terms of calc_stage_rules_of() for the blocks of a choice, without the ranks that share their
 * state. */
static void put_rules(const calc_row *row, const calc_strategy *strategy,
                      const calc_stage_terms *terms, calc_row_rule *out)
{
    bool training = row->context.training;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        calc_block_memory m =
            calc_block_memory_of(&row->context, strategy, &row->parts.block[kind], 1);
        out[kind].state = m;
        m.whole_grad = m.grad = m.optimizer = 0;
        out[kind].without = terms->rule[kind];
        calc_block_memory_lines(strategy, training, &m, &out[kind].without);
        out[kind].travel_bytes = calc_stage_rules_travel(strategy, training, &m).bw_bytes;
    }
}

calc_status calc_rows_terms(calc_rows *rows)
{
    size_t terms = 0;
    size_t known = 0;
    calc_row_optimizer optimizer[CALC_ROW_WEIGHTS] = {{0}};
    calc_exec *e = &rows->common;
    for (size_t i = 0; i < rows->count; i++) {
        rows->row[i].terms = terms;
        terms += rows->row[i].choices;
    }
    if (terms > rows->terms_capacity) {
        free(rows->terms);
        rows->terms = malloc(terms * sizeof *rows->terms);
        rows->terms_capacity = rows->terms ? terms : 0;
    }
    size_t rules = rows->count > 0 && rows->row[0].context.compat ? terms : 0;
    if (rules > rows->rules_capacity) {
        free(rows->rule);
        rows->rule = malloc(rules * sizeof *rows->rule);
        rows->rules_capacity = rows->rule ? rules : 0;
    }
    if (terms > rows->terms_capacity || rules > rows->rules_capacity) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < rows->count; i++) {
        calc_row *row = &rows->row[i];
        e->strategy = row->exec.strategy;
        row->weights = row->context.compat ? weights_of(rows, i, known) : CALC_ROW_WEIGHTS;
        known += row->weights == known;
        calc_stage_terms *of_row = row->choices > 0 ? &rows->terms[row->terms] : NULL;
        const calc_optimizer_step *step =
            calc_row_optimizer_of(optimizer, row, &row->exec.strategy, 1);
        for (size_t c = 0; c < row->choices; c++) {
            if (!calc_row_has(rows, row, c)) {
                continue;
            }
            const calc_row_choice *choice = &rows->choice[c];
            size_t like = 0; /* the first choice that offloads the same of a block */
            while (!calc_row_has(rows, row, like) ||
                   rows->choice[like].activations != choice->activations ||
                   rows->choice[like].weights != choice->weights) {
                like++;
            }
            calc_row_choice_put(choice, &e->strategy);
            calc_stage_terms_row(&row->context, e, &row->parts, like < c ? &of_row[like] : NULL,
                                 step, &of_row[c]);
            if (rules > 0 && calc_zero_stage(&e->strategy) >= 1) {
                put_rules(row, &e->strategy, &of_row[c], rows->rule[row->terms + c]);
            }
        }
    }
    return CALC_OK;
}

static void add_kind(calc_rows *rows, const calc_row *row)
{
    size_t i = 0;
    while (i < rows->kinds &&
           (rows->kind[i].spread != row->spread || rows->kind[i].network != row->network ||
            rows->kind[i].data_network != row->data_network ||
            rows->kind[i].choices != row->choices)) {
        i++;
    }
    if (i == rows->kinds) {
        rows->kind[rows->kinds++] =
            (calc_row_kind){row->spread, row->network, row->data_network, row->choices, 0};
    }
    rows->kind[i].rows++;
}

/* A row for each tensor-parallel network. */
static calc_status add_rows(calc_rows *rows, size_t spread, const calc_exec *exec)
{
    bool full = exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    for (size_t i = 0; i < rows->networks_count * rows->datas; i++) {
        size_t n = i / rows->datas;
        int64_t data = rows->data[i % rows->datas];
        calc_row *grown = calc_grown(rows->row, rows->count, &rows->capacity, sizeof *grown);
        if (!grown) {
            return CALC_ERR_NOMEM;
        }
        rows->row = grown;
        calc_row *row = &grown[rows->count++];
        row->exec = *exec;
        row->exec.strategy.tensor_par_net = rows->networks[n];
        row->exec.strategy.data_par_net = data < 0 ? exec->strategy.data_par_net : data;
        row->spread = spread;
        row->network = n;
        row->data_network = data;
        row->choices = full ? rows->resident : rows->choices;
        add_kind(rows, row);
    }
    return CALC_OK;
}

/* Choices of recomputation: modules go with a list of them. Where `*` is asked for, attention alone
 * is left out under flash attention, which has next to nothing to spare. */
static size_t pick_recompute(const calc_space *space, const calc_exec *base, int64_t *out)
{
    static const int64_t with_modules[] = {CALC_ACTIVATION_RECOMPUTE_MODULES};
    static const int64_t plain[] = {CALC_ACTIVATION_RECOMPUTE_NONE};
    static const int64_t flash[] = {CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL};
    static const int64_t every[] = {
        CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY,
        CALC_ACTIVATION_RECOMPUTE_FULL, CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP};
    const calc_axis axis = CALC_AXIS_activation_recompute;
    if (base->strategy.recompute_modules) {
        return calc_space_pick(space, axis, with_modules, 1, out);
    }
    if (!base->training) {
        return calc_space_pick(space, axis, plain, 1, out);
    }
    bool all = space->axis[axis].all;
    if (base->strategy.offload_modules) { /* parts of blocks that recompute whole keep nothing */
        return calc_space_pick(space, axis, every, base->strategy.flash_attention && all ? 1 : 2,
                               out);
    }
    return base->strategy.flash_attention && all
               ? calc_space_pick(space, axis, flash, 2, out)
               : calc_space_pick(space, axis, every, all ? 3 : 4, out);
}

enum { ZERO_STAGES = 4 };

/* Ways to keep the state, of which replicas there may be one only. */
typedef struct state_choices {
    size_t count;
    calc_row_choice choice[CALC_ROW_CHOICES];
} state_choices;

static void list_states(const calc_space *space, bool split, state_choices *out)
{
    int64_t sharding[2];
    const calc_values *zero = &space->axis[CALC_AXIS_zero_stage];
    size_t shardings = calc_space_pick_bool(space, CALC_AXIS_optimizer_sharding, true, sharding);
    size_t zeros = zero->count; /* never `*` */
    bool alone_first = space->axis[CALC_AXIS_optimizer_sharding].last && sharding[0] &&
                       calc_space_has(space, CALC_AXIS_zero_stage, 0);
    out->count = 0;
    if (alone_first) {
        out->choice[out->count++] = (calc_row_choice){.alone = true};
    }
    bool known[ZERO_STAGES] = {false}; /* the first way to say a stage stands for it */
    for (size_t i = 0; i < shardings * zeros; i++) {
        calc_row_choice c = {.sharding = sharding[i / zeros] != 0, .zero = zero->value[i % zeros]};
        bool *stage = &known[calc_row_choice_zero(&c)];
        bool kept = !calc_row_choice_unusual(space, split, &c);
        if (!*stage && kept) {
            out->choice[out->count++] = c;
        }
        *stage = true;
    }
}

/* Each with the choices of offload. Where `*` is asked for, nothing is without a second tier, and
 * no checkpoints are: rows of full recomputation then have the resident ones only. */
static void list_choices(calc_rows *rows, const calc_space *space, const calc_system *system,
                         const calc_exec *base)
{
    const calc_values *axis = space->axis;
    bool tier2 = system->chip.mem2.capacity_bytes > 0;
    bool serves = base->inference.phase != CALC_INFERENCE_PHASE_NONE; /* from the first tier */
    bool weights = !serves && (tier2 || !axis[CALC_AXIS_weight_offload].all);
    bool parts = base->strategy.offload_modules != 0; /* instead of all activations */
    bool activations = !serves && !parts && (tier2 || !axis[CALC_AXIS_activations_offload].all);
    bool optimizers = base->training && (tier2 || !axis[CALC_AXIS_optimizer_offload].all);
    int64_t weight[2], activation[2], optimizer[2];
    size_t weight_count = calc_space_pick_bool(space, CALC_AXIS_weight_offload, weights, weight);
    size_t activation_count =
        calc_space_pick_bool(space, CALC_AXIS_activations_offload, activations, activation);
    size_t optimizer_count =
        calc_space_pick_bool(space, CALC_AXIS_optimizer_offload, optimizers, optimizer);
    state_choices state;
    list_states(space, rows->spreads.expert_par[0] > 1, &state);
    rows->choices = 0;
    rows->resident = 0;
    for (size_t a = 0; a < activation_count; a++) {
        for (size_t i = 0; i < state.count * weight_count * optimizer_count; i++) {
            calc_row_choice c = state.choice[i / optimizer_count / weight_count];
            c.activations = activation[a] != 0;
            c.weights = weight[i / optimizer_count % weight_count] != 0;
            c.optimizer = optimizer[i % optimizer_count] != 0;
            rows->unusual[rows->choices] = calc_row_choice_unusual(space, true, &c);
            rows->choice[rows->choices++] = c;
        }
        if (activation[a] == 0 || !axis[CALC_AXIS_activations_offload].all) {
            rows->resident = rows->choices;
        }
    }
}

/* Rows of one fusion and recomputation. */
static calc_status add_communications(calc_rows *rows, const calc_space *space, calc_compat compat,
                                      size_t spread, calc_exec *e)
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
    bool scatters = (int64_t)rows->shape.tokens % e->strategy.tensor_par == 0;
    bool prefill_split = e->inference.prefill_tensor_par > 1 &&
                         (e->strategy.expert_par > 1 || e->inference.prefill_expert_par > 1);
    bool replicated = e->strategy.dispatch_type == CALC_DISPATCH_TYPE_REPLICATED;
    bool experts_split =
        !replicated &&
        ((e->strategy.expert_par > 1 && e->strategy.tensor_par > 1) || prefill_split);
    /* Programs that serve split sequences where experts need it only. */
    bool served = e->inference.phase != CALC_INFERENCE_PHASE_NONE &&
                  space->axis[CALC_AXIS_tensor_par_comm_type].standard;
    /* Where one type is preferred, it is that of several ranks. */
    bool single = e->strategy.tensor_par == 1 && space->axis[CALC_AXIS_tensor_par_comm_type].last;
    /* `*` stands for those that Calculon knows. */
    bool known = space->axis[CALC_AXIS_tensor_par_overlap].all && calc_space_calculon(compat);
    size_t kinds = known ? CALC_TENSOR_PAR_OVERLAP_PIPE + 1 : 5;
    size_t type_count = calc_space_pick(space, CALC_AXIS_tensor_par_comm_type, types,
                                        scatters && !single ? 3 : 1, type);
    size_t overlap_count = calc_space_pick(space, CALC_AXIS_tensor_par_overlap, overlaps,
                                           e->strategy.tensor_par > 1 ? kinds : 1, overlap);
    /* With one rank all types are the same, and with tiles nothing is gathered whole: the first
     * that is legal stands for the others. */
    bool calculon = calc_space_calculon(compat);
    size_t before = rows->count;
    for (size_t k = 0; k < type_count; k++) {
        e->strategy.tensor_par_comm_type = (calc_tensor_par_comm_type)type[k];
        bool split = e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
        bool whole = e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
        if ((experts_split && !split) || (replicated && !whole) ||
            (served && !experts_split && !whole)) {
            continue;
        }
        bool can_redo = split && !calc_recomputes_block(&e->strategy);
        size_t redo_count = calc_space_pick_bool(space, CALC_AXIS_seq_par_ag_redo, can_redo, redo);
        for (size_t l = 0; l < redo_count * overlap_count; l++) {
            e->strategy.seq_par_ag_redo = redo[l / overlap_count] != 0;
            e->strategy.tensor_par_overlap = (calc_tensor_par_overlap)overlap[l % overlap_count];
            bool again = e->strategy.tensor_par == 1
                             ? rows->count > before
                             : l >= overlap_count && calc_operator_streamed(&e->strategy);
            if (again && !calculon) {
                continue;
            }
            if (add_rows(rows, spread, e) != CALC_OK) {
                return CALC_ERR_NOMEM;
            }
        }
    }
    return CALC_OK;
}

/* Rows of one spread. */
static calc_status add_spread(calc_rows *rows, const calc_space *space, calc_compat compat,
                              size_t spread, const calc_exec *base)
{
    int64_t fused[2];
    int64_t recompute[4];
    calc_exec e = *base;
    e.strategy.expert_par = rows->spreads.expert_par[spread];
    size_t fused_count = calc_space_pick_bool(space, CALC_AXIS_fused_activation, true, fused);
    size_t recompute_count = pick_recompute(space, base, recompute);
    for (size_t i = 0; i < fused_count; i++) {
        e.strategy.fused_activation = fused[i] != 0;
        for (size_t j = 0; j < recompute_count; j++) {
            e.strategy.activation_recompute = (calc_activation_recompute)recompute[j];
            if (add_communications(rows, space, compat, spread, &e) != CALC_OK) {
                return CALC_ERR_NOMEM;
            }
        }
    }
    return CALC_OK;
}

calc_status calc_rows_fill(calc_rows *rows, const calc_space *space, const calc_app *app,
                           const calc_system *system, const calc_exec *base, calc_compat compat,
                           bool profiled)
{
    calc_status status = CALC_OK;
    calc_strategy strategy = base->strategy;
    rows->count = rows->kinds = 0;
    rows->spreads = calc_spreads_in(space, app, base);
    for (size_t i = 0; i < rows->spreads.count; i++) {
        strategy.expert_par = rows->spreads.expert_par[i];
        rows->shape_of[i] = calc_shape_of(app, &strategy, base->microbatch_size, base->seq_size);
    }
    rows->shape = rows->shape_of[0];
    bool placed = base->rank_order != CALC_RANK_ORDER_NETWORKS;
    rows->networks_count =
        calc_space_networks(space, CALC_AXIS_tensor_par_net, placed ? 1 : base->strategy.tensor_par,
                            system, rows->networks);
    /* Networks of data parallelism that the cost of a block depends on: those of experts, where
     * these name none. */
    rows->datas = 1;
    rows->data[0] = -1;
    if (base->strategy.expert_par > 1 && base->strategy.expert_par_net < 0 && !placed) {
        rows->datas = calc_space_networks(space, CALC_AXIS_data_par_net, base->strategy.expert_par,
                                          system, rows->data);
    }
    list_choices(rows, space, system, base);
    for (size_t i = 0; i < rows->spreads.count && status == CALC_OK; i++) {
        status = add_spread(rows, space, compat, i, base);
    }
    for (size_t i = 0; i < rows->count && profiled && status == CALC_OK; i++) {
        calc_row *row = &rows->row[i];
        row->context =
            calc_cost_context_of(system, &row->exec, &rows->shape_of[row->spread], compat);
    }
    if (!profiled || status != CALC_OK) {
        return status;
    }
    rows->common = *base;
    return profile_parts(rows);
}
