#include "resolved.h"

#include <math.h>
#include <string.h>

#include "model/cost/cost.h"
#include "model/operators/collective.h"
#include "spec/format.h"
#include "spec/serving_engine.h"

/* ---- Values ---------------------------------------------------------------------------------- */

typedef double value_of(const calc_app *a, const calc_system *s, const calc_exec *e,
                        int64_t network);

/* One expression of the application, the system, the execution and the index of a network. */
#define VALUE(name, expression)                                                                    \
    static double name(const calc_app *a, const calc_system *s, const calc_exec *e,                \
                       int64_t network)                                                            \
    {                                                                                              \
        (void)a, (void)s, (void)e, (void)network;                                                  \
        return (double)(expression);                                                               \
    }
#define NONE ((double)NAN)

static bool llama(const calc_app *a, const calc_exec *e)
{
    return a->structure_type == CALC_STRUCTURE_TYPE_LLAMA ||
           e->strategy.structure_type == CALC_STRUCTURE_TYPE_LLAMA;
}

static double format_of(calc_datatype datatype)
{
    static const calc_format formats[CALC_DATATYPE_COUNT] = {
        [CALC_DATATYPE_FLOAT4] = CALC_FORMAT_FLOAT4,
        [CALC_DATATYPE_FLOAT8] = CALC_FORMAT_FLOAT8,
        [CALC_DATATYPE_FLOAT16] = CALC_FORMAT_FLOAT16,
        [CALC_DATATYPE_BFLOAT16] = CALC_FORMAT_BFLOAT16,
        [CALC_DATATYPE_FLOAT32] = CALC_FORMAT_FLOAT32,
    };
    return formats[datatype];
}

static double grad_format(const calc_exec *e)
{
    bool megatron = e->strategy.memory_model == CALC_MEMORY_MODEL_MEGATRON;
    return e->strategy.grad_datatype ? (double)e->strategy.grad_datatype
           : megatron                ? CALC_FORMAT_FLOAT32
                                     : format_of(e->strategy.datatype);
}

static bool serves(const calc_exec *e)
{
    return e->inference.phase != CALC_INFERENCE_PHASE_NONE;
}

static bool has_pool(const calc_exec *e)
{
    return e->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
}

static double inner_context(const calc_system *s, const calc_exec *e)
{
    calc_groups groups = calc_groups_of(e, &e->strategy);
    double ranks = calc_collective_inner_ranks(s, &groups.context);
    return fmod(groups.context.ranks, ranks) == 0 ? ranks : NONE;
}

static bool is_wide(const calc_exec *e)
{
    return calc_format_bytes_or(e->strategy.weight_datatype,
                                calc_datatype_bytes(e->strategy.datatype)) >= 4;
}

/* Efficiency of 8 or 4 bits where only that of 16 is given, of a kernel that has rates. */
static double narrower(const calc_serving_matrix *r)
{
    return r->memory_efficiency <= 0 ? NONE : r->efficiency > 0 ? r->efficiency : 1;
}

static double in_8bit(const calc_serving_matrix *r)
{
    return r->memory_efficiency > 0 && r->efficiency_8bit > 0 ? r->efficiency_8bit : narrower(r);
}

static double read_rate(const calc_serving_matrix *r)
{
    return r->memory_efficiency > 0 ? r->memory_efficiency : NONE;
}

/* An engine's trait; nothing to say where it has none. */
static double known(double trait)
{
    return trait > 0 ? trait : NONE;
}

static double share(const calc_exec *e, double trait)
{
    return serves(e) ? calc_share_or(trait, 1) : NONE;
}

/* Of a curve with one step, which is a number. */
static double only_step(const calc_curve *curve)
{
    return curve->count == 1 ? curve->efficiency[0] : NONE;
}

static double blocks_if_even(const calc_app *a, const calc_exec *e)
{
    bool even = a->num_blocks % e->pipeline_par == 0;
    return even && e->pipeline_balance == CALC_PIPELINE_BALANCE_BLOCKS && !e->first_stage_blocks &&
                   !e->last_stage_blocks
               ? (double)(a->num_blocks / e->pipeline_par)
               : NONE;
}

VALUE(one, 1)
VALUE(structure_of_exec, e->strategy.structure_type)
VALUE(structure_of_app, a->structure_type)
VALUE(ffn, llama(a, e) ? CALC_FFN_TYPE_SWIGLU : CALC_FFN_TYPE_GELU)
VALUE(norm, llama(a, e) ? CALC_NORM_TYPE_RMS : CALC_NORM_TYPE_LAYER)
VALUE(position, llama(a, e) ? CALC_POSITION_TYPE_ROPE : CALC_POSITION_TYPE_LEARNED)
VALUE(headed, CALC_CHOICE_TRUE)
VALUE(unless_llama, llama(a, e) ? CALC_CHOICE_FALSE : CALC_CHOICE_TRUE)
VALUE(kv_heads, e->strategy.attention_type == CALC_ATTENTION_TYPE_MULTIQUERY ? 1 : a->attn_heads)
VALUE(vocab_multiple, 128)
VALUE(feedforward, a->feedforward)
VALUE(hidden, a->num_experts > 0 ? (double)a->hidden : NONE)
VALUE(attn_size, a->kv_lora_rank > 0 ? NONE : (double)a->attn_size)
VALUE(vocabulary, a->layer_embedding > 0 ? (double)a->vocab_size : NONE)
VALUE(expert_groups, a->expert_groups > 1 ? a->expert_groups : 1)
VALUE(float32, CALC_FORMAT_FLOAT32)

#define ENCODES(name, value) VALUE(encoder_##name, a->encoder.hidden > 0 ? (double)(value) : NONE)
ENCODES(attn_size, a->encoder.hidden / a->encoder.attn_heads)
ENCODES(ffn, CALC_FFN_TYPE_GELU)
ENCODES(norm, CALC_NORM_TYPE_LAYER)
ENCODES(position, CALC_POSITION_TYPE_NONE)
ENCODES(bias, CALC_CHOICE_TRUE)
ENCODES(window, e->strategy.patches_per_image > 0 ? (double)e->strategy.patches_per_image
                : a->encoder.patches > 0          ? (double)a->encoder.patches
                                                  : NONE)
ENCODES(one, 1)
ENCODES(width, a->encoder.projector_layers > 0 ? (double)a->hidden : NONE)
VALUE(patches, e->strategy.images_per_sequence > 0 && a->encoder.patches > 0
                   ? (double)a->encoder.patches
                   : NONE)

VALUE(seq_size, a->seq_size)
VALUE(sequence, serves(e) ? NONE : (double)(e->seq_size > 0 ? e->seq_size : a->seq_size))
VALUE(flash, e->strategy.attention_type == CALC_ATTENTION_TYPE_FLASH)
VALUE(tensor_net, e->strategy.tensor_par_net)
VALUE(data_net, e->strategy.data_par_net)
VALUE(context_inner, inner_context(s, e))

/* A layout as it is with the formats of the model's checkpoint. */
static calc_exec taken(const calc_app *a, const calc_system *s, const calc_exec *e)
{
    calc_exec own = *e;
    calc_checkpoint_formats_take(a, s, &own);
    return own;
}

static double or_datatype(calc_format format, const calc_exec *e)
{
    return format ? (double)format : format_of(e->strategy.datatype);
}

/* As frozen weights have it. */
static double frozen_format_of(calc_datatype datatype)
{
    switch (datatype) {
    case CALC_DATATYPE_FLOAT32:
        return CALC_FROZEN_DATATYPE_FLOAT32;
    case CALC_DATATYPE_FLOAT16:
        return CALC_FROZEN_DATATYPE_FLOAT16;
    case CALC_DATATYPE_BFLOAT16:
        return CALC_FROZEN_DATATYPE_BFLOAT16;
    default:
        return NONE;
    }
}

static double scale_bits(calc_exec e)
{
    const calc_strategy *s = &e.strategy;
    return s->weight_scale_bits > 0                   ? s->weight_scale_bits
           : s->weight_datatype == CALC_FORMAT_FLOAT4 ? 0.5
                                                      : NONE;
}

VALUE(datatype, format_of(e->strategy.datatype))
VALUE(frozen, serves(e) ? NONE : frozen_format_of(e->strategy.datatype))
/* Inputs of narrowed multiplications and those of activation functions have no one format. */
VALUE(activation, calc_format_stored(&e->strategy) ? NONE : format_of(e->strategy.datatype))
VALUE(grad, grad_format(e))
VALUE(master, is_wide(e) ? NONE : CALC_FORMAT_FLOAT32)
VALUE(blocks_of_a_stage, blocks_if_even(a, e))
VALUE(zero_stage, e->strategy.optimizer_sharding ? 1 : NONE)
VALUE(ranks_of_a_stage, e->num_procs / e->pipeline_par)
VALUE(as_reduction, e->strategy.data_par_overlap ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE)
VALUE(all_blocks, e->strategy.recompute_group > 1 ? NONE : (double)a->num_blocks)

VALUE(state, serves(e) ? (double)CALC_FORMAT_FLOAT32 : NONE)
VALUE(prompt_size, serves(e) ? (double)(e->seq_size > 0 ? e->seq_size : a->seq_size) : NONE)
VALUE(memory_share, serves(e) ? calc_serving_engine_share(&e->inference) : NONE)
VALUE(batch, serves(e) && e->inference.arrival_rate == 0 ? (double)e->batch_size : NONE)
VALUE(one_served, serves(e) ? 1 : NONE)
VALUE(one_not_served, serves(e) ? NONE : 1)
VALUE(served_format, serves(e) ? format_of(e->strategy.datatype) : NONE)
VALUE(weight, or_datatype(taken(a, s, e).strategy.weight_datatype, e))
VALUE(weight_scale_bits, serves(e) ? scale_bits(taken(a, s, e)) : NONE)
VALUE(checkpoint_scale_bits, a->checkpoint.weight_datatype == CALC_FORMAT_FLOAT4 ? 0.5 : NONE)
VALUE(matrix, or_datatype(taken(a, s, e).strategy.matrix_datatype, e))
VALUE(cache, serves(e) ? or_datatype(taken(a, s, e).inference.kv_datatype, e) : NONE)
VALUE(pool_tensor, has_pool(e) ? (double)e->strategy.tensor_par : NONE)
VALUE(pool_expert,
      has_pool(e) ? (double)(e->strategy.expert_par > 1 ? e->strategy.expert_par : 1) : NONE)

#define TRAIT(name, member) VALUE(trait_##name, known(e->inference.engine.traits.member))
TRAIT(host, host_s)
TRAIT(host_sequence, host_sequence_s)
TRAIT(host_growth, host_growth)
TRAIT(issue, issue_s)
TRAIT(request, request_s)
TRAIT(request_sequence, request_sequence_s)
TRAIT(request_token, request_token_s)
TRAIT(gap, gap_s)
TRAIT(experts_undivided, experts_undivided)
VALUE(trait_handover_steps, has_pool(e) ? known(e->inference.engine.traits.handover_steps) : NONE)
VALUE(trait_matrix, share(e, e->inference.engine.traits.matrix_share))
VALUE(trait_cache, share(e, e->inference.engine.traits.cache_share))

VALUE(matrix_rate, only_step(&s->chip.matrix[e->strategy.datatype].efficiency))
VALUE(grouped_mode, CALC_GROUPED_MODE_NO_OVERLAP)
VALUE(wgrad, 2 * calc_format_bytes_or((calc_format)grad_format(e), NONE))
VALUE(half, 0.5)
VALUE(row_scaled, 0.7)
VALUE(window, 0.7)
VALUE(expert_hidden, 0.6)
VALUE(message_hidden, 0.85)
VALUE(eager, 2)
VALUE(unfused_experts, 2.5)
VALUE(memory_rate, only_step(&s->chip.mem1.efficiency))
VALUE(memory_rate_of_large, s->chip.mem1.efficiency.efficiency[0])
VALUE(node, s->networks[0].size)
VALUE(served_whole_matrix, s->chip.serving.matrix.memory_efficiency > 0 ? 1 : NONE)
VALUE(served_whole_grouped, s->chip.serving.grouped.memory_efficiency > 0 ? 1 : NONE)
VALUE(recurrence_chunk, 2.8e-6)
VALUE(served_whole_decode, s->chip.serving.decode.memory_efficiency > 0 ? 1 : NONE)
VALUE(served_whole_prefill, s->chip.serving.prefill.memory_efficiency > 0 ? 1 : NONE)
VALUE(served_matrix, narrower(&s->chip.serving.matrix))
VALUE(served_grouped, narrower(&s->chip.serving.grouped))
VALUE(in_8bit_matrix, in_8bit(&s->chip.serving.matrix))
VALUE(in_8bit_grouped, in_8bit(&s->chip.serving.grouped))
VALUE(read_matrix, read_rate(&s->chip.serving.matrix))
VALUE(read_grouped, read_rate(&s->chip.serving.grouped))
VALUE(served_two_shot, s->chip.serving.all_reduce.one_shot_efficiency > 0
                           ? s->chip.serving.all_reduce.one_shot_efficiency
                           : NONE)
VALUE(network_rate, s->networks[network].efficiency)

/* ---- The list -------------------------------------------------------------------------------- */

/* The network's latency, unless there is one by steps. */
#define LATENCY(op)                                                                                \
    VALUE(latency_##op, s->networks[network].op_parameters.op.latency_step_s > 0                   \
                            ? NONE                                                                 \
                            : s->networks[network].latency_s)
LATENCY(p2p)
LATENCY(reduce_scatter)
LATENCY(all_gather)
LATENCY(all_reduce)
LATENCY(all_to_all)

#define OPERATION(op)                                                                              \
    {"sys.networks.op_parameters." #op ".efficiency", network_rate},                               \
        {"sys.networks.op_parameters." #op ".latency_fixed", latency_##op},                        \
    {                                                                                              \
        "sys.networks.op_parameters." #op ".latency_step", NULL                                    \
    }

/* NULL: absence means itself: none, not done, the first choice, not known. */
static const struct {
    const char *path;
    value_of *value;
} rows[] = {
    {"app.structure_type", structure_of_exec},
    {"app.ffn_type", ffn},
    {"app.norm_type", norm},
    {"app.position_type", position},
    {"app.bias", unless_llama},
    {"app.dropout", unless_llama},
    {"app.tied_embeddings", unless_llama},
    {"app.lm_head", headed},
    {"app.causal", NULL},
    {"app.window_size", NULL},
    {"app.global_every", NULL},
    {"app.kv_heads", kv_heads},
    {"app.qk_norm", NULL},
    {"app.q_lora_rank", NULL},
    {"app.kv_lora_rank", NULL},
    {"app.qk_nope_size", NULL},
    {"app.qk_rope_size", NULL},
    {"app.v_size", NULL},
    {"app.vocab_size", NULL},
    {"app.vocab_multiple", vocab_multiple},
    {"app.num_experts", NULL},
    {"app.experts_per_token", NULL},
    {"app.expert_feedforward", feedforward},
    {"app.shared_feedforward", NULL},
    {"app.dense_blocks", NULL},
    {"app.moe_every", one},
    {"app.expert_groups", one},
    {"app.groups_per_token", expert_groups},
    {"app.router_bias", NULL},
    {"app.router_datatype", float32},
    {"app.trained_datatype", float32}, /* or any: a sweep asks it, no time does */
    {"app.checkpoint.weight_datatype", served_format},
    {"app.checkpoint.weight_scale_bits", checkpoint_scale_bits},
    {"app.checkpoint.matrix_datatype", served_format},
    {"app.checkpoint.scaling", NULL},
    {"app.checkpoint.kv_datatype", served_format},
    {"app.checkpoint.wide_attention", NULL},
    {"app.encoder.hidden", NULL},
    {"app.encoder.num_blocks", NULL},
    {"app.encoder.feedforward", NULL},
    {"app.encoder.attn_heads", NULL},
    {"app.encoder.attn_size", encoder_attn_size},
    {"app.encoder.ffn_type", encoder_ffn},
    {"app.encoder.norm_type", encoder_norm},
    {"app.encoder.norm_place", NULL},
    {"app.encoder.position_type", encoder_position},
    {"app.encoder.bias", encoder_bias},
    {"app.encoder.qk_norm", NULL},
    {"app.encoder.window", encoder_window},
    {"app.encoder.full_blocks", NULL},
    {"app.encoder.patch_values", NULL},
    {"app.encoder.positions", NULL},
    {"app.encoder.patches", NULL},
    {"app.encoder.merge", encoder_one},
    {"app.encoder.pool", encoder_one},
    {"app.encoder.merge_matrix", NULL},
    {"app.encoder.projector_layers", NULL},
    {"app.encoder.projector_width", encoder_width},
    {"app.encoder.projector_bias", NULL},
    {"app.encoder.projectors", encoder_one},
    {"app.encoder.other_weights", NULL},
    {"app.mtp_blocks", NULL},
    {"app.v_head_size", attn_size},
    {"app.qkv_bias", NULL},
    {"app.qk_norm_whole", NULL},
    {"app.output_gate", NULL},
    {"app.attention_sinks", NULL},
    {"app.k_eq_v", NULL},
    {"app.index_heads", NULL},
    {"app.index_size", NULL},
    {"app.index_topk", NULL},
    {"app.index_block", NULL},
    {"app.shared_gate", NULL},
    {"app.router_scale", NULL},
    {"app.residual_rank", NULL},
    {"app.expert_latent", hidden},
    {"app.expert_latent_norm", NULL},
    {"app.zero_experts", NULL},
    {"app.norm_place", NULL},
    {"app.residual_type", NULL},
    {"app.residual_streams", one},
    {"app.layer_embedding", NULL},
    {"app.layer_vocab_size", vocabulary},
    {"app.mtp_shared", NULL},

    {"exe.structure_type", structure_of_app},
    {"exe.seq_size", seq_size},
    {"exe.flash_attention", flash},
    {"exe.attention_kernel", NULL},
    {"exe.rank_order", NULL},
    {"exe.context_par", one},
    {"exe.context_par_net", tensor_net},
    {"exe.context_par_type", NULL},
    {"exe.context_par_inner", context_inner},
    {"exe.context_par_balance", NULL},
    {"exe.expert_par", one},
    {"exe.expert_par_net", data_net},
    {"exe.expert_tensor_par", one},
    {"exe.expert_tensor_par_net", tensor_net},
    {"exe.expert_data_par_net", data_net},
    {"exe.dispatch_type", NULL},
    {"exe.dispatch_datatype", datatype},
    {"exe.combine_datatype", datatype},
    {"exe.capacity_factor", one},
    {"exe.moe_imbalance", NULL},
    {"exe.rank_capacity_factor", NULL},
    {"exe.paged_stash", NULL},
    {"exe.expert_par_overlap", NULL},
    {"exe.pipeline_schedule", NULL},
    {"exe.pipeline_balance", NULL},
    {"exe.first_stage_blocks", blocks_of_a_stage},
    {"exe.last_stage_blocks", blocks_of_a_stage},
    {"exe.deferred_head_wgrad", NULL},
    {"exe.pipeline_par_overlap", NULL},
    {"exe.zero_stage", zero_stage},
    {"exe.fsdp_par", ranks_of_a_stage},
    {"exe.param_gather_overlap", as_reduction},
    {"exe.param_gather_datatype", NULL},
    {"exe.optimizer_shards", NULL},
    {"exe.memory_model", NULL},
    {"exe.matrix_datatype", matrix},
    {"exe.attention_datatype", datatype},
    {"exe.vector_datatype", datatype},
    {"exe.weight_datatype", weight},
    {"exe.weight_scale_bits", weight_scale_bits},
    {"exe.activation_datatype", activation},
    {"exe.grad_datatype", grad},
    {"exe.grad_reduce_datatype", grad},
    {"exe.master_datatype", master},
    {"exe.optimizer_moment_datatype", float32},
    {"exe.optimizer", NULL},
    {"exe.scaling", NULL},
    {"exe.offload_share", one},
    {"exe.grad_offload", NULL},
    {"exe.images_per_sequence", NULL},
    {"exe.patches_per_image", patches},
    {"exe.encoder_trained", NULL},
    {"exe.packed_size", sequence},
    {"exe.padding_share", NULL},
    {"exe.loss_share", one_not_served},
    {"exe.trained", NULL},
    {"exe.trained_blocks", NULL},
    {"exe.frozen_datatype", frozen},
    {"exe.lora_rank", NULL},
    {"exe.lora_modules", NULL},
    {"exe.lora_experts", NULL},
    {"exe.lora_fused", NULL},
    {"exe.lora_dropout", NULL},
    {"exe.dora", NULL},
    {"exe.offload_buffers", one},
    {"exe.offload_modules", NULL},
    {"exe.recompute_modules", NULL},
    {"exe.recompute_blocks", all_blocks},
    {"exe.recompute_group", one},
    {"exe.recompute_early_stop", NULL},
    {"exe.distribute_saved_activations", NULL},
    {"exe.fused_cross_entropy", NULL},
    {"exe.loss_chunks", one},
    {"exe.mlp_tiles", one},
    {"exe.unfused_rope", NULL},
    {"exe.unfused_norm", NULL},
    {"exe.eager", NULL},
    {"exe.unfused_experts", NULL},
    {"exe.fused_experts", NULL},
    {"exe.looped_experts", NULL},
    {"exe.delayed_wgrad", NULL},
    {"exe.cuda_graph", NULL},
    {"exe.launch_blocking", NULL},
    {"exe.framework_mem", NULL},
    {"exe.software_efficiency", one},
    {"exe.inference.phase", NULL},
    {"exe.inference.engine", NULL},
    {"exe.inference.traits.host", trait_host},
    {"exe.inference.traits.host_sequence", trait_host_sequence},
    {"exe.inference.traits.host_growth", trait_host_growth},
    {"exe.inference.traits.issue", trait_issue},
    {"exe.inference.traits.request", trait_request},
    {"exe.inference.traits.request_sequence", trait_request_sequence},
    {"exe.inference.traits.request_token", trait_request_token},
    {"exe.inference.traits.gap", trait_gap},
    {"exe.inference.traits.matrix_share", trait_matrix},
    {"exe.inference.traits.cache_share", trait_cache},
    {"exe.inference.traits.experts_undivided", trait_experts_undivided},
    {"exe.inference.traits.handover_steps", trait_handover_steps},
    {"exe.inference.traits.overlapped", NULL},
    {"exe.inference.traits.eager", NULL},
    {"exe.inference.traits.gathers", NULL},
    {"exe.inference.traits.narrow_prompts", NULL},
    {"exe.inference.traits.fused_recurrence", NULL},
    {"exe.inference.prompt_size", prompt_size},
    {"exe.inference.generate_size", NULL},
    {"exe.inference.prompt_spread", NULL},
    {"exe.inference.generate_spread", NULL},
    {"exe.inference.batch", batch},
    {"exe.inference.max_sequences", NULL},
    {"exe.inference.requests", NULL},
    {"exe.inference.arrival_rate", NULL},
    {"exe.inference.hold_steps", NULL},
    {"exe.inference.prefill_batch", one_served},
    {"exe.inference.chunk_size", NULL},
    {"exe.inference.kv_datatype", cache},
    {"exe.inference.state_datatype", state},
    {"exe.inference.wide_attention", NULL},
    {"exe.inference.memory_share", memory_share},
    {"exe.inference.redundant_experts", NULL},
    {"exe.inference.page_size", one_served},
    {"exe.inference.prefix_hit", NULL},
    {"exe.inference.speculative_tokens", NULL},
    {"exe.inference.speculative_accept", NULL},
    {"exe.inference.speculative_cost", NULL},
    {"exe.inference.prefill_procs", NULL},
    {"exe.inference.prefill_system", NULL}, /* that of the run: prop_neutral.c */
    {"exe.inference.prefill_tensor_par", pool_tensor},
    {"exe.inference.prefill_expert_par", pool_expert},

    {"sys.sustained", one},
    {"sys.attention.fw_efficiency", NULL}, /* the engine's curve, by another size */
    {"sys.attention.bw_efficiency", NULL},
    {"sys.attention.launch", NULL},
    {"sys.attention.softmax_size", NULL},
    {"sys.attention.generic_efficiency", one},
    {"sys.attention.unfused_efficiency", matrix_rate},
    {"sys.grouped.efficiency", one},
    {"sys.grouped.processing_mode", grouped_mode},
    {"sys.grouped.wgrad_bytes", wgrad},
    {"sys.recurrence.efficiency", NULL}, /* the engine's curve */
    {"sys.recurrence.chunk", recurrence_chunk},
    {"sys.launch.matrix", NULL},
    {"sys.launch.vector", NULL},
    {"sys.host.block", NULL},
    {"sys.host.moe_block", NULL},
    {"sys.host.expert", NULL},
    {"sys.host.tensor_par_growth", NULL},
    {"sys.host.recompute_growth", half},
    {"sys.host.overlap_growth", half},
    {"sys.overlap.tensor_par_fused", one},
    {"sys.overlap.tensor_par_async", half},
    {"sys.overlap.data_par", window},
    {"sys.overlap.expert_par", expert_hidden},
    {"sys.overlap.pipeline_par", message_hidden},
    {"sys.overlap.contention", NULL},
    {"sys.eager_traffic", eager},
    {"sys.expert_activation_traffic", unfused_experts},
    {"sys.quantize_bytes", NULL},
    {"sys.float8_either_order", NULL},
    {"sys.block_scaled_efficiency", one},
    {"sys.row_scaled_efficiency", row_scaled},
    {"sys.permute_efficiency", memory_rate},
    {"sys.optimizer_efficiency", memory_rate_of_large},
    {"sys.serving.matrix.memory_efficiency", NULL},
    {"sys.serving.matrix.fixed", NULL},
    {"sys.serving.matrix.inner", NULL},
    {"sys.serving.matrix.quantize", NULL},
    {"sys.serving.matrix.efficiency", served_whole_matrix},
    {"sys.serving.matrix.efficiency_8bit", served_matrix},
    {"sys.serving.matrix.block_scaled_efficiency", in_8bit_matrix},
    {"sys.serving.matrix.efficiency_4bit", served_matrix},
    {"sys.serving.matrix.unpacked_efficiency", served_matrix},
    {"sys.serving.matrix.unpacked_memory_efficiency", read_matrix},
    {"sys.serving.grouped.memory_efficiency", NULL},
    {"sys.serving.grouped.fixed", NULL},
    {"sys.serving.grouped.inner", NULL},
    {"sys.serving.grouped.quantize", NULL},
    {"sys.serving.grouped.efficiency", served_whole_grouped},
    {"sys.serving.grouped.efficiency_8bit", served_grouped},
    {"sys.serving.grouped.block_scaled_efficiency", in_8bit_grouped},
    {"sys.serving.grouped.efficiency_4bit", served_grouped},
    {"sys.serving.grouped.unpacked_efficiency", served_grouped},
    {"sys.serving.grouped.unpacked_memory_efficiency", read_grouped},
    {"sys.serving.decode.memory_efficiency", NULL},
    {"sys.serving.decode.fixed", NULL},
    {"sys.serving.decode.growth", NULL},
    {"sys.serving.decode.efficiency", served_whole_decode},
    {"sys.serving.prefill.memory_efficiency", NULL},
    {"sys.serving.prefill.fixed", NULL},
    {"sys.serving.prefill.efficiency", served_whole_prefill},
    {"sys.serving.prefill.efficiency_8bit", NULL},
    {"sys.serving.prefill.softmax_size", NULL},
    {"sys.serving.state.memory_efficiency", NULL},
    {"sys.serving.state.fixed", NULL},
    {"sys.serving.vector.memory_efficiency", NULL},
    {"sys.serving.vector.fixed", NULL},
    {"sys.serving.all_reduce.one_shot_efficiency", NULL},
    {"sys.serving.all_reduce.fixed", NULL},
    {"sys.serving.all_reduce.doubling", NULL},
    {"sys.serving.all_reduce.two_shot_efficiency", served_two_shot},
    {"sys.serving.all_reduce.two_shot", NULL},
    {"sys.serving.collective.fixed", NULL},
    {"sys.serving.collective.doubling", NULL},
    {"sys.serving.exchange.fixed", NULL},
    {"sys.serving.exchange.doubling", NULL},

    {"sys.step_overhead", NULL},
    {"sys.straggler_growth", NULL},
    {"sys.mem_reserved_GiB", NULL},
    {"sys.mem_fragmentation", NULL},
    {"sys.ranks_per_node", node},
    {"sys.watts", NULL},
    {"sys.usd_per_hour", NULL},
    {"sys.platform", NULL},
    {"sys.mem1.kind", NULL},
    {"sys.mem2.kind", NULL},
    {"sys.networks.kind", NULL},
    OPERATION(p2p),
    OPERATION(reduce_scatter),
    OPERATION(all_gather),
    OPERATION(all_reduce),
    OPERATION(all_to_all),
    {"sys.networks.latency_log2", NULL},
    {"sys.networks.hop_latency", NULL},
    {"sys.networks.oversubscription", one},
    {"sys.networks.reduction_in_network", NULL},
};

enum { ROWS = sizeof rows / sizeof *rows };

const char *calc_resolved_path(size_t index)
{
    return index < ROWS ? rows[index].path : NULL;
}

static size_t find(const char *path)
{
    size_t i = 0;
    while (i < ROWS && strcmp(rows[i].path, path) != 0) {
        i++;
    }
    return i;
}

bool calc_resolved_known(const calc_field_at *at)
{
    return at->field->type == CALC_TYPE_CURVE || at->field->type == CALC_TYPE_OP ||
           find(at->path) < ROWS;
}

double calc_resolved_value(const calc_field_at *at, const calc_random_layout *l)
{
    if (at->field->type == CALC_TYPE_CURVE || at->field->type == CALC_TYPE_OP) {
        return 1;
    }
    size_t i = find(at->path);
    return i < ROWS && rows[i].value ? rows[i].value(&l->app, &l->system, &l->exec, at->network)
                                     : NONE;
}
