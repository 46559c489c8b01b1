#include "spec/format.h"

double calc_datatype_bytes(calc_datatype datatype)
{
    switch (datatype) {
    case CALC_DATATYPE_FLOAT8:
        return 1;
    case CALC_DATATYPE_FLOAT32:
        return 4;
    default:
        return 2;
    }
}

double calc_format_bytes(calc_format format)
{
    switch (format) {
    case CALC_FORMAT_FLOAT4:
        return 0.5 + 1.0 / 16;
    case CALC_FORMAT_FLOAT8:
        return 1;
    case CALC_FORMAT_FLOAT16:
    case CALC_FORMAT_BFLOAT16:
        return 2;
    case CALC_FORMAT_FLOAT32:
        return 4;
    default:
        return 0;
    }
}

double calc_format_bytes_or(calc_format format, double otherwise)
{
    return format == CALC_FORMAT_AUTO ? otherwise : calc_format_bytes(format);
}

double calc_format_frozen_bytes(calc_frozen_datatype format, double otherwise)
{
    switch (format) {
    case CALC_FROZEN_DATATYPE_NF4_DOUBLE:
        return 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
    case CALC_FROZEN_DATATYPE_NF4:
        return 0.5 + 4.0 / 64;
    case CALC_FROZEN_DATATYPE_FLOAT4:
        return calc_format_bytes(CALC_FORMAT_FLOAT4);
    case CALC_FROZEN_DATATYPE_INT8:
    case CALC_FROZEN_DATATYPE_FLOAT8:
        return 1;
    case CALC_FROZEN_DATATYPE_FLOAT16:
    case CALC_FROZEN_DATATYPE_BFLOAT16:
        return 2;
    case CALC_FROZEN_DATATYPE_FLOAT32:
        return 4;
    default:
        return otherwise;
    }
}

bool calc_format_is_widened(const calc_strategy *s)
{
    switch (s->frozen_datatype) {
    case CALC_FROZEN_DATATYPE_NF4_DOUBLE:
    case CALC_FROZEN_DATATYPE_NF4:
    case CALC_FROZEN_DATATYPE_INT8:
        return true;
    case CALC_FROZEN_DATATYPE_FLOAT4:
        return s->matrix_datatype != CALC_FORMAT_FLOAT4;
    case CALC_FROZEN_DATATYPE_FLOAT8:
        return calc_format_datatype(s->matrix_datatype, s->datatype) != CALC_DATATYPE_FLOAT8;
    default:
        return false;
    }
}

calc_format calc_format_stored(const calc_strategy *s)
{
    bool narrowed =
        s->activation_datatype == CALC_FORMAT_AUTO && s->memory_model == CALC_MEMORY_MODEL_MEGATRON;
    return narrowed ? s->matrix_datatype : s->activation_datatype;
}

calc_datatype calc_format_datatype(calc_format format, calc_datatype otherwise)
{
    switch (format) {
    case CALC_FORMAT_FLOAT4:
        return CALC_DATATYPE_FLOAT4;
    case CALC_FORMAT_FLOAT8:
        return CALC_DATATYPE_FLOAT8;
    case CALC_FORMAT_FLOAT16:
        return CALC_DATATYPE_FLOAT16;
    case CALC_FORMAT_BFLOAT16:
        return CALC_DATATYPE_BFLOAT16;
    case CALC_FORMAT_FLOAT32:
        return CALC_DATATYPE_FLOAT32;
    default:
        return otherwise;
    }
}

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
