#include "io/json_lists.h"

#include "io/json_layers.h"
#include "io/json_stages.h"

void calc_json_lists_clear(calc_exec *exec)
{
    exec->stages = (calc_stage_list){0};
    exec->layers = (calc_layer_list){0};
}

void calc_json_lists_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          calc_exec *exec)
{
    if (field->flags & CALC_STAGES) {
        calc_json_stages_bind(report, value, exec);
    } else {
        calc_json_layers_bind(report, value, exec);
    }
}

void calc_json_lists_take(const calc_field *field, calc_exec *exec)
{
    if (field->flags & CALC_STAGES) {
        exec->stages = (calc_stage_list){0};
    } else {
        exec->layers = (calc_layer_list){0};
    }
}

bool calc_json_lists_put(calc_put *put, const calc_field *field, const void *object)
{
    const calc_exec *exec = object;
    if (!calc_json_is_list(field)) {
        return false;
    }
    if (field->flags & CALC_STAGES && exec->stages.count > 0) {
        calc_json_stages_put(put, field->key, &exec->stages);
    } else if (field->flags & CALC_LAYERS && exec->layers.count > 0) {
        calc_json_layers_put(put, field->key, &exec->layers);
    }
    return true;
}
