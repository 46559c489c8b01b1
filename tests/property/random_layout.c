#include "random_layout.h"

#include <string.h>

#include "classic.h"

static int64_t between(calc_rng *rng, int64_t lo, int64_t hi)
{
    return lo + (int64_t)calc_rng_below(rng, (uint32_t)(hi - lo + 1));
}

static double real_between(calc_rng *rng, double lo, double hi)
{
    return lo + (hi - lo) * calc_rng_real(rng);
}

static bool coin(calc_rng *rng)
{
    return calc_rng_below(rng, 2) == 1;
}

static calc_curve random_curve(calc_rng *rng, double largest)
{
    calc_curve curve = {.count = between(rng, 1, 5)};
    for (int64_t i = 0; i < curve.count; i++) {
        curve.threshold[i] = largest;
        curve.efficiency[i] = real_between(rng, 0.05, 1);
        largest /= real_between(rng, 2, 50);
    }
    curve.threshold[curve.count - 1] = 0;
    return curve;
}

static calc_network_op random_op(calc_rng *rng)
{
    return (calc_network_op){0.5 * (double)between(rng, 2, 4), (double)between(rng, -1, 1)};
}

static void random_system(calc_rng *rng, calc_system *s)
{
    for (int type = 0; type < CLASSIC_DATATYPES; type++) {
        s->chip.matrix[type].flop_per_s = real_between(rng, 1e13, 2e15);
        s->chip.matrix[type].efficiency = random_curve(rng, 1e12);
        s->chip.vector[type].flop_per_s = real_between(rng, 1e12, 2e14);
        s->chip.vector[type].efficiency = random_curve(rng, 1e11);
    }
    s->chip.mem1.bytes_per_s = real_between(rng, 1e11, 8e12);
    s->chip.mem2.bytes_per_s = real_between(rng, 1e9, 1e12);
    s->chip.mem1.efficiency = random_curve(rng, 1e9);
    s->chip.mem2.efficiency = random_curve(rng, 1e9);
    s->chip.mem1.capacity_bytes = s->chip.mem2.capacity_bytes = 1e20;
    s->chip.processing_mode = (calc_processing_mode)calc_rng_below(rng, CALC_PROCESSING_MODE_COUNT);
    s->networks_count = between(rng, 1, 3);
    for (int64_t i = 0; i < s->networks_count; i++) {
        calc_network *n = &s->networks[i];
        n->bytes_per_s = real_between(rng, 1e9, 1e12);
        n->efficiency = real_between(rng, 0.1, 1);
        n->size = 1000000000;
        n->latency_s = coin(rng) ? 0 : real_between(rng, 1e-7, 1e-4);
        n->ops.p2p = (calc_network_op){real_between(rng, 1, 2), 0};
        n->ops.reduce_scatter = random_op(rng);
        n->ops.all_gather = random_op(rng);
        n->ops.all_reduce = random_op(rng);
        n->processor_usage = coin(rng) ? 0 : real_between(rng, 0, 0.5);
    }
}

static void random_parallel_sizes(calc_rng *rng, const calc_app *app, const calc_system *system,
                                  int64_t tensor_par, calc_exec *e)
{
    e->strategy.tensor_par = tensor_par;
    e->pipeline_par = coin(rng) ? 1 : between(rng, 1, app->num_blocks);
    e->strategy.data_par = coin(rng) ? 1 : between(rng, 2, 64);
    e->num_procs = e->strategy.tensor_par * e->pipeline_par * e->strategy.data_par;
    int64_t last = system->networks_count - 1;
    e->strategy.tensor_par_net = between(rng, 0, last);
    e->pipeline_par_net = between(rng, 0, last);
    e->strategy.data_par_net = between(rng, 0, last);
    e->microbatch_size = between(rng, 1, 8);
    e->batch_size =
        e->strategy.data_par * e->microbatch_size * between(rng, 1, 3 * e->pipeline_par);
}

/* A divisor of n, any of them as likely as another, or almost. */
static int64_t random_divisor(calc_rng *rng, int64_t n)
{
    int64_t divisor = between(rng, 1, n);
    while (n % divisor != 0) {
        divisor--;
    }
    return divisor;
}

static void random_modes(calc_rng *rng, const calc_app *app, calc_exec *e)
{
    int64_t blocks_per_proc = (app->num_blocks + e->pipeline_par - 1) / e->pipeline_par;
    e->training = calc_rng_below(rng, 4) > 0;
    e->strategy.datatype = (calc_datatype)calc_rng_below(rng, CLASSIC_DATATYPES);
    e->strategy.fused_activation = coin(rng);
    e->strategy.attention_type =
        coin(rng) ? CALC_ATTENTION_TYPE_MULTIHEAD : CALC_ATTENTION_TYPE_MULTIQUERY;
    if (e->training && calc_rng_below(rng, 3) == 0) {
        e->strategy.activation_recompute =
            coin(rng) ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    }
    e->pipeline_interleaving = e->pipeline_par == 1 ? 1 : random_divisor(rng, blocks_per_proc);
    if (e->pipeline_interleaving > 1) { /* whole rounds */
        int64_t round = e->strategy.data_par * e->microbatch_size * e->pipeline_par;
        e->batch_size = (e->batch_size + round - 1) / round * round;
    }
    e->strategy.optimizer_sharding = e->strategy.data_par > 1 && coin(rng);
    e->strategy.tensor_par_comm_type =
        (calc_tensor_par_comm_type)calc_rng_below(rng, CALC_TENSOR_PAR_COMM_TYPE_COUNT);
    if (e->strategy.tensor_par > 1) {
        e->strategy.tensor_par_overlap =
            (calc_tensor_par_overlap)calc_rng_below(rng, CLASSIC_OVERLAPS);
    }
    e->strategy.seq_par_ag_redo =
        e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG &&
        e->strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL && coin(rng);
    e->strategy.data_par_overlap = e->strategy.data_par > 1 && e->training && coin(rng);
    if (blocks_per_proc >= 3) {
        e->strategy.weight_offload = coin(rng);
        e->strategy.activations_offload = coin(rng);
        e->strategy.optimizer_offload = e->training && coin(rng);
    }
}

void calc_random_layout_make(calc_rng *rng, calc_random_layout *out)
{
    static const int64_t tensor_pars[] = {1, 1, 2, 3, 4, 8, 16};
    int64_t tensor_par = tensor_pars[calc_rng_below(rng, sizeof tensor_pars / sizeof *tensor_pars)];
    memset(out, 0, sizeof *out);
    out->app = (calc_app){
        .hidden = tensor_par * between(rng, 8, 2048),
        .feedforward = tensor_par * between(rng, 8, 8192),
        .seq_size = 48 * between(rng, 1, 170), /* a multiple of every tensor_par */
        .attn_heads = tensor_par * between(rng, 1, 16),
        .attn_size = between(rng, 8, 256),
        .num_blocks = between(rng, 1, 128),
    };
    out->exec = (calc_exec){CLASSIC_EXEC};
    random_system(rng, &out->system);
    random_parallel_sizes(rng, &out->app, &out->system, tensor_par, &out->exec);
    random_modes(rng, &out->app, &out->exec);
}
