#include "defaults.h"

#include <math.h>

#include "model/operators/calculon.h"
#include "served.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/rules_inference.h"
#include "units.h"

/* Values of an axis: all that are legal in a context, or only the last one. */
static const struct {
    calc_axis axis;
    size_t count;
    int64_t value[3];
    bool last;
} defaults[] = {
    {CALC_AXIS_flash_attention, 1, {true}, false},
    {CALC_AXIS_memory_model, 1, {CALC_MEMORY_MODEL_MEGATRON}, false},
    {CALC_AXIS_fused_cross_entropy, 1, {true}, false},
    {CALC_AXIS_activation_recompute,
     2,
     {CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL},
     false},
    {CALC_AXIS_pipeline_balance,
     2,
     {CALC_PIPELINE_BALANCE_BLOCKS, CALC_PIPELINE_BALANCE_ENDS},
     false},
    {CALC_AXIS_tensor_par_comm_type,
     2,
     {CALC_TENSOR_PAR_COMM_TYPE_AR, CALC_TENSOR_PAR_COMM_TYPE_RS_AG},
     true},
    {CALC_AXIS_seq_par_ag_redo, 2, {false, true}, true},
    {CALC_AXIS_tensor_par_overlap,
     2,
     {CALC_TENSOR_PAR_OVERLAP_NONE, CALC_TENSOR_PAR_OVERLAP_ASYNC},
     true},
    {CALC_AXIS_zero_stage, 3, {0, 2, 3}, false},
    {CALC_AXIS_optimizer_sharding, 2, {false, true}, true},
    {CALC_AXIS_data_par_overlap, 2, {false, true}, true},
    {CALC_AXIS_pipeline_par_overlap, 2, {false, true}, true},
    {CALC_AXIS_weight_offload, 1, {false}, false},
    {CALC_AXIS_activations_offload, 1, {false}, false},
    {CALC_AXIS_optimizer_offload, 1, {false}, false},
};

static calc_status set(calc_space *space, calc_axis axis, const int64_t *value, size_t count,
                       bool last)
{
    if (!space->axis[axis].standard) {
        return CALC_OK;
    }
    calc_status status = calc_space_set(space, axis, value, count);
    if (status == CALC_OK) {
        space->axis[axis].last = last;
        space->axis[axis].standard = true;
    }
    return status;
}

static void set_all(calc_space *space, calc_axis axis)
{
    if (space->axis[axis].standard) {
        calc_space_set_all(space, axis);
        space->axis[axis].standard = true;
    }
}

/* Whether ranks are laid out in an order: nobody asks for networks of groups. */
static bool ordered(const calc_space *space)
{
    static const calc_axis nets[] = {CALC_AXIS_tensor_par_net,       CALC_AXIS_pipeline_par_net,
                                     CALC_AXIS_data_par_net,         CALC_AXIS_context_par_net,
                                     CALC_AXIS_expert_par_net,       CALC_AXIS_expert_data_par_net,
                                     CALC_AXIS_expert_tensor_par_net};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        if (!space->axis[nets[i]].standard) {
            return false;
        }
    }
    return true;
}

/* The largest number of a field of the application in any design: from its swept values, or from
 * the applications. */
static double most_of(const calc_designs_builder *designs, const char *key)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_APP), key);
    double most = 0;
    for (size_t i = 0; i < designs->axes; i++) {
        const calc_design_axis *axis = &designs->axis[i];
        if (axis->ref.field == field) {
            return axis->value[axis->count - 1]; /* ascending */
        }
    }
    for (size_t i = 0; i < designs->apps; i++) {
        const char *member = (const char *)&designs->app[i].app + field->offset;
        most = fmax(most, calc_member_number(field, member));
    }
    return most;
}

/* Whether something is served in a phase. */
static bool has_phase(const calc_space *space, calc_inference_phase phase)
{
    const calc_values *phases = &space->served[CALC_SERVED_phase];
    bool found = space->inference.phase == phase;
    for (size_t i = 0; i < phases->count; i++) {
        found = found || phases->value[i] == (int64_t)phase;
    }
    return found;
}

/* Axes whose values the models decide. */
static void set_sizes(calc_space *space, const calc_designs_builder *designs)
{
    const calc_values *seqs = &space->axis[CALC_AXIS_seq_size];
    bool own = seqs->standard || seqs->count == 0 || seqs->value[0] == 0;
    double longest = seqs->count > 0 ? (double)seqs->value[seqs->count - 1] : 0;
    longest = own ? fmax(longest, most_of(designs, "seq_size")) : longest;
    if (most_of(designs, "num_experts") > 0) {
        set_all(space, CALC_AXIS_expert_par);
    }
    if (longest >= CALC_DEFAULTS_LONG_SEQ) {
        set_all(space, CALC_AXIS_context_par);
    }
    set_all(space, CALC_AXIS_attention_type);
}

/* Without a backward pass there is nothing to recompute, to gather again or to overlap with, and no
 * state to shard; requests come in batches of their own, whatever the micro-batch is. */
static calc_status set_forward(calc_space *space)
{
    static const struct {
        calc_axis axis;
        int64_t value;
    } forward[] = {
        {CALC_AXIS_activation_recompute, CALC_ACTIVATION_RECOMPUTE_NONE},
        {CALC_AXIS_seq_par_ag_redo, false},
        {CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE},
        {CALC_AXIS_optimizer_sharding, false},
        {CALC_AXIS_zero_stage, 0},
        {CALC_AXIS_microbatch_size, 1},
    };
    size_t count = sizeof forward / sizeof *forward;
    count -= space->inference.phase == CALC_INFERENCE_PHASE_NONE;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        status = set(space, forward[i].axis, &forward[i].value, 1, false);
    }
    return status;
}

/* ---- Serving ----------------------------------------------------------------------------------
 */

static calc_status set_served(calc_space *space, calc_served served, const int64_t *value,
                              size_t count)
{
    if (!space->served[served].standard || calc_served_get(&space->inference, served) != 0) {
        return CALC_OK;
    }
    calc_status status = calc_served_set(space, served, value, count);
    if (status == CALC_OK) {
        space->served[served].standard = true;
    }
    return status;
}

/* Requests in flight on a replica, four to an octave. With a rate of arrivals, or a batch of them
 * all, they mean nothing. */
static calc_status set_batches(calc_space *space)
{
    enum { OCTAVES = 12, STEPS = 4 };
    int64_t value[OCTAVES * STEPS];
    size_t count = 0;
    bool free = space->inference.arrival_rate == 0 && space->inference.batch == 0;
    if (space->axis[CALC_AXIS_batch_size].count > 0) {
        return CALC_OK;
    }
    for (int64_t base = 1; count < (free ? OCTAVES * STEPS : 1); base *= 2) {
        for (int64_t step = 0; step < (free ? STEPS : 1); step++) {
            value[count++] = base + base * step / STEPS;
        }
    }
    space->batch_is_of_replica = true;
    return set(space, CALC_AXIS_batch_size, value, count, false);
}

/* Two pools share the processors that there are: prefill has sixteenths of them, or single ones. */
static calc_status set_pools(calc_space *space)
{
    enum { PARTS = 16, MOST = 64 };
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    bool alone = space->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
    int64_t decode[MOST * (PARTS + 1)];
    int64_t prefill[MOST * PARTS];
    size_t decodes = 0;
    size_t prefills = 0;
    bool asked = !space->served[CALC_SERVED_prefill_procs].standard ||
                 space->inference.prefill_procs > 0 || procs->count == 0 || procs->count > MOST;
    if (asked || !has_phase(space, CALC_INFERENCE_PHASE_DISAGGREGATED)) {
        return CALC_OK;
    }
    for (size_t i = 0; i < procs->count; i++) {
        int64_t all = procs->value[i];
        int64_t part = all % PARTS == 0 ? all / PARTS : 1;
        for (int64_t k = 1; k < PARTS && k * part < all; k++) {
            prefill[prefills++] = k * part;
            decode[decodes++] = all - k * part;
        }
        if (!alone) {
            decode[decodes++] = all;
        }
    }
    bool own = procs->standard;
    calc_status status = calc_values_set(&space->all_procs, procs->value, procs->count);
    if (status == CALC_OK && prefills > 0) {
        status = calc_space_set(space, CALC_AXIS_num_procs, decode, decodes);
        space->axis[CALC_AXIS_num_procs].standard = own;
    }
    return status == CALC_OK && prefills > 0
               ? set_served(space, CALC_SERVED_prefill_procs, prefill, prefills)
               : status;
}

/* The usual choices for serving: requests in flight, chunks, and with two pools their sizes. */
static calc_status set_serving(calc_space *space)
{
    static const int64_t chunk[] = {512, 1024, 2048, 4096, 8192, 16384};
    static const int64_t split[] = {1, 2, 4, 8};
    calc_status status = set_batches(space);
    if (has_phase(space, CALC_INFERENCE_PHASE_SERVE) && status == CALC_OK) {
        status = set_served(space, CALC_SERVED_chunk_size, chunk, sizeof chunk / sizeof *chunk);
    }
    if (has_phase(space, CALC_INFERENCE_PHASE_DISAGGREGATED) && status == CALC_OK) {
        status =
            set_served(space, CALC_SERVED_prefill_tensor_par, split, sizeof split / sizeof *split);
    }
    return status == CALC_OK ? set_pools(space) : status;
}

calc_status calc_defaults_modern(calc_space *space, const calc_designs_builder *designs)
{
    static const int64_t bfloat16 = CALC_DATATYPE_BFLOAT16;
    static const int64_t order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    bool offered = true;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < designs->systems; i++) {
        const calc_system *s = &designs->system[i].system;
        offered = offered && s->chip.matrix[bfloat16].flop_per_s > 0 &&
                  s->chip.vector[bfloat16].flop_per_s > 0;
    }
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults && status == CALC_OK; i++) {
        status =
            set(space, defaults[i].axis, defaults[i].value, defaults[i].count, defaults[i].last);
    }
    if (ordered(space) && status == CALC_OK) {
        status = set(space, CALC_AXIS_rank_order, &order, 1, false);
    }
    if (offered && status == CALC_OK) {
        status = set(space, CALC_AXIS_datatype, &bfloat16, 1, false);
    }
    set_sizes(space, designs);
    return status;
}

calc_status calc_defaults_set(calc_space *space, const calc_designs_builder *designs)
{
    static const int64_t no_training = false;
    bool modern = true;
    calc_exec plain;
    calc_status status = CALC_OK;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &plain);
    for (size_t i = 0; i < designs->apps; i++) {
        modern = modern && calc_calculon_lacks(&designs->app[i].app, &plain.strategy);
    }
    if (modern) {
        status = calc_defaults_modern(space, designs);
    }
    if (space->inference.phase != CALC_INFERENCE_PHASE_NONE && status == CALC_OK) {
        status = set(space, CALC_AXIS_training, &no_training, 1, false);
    }
    if (!calc_space_has(space, CALC_AXIS_training, true) && status == CALC_OK) {
        status = set_forward(space);
    }
    if (space->inference.phase != CALC_INFERENCE_PHASE_NONE && status == CALC_OK) {
        status = set_serving(space);
    }
    return status;
}

void calc_defaults_check(const calc_space *space, const calc_designs_builder *designs,
                         calc_errors *errors)
{
    int before = errors->count;
    calc_exec plain;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &plain);
    (void)!calc_served_at(space, 0, &plain.inference);
    plain.training = !calc_space_has(space, CALC_AXIS_training, false);
    plain.pipeline_par = plain.pipeline_interleaving = 1;
    plain.strategy.tensor_par = plain.strategy.data_par = 1;
    plain.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    for (size_t i = 0; i < designs->apps && errors->count == before; i++) {
        calc_rules_inference(&designs->app[i].app, &plain, errors);
    }
    for (size_t i = 0; i < designs->systems && errors->count == before; i++) {
        const calc_system *system = &designs->system[i].system;
        const calc_values *datatypes = &space->axis[CALC_AXIS_datatype];
        /* Layouts may use any network of the run's system. */
        plain.strategy.data_par_net = system->networks_count - 1;
        plain.strategy.datatype =
            datatypes->count > 0 ? (calc_datatype)datatypes->value[0] : calc_units_datatype(system);
        calc_rules_prefill_system(&designs->app[0].app, system, &plain, errors);
    }
}
