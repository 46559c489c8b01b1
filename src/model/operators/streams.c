#include "model/operators/transformer.h"

void calc_streams_sub_layer(calc_build *b, const char *name)
{
    const calc_shape *s = b->shape;
    double n = s->streams;
    double elements = b->kept * s->hidden;
    double bytes = elements * s->element_bytes;
    if (s->residual == CALC_RESIDUAL_TYPE_HYPER) {
        calc_operator *o =
            calc_build_vector(b, name, 0, n * elements, 4 * n * bytes, 8 * n * bytes);
        o->flop[CALC_PASS_FW] = 2 * (n * n + 2 * n) * n * elements;
        o->flop[CALC_PASS_AGRAD] = 2 * o->flop[CALC_PASS_FW];
        o->launches[CALC_PASS_FW] = 3;
        o->launches[CALC_PASS_AGRAD] = 6;
        o->weights = (n * n + 2 * n) * (n * s->hidden + 1) + 3;
        calc_build_keep(o, n * bytes, CALC_RECOMPUTE_ALL);
    } else if (s->residual == CALC_RESIDUAL_TYPE_ALTUP) {
        calc_operator *o =
            calc_build_vector(b, name, 0, n * elements, 2 * n * bytes, 4 * n * bytes);
        o->flop[CALC_PASS_FW] = (n * n + n) * elements + 2 * s->residual_rank * elements;
        o->flop[CALC_PASS_AGRAD] = 2 * o->flop[CALC_PASS_FW];
        o->weights =
            (n * n + n * n * n + n * s->hidden + 3 * s->hidden + 2 * s->hidden * s->residual_rank) /
            2;
        calc_build_keep(o, n / 2 * bytes, CALC_RECOMPUTE_ALL);
    } else if (s->residual == CALC_RESIDUAL_TYPE_ATTENTION) {
        double snapshots = s->blocks / n / 2;
        calc_operator *o =
            calc_build_vector(b, name, 0, elements, snapshots * bytes, 2 * snapshots * bytes);
        o->flop[CALC_PASS_FW] = 4 * snapshots * elements;
        o->flop[CALC_PASS_AGRAD] = 8 * snapshots * elements;
        o->weights = 2 * s->hidden;
        calc_build_keep(o, bytes / n, CALC_RECOMPUTE_ALL);
    }
}

void calc_streams_end(calc_build *b, bool begin)
{
    const calc_shape *s = b->shape;
    double n = s->streams;
    double bytes = b->kept * s->hidden * s->element_bytes;
    if (s->residual == CALC_RESIDUAL_TYPE_ALTUP) {
        calc_operator *o = calc_build_matrix(b, "streams projection", CALC_OPERATOR_MATRIX, 0,
                                             b->kept, s->hidden, (n - 1) * s->hidden, 1);
        calc_build_keep(o, (begin ? 1 : n - 1) * bytes, CALC_RECOMPUTE_ALL);
    } else if (!begin && (s->residual == CALC_RESIDUAL_TYPE_HYPER ||
                          s->residual == CALC_RESIDUAL_TYPE_ATTENTION)) {
        bool hyper = s->residual == CALC_RESIDUAL_TYPE_HYPER;
        double read = hyper ? n : s->blocks / n;
        calc_operator *o = calc_build_vector(b, "streams sum", 0, read * b->kept * s->hidden,
                                             (read + 1) * bytes, (2 * read + 1) * bytes);
        o->flop[CALC_PASS_FW] = 2 * read * (hyper ? n : 1) * b->kept * s->hidden;
        o->flop[CALC_PASS_AGRAD] = 2 * o->flop[CALC_PASS_FW];
        o->weights = hyper ? n * n * s->hidden + n + 1 : 2 * s->hidden;
        calc_build_keep(o, hyper ? n * bytes : bytes, CALC_RECOMPUTE_ALL);
    }
}
