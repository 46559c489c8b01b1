#include "model/cost/cost_kernel.h"

#include <math.h>

#include "model/cost/kernel_lookup.h"
#include "model/operators/processor.h"
#include "spec/format.h"

/* The matrix engine in the datatype of operators that are never narrow. */
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

/* Attention with stored scores. */
static calc_cost_kernel scores_of(const calc_cost_context *c, const calc_operator *o,
                                  calc_pass pass)
{
    double unfused = c->chip->attention.unfused_efficiency;
    double flop = o->flop[pass];
    double mem_s = calc_memory_tier_s(&c->chip->mem1, o->bytes[pass]);
    double flop_s =
        unfused > 0 ? flop / (wide(c)->flop_per_s * unfused) : calc_engine_s(wide(c), flop);
    /* Batched multiplications are as fast as their operands arrive: heads whose rows are no
     * multiple of 16 bytes are read in smaller pieces (docs/model.md, Attention). */
    flop_s /= sustained(c) * fmin(read_share(c->shape->qk_size * c->shape->element_bytes),
                                  read_share(c->shape->v_size * c->shape->element_bytes));
    return (calc_cost_kernel){flop_s, mem_s,
                              flop_s + mem_s + c->chip->launch.vector_s * o->launches[pass]};
}

/* Chunks of a sequence follow one another, for this long each where the machine says nothing: 2.3
 * to 2.9 us of kernels on three machines, with and without states in memory (docs/models.md). */
#define CHUNK_S 2.8e-6

/* Convolution and recurrence of a linear mixer: the slower of the vector engine and the memory, but
 * no sequence sooner than its chunks have passed. */
static calc_cost_kernel scan_of(const calc_cost_context *c, const calc_operator *o, calc_pass pass)
{
    const calc_recurrence_rates *own = &c->chip->recurrence;
    double work = o->work[pass];
    double chunk_s = calc_share_or(own->chunk_s, CHUNK_S);
    double flop_s = own->efficiency > 0 ? work / (c->vector->flop_per_s * own->efficiency)
                                        : calc_engine_s(c->vector, work);
    double steps_s = o->steps[pass] * chunk_s / sustained(c);
    calc_cost_kernel k = {flop_s / sustained(c), calc_memory_tier_s(&c->chip->mem1, o->bytes[pass]),
                          0};
    double busy_s = calc_max(k.flop_s, k.mem_s);
    k.all_s = calc_together_s(steps_s, busy_s) + c->chip->launch.vector_s * o->launches[pass];
    return k;
}

/* How the other kinds of operators take their time. */
typedef struct usual {
    const calc_engine *engine;
    double rate;    /* a factor on the engine */
    double grouped; /* and another */
    calc_processing_mode mode;
    double launch_s;
} usual;

static inline usual usual_of(const calc_cost_context *c, calc_operator_kind kind)
{
    const calc_chip *chip = c->chip;
    const calc_launch *launch = &chip->launch;
    switch (kind) {
    case CALC_OPERATOR_COLLECTIVE:
    case CALC_OPERATOR_LAYER:
        return (usual){c->vector, sustained(c), 1, chip->processing_mode, 0};
    case CALC_OPERATOR_VECTOR:
        return (usual){c->vector, sustained(c), 1, CALC_PROCESSING_MODE_ROOFLINE, launch->vector_s};
    case CALC_OPERATOR_GROUPED:
        /* Arithmetic and the experts' weights follow one another: the sum is nearer than the
         * larger (measured on 108 shapes, docs/model.md). */
        return (usual){c->matrix, c->matrix_rate, calc_share_or(chip->grouped.efficiency, 1),
                       chip->grouped.processing_mode == CALC_GROUPED_MODE_ROOFLINE
                           ? CALC_PROCESSING_MODE_ROOFLINE
                           : CALC_PROCESSING_MODE_NO_OVERLAP,
                       launch->matrix_s};
    case CALC_OPERATOR_HEAD:
        return (usual){wide(c), sustained(c), 1, chip->processing_mode, launch->matrix_s};
    default:
        return (usual){c->matrix, c->matrix_rate, 1, chip->processing_mode, launch->matrix_s};
    }
}

/* Most factors are 1: a branch takes less than a division. */
static inline double over(double time_s, double factor)
{
    return factor < 1 || factor > 1 ? time_s / factor : time_s;
}

/* Kinds that usual_of() does not know. */
static bool special(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                    calc_cost_kernel *out)
{
    if (c->serving && calc_pass_kernel_of(c, o, out)) {
        return true;
    }
    switch (o->kind) {
    case CALC_OPERATOR_ATTENTION:
        *out = o->flop[pass] > 0 ? attention_of(c, o, pass) : (calc_cost_kernel){0, 0, 0};
        return true;
    case CALC_OPERATOR_SCORES:
        *out = scores_of(c, o, pass);
        return true;
    case CALC_OPERATOR_PERMUTE: {
        const calc_memory_tier *memory = &c->chip->mem1;
        double own = c->chip->permute_efficiency;
        double mem_s = own > 0 ? o->bytes[pass] / (memory->bytes_per_s * own)
                               : calc_memory_tier_s(memory, o->bytes[pass]);
        *out = (calc_cost_kernel){0, mem_s, mem_s + c->chip->launch.vector_s * o->launches[pass]};
        return true;
    }
    case CALC_OPERATOR_SCAN:
        *out = scan_of(c, o, pass);
        return true;
    default:
        return false;
    }
}

calc_cost_kernel calc_cost_kernel_model(const calc_cost_context *c, const calc_operator *o,
                                        calc_pass pass)
{
    calc_cost_kernel k;
    if (!special(c, o, pass, &k)) {
        const usual u = usual_of(c, o->kind);
        k.flop_s = over(over(calc_engine_s(u.engine, o->flop[pass]), u.rate), u.grouped);
        k.mem_s = calc_memory_tier_s(&c->chip->mem1, o->bytes[pass]);
        k.all_s = calc_processing_s(u.mode, k.flop_s, k.mem_s) + u.launch_s * o->launches[pass];
    }
    return k;
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
    calc_cost_kernel k = calc_cost_kernel_model(c, o, pass);
    *source = CALC_KERNEL_ROOFLINE;
    if (c->measured && k.all_s > 0 && o->kind != CALC_OPERATOR_COLLECTIVE) {
        k.all_s = calc_kernel_lookup_s(c, o, pass, k.all_s, source);
    }
    return k;
}

void calc_cost_kernel_put(const calc_operator *o, calc_pass pass, const calc_cost_kernel *k,
                          calc_cost_times *out)
{
    bool counts = o->kind != CALC_OPERATOR_VECTOR && o->kind != CALC_OPERATOR_PERMUTE;
    out->work[pass] = (calc_cost_work){.flop = counts ? o->flop[pass] : 0,
                                       .flop_s = k->flop_s,
                                       .bytes = o->bytes[pass],
                                       .mem_s = k->mem_s};
    out->all_s[pass] = k->all_s;
}

void calc_cost_kernel_times(const calc_cost_context *c, const calc_operator *o, int passes,
                            calc_cost_times *out)
{
    for (calc_pass pass = CALC_PASS_FW; (int)pass < passes; pass++) {
        calc_kernel_source source;
        calc_cost_kernel k = calc_cost_kernel_of(c, o, pass, &source);
        calc_cost_kernel_put(o, pass, &k, out);
    }
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
