/* Rules of frameworks other than Megatron-LM. Each list names its sources. */
#include "formats/refusal_rules.h"

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

/* ---- TorchTitan 0.2.2 ------------------------------------------------------------------------ */

static bool titan_chunks(const calc_resolved *r)
{
    return r->exec.pipeline_par > 1 && r->exec.pipeline_interleaving > 1;
}
static bool has_no_flavour(const calc_resolved *r)
{
    calc_plan plan;
    calc_plan_from(&plan, &r->app, &r->exec, 1);
    return !calc_plan_says(&plan, CALC_PLAN_MODEL);
}

/* models/llama3/infra/parallelize.py: DDP is the only dimension; fsdp_enabled with cp */
CALC_REFUSAL(replicates_and_splits,
             s->zero_stage == 0 && s->data_par > 1 && e->num_procs > s->data_par)
CALC_REFUSAL(context_without_sharding, s->zero_stage == 0 && s->context_par > 1)
/* distributed/parallel_dims.py: the product of all degrees is the world */
CALC_REFUSAL(shards_a_sequence_partly,
             s->zero_stage > 0 && !calc_divides(s->context_par, s->fsdp_par))
/* distributed/parallel_dims.py, seq_len_divisor */
CALC_REFUSAL(titan_sequence, !calc_divides(2 * s->context_par * s->tensor_par, a->seq_size))
/* distributed/parallel_dims.py: etp */
CALC_REFUSAL(titan_expert_ranks, a->num_experts > 0 && s->expert_par > 1 &&
                                     s->expert_tensor_par != 1 &&
                                     s->expert_tensor_par != s->tensor_par)
CALC_REFUSAL(titan_expert_mesh,
             a->num_experts > 0 && s->expert_par > 1 && s->zero_stage > 0 &&
                 !calc_divides(s->expert_par * s->expert_tensor_par, s->fsdp_par * s->tensor_par))
/* models/deepseek_v3/infra/parallelize.py: deepep */
CALC_REFUSAL(deepep_without_ranks, a->num_experts > 0 &&
                                       s->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED &&
                                       (s->expert_par == 1 || s->expert_tensor_par > 1))
/* distributed/dual_pipe_v.py */
CALC_REFUSAL(dualpipe_and_recomputation,
             dualpipe_v(r) && a->num_experts > 0 && s->expert_par > 1 &&
                 s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE)
/* distributed/pipeline_parallel.py: number of virtual stages = (blocks + ends) / blocks of a stage,
 * and generate_llm_fqn_per_model_part() */
CALC_REFUSAL(titan_uneven_chunks,
             titan_chunks(r) &&
                 (!calc_divides(e->pipeline_par * e->pipeline_interleaving, a->num_blocks) ||
                  e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS))
CALC_REFUSAL(titan_few_blocks, e->pipeline_par > 1 && a->num_blocks < e->pipeline_par)
CALC_REFUSAL(titan_two_halves, dualpipe_v(r) && a->num_blocks < 2 * e->pipeline_par)
CALC_REFUSAL(titan_zero_bubble, e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_ZB_H1)
/* torch/distributed/pipelining/schedules.py of PyTorch 2.9: whole rounds */
CALC_REFUSAL(titan_rounds,
             titan_chunks(r) && calc_microbatches(e) >= e->pipeline_par &&
                 !calc_divides(calc_microbatches(e) / e->pipeline_par, calc_microbatches(e)))

static const calc_refusal torchtitan[] = {
    {has_no_flavour, "the model is none of its flavours"},
    {replicates_and_splits,
     "zero_stage 0 with data_par excludes tensor_par, pipeline_par and context_par"},
    {context_without_sharding, "context_par needs zero_stage 2 or 3"},
    {shards_a_sequence_partly, "fsdp_par is not a multiple of context_par"},
    {titan_sequence, "seq_size is not a multiple of 2 * context_par * tensor_par"},
    {titan_expert_ranks, "expert_tensor_par is neither 1 nor tensor_par"},
    {titan_expert_mesh, "expert_par * expert_tensor_par does not divide fsdp_par * tensor_par"},
    {deepep_without_ranks, "dispatch_type node_limited needs expert_par of at least 2, and "
                           "excludes expert_tensor_par"},
    {dualpipe_and_recomputation,
     "pipeline_schedule dualpipe_v with expert_par excludes activation_recompute"},
    {titan_uneven_chunks, "pipeline_interleaving needs blocks that divide by stages and chunks"},
    {titan_few_blocks, "num_blocks is below pipeline_par"},
    {titan_two_halves, "pipeline_schedule dualpipe_v needs two blocks per stage"},
    {titan_zero_bubble, "pipeline_schedule zb_h1 has two chunks per stage there"},
    {titan_rounds, "pipeline_interleaving needs micro-batches in whole rounds of pipeline_par"}};
CALC_REFUSALS(calc_refusals_torchtitan, torchtitan);

/* ---- DeepSpeed 0.19.5 ------------------------------------------------------------------------ */

/* runtime/pipe/engine.py: the model must be a PipelineModule, which a configuration cannot
 * create */
CALC_REFUSAL(pipelines, e->pipeline_par > 1)
/* runtime/pipe/engine.py: ZeRO-2 and 3 with a PipelineModule */
CALC_REFUSAL(pipelines_and_shards, e->pipeline_par > 1 && s->zero_stage >= 2)
/* moe/layer.py: ep_size is an argument of the layer */
CALC_REFUSAL(spreads_experts, a->num_experts > 0 && s->expert_par > 1)
/* runtime/zero/config.py: offload_param needs stage 3, offload_optimizer stage 1 or above */
CALC_REFUSAL(offloads_whole_weights, s->weight_offload && s->zero_stage < 3)
CALC_REFUSAL(offloads_whole_state, s->optimizer_offload && s->zero_stage == 0)
/* runtime/engine.py: MiCS is a kind of stage 3 */
CALC_REFUSAL(shards_gradients_partly,
             s->zero_stage > 0 && s->zero_stage < 3 && s->fsdp_par < s->data_par * s->context_par)

static const calc_refusal deepspeed[] = {
    {pipelines, "pipeline_par is a PipelineModule in the code of the model, not a setting"},
    {pipelines_and_shards, "zero_stage 2 and 3 exclude pipeline stages"},
    {spreads_experts, "expert_par is an argument in the code of the model, not a setting"},
    {offloads_whole_weights, "weight_offload needs zero_stage 3"},
    {offloads_whole_state, "optimizer_offload needs zero_stage of at least 1"},
    {shards_gradients_partly, "fsdp_par below all replicas needs zero_stage 3"}};
CALC_REFUSALS(calc_refusals_deepspeed, deepspeed);

/* ---- MindSpore Transformers 1.7.0: parallel_core/transformer_config.py ----------------------- */

CALC_REFUSAL(former_heads, !calc_divides(s->tensor_par, a->attn_heads))
CALC_REFUSAL(former_predicts_more, a->mtp_blocks > 1)
CALC_REFUSAL(former_context_unfused, s->context_par > 1 && !s->flash_attention)
CALC_REFUSAL(former_biased_experts, a->num_experts > 0 && a->bias == CALC_CHOICE_TRUE)
CALC_REFUSAL(former_every, a->num_experts > 0 && a->dense_blocks > 0 && a->moe_every > 1)
CALC_REFUSAL(former_groups, a->num_experts > 0 && !calc_divides(a->expert_groups, a->num_experts))
static const calc_refusal mindformers[] = {
    {former_heads, "attn_heads is not a multiple of tensor_par"},
    {former_predicts_more, "only one of mtp_blocks is supported"},
    {former_context_unfused, "context_par needs flash_attention"},
    {former_biased_experts, "experts exclude biases"},
    {former_every, "dense_blocks excludes moe_every"},
    {former_groups, "num_experts is not a multiple of expert_groups"}};
CALC_REFUSALS(calc_refusals_mindformers, mindformers);

/* ---- PaddleNLP 3.0: paddlenlp/trainer/training_args.py --------------------------------------- */

CALC_REFUSAL(stages_and_sharded_gradients, e->pipeline_par > 1 && s->zero_stage >= 2)
/* enable_sharding_comm_overlap also implies enable_dp_comm_overlap, which has an accuracy issue */
static bool reduces_in_stages(const calc_resolved *r)
{
    const calc_strategy *s = &r->exec.strategy;
    return r->exec.pipeline_par > 1 && s->zero_stage == 1 && s->data_par_overlap && s->data_par > 1;
}
CALC_REFUSAL(reduces_over_replicas, reduces_in_stages(r) && !calc_divides(s->data_par, s->fsdp_par))
CALC_REFUSAL(overlaps_narrow_gradients,
             s->grad_datatype != CALC_FORMAT_FLOAT32 && s->zero_stage == 1 &&
                 (reduces_in_stages(r) || s->param_gather_overlap == CALC_CHOICE_TRUE))
static const calc_refusal paddle[] = {
    {stages_and_sharded_gradients, "zero_stage 2 and 3 exclude pipeline stages"},
    {reduces_over_replicas,
     "data_par_overlap with pipeline stages and optimizer_sharding excludes a smaller fsdp_par"},
    {overlaps_narrow_gradients, "data_par_overlap and param_gather_overlap with "
                                "optimizer_sharding need grad_datatype float32"}};
CALC_REFUSALS(calc_refusals_paddle, paddle);

/* ---- Programs that serve: vLLM, SGLang, TensorRT-LLM ----------------------------------------- */

CALC_REFUSAL(says_no_phase, e->inference.phase == CALC_INFERENCE_PHASE_NONE)
CALC_REFUSAL(is_two_servers, e->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED)
CALC_REFUSAL(drafts_elsewhere, e->inference.speculative_tokens > 0 && a->mtp_blocks == 0)
static const calc_refusal serve[] = {
    {says_no_phase, "inference.phase is not given"},
    {is_two_servers, "inference.phase disaggregated is two servers, which it is not told of in one "
                     "file: export a layout with phase prefill and one with phase decode"},
    {drafts_elsewhere, "inference.speculative_tokens without mtp_blocks needs a draft model or a "
                       "method, which is yours to name"}};
CALC_REFUSALS(calc_refusals_serve, serve);
