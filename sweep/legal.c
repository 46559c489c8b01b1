#include "legal.h"

#include "spec/field.h"
#include "spec/idle.h"
#include "spec/rules_inference.h"
#include "spec/schedule.h"
#include "spec/serving_engine.h"

/* Whether it never is idle: the sizes of a cell. */
static bool is_size(calc_axis axis)
{
    return axis == CALC_AXIS_num_procs || axis == CALC_AXIS_pipeline_par ||
           axis == CALC_AXIS_data_par || axis == CALC_AXIS_batch_size ||
           axis == CALC_AXIS_first_stage_blocks || axis == CALC_AXIS_last_stage_blocks;
}

/* Tiles and lanes look after pipeline_par_overlap. */
calc_legal_axes calc_legal_axes_of(const calc_space *space)
{
    calc_legal_axes axes = {0};
    for (int i = 0; i < CALC_AXIS_EXEC_COUNT; i++) {
        calc_axis axis = (calc_axis)i;
        bool asked = space->axis[axis].count > 1 && axis != CALC_AXIS_pipeline_par_overlap;
        if (asked && !is_size(axis)) {
            axes.axis[axes.count++] = axis;
        }
    }
    return axes;
}

calc_legal_axes calc_legal_axes_in(const calc_legal_axes *axes, const calc_space *space,
                                   const calc_exec *base)
{
    calc_legal_axes left;
    left.count = 0;
    for (size_t i = 0; i < axes->count; i++) {
        calc_axis axis = axes->axis[i];
        /* Cells of a unit differ in the balance. */
        if (axis == CALC_AXIS_pipeline_balance ||
            calc_axis_get(base, axis) != space->axis[axis].value[0]) {
            left.axis[left.count++] = axis;
        }
    }
    return left;
}

/* Whether fields that change nothing have the first of their values, which stands for all. */
static bool first_of_idle(const calc_space *space, const calc_legal_axes *axes, const calc_app *app,
                          int64_t expert_par, calc_exec *exec)
{
    const int64_t own = exec->strategy.expert_par;
    const calc_tensor_par_overlap overlap = exec->strategy.tensor_par_overlap;
    bool first = true;
    exec->strategy.expert_par = expert_par;
    /* Rows choose the overlap; with tiles, the most depends on others. */
    if (calc_space_has(space, CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_RING) ||
        calc_space_has(space, CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_PIPE)) {
        exec->strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    }
    for (size_t i = 0; i < axes->count && first; i++) {
        calc_axis axis = axes->axis[i];
        first = calc_axis_get(exec, axis) == space->axis[axis].value[0] ||
                !calc_idle(app, exec, calc_axis_field(axis));
    }
    exec->strategy.expert_par = own;
    exec->strategy.tensor_par_overlap = overlap;
    return first;
}

/* Whether the sizes of a cell go with the schedule. */
static bool stages_legal(const calc_exec *e)
{
    const calc_schedule_traits t = calc_schedule_traits_of(e->pipeline_schedule);
    int64_t microbatches = calc_microbatches(e);
    bool paired = e->pipeline_par % t.even == 0 && microbatches % t.even == 0 &&
                  microbatches >= t.least * e->pipeline_par;
    bool shards = e->strategy.fsdp_par <= 0 || e->num_procs % e->strategy.fsdp_par == 0;
    return paired && shards;
}

/* Whether the ranks of a stage can be split among experts. */
static bool experts_legal(const calc_exec *e, int64_t expert_par)
{
    int64_t ep = expert_par > 1 ? expert_par : 1;
    int64_t etp = e->strategy.expert_tensor_par > 1 ? e->strategy.expert_tensor_par : 1;
    return e->num_procs / e->pipeline_par % (ep * etp) == 0;
}

/* Whether two pools have as many processors as there are. */
static bool pools_legal(const calc_space *space, const calc_exec *e)
{
    int64_t both = e->num_procs + e->inference.prefill_procs;
    bool found = space->all_procs.count == 0;
    for (size_t i = 0; i < space->all_procs.count && !found; i++) {
        found = space->all_procs.value[i] == both;
    }
    return found;
}

/* Whether the sizes of a cell are compatible with the requests served. */
static bool served_legal(const calc_space *space, const calc_app *app, const calc_exec *exec)
{
    if (exec->inference.phase == CALC_INFERENCE_PHASE_NONE) {
        return true;
    }
    if (!pools_legal(space, exec)) {
        return false;
    }
    calc_exec e = *exec;
    calc_errors errors; /* large: not cleared */
    errors.count = errors.dropped = 0;
    e.strategy.tensor_par_comm_type = /* rows look after it */
        e.strategy.dispatch_type == CALC_DISPATCH_TYPE_REPLICATED ? CALC_TENSOR_PAR_COMM_TYPE_AR
                                                                  : CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    calc_rules_inference(app, &e, &errors);
    return errors.count == 0 && !calc_serving_engine_refuses(app, exec);
}

bool calc_legal_cell(const calc_space *space, const calc_legal_axes *axes, const calc_app *app,
                     const calc_spreads *spreads, calc_exec *exec, bool *legal)
{
    bool any = false;
    bool fine = stages_legal(exec) && served_legal(space, app, exec);
    bool known[2] = {false}; /* whether fields are idle depends on several ranks of experts, */
    bool first[2] = {false}; /* and not on their number */
    for (size_t i = 0; i < spreads->count; i++) {
        bool split = spreads->expert_par[i] > 1;
        legal[i] = fine && experts_legal(exec, spreads->expert_par[i]);
        if (legal[i] && !known[split]) {
            first[split] = first_of_idle(space, axes, app, spreads->expert_par[i], exec);
            known[split] = true;
        }
        legal[i] = legal[i] && first[split];
        any = any || legal[i];
    }
    return any;
}

bool calc_legal_by_batch(const calc_exec *e)
{
    return e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B || e->inference.requests > 0;
}
