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

/* How numbers are stored: their bits, and those of the scale that a block of them shares. NVFP4 has
 * a scale of 8 bits for every 16, or others 16 bits for 32; NF4 one of 32 bits for 64, or of 8 bits
 * and another of 32 for every 256 of these; MXFP8 8 bits for 32, as much as 32 bits for 128. */
typedef struct stored_number {
    double bits, scale_bits, block;
} stored_number;

static double bytes_of(const stored_number *n)
{
    return (n->bits + n->scale_bits / n->block) / 8;
}

static const stored_number numbers[] = {
    [CALC_FORMAT_AUTO] = {0, 0, 1},      [CALC_FORMAT_FLOAT4] = {4, 8, 16},
    [CALC_FORMAT_FLOAT8] = {8, 0, 1},    [CALC_FORMAT_FLOAT16] = {16, 0, 1},
    [CALC_FORMAT_BFLOAT16] = {16, 0, 1}, [CALC_FORMAT_FLOAT32] = {32, 0, 1},
};

static const stored_number frozen[] = {
    [CALC_FROZEN_DATATYPE_NF4_DOUBLE] = {4, 8 + 32.0 / 256, 64},
    [CALC_FROZEN_DATATYPE_NF4] = {4, 32, 64},
    [CALC_FROZEN_DATATYPE_FLOAT4] = {4, 8, 16},
    [CALC_FROZEN_DATATYPE_INT8] = {8, 0, 1},
    [CALC_FROZEN_DATATYPE_FLOAT8] = {8, 0, 1},
    [CALC_FROZEN_DATATYPE_FLOAT16] = {16, 0, 1},
    [CALC_FROZEN_DATATYPE_BFLOAT16] = {16, 0, 1},
    [CALC_FROZEN_DATATYPE_FLOAT32] = {32, 0, 1},
};

double calc_format_bytes(calc_format format)
{
    return bytes_of(&numbers[format]);
}

double calc_format_bytes_or(calc_format format, double otherwise)
{
    return format == CALC_FORMAT_AUTO ? otherwise : calc_format_bytes(format);
}

double calc_format_scaled_bytes(calc_format format, bool blocks)
{
    static const stored_number mxfp8 = {8, 8, 32};
    return format == CALC_FORMAT_FLOAT8 && blocks ? bytes_of(&mxfp8) : calc_format_bytes(format);
}

double calc_format_weight_bytes(const calc_strategy *s, double otherwise)
{
    double bytes = calc_format_bytes_or(s->weight_datatype, otherwise);
    return s->weight_scale_bits > 0 && calc_format_bytes_or(s->weight_datatype, 2) < 2
               ? (numbers[s->weight_datatype].bits + s->weight_scale_bits) / 8
               : bytes;
}

double calc_format_frozen_bytes(calc_frozen_datatype format, double otherwise)
{
    return format == CALC_FROZEN_DATATYPE_AUTO ? otherwise : bytes_of(&frozen[format]);
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
    static const calc_datatype of[] = {
        [CALC_FORMAT_FLOAT4] = CALC_DATATYPE_FLOAT4,
        [CALC_FORMAT_FLOAT8] = CALC_DATATYPE_FLOAT8,
        [CALC_FORMAT_FLOAT16] = CALC_DATATYPE_FLOAT16,
        [CALC_FORMAT_BFLOAT16] = CALC_DATATYPE_BFLOAT16,
        [CALC_FORMAT_FLOAT32] = CALC_DATATYPE_FLOAT32,
    };
    return format == CALC_FORMAT_AUTO ? otherwise : of[format];
}

static bool multiplies(const calc_system *system, calc_datatype datatype)
{
    return !system || system->chip.matrix[datatype].flop_per_s > 0;
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
    if (s->weight_scale_bits == 0 && calc_format_bytes_or(s->weight_datatype, 2) < 2) {
        s->weight_scale_bits = c->weight_scale_bits;
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
