#include "random_modern.h"

#include <string.h>

#include "classic.h"
#include "spec/rules.h"

/* One of a list. */
#define ONE_OF(rng, ...)                                                                           \
    ((const int64_t[]){__VA_ARGS__}[calc_rng_below(                                                \
        rng, (uint32_t)(sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)))])

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

/* Absent or somewhere in a range. */
static double maybe(calc_rng *rng, double lo, double hi)
{
    return coin(rng) ? 0 : real_between(rng, lo, hi);
}

static calc_curve random_curve(calc_rng *rng, double largest)
{
    calc_curve curve = {.count = between(rng, 1, 4)};
    for (int64_t i = 0; i < curve.count; i++) {
        curve.threshold[i] = largest;
        curve.efficiency[i] = 0.9 - 0.2 * (double)i; /* small operations are the slower ones */
        largest /= real_between(rng, 2, 50);
    }
    curve.threshold[curve.count - 1] = 0;
    return curve;
}

/* ---- Machines -------------------------------------------------------------------------------- */

static calc_op_rate random_rate(calc_rng *rng)
{
    return (calc_op_rate){maybe(rng, 0.1, 1), maybe(rng, 1e-6, 1e-4), maybe(rng, 1e-7, 1e-5)};
}

static void random_network(calc_rng *rng, calc_network *n)
{
    n->bytes_per_s = real_between(rng, 1e9, 1e12);
    n->efficiency = real_between(rng, 0.1, 1);
    n->size = 1000000000;
    n->latency_s = maybe(rng, 1e-7, 1e-4);
    n->latency_log2_s = maybe(rng, 1e-7, 1e-5);
    calc_rng aside = *rng;
    n->hop_s = real_between(&aside, 1e-7, 1e-5);
    n->ops.p2p = (calc_network_op){1, 0};
    n->ops.reduce_scatter = n->ops.all_gather = n->ops.all_to_all = (calc_network_op){1, -1};
    n->ops.all_reduce = (calc_network_op){2, -1};
    n->op_parameters = (calc_op_rates){random_rate(rng), random_rate(rng), random_rate(rng),
                                       random_rate(rng), random_rate(rng)};
    n->oversubscription = maybe(rng, 1, 4);
    n->reduction_in_network = coin(rng);
    if (coin(rng)) {
        n->bandwidth_curve = random_curve(rng, 1e8);
    }
}

static calc_serving_matrix random_served_matrix(calc_rng *rng)
{
    return (calc_serving_matrix){real_between(rng, 0.5, 1), maybe(rng, 1e-6, 1e-5),
                                 maybe(rng, 0, 1e-9),       maybe(rng, 1e-6, 1e-5),
                                 maybe(rng, 0.3, 1),        maybe(rng, 0.3, 1),
                                 maybe(rng, 0.2, 1),        maybe(rng, 0.3, 1),
                                 maybe(rng, 0.1, 1),        maybe(rng, 0.3, 1)};
}

/* Each kernel with probability 1/2. Of a stream of its own: what is drawn after it is drawn without
   it, too. */
static void random_serving(calc_rng next, calc_serving_rates *r)
{
    calc_rng own;
    calc_rng *rng = &own;
    calc_rng_init(rng, 20261123, calc_rng_below(&next, 1U << 30));
    if (coin(rng)) {
        r->matrix = random_served_matrix(rng);
    }
    if (coin(rng)) {
        r->grouped = random_served_matrix(rng);
    }
    if (coin(rng)) {
        r->decode = (calc_serving_decode){real_between(rng, 0.5, 1), maybe(rng, 1e-6, 1e-5),
                                          maybe(rng, 1e-6, 1e-5), maybe(rng, 0.3, 1)};
    }
    if (coin(rng)) {
        r->prefill = (calc_serving_prefill){real_between(rng, 0.5, 1), maybe(rng, 1e-6, 1e-5),
                                            maybe(rng, 0.3, 1), 0, maybe(rng, 10, 300)};
    }
    if (coin(rng)) {
        r->vector = (calc_serving_vector){real_between(rng, 0.5, 1), maybe(rng, 1e-7, 1e-5)};
    }
    if (coin(rng)) {
        r->all_reduce = (calc_serving_all_reduce){real_between(rng, 0.3, 1), maybe(rng, 1e-6, 1e-5),
                                                  maybe(rng, 1e-7, 1e-6), maybe(rng, 0.3, 1),
                                                  maybe(rng, 1e-6, 1e-5)};
    }
    r->collective = (calc_serving_latency){maybe(rng, 1e-6, 1e-5), maybe(rng, 1e-6, 1e-5)};
    r->exchange = (calc_serving_latency){maybe(rng, 1e-6, 1e-5), maybe(rng, 1e-6, 1e-5)};
}

static void random_constants(calc_rng *rng, calc_system *s)
{
    s->chip.sustained = maybe(rng, 0.6, 1);
    s->chip.attention =
        (calc_attention_rates){maybe(rng, 0.2, 0.8), maybe(rng, 0.2, 0.7), maybe(rng, 1e-6, 1e-4),
                               maybe(rng, 1, 100),   maybe(rng, 0.5, 1),   maybe(rng, 0.2, 1)};
    s->chip.grouped = (calc_grouped_rates){
        maybe(rng, 0.5, 1.5), (calc_grouped_mode)calc_rng_below(rng, 3), maybe(rng, 4, 12)};
    s->chip.launch = (calc_launch){maybe(rng, 1e-6, 1e-5), maybe(rng, 1e-6, 1e-5)};
    calc_rng beside = *rng; /* so that what is drawn from here on is what it was */
    s->chip.host =
        (calc_host){maybe(rng, 1e-4, 4e-3), maybe(rng, 1e-4, 4e-3), maybe(rng, 1e-5, 1e-3),
                    maybe(rng, 0, 0.5),     maybe(rng, 0.1, 1),     maybe(&beside, 0.5, 2)};
    s->chip.overlap =
        (calc_overlap_shares){maybe(rng, 0.1, 1), maybe(rng, 0.1, 1), maybe(rng, 0.1, 1),
                              maybe(rng, 0.1, 1), maybe(rng, 0.1, 1), maybe(rng, 0, 0.3)};
    s->chip.eager_traffic = maybe(rng, 1, 3);
    s->chip.expert_activation_traffic = maybe(rng, 1, 8);
    s->chip.quantize_bytes = maybe(rng, 1, 4);
    s->chip.block_scaled_efficiency = maybe(rng, 0.5, 1);
    s->chip.row_scaled_efficiency = maybe(rng, 0.5, 1);
    s->chip.permute_efficiency = maybe(rng, 0.1, 1);
    s->chip.optimizer_efficiency = maybe(rng, 0.1, 1);
    random_serving(*rng, &s->chip.serving);
    s->step_overhead_s = maybe(rng, 1e-3, 1e-1);
    s->straggler_growth = maybe(rng, 0.001, 0.05);
    s->chip.mem_reserved_bytes = maybe(rng, 1e8, 1e10);
    s->chip.mem_fragmentation = maybe(rng, 0.01, 0.2);
    s->ranks_per_node = coin(rng) ? 0 : 8;
    s->chip.watts = maybe(rng, 100, 1000);
    s->chip.usd_per_hour = maybe(rng, 1, 10);
}

static void random_system(calc_rng *rng, calc_system *s)
{
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        s->chip.matrix[type].flop_per_s = real_between(rng, 1e14, 4e15);
        s->chip.matrix[type].efficiency = random_curve(rng, 1e12);
        s->chip.vector[type].flop_per_s = real_between(rng, 1e13, 2e14);
        s->chip.vector[type].efficiency = random_curve(rng, 1e11);
    }
    s->chip.mem1.bytes_per_s = real_between(rng, 1e12, 8e12);
    s->chip.mem1.efficiency = random_curve(rng, 1e9);
    s->chip.mem2.bytes_per_s = 1e11;
    s->chip.mem2.efficiency = random_curve(rng, 1e9);
    s->chip.mem1.capacity_bytes = s->chip.mem2.capacity_bytes = 1e20;
    s->chip.processing_mode = (calc_processing_mode)calc_rng_below(rng, CALC_PROCESSING_MODE_COUNT);
    s->networks_count = 2;
    random_network(rng, &s->networks[0]);
    random_network(rng, &s->networks[1]);
    random_constants(rng, s);
}

/* ---- Models ---------------------------------------------------------------------------------- */

static void random_attention(calc_rng *rng, int64_t tensor_par, calc_app *a)
{
    int64_t groups = between(rng, 1, 4);
    a->attn_heads = tensor_par * 4 * groups;
    a->attn_size = 8 * between(rng, 4, 16);
    a->causal = coin(rng);
    if (calc_rng_below(rng, 3) == 0) {
        a->q_lora_rank = coin(rng) ? 0 : 16 * between(rng, 4, 96);
        a->kv_lora_rank = 16 * between(rng, 4, 32);
        a->qk_nope_size = 16 * between(rng, 1, 8);
        a->qk_rope_size = 16 * between(rng, 0, 4);
        a->v_size = 16 * between(rng, 1, 8);
        return;
    }
    a->kv_heads = coin(rng) ? 0 : ONE_OF(rng, 1, 2, 4, 4 * groups, a->attn_heads);
    a->qk_norm = coin(rng);
    if (a->causal && coin(rng)) {
        a->window_size = between(rng, 1, 8192);
        a->global_every = between(rng, 0, 6);
    }
}

static void random_model(calc_rng *rng, int64_t tensor_par, calc_app *a)
{
    a->hidden = tensor_par * 16 * between(rng, 8, 256);
    a->feedforward = tensor_par * 16 * between(rng, 8, 512);
    a->seq_size = 64 * between(rng, 1, 128);
    a->structure_type = (calc_structure_type)calc_rng_below(rng, CALC_STRUCTURE_TYPE_COUNT);
    a->ffn_type = (calc_ffn_type)calc_rng_below(rng, CALC_FFN_TYPE_COUNT);
    a->norm_type = (calc_norm_type)calc_rng_below(rng, CALC_NORM_TYPE_COUNT);
    a->position_type = (calc_position_type)calc_rng_below(rng, CALC_POSITION_TYPE_COUNT);
    a->dropout = (calc_choice)calc_rng_below(rng, CALC_CHOICE_COUNT);
    a->tied_embeddings = (calc_choice)calc_rng_below(rng, CALC_CHOICE_COUNT);
    a->bias = CALC_CHOICE_FALSE;
    random_attention(rng, tensor_par, a);
    a->vocab_size = calc_rng_below(rng, 4) == 0 ? 0 : between(rng, 1, 300000);
    a->vocab_multiple = coin(rng) ? 0 : between(rng, 1, 256);
}

static void random_experts(calc_rng *rng, const calc_exec *e, calc_app *a)
{
    a->num_experts = (e->strategy.expert_par > 1 ? e->strategy.expert_par : 1) * between(rng, 2, 8);
    a->experts_per_token = between(rng, 1, a->num_experts < 8 ? a->num_experts : 8);
    a->expert_feedforward = 32 * between(rng, 1, 64);
    a->shared_feedforward = coin(rng) ? 0 : e->strategy.tensor_par * 16 * between(rng, 1, 64);
    a->dense_blocks = coin(rng) ? 0 : between(rng, 0, (a->num_blocks - 1) / 3);
    a->moe_every = between(rng, 0, 2);
    a->router_bias = coin(rng);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static void random_sizes(calc_rng *rng, calc_exec *e)
{
    e->strategy.tensor_par = ONE_OF(rng, 1, 1, 2, 4, 8);
    e->pipeline_par = ONE_OF(rng, 1, 1, 2, 3, 4, 8);
    e->strategy.data_par = ONE_OF(rng, 1, 2, 4, 16);
    e->strategy.context_par = ONE_OF(rng, 0, 0, 1, 2, 4);
    int64_t context = e->strategy.context_par > 1 ? e->strategy.context_par : 1;
    e->num_procs = e->strategy.tensor_par * e->pipeline_par * e->strategy.data_par * context;
    e->strategy.tensor_par_net = between(rng, 0, 1);
    e->pipeline_par_net = between(rng, 0, 1);
    e->strategy.data_par_net = between(rng, 0, 1);
    e->strategy.context_par_net = between(rng, -1, 1);
    e->strategy.expert_par_net = between(rng, -1, 1);
    e->strategy.expert_tensor_par_net = between(rng, -1, 1);
    e->strategy.expert_data_par_net = between(rng, -1, 1);
    e->rank_order = (calc_rank_order)calc_rng_below(rng, CALC_RANK_ORDER_COUNT);
}

/* Powers of two that divide the ranks of a stage. */
static void random_expert_sizes(calc_rng *rng, calc_exec *e)
{
    int64_t ranks = e->num_procs / e->pipeline_par;
    e->strategy.expert_tensor_par = coin(rng) ? 0 : ranks % 2 == 0 ? 2 : 1;
    ranks /= e->strategy.expert_tensor_par > 1 ? e->strategy.expert_tensor_par : 1;
    e->strategy.expert_par = 0;
    for (int64_t size = 1; size <= ranks && size <= 16; size *= 2) {
        e->strategy.expert_par = coin(rng) && ranks % size == 0 ? size : e->strategy.expert_par;
    }
}

static void random_pipeline(calc_rng *rng, calc_app *a, calc_exec *e)
{
    int64_t p = e->pipeline_par;
    int64_t rounds = between(rng, 1, 4);
    e->microbatch_size = between(rng, 1, 4);
    if (p > 1 && coin(rng)) {
        e->pipeline_schedule =
            (calc_pipeline_schedule)calc_rng_below(rng, CALC_PIPELINE_SCHEDULE_COUNT);
    }
    bool odd = p % 2 != 0;
    if (odd && e->pipeline_schedule >= CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        e->pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    }
    bool plain = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    e->pipeline_interleaving = p > 1 && plain && coin(rng) ? between(rng, 1, 3) : 1;
    int64_t microbatches = plain ? between(rng, 1, 4 * p) : 2 * p * rounds;
    if (e->pipeline_interleaving > 1) { /* whole rounds */
        microbatches = (microbatches + p - 1) / p * p;
    }
    e->batch_size = e->strategy.data_par * e->microbatch_size * microbatches;
    a->num_blocks = p * e->pipeline_interleaving * between(rng, 1, 6);
    e->strategy.pipeline_par_overlap = coin(rng);
    e->pipeline_balance = (calc_pipeline_balance)calc_rng_below(rng, CALC_PIPELINE_BALANCE_COUNT);
    if (e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS && p > 1) {
        a->num_blocks += a->num_blocks > 2 * p ? -2 : p * e->pipeline_interleaving * 2 - 2;
    }
    if (p > 2 && e->pipeline_balance == CALC_PIPELINE_BALANCE_BLOCKS && coin(rng)) {
        e->first_stage_blocks = e->pipeline_interleaving;
        e->last_stage_blocks = e->pipeline_interleaving;
        a->num_blocks = e->pipeline_interleaving * (2 + (p - 2) * between(rng, 1, 4));
    }
}

static calc_format random_format(calc_rng *rng)
{
    return coin(rng) ? CALC_FORMAT_AUTO : (calc_format)calc_rng_below(rng, CALC_FORMAT_COUNT);
}

static void random_formats(calc_rng *rng, calc_exec *e)
{
    e->strategy.datatype = coin(rng) ? CALC_DATATYPE_BFLOAT16 : CALC_DATATYPE_FLOAT32;
    e->strategy.matrix_datatype = random_format(rng);
    e->strategy.weight_datatype = random_format(rng);
    e->strategy.activation_datatype = random_format(rng);
    e->strategy.grad_datatype = random_format(rng);
    e->strategy.grad_reduce_datatype = random_format(rng);
    e->strategy.master_datatype = random_format(rng);
    e->strategy.optimizer_moment_datatype = random_format(rng);
    e->strategy.dispatch_datatype = random_format(rng);
    e->strategy.combine_datatype = random_format(rng);
    e->strategy.scaling = (calc_scaling)calc_rng_below(rng, CALC_SCALING_COUNT);
}

/* Replicated where the rules have it. */
static calc_dispatch_type random_dispatch(calc_rng *rng, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    int64_t experts = s->expert_par > 1 ? s->expert_par : 1;
    int64_t parts = s->expert_tensor_par > 1 ? s->expert_tensor_par : 1;
    bool replicates = !e->training && experts * parts == s->tensor_par &&
                      s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    int kinds = replicates ? CALC_DISPATCH_TYPE_COUNT : CALC_DISPATCH_TYPE_REPLICATED;
    return (calc_dispatch_type)calc_rng_below(rng, (uint32_t)kinds);
}

static void random_communication(calc_rng *rng, calc_exec *e)
{
    bool replicas = e->strategy.data_par > 1 || e->strategy.context_par > 1;
    bool experts = e->strategy.expert_par > 1;
    e->strategy.tensor_par_comm_type = (calc_tensor_par_comm_type)calc_rng_below(rng, 3);
    if (experts) {
        e->strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    }
    if (e->strategy.tensor_par > 1) {
        e->strategy.tensor_par_overlap =
            (calc_tensor_par_overlap)calc_rng_below(rng, CALC_TENSOR_PAR_OVERLAP_COUNT);
    }
    e->strategy.seq_par_ag_redo =
        e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG &&
        !calc_recomputes_block(&e->strategy) && coin(rng);
    e->strategy.context_par_type =
        (calc_context_par_type)calc_rng_below(rng, CALC_CONTEXT_PAR_TYPE_COUNT);
    e->strategy.context_par_inner = coin(rng) ? 0 : e->strategy.context_par > 1 ? 2 : 1;
    e->strategy.context_par_balance = (calc_context_par_balance)calc_rng_below(rng, 2);
    e->strategy.dispatch_type = random_dispatch(rng, e);
    e->strategy.expert_par_overlap = (calc_expert_par_overlap)calc_rng_below(rng, 3);
    e->strategy.capacity_factor = maybe(rng, 1, 2);
    e->strategy.moe_imbalance = maybe(rng, 0, 1);
    e->strategy.optimizer_sharding = replicas && coin(rng);
    e->strategy.zero_stage = replicas ? between(rng, 0, 3) : 0;
    e->strategy.fsdp_par =
        e->strategy.zero_stage == 3 && e->strategy.data_par > 1 && coin(rng) ? 2 : 0;
    e->strategy.data_par_overlap = replicas && e->training && coin(rng);
    e->strategy.param_gather_overlap = (calc_choice)calc_rng_below(rng, CALC_CHOICE_COUNT);
}

static void random_software(calc_rng *rng, calc_exec *e)
{
    e->training = calc_rng_below(rng, 5) > 0;
    if (e->training && coin(rng)) {
        e->strategy.activation_recompute =
            (calc_activation_recompute)calc_rng_below(rng, CALC_ACTIVATION_RECOMPUTE_COUNT);
    }
    if (e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES) {
        e->strategy.recompute_modules = between(rng, 0, (1 << CALC_RECOMPUTE_MODULES_COUNT) - 1);
    }
    e->recompute_blocks = coin(rng) ? 0 : between(rng, 0, 8);
    e->strategy.flash_attention = e->strategy.context_par > 1 || coin(rng);
    e->strategy.attention_kernel = (calc_attention_kernel)calc_rng_below(rng, 2);
    e->strategy.memory_model = (calc_memory_model)calc_rng_below(rng, CALC_MEMORY_MODEL_COUNT);
    e->strategy.framework_mem = between(rng, 0, (1 << CALC_FRAMEWORK_MEM_LOGPROBS) - 1);
    if (e->strategy.framework_mem >> CALC_FRAMEWORK_MEM_LOGITS_GATHERED & 1) {
        e->strategy.framework_mem &= ~(1 << CALC_FRAMEWORK_MEM_LOSS_PARALLEL);
    }
    if (calc_rng_below(rng, 4) == 0) {
        e->strategy.weight_offload = coin(rng);
        e->strategy.activations_offload = e->training && coin(rng);
        e->strategy.optimizer_offload = e->training && coin(rng);
        e->strategy.offload_share = maybe(rng, 0.1, 1);
    }
    e->strategy.fused_activation = coin(rng);
    e->strategy.fused_cross_entropy = coin(rng);
    e->strategy.unfused_rope = coin(rng);
    e->strategy.unfused_norm = e->strategy.unfused_rope != e->strategy.flash_attention;
    e->strategy.eager = coin(rng);
    e->strategy.unfused_experts = coin(rng);
    e->strategy.cuda_graph = maybe(rng, 0, 1);
    e->software_efficiency = maybe(rng, 0.5, 1.5);
}

/* A part of the weights is trained. */
static void freeze(calc_rng *rng, calc_random_layout *out)
{
    calc_strategy *x = &out->exec.strategy;
    x->trained = (calc_trained)between(rng, 1, CALC_TRAINED_COUNT - 1);
    x->trained_blocks = out->exec.pipeline_par == 1 && x->trained != CALC_TRAINED_HEAD && coin(rng)
                            ? between(rng, 1, out->app.num_blocks)
                            : 0;
    if (x->trained == CALC_TRAINED_BLOCKS && x->trained_blocks == 0) {
        x->trained = CALC_TRAINED_HEAD;
    }
    x->frozen_datatype = (calc_frozen_datatype)calc_rng_below(rng, CALC_FROZEN_DATATYPE_COUNT);
    if (x->trained == CALC_TRAINED_ADAPTERS) {
        x->lora_rank = between(rng, 0, 4) * 8;
        x->lora_modules = coin(rng) ? between(rng, 1, (1 << CALC_LORA_MODULES_COUNT) - 1) : 0;
        x->lora_experts = (calc_lora_experts)calc_rng_below(rng, CALC_LORA_EXPERTS_COUNT);
        x->lora_fused = coin(rng);
        x->lora_dropout = coin(rng);
        x->dora = coin(rng);
    }
}

/* An encoder of images in front of the model. */
static void encode(calc_rng *rng, calc_random_layout *out)
{
    calc_encoder *e = &out->app.encoder;
    calc_strategy *x = &out->exec.strategy;
    e->attn_heads = ONE_OF(rng, 1, 2, 4);
    e->hidden = e->attn_heads * ONE_OF(rng, 8, 16, 72);
    e->num_blocks = between(rng, 1, 8);
    e->feedforward = between(rng, 1, 512);
    e->attn_size = coin(rng) ? between(rng, 1, 96) : 0;
    e->ffn_type = (calc_ffn_type)calc_rng_below(rng, CALC_FFN_TYPE_COUNT);
    e->norm_type = (calc_norm_type)calc_rng_below(rng, CALC_NORM_TYPE_COUNT);
    e->norm_place = (calc_norm_place)calc_rng_below(rng, CALC_NORM_PLACE_COUNT);
    e->position_type = coin(rng) ? CALC_POSITION_TYPE_ROPE : CALC_POSITION_TYPE_AUTO;
    e->bias = (calc_choice)calc_rng_below(rng, CALC_CHOICE_COUNT);
    e->qk_norm = coin(rng);
    e->patches = coin(rng) ? between(rng, 1, 512) : 0;
    e->window = coin(rng) ? between(rng, 1, 64) : 0;
    e->full_blocks = e->window > 0 ? between(rng, 0, e->num_blocks) : 0;
    e->patch_values = between(rng, 1, 1024);
    e->positions = coin(rng) ? between(rng, 1, 512) : 0;
    e->merge = ONE_OF(rng, 0, 1, 4);
    e->pool = ONE_OF(rng, 0, 1, 9);
    e->merge_matrix = coin(rng);
    e->projector_layers = between(rng, 0, 2);
    e->projector_width = coin(rng) ? between(rng, 1, 512) : 0;
    e->projector_bias = coin(rng);
    e->projectors = between(rng, 0, 2);
    e->other_weights = coin(rng) ? between(rng, 1, 4096) : 0;
    if (out->exec.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return;
    }
    x->images_per_sequence = coin(rng) ? maybe(rng, 0.1, 8) : 0;
    x->patches_per_image = e->patches == 0 || coin(rng) ? between(rng, 1, 512) : 0;
    if (out->exec.training && x->optimizer != CALC_OPTIMIZER_MUON) {
        x->encoder_trained = (calc_encoder_trained)calc_rng_below(rng, CALC_ENCODER_TRAINED_COUNT);
    }
}

void calc_random_modern_make(calc_rng *rng, calc_random_layout *out)
{
    memset(out, 0, sizeof *out);
    out->exec = (calc_exec){CLASSIC_EXEC};
    random_system(rng, &out->system);
    random_sizes(rng, &out->exec);
    random_model(rng, out->exec.strategy.tensor_par, &out->app);
    random_pipeline(rng, &out->app, &out->exec);
    if (coin(rng)) {
        random_expert_sizes(rng, &out->exec);
        random_experts(rng, &out->exec, &out->app);
    }
    out->app.mtp_blocks = calc_rng_below(rng, 4) == 0 ? between(rng, 1, 2) : 0;
    random_software(rng, &out->exec);
    random_communication(rng, &out->exec);
    random_formats(rng, &out->exec);
    if (out->exec.rank_order != CALC_RANK_ORDER_NETWORKS) {
        out->system.networks[0].size = ONE_OF(rng, 2, 8, 72);
    }
    if (out->app.mtp_blocks == 0) {
        out->app.bias = (calc_choice)calc_rng_below(rng, CALC_CHOICE_COUNT);
    }
    calc_strategy *x = &out->exec.strategy;
    x->fused_experts = coin(rng);
    x->delayed_wgrad = coin(rng);
    x->attention_datatype = coin(rng) ? x->matrix_datatype : CALC_FORMAT_AUTO;
    x->optimizer = calc_rng_below(rng, 4) == 0 ? CALC_OPTIMIZER_MUON : CALC_OPTIMIZER_ADAM;
    out->exec.deferred_head_wgrad = calc_rng_below(rng, 4) == 0 ? between(rng, -1, 8) : 0;
    /* A stream of their own: what is drawn here moves no other choice. */
    calc_rng aside = {rng->state, rng->increment + 2};
    x->optimizer_shards =
        (calc_optimizer_shards)calc_rng_below(&aside, CALC_OPTIMIZER_SHARDS_COUNT);
    x->param_gather_datatype = coin(&aside) ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    x->launch_blocking = calc_rng_below(&aside, 4) == 0;
    if (out->app.num_experts > 0 && calc_rng_below(&aside, 4) == 0) {
        x->rank_capacity_factor = maybe(&aside, 1, 2);
        x->paged_stash = x->rank_capacity_factor > 0 ? maybe(&aside, 1, 2) : 0;
    }
    x->grad_offload = x->optimizer_offload && coin(&aside);
    x->offload_buffers = maybe(&aside, 1, 2);
    if (x->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL && coin(&aside)) {
        int64_t chunks = out->exec.pipeline_par * out->exec.pipeline_interleaving;
        int64_t most = out->app.num_blocks / chunks;
        x->recompute_group =
            out->exec.recompute_blocks > 0 || most < 2 ? 1 : between(&aside, 1, most);
        x->distribute_saved_activations = coin(&aside);
    }
    bool kept = out->exec.training && !x->activations_offload && !calc_recomputes_block(x);
    if (kept && calc_rng_below(&aside, 4) == 0) {
        x->offload_modules = between(&aside, 1, (1 << CALC_OFFLOAD_MODULES_COUNT) - 1);
        x->offload_modules |= x->offload_modules & 1 << CALC_OFFLOAD_MODULES_ATTN_PROJ
                                  ? 1 << CALC_OFFLOAD_MODULES_CORE_ATTN
                                  : 0;
        x->paged_stash = 0; /* experts pack what they store, or offload it */
    }
    calc_rng looped = {rng->state, rng->increment + 12};
    x->looped_experts = !x->fused_experts && coin(&looped);
    x->framework_mem |= between(&looped, 0, 3) << CALC_FRAMEWORK_MEM_LOGPROBS;
    x->recompute_early_stop = coin(&looped);
    calc_rng packed = {rng->state, rng->increment + 6};
    if (out->exec.inference.phase == CALC_INFERENCE_PHASE_NONE && calc_rng_below(&packed, 4) == 0) {
        double seq = (double)(out->exec.seq_size > 0 ? out->exec.seq_size : out->app.seq_size);
        x->packed_size = maybe(&packed, 1, seq);
        x->padding_share = calc_rng_real(&packed) / 2;
        x->loss_share = maybe(&packed, 0.1, 1);
    }
    calc_rng frozen = {rng->state, rng->increment + 4};
    if (out->exec.training && calc_rng_below(&frozen, 4) == 0) {
        freeze(&frozen, out);
    }
    calc_rng images; /* of a seed of its own: streams of one state begin alike */
    calc_rng_init(&images, rng->state, 8);
    if (calc_rng_below(&images, 4) == 0) {
        encode(&images, out);
    }
    /* Something beyond Calculon in every one. */
    out->app.causal = out->app.causal || out->app.structure_type == CALC_STRUCTURE_TYPE_GPT;
}
