#include "plan/sweep_empty.h"

#include "base/error.h"
#include "spec/automatic.h"
#include "spec/field.h"
#include "spec/serving_program.h"

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
                              ? calc_serving_program_refuses(app, &exec)
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
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
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
