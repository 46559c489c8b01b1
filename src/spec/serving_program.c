/* Sources of the rules: vLLM, vllm/engine/arg_utils.py; SGLang, python/sglang/srt/server_args.py;
 * TensorRT-LLM, tensorrt_llm/llmapi/llm_args.py. */
#include "spec/serving_program.h"

#include "base/buffer.h"
#include "base/error.h"
#include "spec/prefill_pool.h"

static int64_t at_least_one(int64_t ranks)
{
    return ranks > 1 ? ranks : 1;
}

static const struct {
    const char *name;
    calc_serving_program program;
    calc_platform platform;
} engines[] = {
#define CALC_X(engine, name, program, platform)                                                    \
    {name, CALC_SERVING_PROGRAM_##program, CALC_PLATFORM_##platform},
    CALC_SERVING_ENGINE_LIST(CALC_X)
#undef CALC_X
};

calc_serving_program calc_serving_program_of(calc_serving_engine engine)
{
    return engines[engine].program;
}

const char *calc_serving_program_engine(calc_serving_engine engine)
{
    return engines[engine].name;
}

static bool runs_on(calc_serving_engine engine, calc_platform platform)
{
    return platform == CALC_PLATFORM_ANY || engines[engine].platform == CALC_PLATFORM_ANY ||
           engines[engine].platform == platform;
}

void calc_serving_program_check(const calc_system *system, calc_serving_engine engine,
                                calc_errors *errors)
{
    char hint[256] = "";
    if (runs_on(engine, system->platform)) {
        return;
    }
    for (int e = CALC_SERVING_ENGINE_NONE + 1; e < CALC_SERVING_ENGINE_COUNT; e++) {
        if (runs_on((calc_serving_engine)e, system->platform) &&
            engines[e].program == engines[engine].program) {
            calc_append(hint, sizeof hint, "%s%s", *hint ? ", " : "use ", engines[e].name);
        }
    }
    calc_append(hint, sizeof hint, "%s", *hint ? " or none" : "use none");
    calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/inference/engine", hint,
                    "what %s costs beside the model is known of another platform only",
                    engines[engine].name);
}

/* vLLM, config/cache.py; SGLang, server_args.py: about so much with chunks of 8,192 tokens;
 * TensorRT-LLM, llmapi/llm_args.py. */
static const calc_serving_share shares[] = {
    [CALC_SERVING_PROGRAM_OTHER] = {CALC_MEMORY_TAKEN_ALL, 1},
    [CALC_SERVING_PROGRAM_VLLM] = {CALC_MEMORY_TAKEN_ALL, 0.9},
    [CALC_SERVING_PROGRAM_SGLANG] = {CALC_MEMORY_TAKEN_STATIC, 0.88},
    [CALC_SERVING_PROGRAM_TENSORRT_LLM] = {CALC_MEMORY_TAKEN_FREE, 0.9},
    [CALC_SERVING_PROGRAM_ATOM] = {CALC_MEMORY_TAKEN_ALL, 1},
};

calc_serving_share calc_serving_program_share(const calc_inference *i)
{
    calc_serving_share taken = shares[calc_serving_program_of(i->engine)];
    taken.share = i->memory_share > 0 ? i->memory_share : taken.share;
    return taken;
}

bool calc_serving_program_replicates(const calc_strategy *s)
{
    int64_t ranks = at_least_one(s->expert_par) * at_least_one(s->expert_tensor_par);
    return s->tensor_par > 1 && ranks == s->tensor_par;
}

void calc_serving_program_spread(calc_strategy *s)
{
    bool replicated = calc_serving_program_replicates(s);
    bool scattered = !replicated && s->tensor_par > 1 && s->expert_par > 1;
    s->dispatch_type = replicated ? CALC_DISPATCH_TYPE_REPLICATED : CALC_DISPATCH_TYPE_NODE_LIMITED;
    s->tensor_par_comm_type =
        scattered ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
}

/* ---- What programs refuse -------------------------------------------------------------------- */

static int64_t ranks_of_experts(const calc_resolved *r)
{
    return r->exec.strategy.expert_par * r->exec.strategy.expert_tensor_par;
}
static bool has_experts(const calc_resolved *r)
{
    return r->app.num_experts > 0;
}

/* ---- All programs ---------------------------------------------------------------------------- */

CALC_REFUSAL(splits_sequences, s->context_par > 1)
CALC_REFUSAL(hides_collectives, s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE)
CALC_REFUSAL(splits_heads_unevenly, !calc_divides(s->tensor_par, a->attn_heads))
CALC_REFUSAL(keeps_another_cache, e->inference.kv_datatype != CALC_FORMAT_AUTO &&
                                      e->inference.kv_datatype != CALC_FORMAT_FLOAT8)
static const calc_refusal all[] = {
    {splits_sequences, "context_par is not for serving"},
    {hides_collectives,
     "tensor_par_overlap is not for serving: engines wait for their collectives"},
    {splits_heads_unevenly, "attn_heads is not a multiple of tensor_par"},
    {keeps_another_cache, "inference.kv_datatype is neither auto nor float8"}};
CALC_REFUSALS(calc_refusals_programs, all);

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

static const struct {
    calc_serving_program program;
    const calc_refusals *refusals;
} refused[] = {
    {CALC_SERVING_PROGRAM_VLLM, &calc_refusals_programs},
    {CALC_SERVING_PROGRAM_VLLM, &calc_refusals_vllm},
    {CALC_SERVING_PROGRAM_SGLANG, &calc_refusals_programs},
    {CALC_SERVING_PROGRAM_SGLANG, &calc_refusals_sglang},
    {CALC_SERVING_PROGRAM_TENSORRT_LLM, &calc_refusals_programs},
    {CALC_SERVING_PROGRAM_TENSORRT_LLM, &calc_refusals_tensorrt_llm},
};

/* Of one server. */
static const char *refuses(calc_serving_program program, calc_resolved *r)
{
    calc_strategy *s = &r->exec.strategy;
    const char *reason = NULL;
    s->expert_par = at_least_one(s->expert_par);
    s->expert_tensor_par = at_least_one(s->expert_tensor_par);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const calc_refusals *list = refused[i].refusals;
        for (size_t j = 0; refused[i].program == program && j < list->count && !reason; j++) {
            reason = list->item[j].applies(r) ? list->item[j].reason : NULL;
        }
    }
    return reason;
}

const char *calc_serving_program_refuses(const calc_app *app, const calc_exec *exec)
{
    calc_serving_program program = calc_serving_program_of(exec->inference.engine);
    calc_resolved r = {*app, *exec};
    const char *reason = refuses(program, &r);
    if (!reason && exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        calc_prefill_pool_of(exec, &r.exec);
        reason = refuses(program, &r);
    }
    return reason;
}
