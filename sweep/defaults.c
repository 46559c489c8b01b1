#include "defaults.h"

#include <math.h>

#include "model/operators/calculon.h"
#include "spec/absent.h"
#include "spec/field.h"

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

calc_status calc_defaults_put(calc_space *space, calc_axis axis, const int64_t *value, size_t count,
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

void calc_defaults_put_all(calc_space *space, calc_axis axis, bool last)
{
    if (space->axis[axis].standard) {
        calc_space_set_all(space, axis);
        space->axis[axis].last = last;
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

double calc_defaults_most(const calc_designs_builder *designs, const char *key)
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

/* Axes whose values the models decide. */
static void set_sizes(calc_space *space, const calc_designs_builder *designs)
{
    const calc_values *seqs = &space->axis[CALC_AXIS_seq_size];
    bool own = seqs->standard || seqs->count == 0 || seqs->value[0] == 0;
    double longest = seqs->count > 0 ? (double)seqs->value[seqs->count - 1] : 0;
    longest = own ? fmax(longest, calc_defaults_most(designs, "seq_size")) : longest;
    if (calc_defaults_most(designs, "num_experts") > 0) {
        calc_defaults_put_all(space, CALC_AXIS_expert_par, false);
    }
    if (longest >= CALC_DEFAULTS_LONG_SEQ) {
        calc_defaults_put_all(space, CALC_AXIS_context_par, false);
    }
    calc_defaults_put_all(space, CALC_AXIS_attention_type, false);
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
        status = calc_defaults_put(space, defaults[i].axis, defaults[i].value, defaults[i].count,
                                   defaults[i].last);
    }
    if (ordered(space) && status == CALC_OK) {
        status = calc_defaults_put(space, CALC_AXIS_rank_order, &order, 1, false);
    }
    if (offered && status == CALC_OK) {
        status = calc_defaults_put(space, CALC_AXIS_datatype, &bfloat16, 1, false);
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
        status = calc_defaults_put(space, CALC_AXIS_training, &no_training, 1, false);
    }
    return status == CALC_OK ? calc_defaults_serving(space, designs) : status;
}
