#include "model/layout_kernels.h"

#include <math.h>

#include "model/cost/block.h"
#include "model/cost/cost_kernel.h"
#include "model/cost/kernel_lookup.h"

/* A list under construction. */
typedef struct kernels {
    const calc_cost_context *context;
    unsigned recompute;
    double again; /* share of the blocks that recompute */
    calc_layout_kernel *out;
    size_t count;
} kernels;

static void put(kernels *k, bool keyed, const calc_kernel_key *key, double time_s)
{
    if (time_s > 0) {
        k->out[k->count++] = (calc_layout_kernel){keyed, *key, time_s};
    }
}

static void add_block(kernels *k, calc_block_kind kind, double blocks)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    size_t count = calc_block_operators(k->context, kind, operators);
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
            if (o->kind == CALC_OPERATOR_COLLECTIVE || !calc_operator_runs(o, pass)) {
                continue;
            }
            double again = pass == CALC_PASS_FW ? calc_operator_again(o, k->recompute) : 0;
            double times = blocks * (1 + again * k->again) * calc_operator_share(o);
            double time_s = calc_cost_kernel_s(k->context, o, pass);
            double beside_s;
            calc_kernel_key key = {0};
            bool keyed = calc_kernel_lookup_key(k->context, o, pass, &key, &beside_s);
            for (int n = 0; n < key.sizes; n++) {
                keyed = keyed && isfinite(key.log2_size[n]);
            }
            put(k, false, &key, times * beside_s);
            put(k, keyed, &key, times * (time_s - beside_s));
        }
    }
}

size_t calc_layout_kernels(const calc_app *app, const calc_system *system, const calc_exec *exec,
                           calc_layout_kernel *out)
{
    if (!exec->training) {
        return 0;
    }
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_cost_context context = calc_cost_context_of(system, exec, &shape, CALC_COMPAT_NONE);
    double again = (double)exec->recompute_blocks * (double)exec->pipeline_par;
    kernels k = {.context = &context,
                 .recompute = calc_operator_recompute(&exec->strategy, true),
                 .again = again > 0 ? fmin(1, again / shape.blocks) : 1,
                 .out = out};
    double moe = shape.moe_blocks;
    if (shape.blocks - moe > 0) {
        add_block(&k, CALC_DENSE_BLOCK, shape.blocks - moe);
    }
    if (moe > 0) {
        add_block(&k, CALC_MOE_BLOCK, moe);
    }
    return k.count;
}
