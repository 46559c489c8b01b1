#include "model/operators/linear_mixers.h"

static double width_of(const calc_shape *s)
{
    return s->mixer == CALC_PART_TYPE_MAMBA1 ? s->value_size : s->value_heads * s->value_size;
}

double calc_linear_projection(const calc_shape *s)
{
    double width = width_of(s);
    double keys = s->key_heads * s->key_size;
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA1:
        return 2 * width;
    case CALC_PART_TYPE_MAMBA2:
        return 2 * width + 2 * keys + s->value_heads;
    case CALC_PART_TYPE_GATED_DELTA:
        return 2 * keys + 2 * width + 2 * s->value_heads;
    case CALC_PART_TYPE_KIMI_DELTA: /* low ranks of decay and gate */
        return 3 * width + s->value_heads + s->value_size + (s->low_rank > 0 ? s->low_rank : width);
    case CALC_PART_TYPE_LIGHTNING:
        return 4 * width;
    default:
        return 3 * s->hidden;
    }
}

double calc_linear_channels(const calc_shape *s)
{
    double keys = s->key_heads * s->key_size;
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA1:
        return s->value_size;
    case CALC_PART_TYPE_MAMBA2:
    case CALC_PART_TYPE_GATED_DELTA:
        return width_of(s) + 2 * keys;
    case CALC_PART_TYPE_KIMI_DELTA:
        return 3 * width_of(s);
    case CALC_PART_TYPE_SHORT_CONV:
        return s->hidden;
    default:
        return 0;
    }
}

double calc_linear_state(const calc_shape *s)
{
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA1:
    case CALC_PART_TYPE_MAMBA2:
    case CALC_PART_TYPE_GATED_DELTA:
        return width_of(s) * s->key_size;
    case CALC_PART_TYPE_KIMI_DELTA:
    case CALC_PART_TYPE_LIGHTNING:
        return width_of(s) * s->value_size;
    default:
        return 0;
    }
}

double calc_linear_flop(const calc_shape *s)
{
    double each = s->mixer == CALC_PART_TYPE_MAMBA1      ? 9
                  : s->mixer == CALC_PART_TYPE_MAMBA2    ? 7
                  : s->mixer == CALC_PART_TYPE_LIGHTNING ? 4
                                                         : 8;
    double convolution = 2 * s->conv * calc_linear_channels(s);
    return each * calc_linear_state(s) + convolution;
}

void calc_linear_mixer(calc_build *b)
{
    (void)b;
}
