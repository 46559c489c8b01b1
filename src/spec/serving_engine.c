/* Sources of the rules: vLLM, vllm/engine/arg_utils.py; SGLang, python/sglang/srt/server_args.py;
 * TensorRT-LLM, tensorrt_llm/llmapi/llm_args.py. */
#include "spec/serving_engine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/stack.h"

void calc_serving_engine_put(calc_serving_engine *engine, const char *name)
{
    *engine = (calc_serving_engine){0};
    if (strcmp(name, "none") != 0) {
        snprintf(engine->name, sizeof engine->name, "%s", name);
    }
}

static bool runs_on(const calc_serving_engine *engine, calc_platform platform)
{
    return platform == CALC_PLATFORM_ANY || engine->platform == CALC_PLATFORM_ANY ||
           engine->platform == platform;
}

void calc_serving_engine_check(const calc_system *system, const calc_serving_engine *engine,
                               calc_errors *errors)
{
    if (*engine->name && !engine->read) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/inference/engine",
                        "read it by calc_software_read()", "engine \"%.60s\" was not given",
                        engine->name);
    } else if (!runs_on(engine, system->platform)) {
        calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/inference/engine",
                        "calc show names engine lists others; or use none",
                        "what %.60s costs beside the model is known of another platform only",
                        engine->name);
    }
}

calc_engine_traits calc_serving_engine_traits(const calc_inference *i)
{
    calc_engine_traits t = i->engine.traits;
#define CALC_FIELD(name, type, arg, ...) t.name = i->traits.name != 0 ? i->traits.name : t.name;
#include "calc/engine_traits.fields.h"
#undef CALC_FIELD
    return t;
}

/* ---- Engines by name ------------------------------------------------------------------------- */

static char plain(char c)
{
    return c == ' ' || c == '_' ? '-' : (char)tolower((unsigned char)c);
}

bool calc_serving_engine_same_name(const char *a, const char *b)
{
    while (*a && plain(*a) == plain(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Letters of an engine's name before its version: 4 of "vllm-0.11". */
static size_t family_length(const calc_serving_engine *engine)
{
    const char *version = strrchr(engine->name, '-');
    return version ? (size_t)(version - engine->name) : strlen(engine->name);
}

static bool is_named(const char *software, const calc_serving_engine *engine)
{
    size_t length = family_length(engine), i = 0;
    while (i < length && plain(software[i]) == plain(engine->name[i])) {
        i++;
    }
    return i == length && !isalnum((unsigned char)software[i]);
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

static int compare(const void *a, const void *b)
{
    const calc_serving_engine *left = a, *right = b;
    int64_t later = left->since - right->since;
    return later ? (later > 0 ? 1 : -1) : strcmp(left->name, right->name);
}

void calc_serving_engines_sort(calc_serving_engines *engines)
{
    CALC_SORT(engines->item, engines->count, compare);
}

const calc_serving_engine *calc_serving_engines_meant(const calc_serving_engines *engines,
                                                      const char *software, int month,
                                                      calc_platform platform, const char **reason)
{
    const calc_serving_engine *named = NULL, *found = NULL, *e;
    const calc_serving_engine *end = engines->item + engines->count;
    bool own = false, other = false; /* whether builds of that name run there, or only others do */
    size_t length = 0;
    for (e = engines->item; e < end; e++) {
        bool longer = !named || family_length(e) > length;
        named = longer && is_named(software, e) ? e : named;
        length = named ? family_length(named) : 0;
    }
    *reason = "the serving engine is not described, or not named";
    if (!named) {
        return NULL;
    }
    for (e = engines->item; e < end; e++) {
        bool alike = family_length(e) == length && strncmp(e->name, named->name, length) == 0;
        own = own || (alike && runs_on(e, platform));
        other = other || (e->program == named->program && runs_on(e, platform));
    }
    int version = version_of(software + length);
    for (e = engines->item; e < end; e++) { /* the newest is the last */
        size_t family = family_length(e);
        bool alike = family == length && strncmp(e->name, named->name, length) == 0;
        bool build = own || !other ? alike : e->program == named->program && runs_on(e, platform);
        bool old = version >= 0 ? version < version_of(e->name + family) : month < e->since;
        found = build && !old ? e : found;
    }
    *reason = found                       ? NULL
              : version < 0 && month == 0 ? "neither version nor date of the engine"
                                          : "this version of the engine is not described";
    return found;
}

const calc_serving_engine *calc_serving_engines_find(const calc_serving_engines *engines,
                                                     const char *name)
{
    size_t i = 0;
    while (i < engines->count && strcmp(engines->item[i].name, name) != 0) {
        i++;
    }
    return i < engines->count ? &engines->item[i] : NULL;
}

/* ---- Memory and experts ---------------------------------------------------------------------- */

double calc_serving_engine_share(const calc_inference *i)
{
    double share = i->memory_share > 0 ? i->memory_share : i->engine.memory_share;
    return share > 0 ? share : 1;
}

bool calc_serving_engine_replicates(const calc_strategy *s)
{
    int64_t ranks = calc_ranks_or_one(s->expert_par) * calc_ranks_or_one(s->expert_tensor_par);
    return s->tensor_par > 1 && ranks == s->tensor_par;
}

bool calc_serving_engine_shares(const calc_strategy *s)
{
    int64_t ranks = calc_ranks_or_one(s->expert_par) * calc_ranks_or_one(s->expert_tensor_par);
    return s->data_par > 1 && ranks > s->tensor_par;
}

void calc_serving_engine_spread(calc_strategy *s)
{
    bool replicated = calc_serving_engine_replicates(s);
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
    /* Attention is either split over all ranks of a server or replicated on all of them
     * (enable_attention_dp). */
    CALC_REFUSE(calc_serving_engine_shares(s) && s->tensor_par > 1,
                "replicas that share experts need tensor_par 1 (enable_attention_dp)");
    CALC_REFUSE(experts && expert_ranks != s->tensor_par && expert_ranks != ranks,
                "expert_par * expert_tensor_par is neither tensor_par nor tensor_par * data_par");
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
                                             calc_refusals_tensorrt_llm};
    calc_strategy *s = &exec->strategy;
    calc_refused refused = {0};
    s->expert_par = calc_ranks_or_one(s->expert_par);
    s->expert_tensor_par = calc_ranks_or_one(s->expert_tensor_par);
    if (own[program]) {
        calc_refusals_programs(app, exec, s, &refused);
        own[program](app, exec, s, &refused);
    }
    return refused.count > 0 ? refused.text[0] : NULL;
}

const char *calc_serving_engine_refuses(const calc_app *app, const calc_exec *exec)
{
    calc_serving_program program = exec->inference.engine.program;
    calc_exec server = *exec;
    const char *reason = refuses(program, app, &server);
    if (!reason && exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        calc_prefill_pool_of(exec, &server);
        reason = refuses(program, app, &server);
    }
    return reason;
}

/* The execution of the prefill processors, where they are separate from those that decode. */

static int64_t or_that(int64_t own, int64_t otherwise)
{
    return own > 0 ? own : otherwise;
}

/* How tokens reach the experts of a pool. */
static void spread_experts(const calc_strategy *decoding, calc_strategy *s)
{
    bool together = decoding->dispatch_type == CALC_DISPATCH_TYPE_REPLICATED;
    bool whole = s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    bool experts = together || s->expert_par > 1 || s->expert_tensor_par > 1;
    if (experts && whole && s->tensor_par > 1) {
        s->dispatch_type = CALC_DISPATCH_TYPE_REPLICATED;
        s->expert_tensor_par = s->tensor_par / calc_ranks_or_one(s->expert_par);
    } else if (together) {
        s->dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
        s->expert_tensor_par = 1;
    }
}

void calc_prefill_pool_of(const calc_exec *exec, calc_exec *pool)
{
    const calc_inference *i = &exec->inference;
    const calc_strategy *decoding = &exec->strategy;
    *pool = *exec;
    pool->num_procs = i->prefill_procs;
    pool->inference.prefill_system = (calc_other_system){{0}, NULL};
    calc_strategy *s = &pool->strategy;
    s->tensor_par = or_that(i->prefill_tensor_par, decoding->tensor_par);
    s->expert_par = or_that(i->prefill_expert_par, decoding->expert_par);
    s->data_par = calc_ranks_or_one(pool->num_procs / (s->tensor_par * pool->pipeline_par));
    if (s->tensor_par <= 1) {
        s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    }
    spread_experts(decoding, s);
}

const calc_system *calc_prefill_pool_system(const calc_system *system, const calc_exec *exec)
{
    const calc_system *named = exec->inference.prefill_system.system;
    bool other =
        named && named != system && !calc_same(calc_table_of(CALC_KIND_SYSTEM), named, system);
    return other ? named : system;
}
