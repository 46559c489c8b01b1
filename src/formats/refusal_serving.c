/* Rules of serving programs: combinations that they refuse or have no settings for. Sources as in
 * serving.c. */
#include "formats/refusal_rules.h"

static int64_t ranks_of_experts(const calc_resolved *r)
{
    return r->exec.strategy.expert_par * r->exec.strategy.expert_tensor_par;
}
static bool has_experts(const calc_resolved *r)
{
    return r->app.num_experts > 0;
}

/* ---- All programs ---------------------------------------------------------------------------- */

CALC_REFUSAL(says_no_phase, e->inference.phase == CALC_INFERENCE_PHASE_NONE)
CALC_REFUSAL(is_two_servers, e->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED)
CALC_REFUSAL(splits_sequences, s->context_par > 1)
CALC_REFUSAL(hides_collectives, s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE)
CALC_REFUSAL(splits_heads_unevenly, !calc_divides(s->tensor_par, a->attn_heads))
CALC_REFUSAL(keeps_another_cache, e->inference.kv_datatype != CALC_FORMAT_AUTO &&
                                      e->inference.kv_datatype != CALC_FORMAT_FLOAT8)
CALC_REFUSAL(drafts_elsewhere, e->inference.speculative_tokens > 0 && a->mtp_blocks == 0)
static const calc_refusal serve[] = {
    {says_no_phase, "inference.phase is not given"},
    {is_two_servers, "inference.phase disaggregated is two servers, which it is not told of in one "
                     "file: export a layout with phase prefill and one with phase decode"},
    {splits_sequences, "context_par is not for serving"},
    {hides_collectives,
     "tensor_par_overlap is not for serving: engines wait for their collectives"},
    {splits_heads_unevenly, "attn_heads is not a multiple of tensor_par"},
    {keeps_another_cache, "inference.kv_datatype is neither auto nor float8"},
    {drafts_elsewhere, "inference.speculative_tokens without mtp_blocks needs a draft model or a "
                       "method, which is yours to name"}};
CALC_REFUSALS(calc_refusals_serve, serve);

/* ---- vLLM ------------------------------------------------------------------------------------ */

/* All ranks of a stage share the experts: each rank has whole experts with
 * --enable-expert-parallel, otherwise a part of every expert. */
CALC_REFUSAL(vllm_experts, has_experts(r) && (ranks_of_experts(r) != s->tensor_par * s->data_par ||
                                              (s->expert_par > 1 && s->expert_tensor_par > 1)))
/* config/cache.py: BlockSize */
CALC_REFUSAL(vllm_pages, e->inference.page_size > 1 && e->inference.page_size != 8 &&
                             e->inference.page_size != 16 && e->inference.page_size != 32 &&
                             e->inference.page_size != 64 && e->inference.page_size != 128)
static const calc_refusal vllm[] = {
    {vllm_experts, "either expert_par or expert_tensor_par has to be tensor_par * data_par, and "
                   "the other 1"},
    {vllm_pages, "inference.page_size is none of 8, 16, 32, 64 and 128"}};
CALC_REFUSALS(calc_refusals_vllm, vllm);

/* ---- SGLang ---------------------------------------------------------------------------------- */

CALC_REFUSAL(sglang_experts, has_experts(r) && ranks_of_experts(r) != s->tensor_par &&
                                 ranks_of_experts(r) != s->tensor_par * s->data_par)
CALC_REFUSAL(sglang_spread, has_experts(r) && !calc_divides(s->expert_par, a->num_experts))
/* chunked_prefill_size must be a multiple of page_size */
CALC_REFUSAL(sglang_chunks, e->inference.page_size > 1 &&
                                !calc_divides(e->inference.page_size, e->inference.chunk_size))
/* pipeline stages exclude speculative decoding */
CALC_REFUSAL(sglang_stages, e->pipeline_par > 1 && e->inference.speculative_tokens > 0)
static const calc_refusal sglang[] = {
    {sglang_experts, "expert_par * expert_tensor_par is neither tensor_par nor tensor_par * "
                     "data_par"},
    {sglang_spread, "num_experts is not a multiple of expert_par"},
    {sglang_chunks, "inference.chunk_size is not a multiple of inference.page_size"},
    {sglang_stages, "inference.speculative_tokens excludes pipeline stages"}};
CALC_REFUSALS(calc_refusals_sglang, sglang);

/* ---- TensorRT-LLM ---------------------------------------------------------------------------- */

/* Attention is either split over all ranks or replicated on all of them (enable_attention_dp). */
CALC_REFUSAL(trt_replicas, s->data_par > 1 && (s->tensor_par > 1 || !has_experts(r)))
CALC_REFUSAL(trt_experts, has_experts(r) && ranks_of_experts(r) != s->tensor_par * s->data_par)
/* llm_args.py: tokens_per_block must be a power of two */
CALC_REFUSAL(trt_pages, e->inference.page_size > 1 &&
                            (e->inference.page_size & (e->inference.page_size - 1)) != 0)
static const calc_refusal tensorrt_llm[] = {
    {trt_replicas, "data_par needs experts and tensor_par 1 (enable_attention_dp); replicas of a "
                   "dense model are servers of their own"},
    {trt_experts, "expert_par * expert_tensor_par is not tensor_par * data_par"},
    {trt_pages, "inference.page_size is not a power of two"}};
CALC_REFUSALS(calc_refusals_tensorrt_llm, tensorrt_llm);
