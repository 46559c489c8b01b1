#include "model/cost/kernel_lookup.h"

#include <math.h>

#include "model/operators/build.h"
#include "model/operators/processor.h"
#include "spec/format.h"

/* The multiplication behind an operator: (rows x inner) times (inner x columns). */
typedef struct product {
    double rows, inner, columns;
} product;

static product product_of(const calc_operator *o)
{
    double flop = o->flop[CALC_PASS_FW];
    double inner = flop / (2 * o->outputs);
    return (product){o->inputs / inner, inner, flop / (2 * o->inputs)};
}

/* Sizes of the multiplication that the pass itself is. */
static void matrix_key(const calc_operator *o, calc_pass pass, calc_kernel_key *key)
{
    product p = product_of(o);
    key->kind = CALC_KERNEL_MATRIX;
    double m = pass == CALC_PASS_WGRAD ? p.columns : p.rows;
    double k = pass == CALC_PASS_FW ? p.inner : pass == CALC_PASS_AGRAD ? p.columns : p.rows;
    double n = pass == CALC_PASS_FW ? p.columns : p.inner;
    calc_kernel_key_sizes(key, (double[]){m, k, n, 1}, 4);
}

static double groups_of(const calc_cost_context *c, const calc_operator *o, const product *p)
{
    double bias = c->shape->bias ? p->columns : 0;
    return o->kind == CALC_OPERATOR_GROUPED ? o->weights / (p->inner * p->columns + bias) : 1;
}

static void attention_key(const calc_cost_context *c, calc_kernel_key *key)
{
    const calc_shape *s = c->shape;
    bool whole = s->context_par <= 1 && s->window <= 0 && !s->stack &&
                 c->strategy->attention_kernel != CALC_ATTENTION_KERNEL_GENERIC;
    key->kind = CALC_KERNEL_ATTENTION;
    key->variant = s->causal;
    /* An infinite size is near nothing. */
    calc_kernel_key_sizes(key,
                          (double[]){whole ? s->microbatch : INFINITY, s->seq, s->local_heads,
                                     s->local_kv_heads, s->qk_size, s->v_size},
                          6);
}

/* @return false for passes never measured as one kernel */
static bool kernel_key(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                       calc_kernel_key *key)
{
    const calc_strategy *s = c->strategy;
    bool wide = o->kind == CALC_OPERATOR_HEAD || o->kind == CALC_OPERATOR_ATTENTION;
    *key = (calc_kernel_key){
        .pass = (int)pass,
        .datatype =
            (int)(wide ? s->datatype : calc_format_datatype(s->matrix_datatype, s->datatype))};
    /* An operator of an adapter is several kernels; weights that are not trained may be widened. */
    if (o->adapter || o->frozen_bytes > 0) {
        return false;
    }
    switch (o->kind) {
    case CALC_OPERATOR_MATRIX:
    case CALC_OPERATOR_HEAD:
    case CALC_OPERATOR_GROUPED:
        key->variant = pass == CALC_PASS_WGRAD ? (int)c->shape->grad_bytes : 0;
        if (o->kind == CALC_OPERATOR_GROUPED) {
            product p = product_of(o);
            double groups = groups_of(c, o, &p);
            key->kind = CALC_KERNEL_GROUPED;
            calc_kernel_key_sizes(key, (double[]){groups, p.rows / groups, p.columns, p.inner}, 4);
        } else {
            matrix_key(o, pass, key);
        }
        return o->flop[pass] > 0;
    case CALC_OPERATOR_ATTENTION:
        attention_key(c, key);
        return o->flop[pass] > 0;
    case CALC_OPERATOR_VECTOR:
        *key = (calc_kernel_key){.kind = CALC_KERNEL_MEMORY};
        calc_kernel_key_sizes(key, &o->bytes[pass], 1);
        return o->bytes[pass] > 0;
    default:
        return false;
    }
}

/* Time to convert operands of a pass to a narrow format: traffic beyond the plain matrix. */
static double quantize_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass)
{
    bool narrow = calc_operator_narrowed(o) && c->shape->matrix_bytes < c->shape->element_bytes;
    if (!narrow || pass == CALC_PASS_WGRAD) {
        return 0;
    }
    calc_operator plain;
    product p = product_of(o);
    const calc_recipe recipe = {.shape = c->shape, .strategy = c->strategy};
    calc_build b = calc_build_start(&recipe, &plain);
    calc_build_matrix(&b, o->name, o->kind, 0, p.rows, p.inner, p.columns, groups_of(c, o, &p));
    return calc_memory_tier_s(&c->chip->mem1, calc_max(0, o->bytes[pass] - plain.bytes[pass]));
}

bool calc_kernel_lookup_key(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                            calc_kernel_key *key, double *beside_s)
{
    bool has = kernel_key(c, o, pass, key);
    *beside_s = has ? quantize_s(c, o, pass) : 0;
    return has;
}

double calc_kernel_lookup_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                            double model_s, calc_kernel_source *source)
{
    calc_kernel_key key;
    double beside_s;
    *source = CALC_KERNEL_ROOFLINE;
    if (!calc_kernel_lookup_key(c, o, pass, &key, &beside_s)) {
        return model_s;
    }
    double kernel_s = model_s - beside_s;
    double found_s = calc_kernel_table_s(c->measured, &key, kernel_s, source);
    return found_s == kernel_s ? model_s : found_s + beside_s;
}

double calc_kernel_lookup_link_s(const calc_cost_context *c, calc_collective_op op,
                                 const calc_group *group, double bytes, double model_s,
                                 calc_kernel_source *source)
{
    bool message = op == CALC_OP_P2P;
    int64_t network = group->stride > 0 ? 0 : group->network;
    /* On one network alone: neighbours are as far apart as the network below connects. */
    double apart = network > 0 ? (double)c->system->networks[network - 1].size : 1;
    calc_kernel_key key = {.kind = CALC_KERNEL_COLLECTIVE, .variant = (int)op};
    calc_kernel_key_sizes(
        &key,
        (double[]){bytes, message ? 2 : group->ranks, group->stride > 0 ? group->stride : apart},
        3);
    *source = CALC_KERNEL_ROOFLINE;
    return model_s > 0 ? calc_kernel_table_s(c->measured, &key, model_s, source) : model_s;
}
