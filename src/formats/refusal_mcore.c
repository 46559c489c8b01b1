/* Rules of Megatron Core. Sources are files of Megatron-LM core_v0.15.0 unless stated otherwise:
 * arguments.py is megatron/training/arguments.py (validate_args); transformer_config.py,
 * transformer_block.py, moe_layer.py, token_dispatcher.py are in megatron/core/transformer;
 * parallel_state.py, schedules.py, optimizer_config.py, mcore_fsdp_adapter.py and megatron_fsdp.py
 * in megatron/core. */
#include "formats/refusal_rules.h"

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* transformer_config.py */
CALC_REFUSAL(heads_do_not_divide, !calc_divides(s->tensor_par, a->attn_heads))
CALC_REFUSAL(kv_heads_do_not_divide, s->attention_type != CALC_ATTENTION_TYPE_MULTI_LATENT &&
                                         a->kv_heads > 0 &&
                                         calc_divides(s->tensor_par, a->attn_heads) &&
                                         !calc_divides(s->tensor_par, a->kv_heads))
/* tensor_parallel/layers.py and mappings.py: divide() and the split of the first dimension */
CALC_REFUSAL(width_does_not_divide, !calc_divides(s->tensor_par, a->feedforward))
CALC_REFUSAL(sequence_does_not_divide,
             s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG &&
                 !calc_divides(s->tensor_par * s->context_par, a->seq_size))
/* arguments.py: seq_length % (2 * context_parallel_size) */
CALC_REFUSAL(sequence_is_not_cut_in_pairs,
             s->context_par > 1 && !calc_divides(2 * s->context_par, a->seq_size))
/* arguments.py: hierarchical_context_parallel_sizes, given, with that product */
CALC_REFUSAL(hierarchy_has_no_sizes,
             s->context_par > 1 && s->context_par_type == CALC_CONTEXT_PAR_TYPE_HIERARCHICAL &&
                 (s->context_par_inner <= 0 || !calc_divides(s->context_par_inner, s->context_par)))
/* parallel_state.py: ranks of a stage divided by the ranks of its experts */
CALC_REFUSAL(experts_do_not_fit_the_ranks,
             a->num_experts > 0 && !calc_divides(s->expert_par * s->expert_tensor_par,
                                                 e->num_procs / e->pipeline_par))
/* arguments.py, moe_layer.py */
CALC_REFUSAL(experts_do_not_divide,
             a->num_experts > 0 && !calc_divides(s->expert_par, a->num_experts))
CALC_REFUSAL(expert_width_does_not_divide,
             a->num_experts > 0 && !calc_divides(s->expert_tensor_par, a->expert_feedforward))

static int64_t replicas_of_experts(const calc_resolved *r)
{
    const calc_exec *e = &r->exec;
    const calc_strategy *s = &e->strategy;
    bool experts = r->app.num_experts > 0;
    int64_t ranks = experts ? s->expert_par * s->expert_tensor_par : s->tensor_par;
    return e->num_procs / e->pipeline_par / ranks;
}

/* parallel_state.py: an order that does not end with pp; without experts, expert ranks are the
 * ranks of tensor parallelism */
CALC_REFUSAL(stages_are_near_but_replicas_differ, e->rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP &&
                                                      e->pipeline_par > 1 &&
                                                      replicas_of_experts(r) != s->data_par)
/* parallel_state.py: expert_data_parallel_size % num_distributed_optimizer_instances */
CALC_REFUSAL(experts_have_fewer_replicas,
             s->zero_stage > 0 &&
                 !calc_divides(s->data_par * s->context_par / s->fsdp_par, replicas_of_experts(r)))

/* ---- Stages ---------------------------------------------------------------------------------- */

/* arguments.py, transformer_config.py, transformer_block.py: all stages hold equally many blocks,
 * except the first and the last if their numbers are given */
static bool stages_are_uneven(const calc_resolved *r)
{
    const calc_exec *e = &r->exec;
    int64_t chunks = e->pipeline_interleaving;
    bool first = e->first_stage_blocks > 0;
    bool last = e->last_stage_blocks > 0;
    int64_t blocks = r->app.num_blocks - e->first_stage_blocks - e->last_stage_blocks;
    int64_t stages = e->pipeline_par - first - last;
    if (e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS) {
        blocks += 2; /* embedding and head count as one each */
    }
    if (e->pipeline_par == 1 || e->stages.count > 0 ||
        e->pipeline_balance == CALC_PIPELINE_BALANCE_FREE) {
        return false;
    }
    return !calc_divides(chunks, e->first_stage_blocks) ||
           !calc_divides(chunks, e->last_stage_blocks) ||
           (stages > 0 ? !calc_divides(stages * chunks, blocks) : blocks != 0);
}

/* pipeline_parallel_layer_layout.py: uneven stages need a list, here without chunks */
CALC_REFUSAL(chunks_are_uneven,
             stages_are_uneven(r) && (e->pipeline_interleaving > 1 || e->first_stage_blocks > 0 ||
                                      e->last_stage_blocks > 0))
CALC_REFUSAL(blocks_are_spread_freely,
             e->pipeline_par > 1 && e->pipeline_balance == CALC_PIPELINE_BALANCE_FREE)
/* transformer_config.py */
CALC_REFUSAL(ends_and_lengths, e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS &&
                                   (e->first_stage_blocks > 0 || e->last_stage_blocks > 0))
/* arguments.py: overlap_p2p_comm; messages between the same two ranks would be one batch */
CALC_REFUSAL(two_stages_without_overlap,
             e->pipeline_interleaving > 1 && e->pipeline_par == 2 && !s->pipeline_par_overlap)
/* arguments.py, parallel_state.py */
CALC_REFUSAL(chunks_without_stages, e->pipeline_interleaving > 1 && e->pipeline_par == 1)
/* schedules.py: groups of pipeline_par micro-batches, all full */
CALC_REFUSAL(rounds_are_not_whole, e->pipeline_interleaving > 1 && e->pipeline_par > 1 &&
                                       !calc_divides(e->pipeline_par, calc_microbatches(e)))

/* ---- Tensor parallelism, number formats, recomputation --------------------------------------- */

/* moe_layer.py, forward() */
CALC_REFUSAL(experts_without_sequence_par,
             a->num_experts > 0 && s->tensor_par > 1 &&
                 s->tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_RS_AG)
/* arguments.py: tp_comm_overlap */
CALC_REFUSAL(fused_without_sequence_par,
             s->tensor_par > 1 && s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE &&
                 s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_ASYNC &&
                 s->tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_RS_AG)
/* arguments.py: moe_grouped_gemm, which an export always sets, and expert parallelism with fp16 */
CALC_REFUSAL(experts_are_not_bfloat16,
             a->num_experts > 0 && s->datatype != CALC_DATATYPE_BFLOAT16 &&
                 s->datatype != CALC_DATATYPE_FLOAT8 && s->datatype != CALC_DATATYPE_FLOAT4)
/* transformer_config.py */
CALC_REFUSAL(experts_have_biases,
             a->num_experts > 0 && a->bias == CALC_CHOICE_TRUE && s->expert_tensor_par > 1)
/* transformer_config.py: bias_activation_fusion with squared_relu */
CALC_REFUSAL(relu_is_not_fused, a->ffn_type == CALC_FFN_TYPE_RELU && a->bias == CALC_CHOICE_TRUE &&
                                    s->fused_activation)
/* transformer_config.py: fp8_param without fp8 */
CALC_REFUSAL(low_weights_alone,
             s->weight_datatype == CALC_FORMAT_FLOAT8 && s->matrix_datatype != CALC_FORMAT_FLOAT8)
/* arguments.py: fp8_param_gather */
CALC_REFUSAL(low_weights_without_sharding,
             s->weight_datatype == CALC_FORMAT_FLOAT8 && s->zero_stage == 0)
/* optimizer_config.py: use_precision_aware_optimizer, which offload requires too (arguments.py) */
CALC_REFUSAL(formats_without_sharding,
             s->zero_stage == 0 &&
                 (s->optimizer_offload || s->master_datatype != CALC_FORMAT_FLOAT32 ||
                  s->optimizer_moment_datatype != CALC_FORMAT_FLOAT32))
/* arguments.py: fp8_param_gather with optimizer_cpu_offload, which requires --fp8-recipe delayed */
CALC_REFUSAL(low_weights_and_offload,
             s->weight_datatype == CALC_FORMAT_FLOAT8 && s->optimizer_offload)
/* arguments.py, optimizer/__init__.py: emerging optimizers */
CALC_REFUSAL(muon_and_formats,
             s->optimizer == CALC_OPTIMIZER_MUON &&
                 (s->zero_stage >= 2 || s->datatype == CALC_DATATYPE_FLOAT16 ||
                  s->optimizer_offload || s->master_datatype != CALC_FORMAT_FLOAT32 ||
                  s->optimizer_moment_datatype != CALC_FORMAT_FLOAT32))
/* transformer_config.py: moe_act without moe_grouped_gemm, mla_up_proj without latent attention,
 * shared_experts beside their overlap */
static bool recomputes(const calc_resolved *r, int module)
{
    return r->exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES &&
           (r->exec.strategy.recompute_modules & 1 << module) != 0;
}
CALC_REFUSAL(recomputes_no_experts,
             recomputes(r, CALC_RECOMPUTE_MODULES_MOE_ACT) && a->num_experts == 0)
CALC_REFUSAL(recomputes_no_latent, recomputes(r, CALC_RECOMPUTE_MODULES_MLA_UP_PROJ) &&
                                       s->attention_type != CALC_ATTENTION_TYPE_MULTI_LATENT)
CALC_REFUSAL(recomputes_what_overlaps, recomputes(r, CALC_RECOMPUTE_MODULES_SHARED_EXPERTS) &&
                                           a->shared_feedforward > 0 &&
                                           s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED)
/* transformer_config.py, moe/experts.py: parts of experts that run in one operator move together */
static bool moves(const calc_resolved *r, int64_t parts)
{
    return (r->exec.strategy.offload_modules & parts) != 0;
}
enum {
    MOVED_APART = 1 << CALC_OFFLOAD_MODULES_EXPERT_FC1 | 1 << CALC_OFFLOAD_MODULES_MOE_ACT,
    MOVED_TOGETHER = 1 << CALC_OFFLOAD_MODULES_FUSED_GROUP_MLP
};
CALC_REFUSAL(moves_fused_experts_apart, s->fused_experts &&moves(r, MOVED_APART))
CALC_REFUSAL(moves_experts_together, !s->fused_experts && moves(r, MOVED_TOGETHER))
CALC_REFUSAL(moves_what_recomputes,
             recomputes(r, CALC_RECOMPUTE_MODULES_MOE) && moves(r, CALC_STASHED_MODULES))
/* arguments.py: mtp_num_layers */
CALC_REFUSAL(prediction_with_learned_positions,
             a->mtp_blocks > 0 && a->position_type == CALC_POSITION_TYPE_LEARNED)
/* transformer_config.py: moe_shared_expert_overlap */
CALC_REFUSAL(shared_overlap_without_exchange,
             a->num_experts > 0 && s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED &&
                 s->dispatch_type != CALC_DISPATCH_TYPE_ALL_TO_ALL)

#define UNEVEN                                                                                     \
    "the blocks do not divide by stages and chunks: first_stage_blocks or last_stage_blocks can "  \
    "take what is left"

static const calc_refusal even[] = {{stages_are_uneven, UNEVEN}};
CALC_REFUSALS(calc_refusals_even, even);
static const calc_refusal listed[] = {{chunks_are_uneven, UNEVEN}};
CALC_REFUSALS(calc_refusals_listed, listed);

static const calc_refusal core[] = {
    {heads_do_not_divide, "attn_heads is not a multiple of tensor_par"},
    {kv_heads_do_not_divide, "kv_heads is not a multiple of tensor_par"},
    {width_does_not_divide, "feedforward is not a multiple of tensor_par"},
    {sequence_does_not_divide,
     "seq_size is not a multiple of tensor_par * context_par, as tensor_par_comm_type rs_ag needs"},
    {sequence_is_not_cut_in_pairs, "seq_size is not a multiple of 2 * context_par"},
    {hierarchy_has_no_sizes,
     "context_par_type hierarchical needs context_par_inner, a divisor of context_par"},
    {experts_do_not_fit_the_ranks,
     "expert_par * expert_tensor_par does not divide the processors of a stage"},
    {experts_do_not_divide, "num_experts is not a multiple of expert_par"},
    {expert_width_does_not_divide, "expert_feedforward is not a multiple of expert_tensor_par"},
    {stages_are_near_but_replicas_differ,
     "rank_order tp-cp-ep-pp-dp with stages needs as many replicas of experts as data_par"},
    {experts_have_fewer_replicas,
     "the replicas of experts do not divide by those of the sharded state (fsdp_par)"},
    {blocks_are_spread_freely,
     "pipeline_balance free is --pipeline-model-parallel-layout, which is yours to write"},
    {ends_and_lengths, "pipeline_balance ends excludes first_stage_blocks and last_stage_blocks"},
    {two_stages_without_overlap,
     "pipeline_interleaving with two stages needs pipeline_par_overlap"},
    {chunks_without_stages, "pipeline_interleaving needs pipeline_par of at least 2"},
    {rounds_are_not_whole,
     "pipeline_interleaving needs micro-batches that are a multiple of pipeline_par"},
    {experts_without_sequence_par,
     "experts with tensor_par above 1 need tensor_par_comm_type rs_ag"},
    {fused_without_sequence_par,
     "tensor_par_overlap other than none and async needs tensor_par_comm_type rs_ag"},
    {experts_are_not_bfloat16, "experts need datatype bfloat16"},
    {experts_have_biases, "experts with biases exclude expert_tensor_par"},
    {relu_is_not_fused, "ffn_type relu with biases excludes fused_activation"},
    {low_weights_alone, "weight_datatype float8 needs matrix_datatype float8"},
    {low_weights_without_sharding, "weight_datatype float8 needs optimizer_sharding"},
    {formats_without_sharding, "optimizer_offload, master_datatype and optimizer_moment_datatype "
                               "need optimizer_sharding"},
    {low_weights_and_offload, "weight_datatype float8 excludes optimizer_offload"},
    {muon_and_formats, "optimizer muon excludes zero_stage 2 and 3, datatype float16, "
                       "optimizer_offload, master_datatype and optimizer_moment_datatype"},
    {recomputes_no_experts, "recompute_modules moe_act needs experts"},
    {recomputes_no_latent, "recompute_modules mla_up_proj needs latent attention"},
    {recomputes_what_overlaps,
     "recompute_modules shared_experts excludes expert_par_overlap shared"},
    {moves_fused_experts_apart, "offload_modules expert_fc1 and moe_act exclude fused_experts"},
    {moves_experts_together, "offload_modules fused_group_mlp needs fused_experts"},
    {moves_what_recomputes,
     "offload_modules expert_fc1, moe_act and fused_group_mlp exclude recompute_modules moe"},
    {prediction_with_learned_positions, "mtp_blocks needs position_type rope or none"},
    {shared_overlap_without_exchange, "expert_par_overlap shared needs dispatch_type all_to_all"}};
CALC_REFUSALS(calc_refusals_core, core);

/* ---- Flexible dispatch ----------------------------------------------------------------------- */

/* token_dispatcher.py: no padding; with tp_size * ep_size = 1 there is no dispatch */
CALC_REFUSAL(flex_pads, a->num_experts > 0 && s->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED &&
                            s->capacity_factor > 0)

/* transformer_config.py: moe_expert_rank_capacity_factor */
CALC_REFUSAL(room_without_flex, s->rank_capacity_factor > 0 && a->num_experts > 0 &&
                                    s->dispatch_type != CALC_DISPATCH_TYPE_NODE_LIMITED)
CALC_REFUSAL(room_without_fusion,
             s->rank_capacity_factor > 0 && a->num_experts > 0 && !s->fused_experts)

static const calc_refusal flex[] = {
    {room_without_flex, "rank_capacity_factor needs dispatch_type node_limited"},
    {room_without_fusion, "rank_capacity_factor needs fused_experts"},
    {flex_pads, "dispatch_type node_limited excludes capacity_factor"}};
CALC_REFUSALS(calc_refusals_flex, flex);

/* ---- Overlap of two micro-batches ------------------------------------------------------------ */

/* transformer_config.py: overlap_moe_expert_parallel_comm */
static bool batch_overlap(const calc_resolved *r)
{
    return r->app.num_experts > 0 &&
           r->exec.strategy.expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
}
CALC_REFUSAL(overlaps_without_chunks,
             batch_overlap(r) && e->pipeline_par > 1 && e->pipeline_interleaving == 1)
CALC_REFUSAL(overlaps_and_recomputes,
             batch_overlap(r) && s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL)
CALC_REFUSAL(overlaps_without_expert_ranks, batch_overlap(r) && s->expert_par <= 1)
CALC_REFUSAL(overlaps_without_exchange,
             batch_overlap(r) && s->dispatch_type == CALC_DISPATCH_TYPE_ALL_GATHER)
CALC_REFUSAL(overlaps_and_predicts_more, batch_overlap(r) && a->mtp_blocks > 1)

static const calc_refusal batch[] = {
    {overlaps_without_chunks,
     "expert_par_overlap batch with pipeline stages needs pipeline_interleaving of at least 2"},
    {overlaps_and_recomputes, "expert_par_overlap batch excludes activation_recompute full"},
    {overlaps_without_expert_ranks, "expert_par_overlap batch needs expert_par of at least 2"},
    {overlaps_without_exchange, "expert_par_overlap batch excludes dispatch_type all_gather"},
    {overlaps_and_predicts_more, "expert_par_overlap batch allows one of mtp_blocks"}};
CALC_REFUSALS(calc_refusals_batch_overlap, batch);

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* arguments.py, transformer_config.py: cuda_graph_impl local; of parts of blocks
 * (transformer_engine) full recomputation only */
CALC_REFUSAL(graphs_and_recomputation,
             s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE &&
                 (s->cuda_graph >= 1 ||
                  (s->cuda_graph > 0 && s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL)))
/* transformer_config.py: cuda_graph_scope moe without moe_pad_expert_input_to_capacity */
CALC_REFUSAL(graphs_and_dropless_experts, s->cuda_graph >= 1 && a->num_experts > 0 &&
                                              s->capacity_factor <= 0 &&
                                              s->rank_capacity_factor <= 0)

static const calc_refusal graphs[] = {
    {graphs_and_recomputation,
     "cuda_graph excludes activation_recompute, of parts of blocks full recomputation"},
    {graphs_and_dropless_experts, "cuda_graph of whole blocks with experts needs capacity_factor "
                                  "or rank_capacity_factor"}};
CALC_REFUSALS(calc_refusals_graphs, graphs);

/* ---- Megatron-FSDP --------------------------------------------------------------------------- */

/* mcore_fsdp_adapter.py, also of core_v0.19.0: the mesh has only data and tensor ranks, which are
 * all processors */
CALC_REFUSAL(shards_and_stages, s->zero_stage >= 2 && e->pipeline_par > 1)
static const calc_refusal fsdp[] = {
    {shards_and_stages, "zero_stage 2 and 3 (Megatron-FSDP) exclude pipeline stages"}};
CALC_REFUSALS(calc_refusals_fsdp, fsdp);

/* megatron_fsdp.py: get_expert_dp_group() is None */
CALC_REFUSAL(shards_experts, s->zero_stage >= 2 && a->num_experts > 0 && s->expert_par > 1)
/* megatron_fsdp.py: overlap_grad_reduce, which optim_grads_params sets by itself */
CALC_REFUSAL(shards_gradients_after, s->zero_stage == 2 && !s->data_par_overlap)
static const calc_refusal fsdp_0_15[] = {
    {shards_experts, "zero_stage 2 and 3 (Megatron-FSDP) exclude expert_par"},
    {shards_gradients_after, "zero_stage 2 (Megatron-FSDP) needs data_par_overlap"}};
CALC_REFUSALS(calc_refusals_fsdp_0_15, fsdp_0_15);

/* ---- MindSpeed 2.3.0_core_r0.12.1 ------------------------------------------------------------ */

static bool dualpipe_v(const calc_resolved *r)
{
    return r->exec.pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
}
static bool forward_backward_overlap(const calc_resolved *r)
{
    return r->app.num_experts > 0 &&
           r->exec.strategy.expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
}

/* features_manager/pipeline_parallel/dualpipev_feature.py */
CALC_REFUSAL(v_and_fsdp, dualpipe_v(r) && s->zero_stage >= 2)
CALC_REFUSAL(v_and_reduction_overlap, dualpipe_v(r) && s->data_par_overlap)
CALC_REFUSAL(v_and_tied, dualpipe_v(r) && a->tied_embeddings == CALC_CHOICE_TRUE)
CALC_REFUSAL(v_and_context, dualpipe_v(r) && s->context_par > 1)
CALC_REFUSAL(v_and_offload, dualpipe_v(r) && s->activations_offload)
CALC_REFUSAL(v_has_few_blocks, dualpipe_v(r) && a->num_blocks < 2 * e->pipeline_par)
CALC_REFUSAL(v_has_few_microbatches,
             dualpipe_v(r) && calc_microbatches(e) < 2 * e->pipeline_par - 1)
/* features_manager/moe/fb_overlap.py */
CALC_REFUSAL(fb_without_exchange,
             forward_backward_overlap(r) && s->dispatch_type == CALC_DISPATCH_TYPE_ALL_GATHER)
CALC_REFUSAL(fb_without_ranks,
             forward_backward_overlap(r) && (s->expert_par == 1 || s->expert_tensor_par > 1))
CALC_REFUSAL(fb_and_offload, forward_backward_overlap(r) && s->activations_offload)
CALC_REFUSAL(fb_without_chunks, forward_backward_overlap(r) && !dualpipe_v(r) &&
                                    e->pipeline_interleaving == 1 && e->pipeline_par > 1)
CALC_REFUSAL(fb_has_few_microbatches, forward_backward_overlap(r) && e->pipeline_interleaving > 1 &&
                                          calc_microbatches(e) / e->pipeline_par <= 1)
/* features_manager/context_parallel/context_parallel_feature.py, ulysses_context_parallel.py */
CALC_REFUSAL(hybrid_has_no_ring, s->context_par > 1 &&
                                     s->context_par_type == CALC_CONTEXT_PAR_TYPE_HIERARCHICAL &&
                                     s->context_par_inner == s->context_par)
static int64_t ranks_of_heads(const calc_strategy *s)
{
    return s->context_par == 1                                         ? 1
           : s->context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES      ? s->context_par
           : s->context_par_type != CALC_CONTEXT_PAR_TYPE_HIERARCHICAL ? 1
           : s->context_par_inner > 0                                  ? s->context_par_inner
                                                                       : 1;
}
CALC_REFUSAL(heads_are_not_spread, !calc_divides(ranks_of_heads(s) * s->tensor_par, a->attn_heads))
/* Megatron-LM core_v0.12.1, arguments.py: num_layers_per_virtual_pipeline_stage, mtp_num_layers */
CALC_REFUSAL(chunks_of_uneven_stages, e->pipeline_interleaving > 1 &&
                                          (e->first_stage_blocks > 0 || e->last_stage_blocks > 0 ||
                                           e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS))
CALC_REFUSAL(predicts_with_context, a->mtp_blocks > 0 && s->context_par > 1)

static const calc_refusal mindspeed[] = {
    {v_and_fsdp, "pipeline_schedule dualpipe_v excludes zero_stage 2 and 3"},
    {v_and_reduction_overlap, "pipeline_schedule dualpipe_v excludes data_par_overlap"},
    {v_and_tied, "pipeline_schedule dualpipe_v excludes tied_embeddings"},
    {v_and_context, "pipeline_schedule dualpipe_v excludes context_par"},
    {v_and_offload, "pipeline_schedule dualpipe_v excludes activations_offload"},
    {v_has_few_blocks, "pipeline_schedule dualpipe_v needs two blocks per stage"},
    {v_has_few_microbatches,
     "pipeline_schedule dualpipe_v needs at least 2 * pipeline_par - 1 micro-batches"},
    {fb_without_exchange, "expert_par_overlap batch excludes dispatch_type all_gather"},
    {fb_without_ranks, "expert_par_overlap batch needs expert_par of at least 2, and excludes "
                       "expert_tensor_par"},
    {fb_and_offload, "expert_par_overlap batch excludes activations_offload"},
    {fb_without_chunks, "expert_par_overlap batch with pipeline stages needs "
                        "pipeline_interleaving of at least 2, or pipeline_schedule dualpipe_v"},
    {fb_has_few_microbatches, "expert_par_overlap batch with pipeline_interleaving needs at least "
                              "2 * pipeline_par micro-batches"},
    {hybrid_has_no_ring, "context_par_type hierarchical needs context_par_inner below context_par"},
    {heads_are_not_spread,
     "attn_heads is not a multiple of tensor_par times the ranks that exchange heads"},
    {chunks_of_uneven_stages, "pipeline_interleaving excludes first_stage_blocks, "
                              "last_stage_blocks and pipeline_balance ends"},
    {predicts_with_context, "mtp_blocks excludes context_par"}};
CALC_REFUSALS(calc_refusals_mindspeed, mindspeed);

/* ---- NeMo 2.4.0: nemo/collections/nlp/models/language_modeling/megatron_gpt_model.py --------- */

CALC_REFUSAL(nemo_chunks, e->pipeline_interleaving > 1)
static const calc_refusal nemo[] = {
    {nemo_chunks, "pipeline_interleaving is no longer supported with megatron_gpt_config.yaml"}};
CALC_REFUSALS(calc_refusals_nemo, nemo);
