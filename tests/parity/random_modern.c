#include "random_modern.h"

#include <check.h>

static bool often(calc_rng *rng, uint32_t times_of_4)
{
    return calc_rng_below(rng, 4) < times_of_4;
}

static int64_t pick(calc_rng *rng, const int64_t *values, size_t count)
{
    return values[calc_rng_below(rng, (uint32_t)count)];
}
#define PICK(rng, ...)                                                                             \
    pick(rng, (const int64_t[]){__VA_ARGS__},                                                      \
         sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static double maybe_between(calc_rng *rng, double lo, double hi)
{
    double value = lo + (hi - lo) * calc_rng_real(rng);
    return often(rng, 2) ? value : 0;
}

/* ---- Applications ---------------------------------------------------------------------------- */

static void random_attention(calc_rng *rng, calc_app *app)
{
    if (often(rng, 2)) {
        app->kv_heads = app->attn_heads % 2 == 0 ? app->attn_heads / 2 : 1;
    } else if (often(rng, 1)) {
        app->kv_lora_rank = 32;
        app->q_lora_rank = PICK(rng, 0, 48);
        app->qk_nope_size = app->attn_size;
        app->qk_rope_size = 8;
        app->v_size = app->attn_size;
    }
    app->causal = often(rng, 3);
    if (app->causal && often(rng, 1)) {
        app->window_size = 1 + app->seq_size / 3;
        app->global_every = PICK(rng, 0, 2);
    }
}

static void random_experts(calc_rng *rng, calc_app *app)
{
    app->num_experts = PICK(rng, 2, 4, 6, 8);
    app->experts_per_token = PICK(rng, 1, 2);
    app->expert_feedforward = PICK(rng, 0, 1, 1) * app->feedforward / 2;
    app->shared_feedforward = PICK(rng, 0, 1) * app->feedforward / 2;
    app->dense_blocks = app->num_blocks > 2 ? PICK(rng, 0, 0, 1) : 0;
    app->moe_every = PICK(rng, 0, 1, 2);
}

void random_modern_app(calc_rng *rng, calc_app *app)
{
    app->structure_type =
        (calc_structure_type)PICK(rng, CALC_STRUCTURE_TYPE_GPT, CALC_STRUCTURE_TYPE_LLAMA);
    app->tied_embeddings = (calc_choice)calc_rng_below(rng, 3);
    app->vocab_size = PICK(rng, 0, 1000, 50000);
    app->mtp_blocks = often(rng, 1) ? 1 : 0;
    random_attention(rng, app);
    if (often(rng, 2)) {
        random_experts(rng, app);
    }
}

/* ---- Machines -------------------------------------------------------------------------------- */

/* Rates of serving, of some of the machines. */
static const calc_serving_rates served = {
    .matrix = {.memory_efficiency = 0.8, .fixed_s = 3e-6, .inner_s = 3e-10, .efficiency = 0.7},
    .decode = {.memory_efficiency = 0.9, .fixed_s = 1e-5, .growth_s = 3e-6},
    .prefill = {.memory_efficiency = 0.4, .efficiency = 0.7, .softmax_size = 200},
    .all_reduce = {.one_shot_efficiency = 0.6, .fixed_s = 4e-6, .two_shot_s = 3e-6},
    .collective = {.fixed_s = 4e-6, .doubling_s = 2e-6},
    .exchange = {.doubling_s = 5e-6},
};

void random_modern_system(calc_rng *rng, calc_system *s)
{
    s->chip.sustained = maybe_between(rng, 0.5, 1);
    s->chip.attention = (calc_attention_rates){.fw_efficiency = maybe_between(rng, 0.2, 0.8),
                                               .bw_efficiency = maybe_between(rng, 0.2, 0.8),
                                               .launch_s = maybe_between(rng, 0, 1e-5)};
    s->chip.grouped.efficiency = maybe_between(rng, 0.2, 1);
    s->chip.launch.matrix_s = maybe_between(rng, 0, 1e-5);
    s->chip.host = (calc_host){.block_s = maybe_between(rng, 0, 1e-3),
                               .moe_block_s = maybe_between(rng, 0, 1e-3),
                               .tensor_par_growth = maybe_between(rng, 0, 1)};
    s->chip.overlap = (calc_overlap_shares){.tensor_par_fused = maybe_between(rng, 0, 1),
                                            .tensor_par_async = maybe_between(rng, 0, 1),
                                            .data_par = maybe_between(rng, 0, 1),
                                            .expert_par = maybe_between(rng, 0, 1),
                                            .pipeline_par = maybe_between(rng, 0, 1),
                                            .contention = maybe_between(rng, 0, 0.5)};
    s->step_overhead_s = maybe_between(rng, 0, 0.01);
    s->straggler_growth = maybe_between(rng, 0, 0.1);
    s->chip.mem_fragmentation = maybe_between(rng, 0, 0.2);
    if (s->chip.launch.matrix_s > 0) {
        s->chip.serving = served;
    }
    for (int64_t i = 0; i < s->networks_count; i++) {
        calc_network *n = &s->networks[i];
        n->latency_log2_s = maybe_between(rng, 0, 1e-5);
        n->oversubscription = maybe_between(rng, 1, 3);
        n->op_parameters.all_to_all.efficiency = maybe_between(rng, 0.2, 1);
        n->op_parameters.all_gather.latency_step_s = maybe_between(rng, 0, 1e-5);
    }
}

/* ---- Executions ------------------------------------------------------------------------------ */

/* Give an axis up to two values, sometimes. */
static void maybe_axis(calc_rng *rng, calc_space *space, calc_axis axis, uint32_t times_of_4,
                       const double *values, size_t count)
{
    int64_t list[2];
    size_t length = 1 + calc_rng_below(rng, 2);
    for (size_t i = 0; i < length; i++) {
        list[i] = calc_axis_value(axis, values[calc_rng_below(rng, (uint32_t)count)]);
    }
    if (often(rng, times_of_4)) {
        ck_assert_int_eq(calc_space_set(space, axis, list, length), CALC_OK);
    }
}
#define MAYBE_AXIS(rng, space, axis, times_of_4, ...)                                              \
    maybe_axis(rng, space, CALC_AXIS_##axis, times_of_4, (const double[]){__VA_ARGS__},            \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* Every legal value of an axis, sometimes. */
static void maybe_all(calc_rng *rng, calc_space *space, calc_axis axis)
{
    if (often(rng, 1)) {
        calc_space_set_all(space, axis);
    }
}

static void random_parallelism(calc_rng *rng, calc_space *space)
{
    MAYBE_AXIS(rng, space, rank_order, 2, 0, 1, 2);
    MAYBE_AXIS(rng, space, context_par, 2, 0, 1, 2, 4);
    MAYBE_AXIS(rng, space, context_par_type, 1, 0, 1, 2, 3);
    MAYBE_AXIS(rng, space, context_par_inner, 1, 0, 2);
    MAYBE_AXIS(rng, space, context_par_balance, 1, 0, 1);
    MAYBE_AXIS(rng, space, context_par_net, 1, -1, 0, 1, 2);
    MAYBE_AXIS(rng, space, expert_par, 2, 0, 1, 2, 4);
    MAYBE_AXIS(rng, space, expert_tensor_par, 1, 0, 1, 2);
    MAYBE_AXIS(rng, space, expert_par_net, 1, -1, 0, 2);
    MAYBE_AXIS(rng, space, dispatch_type, 1, 0, 1, 2);
    MAYBE_AXIS(rng, space, expert_par_overlap, 1, 0, 1, 2);
    MAYBE_AXIS(rng, space, capacity_factor, 1, 0, 1, 1.25);
    MAYBE_AXIS(rng, space, moe_imbalance, 1, 0, 0.125);
    maybe_all(rng, space, CALC_AXIS_context_par);
    maybe_all(rng, space, CALC_AXIS_expert_par);
    maybe_all(rng, space, CALC_AXIS_expert_tensor_par);
}

static void random_pipeline(calc_rng *rng, calc_space *space)
{
    MAYBE_AXIS(rng, space, pipeline_schedule, 1, 0, 1, 2, 3, 4, 5, 6);
    MAYBE_AXIS(rng, space, pipeline_balance, 2, 0, 1, 2);
    MAYBE_AXIS(rng, space, first_stage_blocks, 1, 0, 1, 3);
    MAYBE_AXIS(rng, space, last_stage_blocks, 1, 0, 1, 5);
    MAYBE_AXIS(rng, space, pipeline_par_overlap, 2, 0, 1);
    MAYBE_AXIS(rng, space, zero_stage, 2, 0, 1, 2, 3);
    MAYBE_AXIS(rng, space, fsdp_par, 1, 0, 2, 3);
    MAYBE_AXIS(rng, space, param_gather_overlap, 1, 0, 1, 2);
    MAYBE_AXIS(rng, space, recompute_blocks, 1, 0, 2);
}

void random_modern_axes(calc_rng *rng, calc_space *space)
{
    random_parallelism(rng, space);
    random_pipeline(rng, space);
    MAYBE_AXIS(rng, space, flash_attention, 3, 0, 1);
    MAYBE_AXIS(rng, space, memory_model, 2, 0, 1);
    MAYBE_AXIS(rng, space, attention_type, 3, 0, 1, 2, 3, 4);
    MAYBE_AXIS(rng, space, activation_recompute, 2, 0, 1, 2, 3);
    MAYBE_AXIS(rng, space, recompute_modules, 2, 0, 1, 8, 10);
    MAYBE_AXIS(rng, space, tensor_par_overlap, 2, 0, 1, 2, 3, 4);
    MAYBE_AXIS(rng, space, matrix_datatype, 1, 0, CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT4);
    MAYBE_AXIS(rng, space, grad_datatype, 1, 0, CALC_FORMAT_BFLOAT16);
    MAYBE_AXIS(rng, space, fused_cross_entropy, 1, 0, 1);
    MAYBE_AXIS(rng, space, cuda_graph, 1, 0, 0.5, 1);
    MAYBE_AXIS(rng, space, software_efficiency, 1, 0, 0.75);
    MAYBE_AXIS(rng, space, framework_mem, 1, 0, 3);
    maybe_all(rng, space, CALC_AXIS_attention_type);
    MAYBE_AXIS(rng, space, vector_datatype, 1, 0, CALC_FORMAT_FLOAT8);
    /* A stream of their own: what is drawn here moves no other choice. */
    calc_rng aside = {rng->state, rng->increment + 2};
    if (calc_rng_below(&aside, 8) == 0) {
        MAYBE_AXIS(&aside, space, rank_capacity_factor, 3, 0, 1.5);
        MAYBE_AXIS(&aside, space, paged_stash, 3, 0, 1.25);
        MAYBE_AXIS(&aside, space, offload_modules, 2, 0, 4, 8, 44, 64);
    }
}

/* What Calculon does, and one or two other values. */
static void mix_axis(calc_space *space, calc_axis axis, const int64_t *values, size_t count)
{
    ck_assert_int_eq(calc_space_set(space, axis, values, count), CALC_OK);
}
#define MIX_AXIS(space, axis, ...)                                                                 \
    mix_axis(space, CALC_AXIS_##axis, (const int64_t[]){__VA_ARGS__},                              \
             sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

void random_mixed_axes(calc_rng *rng, calc_space *space)
{
    for (uint32_t i = 1 + calc_rng_below(rng, 4); i > 0; i--) {
        switch (calc_rng_below(rng, 7)) {
        case 0:
            MIX_AXIS(space, flash_attention, 0, 1);
            break;
        case 1:
            MIX_AXIS(space, zero_stage, 0, 1, 3);
            break;
        case 2:
            MIX_AXIS(space, tensor_par_overlap, 0, 2, 4);
            break;
        case 3:
            MIX_AXIS(space, activation_recompute, 0, 2, 3);
            MIX_AXIS(space, recompute_modules, 0, 9);
            break;
        case 4:
            MIX_AXIS(space, pipeline_par_overlap, 0, 1);
            break;
        case 5:
            MIX_AXIS(space, param_gather_overlap, 0, 2);
            break;
        default:
            MIX_AXIS(space, pipeline_balance, 0, 1, 2);
            break;
        }
    }
}
