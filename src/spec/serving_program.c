/* Sources of the rules: vLLM, vllm/engine/arg_utils.py; SGLang, python/sglang/srt/server_args.py;
 * TensorRT-LLM, tensorrt_llm/llmapi/llm_args.py. */
#include "spec/serving_program.h"

#include "base/buffer.h"
#include "base/error.h"
#include "spec/prefill_pool.h"
#include "spec/stack.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int64_t at_least_one(int64_t ranks)
{
    return ranks > 1 ? ranks : 1;
}

static const struct {
    const char *name;
    calc_serving_program program;
    calc_platform platform;
    int since;
} engines[] = {
#define CALC_X(engine, name, program, platform, since)                                             \
    {name, CALC_SERVING_PROGRAM_##program, CALC_PLATFORM_##platform, since},
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

/* ---- Engines by name ------------------------------------------------------------------------- */

static char plain(char c)
{
    return c == ' ' || c == '_' ? '-' : (char)tolower((unsigned char)c);
}

/* "vllm-0.11" without its version. */
static size_t name_length(int engine)
{
    return (size_t)(strrchr(engines[engine].name, '-') - engines[engine].name);
}

static bool is_named(const char *software, int engine)
{
    size_t length = name_length(engine), i = 0;
    while (i < length && plain(software[i]) == plain(engines[engine].name[i])) {
        i++;
    }
    return i == length && !isalnum((unsigned char)software[i]);
}

static bool is_named_alike(int a, int b)
{
    return name_length(a) == name_length(b) &&
           strncmp(engines[a].name, engines[b].name, name_length(a)) == 0;
}

/* a.b.c behind separators and a "v" as 1000000 a + 1000 b + c; -1: there is none. */
static int version_of(const char *text)
{
    int part[3] = {-1, 0, 0};
    text += strspn(text, " -_v");
    for (int i = 0; i < 3 && isdigit((unsigned char)*text); i++) {
        char *end;
        long number = strtol(text, &end, 10);
        part[i] = number < 1000 || i == 0 ? (int)(number < 2100 ? number : 2100) : 999;
        text = end + (*end == '.');
    }
    return part[0] < 0 ? -1 : 1000000 * part[0] + 1000 * part[1] + part[2];
}

int calc_serving_program_since(calc_serving_engine engine)
{
    return engines[engine].since;
}

calc_serving_engine calc_serving_program_named(const char *software, int month,
                                               calc_platform platform, const char **reason)
{
    int named = CALC_SERVING_ENGINE_NONE, found = CALC_SERVING_ENGINE_NONE;
    bool own = false, other = false; /* whether builds of that name run there, or only others do */
    for (int e = 1; e < CALC_SERVING_ENGINE_COUNT; e++) {
        bool longer = named == CALC_SERVING_ENGINE_NONE || name_length(e) > name_length(named);
        named = longer && is_named(software, e) ? e : named;
    }
    *reason = "the serving engine is not described, or not named";
    if (named == CALC_SERVING_ENGINE_NONE) {
        return CALC_SERVING_ENGINE_NONE;
    }
    for (int e = 1; e < CALC_SERVING_ENGINE_COUNT; e++) {
        bool runs = runs_on((calc_serving_engine)e, platform);
        own = own || (runs && is_named_alike(e, named));
        other = other || (runs && engines[e].program == engines[named].program);
    }
    int version = version_of(software + name_length(named));
    for (int e = 1; e < CALC_SERVING_ENGINE_COUNT; e++) { /* the newest is the last */
        bool build = own || !other ? is_named_alike(e, named)
                                   : engines[e].program == engines[named].program &&
                                         runs_on((calc_serving_engine)e, platform);
        bool old = version >= 0 ? version < version_of(engines[e].name + name_length(e))
                                : month < engines[e].since;
        found = build && !old ? e : found;
    }
    *reason = found != CALC_SERVING_ENGINE_NONE ? NULL
              : version < 0 && month == 0       ? "neither version nor date of the engine"
                                                : "this version of the engine is not described";
    return (calc_serving_engine)found;
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

/* ---- All programs ---------------------------------------------------------------------------- */

/* Whether the ranks share the heads of attention equally, or of linear mixers: in models of both,
 * of every part. */
static bool heads_divide(const calc_app *a, int64_t ranks, bool linear)
{
    bool divide = linear || a->stack.layers > 0 || calc_divides(ranks, a->attn_heads);
    for (int i = 0; i < a->stack.parts && divide; i++) {
        const calc_part *p = &a->stack.part[i];
        /* Mamba's groups are repeated where there are fewer than ranks. */
        bool keys = p->type != CALC_PART_TYPE_MAMBA2 && p->type != CALC_PART_TYPE_MAMBA1;
        divide = calc_part_is_linear(p->type) != linear || !calc_part_mixes(p->type) ||
                 (linear ? calc_divides(ranks, p->linear_value_heads) &&
                               (!keys || calc_divides(ranks, p->linear_key_heads))
                         : calc_divides(ranks, p->attn_heads));
    }
    return divide;
}

CALC_REFUSALS(calc_refusals_programs)
{
    CALC_REFUSE(s->context_par > 1, "context_par is not for serving");
    CALC_REFUSE(s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE,
                "tensor_par_overlap is not for serving: engines wait for their collectives");
    CALC_REFUSE(!heads_divide(a, s->tensor_par, false),
                "attn_heads is not a multiple of tensor_par");
    /* vLLM, model_executor/layers/mamba and models/qwen3_next.py: divide(); SGLang and TensorRT-LLM
     * split likewise */
    CALC_REFUSE(!heads_divide(a, s->tensor_par, true),
                "heads of linear mixers (key_heads, value_heads) are not multiples of "
                "tensor_par");
    CALC_REFUSE(e->inference.kv_datatype != CALC_FORMAT_AUTO &&
                    e->inference.kv_datatype != CALC_FORMAT_FLOAT8,
                "inference.kv_datatype is neither auto nor float8");
}

/* ---- vLLM ------------------------------------------------------------------------------------ */

CALC_REFUSALS(calc_refusals_vllm)
{
    bool experts = a->num_experts > 0;
    int64_t ranks = s->tensor_par * s->data_par,
            expert_ranks = s->expert_par * s->expert_tensor_par;
    /* All ranks of a stage share the experts: each rank has whole experts with
     * --enable-expert-parallel, otherwise a part of every expert. */
    CALC_REFUSE(
        experts && (expert_ranks != ranks || (s->expert_par > 1 && s->expert_tensor_par > 1)),
        "either expert_par or expert_tensor_par has to be tensor_par * data_par, and the other 1");
    /* config/cache.py: BlockSize */
    CALC_REFUSE(e->inference.page_size > 1 && e->inference.page_size != 8 &&
                    e->inference.page_size != 16 && e->inference.page_size != 32 &&
                    e->inference.page_size != 64 && e->inference.page_size != 128,
                "inference.page_size is none of 8, 16, 32, 64 and 128");
}

/* ---- SGLang ---------------------------------------------------------------------------------- */

CALC_REFUSALS(calc_refusals_sglang)
{
    bool experts = a->num_experts > 0;
    int64_t ranks = s->tensor_par * s->data_par,
            expert_ranks = s->expert_par * s->expert_tensor_par;
    CALC_REFUSE(experts && expert_ranks != s->tensor_par && expert_ranks != ranks,
                "expert_par * expert_tensor_par is neither tensor_par nor tensor_par * data_par");
    CALC_REFUSE(experts && !calc_divides(s->expert_par, a->num_experts),
                "num_experts is not a multiple of expert_par");
    /* chunked_prefill_size must be a multiple of page_size */
    CALC_REFUSE(e->inference.page_size > 1 &&
                    !calc_divides(e->inference.page_size, e->inference.chunk_size),
                "inference.chunk_size is not a multiple of inference.page_size");
    /* pipeline stages exclude speculative decoding */
    CALC_REFUSE(e->pipeline_par > 1 && e->inference.speculative_tokens > 0,
                "inference.speculative_tokens excludes pipeline stages");
}

/* ---- TensorRT-LLM ---------------------------------------------------------------------------- */

CALC_REFUSALS(calc_refusals_tensorrt_llm)
{
    bool experts = a->num_experts > 0;
    int64_t ranks = s->tensor_par * s->data_par,
            expert_ranks = s->expert_par * s->expert_tensor_par;
    /* Attention is either split over all ranks or replicated on all of them (enable_attention_dp).
     */
    CALC_REFUSE(s->data_par > 1 && (s->tensor_par > 1 || !experts),
                "data_par needs experts and tensor_par 1 (enable_attention_dp); replicas of a "
                "dense model are servers of their own");
    CALC_REFUSE(experts && expert_ranks != ranks,
                "expert_par * expert_tensor_par is not tensor_par * data_par");
    /* llm_args.py: tokens_per_block must be a power of two */
    CALC_REFUSE(e->inference.page_size > 1 &&
                    (e->inference.page_size & (e->inference.page_size - 1)) != 0,
                "inference.page_size is not a power of two");
}

/* Of one server: the first reason. */
static const char *refuses(calc_serving_program program, const calc_app *app, calc_exec *exec)
{
    static calc_refusals *const own[] = {[CALC_SERVING_PROGRAM_VLLM] = calc_refusals_vllm,
                                         [CALC_SERVING_PROGRAM_SGLANG] = calc_refusals_sglang,
                                         [CALC_SERVING_PROGRAM_TENSORRT_LLM] =
                                             calc_refusals_tensorrt_llm,
                                         [CALC_SERVING_PROGRAM_ATOM] = NULL};
    calc_strategy *s = &exec->strategy;
    calc_refused refused = {0};
    s->expert_par = at_least_one(s->expert_par);
    s->expert_tensor_par = at_least_one(s->expert_tensor_par);
    if (own[program]) {
        calc_refusals_programs(app, exec, s, &refused);
        own[program](app, exec, s, &refused);
    }
    return refused.count > 0 ? refused.text[0] : NULL;
}

const char *calc_serving_program_refuses(const calc_app *app, const calc_exec *exec)
{
    calc_serving_program program = calc_serving_program_of(exec->inference.engine);
    calc_exec server = *exec;
    const char *reason = refuses(program, app, &server);
    if (!reason && exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        calc_prefill_pool_of(exec, &server);
        reason = refuses(program, app, &server);
    }
    return reason;
}
