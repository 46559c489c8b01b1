#include "plan/sweep_more.h"

#include "base/error.h"
#include "spec/automatic.h"
#include "spec/field.h"
#include "spec/serving_engine.h"

/* The designs of a study with more of one resource. */
typedef struct larger {
    const calc_designs *designs;
    size_t which;
} larger;

static void get_larger(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const larger *l = context;
    l->designs->get(l->designs->context, index, app, system);
    if (l->which < calc_resources_count(system)) {
        calc_resource_scale(system, l->which, CALC_RESOURCE_MORE);
    }
}

/* The best of the larger machines. */
static calc_status sweep_again(calc_sweep_more_item *item, const calc_sweep_study *study,
                               calc_errors *errors)
{
    calc_status status =
        calc_sweep_found_search(study, false, NULL, &item->found, &item->best, errors);
    if (item->found) {
        calc_sweep_found found;
        calc_sweep_found_run(study, &item->best, &found);
        item->stats = found.stats;
    }
    return status;
}

calc_status calc_sweep_more_find(calc_sweep_more *out, const calc_sweep_study *study,
                                 const calc_sweep_result *result, calc_errors *errors)
{
    const calc_found *best = calc_sweep_found_best_of_all(result);
    calc_app app;
    calc_system system;
    bool again = !result->partial && result->elapsed_s <= CALC_SWEEP_MORE_LONGEST_S;
    calc_status status = CALC_OK;
    out->count = 0;
    if (!best) {
        return CALC_OK;
    }
    study->designs.get(study->designs.context, best->design, &app, &system);
    for (size_t i = 0; i < calc_resources_count(&system) && status == CALC_OK; i++) {
        const larger context = {&study->designs, i};
        calc_sweep_study with = *study;
        calc_sweep_found found;
        if (!calc_resource_there(&system, i)) {
            continue;
        }
        with.designs =
            (calc_designs){.count = study->designs.count, .get = get_larger, .context = &context};
        calc_sweep_more_item *item = &out->item[out->count++];
        calc_resource_text(&system, i, true, item->text);
        calc_sweep_found_run(&with, best, &found);
        item->same = found.stats;
        item->found = false;
        status = again ? sweep_again(item, &with, errors) : CALC_OK;
    }
    return status;
}

/* ---- Where nothing fits ---------------------------------------------------------------------- */

/* The designs of a study with a first tier as large as any layout may need. */
static void get_roomy(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const calc_designs *designs = context;
    designs->get(designs->context, index, app, system);
    system->chip.mem1.capacity_bytes *= 1e6;
}

static calc_status find_least(calc_sweep_need *out, const calc_sweep_study *study,
                              calc_errors *errors)
{
    calc_sweep_study with = *study;
    calc_found least;
    with.designs =
        (calc_designs){.count = study->designs.count, .get = get_roomy, .context = &study->designs};
    calc_status status = calc_objective_parse(&with.options.top_by, "mem1", errors);
    if (status == CALC_OK) {
        status = calc_sweep_found_search(&with, false, NULL, &out->known, &least, errors);
    }
    if (status == CALC_OK && out->known) {
        calc_sweep_found_run(study, &least, &out->least);
    }
    return status;
}

const calc_axis calc_sweep_need_axes[] = {CALC_AXIS_activation_recompute,
                                          CALC_AXIS_optimizer_offload, CALC_AXIS_weight_offload,
                                          CALC_AXIS_activations_offload, (calc_axis)0};

bool calc_sweep_need_has(const calc_sweep_need *need, const calc_space *space, calc_axis axis)
{
    return calc_space_has(space, axis, calc_axis_get(&need->sparing.exec, axis));
}

static calc_status find_sparing(calc_sweep_need *out, const calc_sweep_study *study,
                                calc_errors *errors)
{
    int64_t either[] = {false, true};
    int64_t recompute[] = {CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_sweep_study with = *study;
    calc_found best;
    for (size_t i = 0; calc_sweep_need_axes[i] > 0; i++) {
        calc_values *values = &with.space.axis[calc_sweep_need_axes[i]];
        if (values->standard) {
            values->value = i == 0 ? recompute : either;
            values->count = 2;
        }
    }
    calc_status status = calc_sweep_found_search(&with, false, NULL, &out->spares, &best, errors);
    if (out->spares) {
        calc_sweep_found_run(study, &best, &out->sparing);
    }
    return status;
}

static calc_status find_larger(calc_sweep_need *out, const calc_sweep_study *study,
                               calc_errors *errors)
{
    const calc_values *procs = &study->space.axis[CALC_AXIS_num_procs];
    calc_sweep_study with = *study;
    calc_status status = CALC_OK;
    bool found = false;
    for (int times = 2; times <= CALC_SWEEP_NEED_TIMES && !found && status == CALC_OK; times *= 2) {
        int64_t more = procs->value[procs->count - 1] * times;
        calc_found best;
        with.space.axis[CALC_AXIS_num_procs] = (calc_values){.count = 1, .value = &more};
        status = calc_sweep_found_search(&with, false, NULL, &found, &best, errors);
        if (found) {
            out->num_procs = more;
            calc_sweep_found_run(study, &best, &out->larger);
        }
    }
    return status;
}

calc_status calc_sweep_need_find(calc_sweep_need *out, const calc_sweep_study *study,
                                 const calc_sweep_result *result, calc_errors *errors)
{
    const calc_space *space = &study->space;
    *out = (calc_sweep_need){0};
    if (calc_sweep_found_best_of_all(result) || result->partial ||
        result->elapsed_s > CALC_SWEEP_MORE_LONGEST_S || study->options.constraints > 0 ||
        space->inference.phase != CALC_INFERENCE_PHASE_NONE ||
        space->axis[CALC_AXIS_num_procs].count == 0) {
        return CALC_OK;
    }
    calc_status status = find_least(out, study, errors);
    status = status == CALC_OK && out->known ? find_sparing(out, study, errors) : status;
    return status == CALC_OK && out->known ? find_larger(out, study, errors) : status;
}

/* ---- Where there is no layout at all --------------------------------------------------------- */

/* Powers of two that are tried for a size that nobody chose. */
enum { SIZES = 8 };

static void choose(calc_exec *exec, const calc_space *space, calc_axis axis)
{
    const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
    const calc_values *values = &space->axis[axis];
    if (field->type == CALC_TYPE_NOTE || field->type == CALC_TYPE_OBJECT) {
        return;
    }
    if (values->count > 0) {
        calc_axis_put(exec, axis, values->value[0]);
    } else if (field->flags & CALC_AUTO) {
        calc_automatic_set(exec, field);
    } else if (axis == CALC_AXIS_microbatch_size) {
        exec->microbatch_size = 1;
    } else if (axis == CALC_AXIS_datatype) {
        exec->strategy.datatype = CALC_DATATYPE_FLOAT16;
    }
}

/* The values of a size: its first one, or powers of two. @return how many */
static int sizes_of(const calc_values *values, int64_t size[SIZES])
{
    for (int i = 0; i < SIZES; i++) {
        size[i] = values->count > 0 ? values->value[0] : (int64_t)1 << i;
    }
    return values->count > 0 ? 1 : SIZES;
}

/* The errors of a layout. @return whether there are any */
static bool check(const calc_space *space, const calc_app *app, const calc_system *system,
                  calc_exec exec, calc_errors *errors)
{
    calc_resolve(app, system, &exec);
    int64_t shared = exec.strategy.data_par * exec.microbatch_size;
    if (space->batch_is_maximum && shared > 0 && exec.batch_size > shared) {
        exec.batch_size -= exec.batch_size % shared;
    }
    exec.batch_size *= space->batch_is_of_replica ? exec.strategy.data_par : 1;
    *errors = (calc_errors){0};
    if (calc_check(app, system, &exec, errors) != CALC_OK) {
        return true;
    }
    const char *refused = exec.inference.phase != CALC_INFERENCE_PHASE_NONE
                              ? calc_serving_engine_refuses(app, &exec)
                              : NULL;
    return refused &&
           calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/inference/engine",
                           "use engine none, or what it runs",
                           "this engine does not start such a layout: %s", refused) != CALC_OK;
}

bool calc_sweep_empty(const calc_sweep_study *study, calc_errors *errors)
{
    const calc_space *space = &study->space;
    calc_app app;
    calc_system system;
    calc_exec exec;
    study->designs.get(study->designs.context, 0, &app, &system);
    calc_space_optional(space, &exec);
    exec.inference = space->inference;
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        choose(&exec, space, (calc_axis)axis);
    }
    int64_t tensor[SIZES], pipeline[SIZES];
    int tensors = sizes_of(&space->axis[CALC_AXIS_tensor_par], tensor);
    int pipelines = sizes_of(&space->axis[CALC_AXIS_pipeline_par], pipeline);
    bool wrong = true;
    for (int i = 0; i < tensors * pipelines && wrong; i++) {
        calc_errors found;
        exec.strategy.tensor_par = tensor[i % tensors];
        exec.pipeline_par = pipeline[i / tensors];
        wrong = check(space, &app, &system, exec, &found);
        if (i == 0 || found.count < errors->count) {
            *errors = found;
        }
    }
    return wrong;
}
