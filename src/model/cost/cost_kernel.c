#include "model/cost/cost_kernel.h"

#include <math.h>

#include "model/cost/kernel_lookup.h"
#include "model/cost/pass_kernel.h"
#include "model/operators/processor.h"
#include "spec/format.h"

/* The matrix engine in the datatype of what is never narrow. */
static const calc_engine *wide(const calc_cost_context *c)
{
    return &c->chip->matrix[c->strategy->datatype];
}

static double sustained(const calc_cost_context *c)
{
    return calc_share_or(c->chip->sustained, 1);
}

/* Flash attention: its own share of the peak, or the matrix engine's curve. */
static calc_cost_kernel attention_of(const calc_cost_context *c, const calc_operator *o,
                                     calc_pass pass)
{
    const calc_attention_rates *rates = &c->chip->attention;
    double own = pass == CALC_PASS_FW ? rates->fw_efficiency : rates->bw_efficiency;
    double generic = c->strategy->attention_kernel == CALC_ATTENTION_KERNEL_GENERIC
                         ? calc_share_or(rates->generic_efficiency, 1)
                         : 1;
    const calc_engine *inside =
        &c->chip
             ->matrix[calc_format_datatype(c->strategy->attention_datatype, c->strategy->datatype)];
    double flop_s = own > 0 ? o->work[pass] / (wide(c)->flop_per_s * own)
                            : calc_engine_s(inside, o->flop[pass]);
    calc_cost_kernel k = {flop_s / (generic * sustained(c)),
                          calc_memory_tier_s(&c->chip->mem1, o->bytes[pass]), 0};
    k.all_s = calc_max(k.flop_s, k.mem_s) + rates->launch_s * o->launches[pass];
    return k;
}

/* Bytes that rows of this width let a thread read at once, of the 16 it can: 16, 8, 4 or less. */
static double read_share(double row_bytes)
{
    return fmod(row_bytes, 16) == 0  ? 1
           : fmod(row_bytes, 8) == 0 ? 1.0 / 2
           : fmod(row_bytes, 4) == 0 ? 1.0 / 4
                                     : 1.0 / 8;
}

/* Batched multiplications are as fast as their operands arrive: heads whose rows are no multiple of
 * 16 bytes are read in smaller pieces (docs/model.md, Attention). */
static double aligned_rate(const calc_cost_context *c)
{
    const calc_shape *s = c->shape;
    return fmin(read_share(s->qk_size * s->element_bytes),
                read_share(s->v_size * s->element_bytes));
}

static double permute_s(const calc_cost_context *c, double bytes)
{
    const calc_memory_tier *memory = &c->chip->mem1;
    double own = c->chip->permute_efficiency;
    return own > 0 ? bytes / (memory->bytes_per_s * own) : calc_memory_tier_s(memory, bytes);
}

/* Without measured kernels; of operators that are neither attention nor permutation. */
static inline calc_cost_kernel other_of(const calc_cost_context *c, const calc_operator *o,
                                        calc_pass pass)
{
    const calc_launch *launch = &c->chip->launch;
    calc_processing_mode mode = c->chip->processing_mode;
    double unfused = c->chip->attention.unfused_efficiency;
    double flop = o->flop[pass];
    double mem_s = calc_memory_tier_s(&c->chip->mem1, o->bytes[pass]);
    double flop_s;
    double all_s;
    switch (o->kind) {
    case CALC_OPERATOR_COLLECTIVE:
    case CALC_OPERATOR_LAYER:
        flop_s = calc_engine_s(c->vector, flop) / sustained(c);
        all_s = calc_processing_s(mode, flop_s, mem_s);
        break;
    case CALC_OPERATOR_VECTOR:
        flop_s = calc_engine_s(c->vector, flop) / sustained(c);
        all_s = calc_max(flop_s, mem_s) + launch->vector_s * o->launches[pass];
        break;
    case CALC_OPERATOR_SCORES:
        flop_s =
            unfused > 0 ? flop / (wide(c)->flop_per_s * unfused) : calc_engine_s(wide(c), flop);
        flop_s /= sustained(c) * aligned_rate(c);
        all_s = flop_s + mem_s + launch->vector_s * o->launches[pass];
        break;
    case CALC_OPERATOR_GROUPED:
        /* Arithmetic and the experts' weights follow one another: the sum is nearer than the
         * larger (measured on 108 shapes, docs/model.md). */
        flop_s = calc_engine_s(c->matrix, flop) / c->matrix_rate;
        flop_s /= calc_share_or(c->chip->grouped.efficiency, 1);
        all_s = (c->chip->grouped.processing_mode == CALC_GROUPED_MODE_ROOFLINE
                     ? calc_max(flop_s, mem_s)
                     : flop_s + mem_s) +
                launch->matrix_s * o->launches[pass];
        break;
    default:
        flop_s = o->kind == CALC_OPERATOR_HEAD ? calc_engine_s(wide(c), flop) / sustained(c)
                                               : calc_engine_s(c->matrix, flop) / c->matrix_rate;
        all_s = calc_processing_s(mode, flop_s, mem_s) + launch->matrix_s * o->launches[pass];
    }
    return (calc_cost_kernel){flop_s, mem_s, all_s};
}

static inline calc_cost_kernel model_of(const calc_cost_context *c, const calc_operator *o,
                                        calc_pass pass)
{
    if (c->serving) {
        calc_cost_kernel served;
        if (calc_pass_kernel_of(c, o, &served)) {
            return served;
        }
    }
    if (o->kind == CALC_OPERATOR_ATTENTION) {
        return o->flop[pass] > 0 ? attention_of(c, o, pass) : (calc_cost_kernel){0, 0, 0};
    }
    if (o->kind == CALC_OPERATOR_PERMUTE) {
        double mem_s = permute_s(c, o->bytes[pass]);
        return (calc_cost_kernel){0, mem_s, mem_s + c->chip->launch.vector_s * o->launches[pass]};
    }
    return other_of(c, o, pass);
}

calc_cost_kernel calc_cost_kernel_model(const calc_cost_context *c, const calc_operator *o,
                                        calc_pass pass)
{
    return model_of(c, o, pass);
}

bool calc_cost_kernel_alike(const calc_cost_context *a, const calc_cost_context *b)
{
    const calc_strategy *s = a->strategy;
    const calc_strategy *t = b->strategy;
    return a->chip == b->chip && a->training == b->training && a->matrix == b->matrix &&
           a->vector == b->vector && a->matrix_rate == b->matrix_rate && !a->measured &&
           !b->measured && !a->serving && !b->serving && s->datatype == t->datatype &&
           s->attention_datatype == t->attention_datatype &&
           s->attention_kernel == t->attention_kernel && a->shape->qk_size == b->shape->qk_size &&
           a->shape->v_size == b->shape->v_size &&
           a->shape->element_bytes == b->shape->element_bytes;
}

calc_cost_kernel calc_cost_kernel_of(const calc_cost_context *c, const calc_operator *o,
                                     calc_pass pass, calc_kernel_source *source)
{
    calc_cost_kernel k = model_of(c, o, pass);
    *source = CALC_KERNEL_ROOFLINE;
    if (c->measured && k.all_s > 0 && o->kind != CALC_OPERATOR_COLLECTIVE) {
        k.all_s = calc_kernel_lookup_s(c, o, pass, k.all_s, source);
    }
    return k;
}

double calc_cost_kernel_from(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                             calc_kernel_source *source)
{
    return calc_cost_kernel_of(c, o, pass, source).all_s;
}

double calc_cost_kernel_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass)
{
    calc_kernel_source source;
    return calc_cost_kernel_of(c, o, pass, &source).all_s;
}
