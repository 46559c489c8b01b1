/* The default search for layouts that serve, and for one forward pass. */
#include <string.h>

#include "defaults.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/rules_inference.h"
#include "spec/serving_program.h"
#include "units.h"
#include "variants.h"

/* Whether something is served in a phase. */
static bool has_phase(const calc_space *space, calc_inference_phase phase)
{
    const calc_values *phases = &space->axis[CALC_AXIS_inference_phase];
    bool found = space->inference.phase == phase;
    for (size_t i = 0; i < phases->count; i++) {
        found = found || phases->value[i] == (int64_t)phase;
    }
    return found;
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
        {CALC_AXIS_recompute_modules, 0},
        {CALC_AXIS_expert_par_overlap, CALC_EXPERT_PAR_OVERLAP_NONE},
        {CALC_AXIS_delayed_wgrad, false},
        {CALC_AXIS_grad_datatype, CALC_FORMAT_AUTO},
        {CALC_AXIS_seq_par_ag_redo, false},
        {CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_NONE},
        {CALC_AXIS_optimizer_sharding, false},
        {CALC_AXIS_zero_stage, 0},
        {CALC_AXIS_cuda_graph, 0},
        {CALC_AXIS_microbatch_size, 1}, /* of what is served: */
        {CALC_AXIS_context_par, 0},
    };
    size_t count = sizeof forward / sizeof *forward;
    count -= space->inference.phase == CALC_INFERENCE_PHASE_NONE ? 2 : 0;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        status = calc_defaults_put(space, forward[i].axis, &forward[i].value, 1, false,
                                   "there is no backward pass");
    }
    return status;
}

/* The same for a field of what is served, of which the execution that is completed may have a
 * value.
 */
static calc_status put_served(calc_space *space, calc_axis axis, const int64_t *value, size_t count)
{
    const calc_field *field = calc_axis_field(axis);
    bool given = calc_axis_member(field, (const char *)&space->inference + field->offset) != 0;
    return given ? CALC_OK : calc_defaults_put(space, axis, value, count, false, NULL);
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
    return calc_defaults_put(space, CALC_AXIS_batch_size, value, count, false,
                             "requests in flight on a replica");
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
    bool asked = !space->axis[CALC_AXIS_inference_prefill_procs].standard ||
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
               ? put_served(space, CALC_AXIS_inference_prefill_procs, prefill, prefills)
               : status;
}

/* Experts are spread and split as programs do it: calc_serving_program_spread(). */
static calc_status set_experts(calc_space *space)
{
    static const int64_t dispatch[] = {CALC_DISPATCH_TYPE_NODE_LIMITED,
                                       CALC_DISPATCH_TYPE_REPLICATED};
    calc_defaults_put(space, CALC_AXIS_expert_tensor_par, NULL, 0, true,
                      "experts are split over the ranks that spread them leaves");
    return calc_defaults_put(space, CALC_AXIS_dispatch_type, dispatch, 2, true,
                             "as engines bring tokens to experts");
}

/* The usual choices for serving: requests in flight, experts, chunks, and with two pools their
 * sizes. */
static calc_status set_serving(calc_space *space, const calc_designs_builder *designs)
{
    static const int64_t chunk[] = {128, 256, 512, 1024, 2048, 4096, 8192, 16384};
    static const int64_t split[] = {1, 2, 4, 8};
    static const int64_t comm[] = {CALC_TENSOR_PAR_COMM_TYPE_AR, CALC_TENSOR_PAR_COMM_TYPE_RS_AG};
    calc_status status = set_batches(space);
    if (status == CALC_OK) { /* rows take the second where experts need it */
        status = calc_defaults_put(space, CALC_AXIS_tensor_par_comm_type, comm, 2, false,
                                   "engines all-reduce");
    }
    if (calc_defaults_most(designs, "num_experts") > 0 && status == CALC_OK) {
        status = set_experts(space);
    }
    if (has_phase(space, CALC_INFERENCE_PHASE_SERVE) && status == CALC_OK) {
        status =
            put_served(space, CALC_AXIS_inference_chunk_size, chunk, sizeof chunk / sizeof *chunk);
    }
    if (has_phase(space, CALC_INFERENCE_PHASE_DISAGGREGATED) && status == CALC_OK) {
        status = put_served(space, CALC_AXIS_inference_prefill_tensor_par, split,
                            sizeof split / sizeof *split);
    }
    return status == CALC_OK ? set_pools(space) : status;
}

calc_status calc_defaults_serving(calc_space *space, const calc_designs_builder *designs)
{
    calc_status status = CALC_OK;
    if (!calc_space_has(space, CALC_AXIS_training, true)) {
        status = set_forward(space);
    }
    if (space->inference.phase != CALC_INFERENCE_PHASE_NONE && status == CALC_OK) {
        status = set_serving(space, designs);
    }
    return status;
}

/* Whether a condition is on what a user waits for. */
static bool is_of_user(const calc_constraint *c)
{
    bool time = c->kind == CALC_KIND_STATS && c->field->unit && strcmp(c->field->unit, "s") == 0;
    return time || (c->kind == CALC_KIND_STATS &&
                    c->field->offset == offsetof(calc_stats, tokens_per_s_per_user));
}

calc_status calc_defaults_stages(calc_space *space, const calc_designs_builder *designs,
                                 const calc_sweep_options *options)
{
    enum { MOST = 64 };
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    int64_t most = procs->count > 0 ? procs->value[procs->count - 1] : 0;
    int64_t stages[MOST] = {1};
    int64_t count = 1;
    bool waits = false;
    for (size_t i = 0; i < options->constraints; i++) {
        waits = waits || is_of_user(&options->constraint[i]);
    }
    for (size_t i = 0; i < designs->systems; i++) {
        int64_t node = designs->system[i].system.networks[0].size;
        for (; count < MOST && (count + 1) * node <= most; count++) {
            stages[count] = count + 1;
        }
    }
    return waits && space->inference.phase != CALC_INFERENCE_PHASE_NONE
               ? calc_defaults_put(space, CALC_AXIS_pipeline_par, stages, (size_t)count, false,
                                   "no stages within a node where users wait")
               : CALC_OK;
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
        const calc_values *engines = &space->axis[CALC_AXIS_inference_engine];
        for (size_t e = 0; e < (engines->count > 0 ? engines->count : 1); e++) {
            calc_serving_program_check(system,
                                       engines->count > 0 ? (calc_serving_engine)engines->value[e]
                                                          : space->inference.engine,
                                       errors);
        }
    }
}
