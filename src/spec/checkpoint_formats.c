#include "spec/checkpoint_formats.h"

#include "spec/format.h"

static bool multiplies(const calc_system *system, calc_datatype datatype)
{
    return system->chip.matrix[datatype].flop_per_s > 0;
}

void calc_checkpoint_formats_take(const calc_app *app, const calc_system *system, calc_exec *exec)
{
    const calc_checkpoint_formats *c = &app->checkpoint;
    calc_strategy *s = &exec->strategy;
    calc_inference *i = &exec->inference;
    const calc_system *pool = i->prefill_system.system;
    if (exec->training || i->phase == CALC_INFERENCE_PHASE_NONE) {
        return;
    }
    if (i->kv_datatype == CALC_FORMAT_AUTO) {
        i->kv_datatype = c->kv_datatype;
    }
    if (s->weight_datatype == CALC_FORMAT_AUTO) {
        s->weight_datatype = c->weight_datatype;
    }
    if (s->weight_datatype != c->weight_datatype) {
        return;
    }
    if (i->wide_attention == CALC_WIDE_ATTENTION_NONE) {
        i->wide_attention = c->wide_attention;
    }
    calc_datatype matrix = calc_format_datatype(c->matrix_datatype, s->datatype);
    if (s->matrix_datatype == CALC_FORMAT_AUTO && multiplies(system, matrix) &&
        (!pool || multiplies(pool, matrix))) {
        s->matrix_datatype = c->matrix_datatype;
    }
    if (s->matrix_datatype == c->matrix_datatype && s->scaling == CALC_SCALING_TENSOR) {
        s->scaling = c->scaling;
    }
}
