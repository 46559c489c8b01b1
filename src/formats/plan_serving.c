/* Members of the plan for serving. Each request in flight occupies a slot of its replica. */
#include <stdio.h>
#include <string.h>

#include "formats/plan.h"
#include "formats/plan_macros.h"
#include "spec/serving_engine.h"

/* The engine's document of the release that a program's table of settings is of. */
static const char *const releases[CALC_SERVING_PROGRAM_COUNT] = {
    [CALC_SERVING_PROGRAM_OTHER] = "",
    [CALC_SERVING_PROGRAM_VLLM] = "vllm-0.11",
    [CALC_SERVING_PROGRAM_SGLANG] = "sglang-0.5",
    [CALC_SERVING_PROGRAM_TENSORRT_LLM] = "tensorrt_llm-1.2"};

/* Tokens of one pass: a chunk beside the decoded tokens, or whole prompts. */
static int64_t tokens_of_a_step(const calc_app *a, const calc_inference *i, int64_t slots)
{
    int64_t prompt = i->prompt_size > 0 ? i->prompt_size : a->seq_size;
    int64_t prompts = i->prefill_batch > 0 ? i->prefill_batch : 1;
    bool decodes = i->phase != CALC_INFERENCE_PHASE_PREFILL;
    bool prefills = i->phase != CALC_INFERENCE_PHASE_DECODE;
    int64_t decoded = decodes ? slots * (1 + i->speculative_tokens) : 0;
    int64_t least = decoded > slots ? decoded : slots; /* every slot has room for a token */
    int64_t tokens = decoded + (prefills ? i->chunk_size : 0);
    if (i->chunk_size == 0) {
        int64_t length = prompt + i->generate_size;
        tokens = prompt * prompts > length ? prompt * prompts : length;
    }
    return tokens > least ? tokens : least;
}

void calc_plan_serve(calc_plan *plan, const calc_app *a, const calc_exec *e)
{
    const calc_inference *i = &e->inference;
    const calc_strategy *s = &e->strategy;
    if (e->training || i->phase == CALC_INFERENCE_PHASE_NONE) {
        return;
    }
    int64_t prompt = i->prompt_size > 0 ? i->prompt_size : a->seq_size;
    int64_t requests = i->batch > 0 ? i->batch : e->batch_size;
    int64_t each = requests / s->data_par > 0 ? requests / s->data_par : 1;
    /* vLLM's default: how many are in flight follows from their times */
    int64_t slots = i->max_sequences > 0 ? i->max_sequences : i->arrival_rate > 0 ? 256 : each;
    if (i->phase == CALC_INFERENCE_PHASE_SERVE && i->max_sequences == 0 && slots == 1) {
        slots = 0; /* any server takes one request: it decides by itself how many more */
    }
    bool shared = a->num_experts > 0 && calc_serving_engine_shares(s);
    int64_t together = shared ? s->data_par : 1;
    SET(SERVE_LENGTH, prompt + i->generate_size);
    SET(SERVE_SLOTS, WHERE(slots > 0, slots));
    SET(SERVE_ALL_SLOTS, WHERE(slots > 0, slots * together));
    /* Weights that the checkpoint has wider are narrowed when they are loaded. */
    if (s->weight_datatype == CALC_FORMAT_FLOAT8 && s->matrix_datatype == CALC_FORMAT_FLOAT8 &&
        a->checkpoint.weight_datatype != CALC_FORMAT_FLOAT8) {
        SET(NARROW, CALC_PLAN_NARROW_8);
    }
    SET(SERVE_STEP, tokens_of_a_step(a, i, slots));
    SET(SERVE_CHUNKED, i->chunk_size > 0);
    SET(SERVE_CHUNK, i->chunk_size > 0 ? i->chunk_size * together : -1);
    SET(SERVE_TOGETHER, shared);
    SET(SERVE_RANKS, s->tensor_par * together);
    SET(SERVE_EXPERTS, a->num_experts > 0 && s->expert_par > 1);
    SET(SERVE_PAGE, WHERE(i->page_size > 1, i->page_size));
    SET(SERVE_EAGER, i->traits.eager);
    SET(SERVE_CACHE, i->kv_datatype);
    double share = calc_serving_engine_share(i);
    bool predicts = i->speculative_tokens > 0 && a->mtp_blocks > 0;
    SET(SERVE_MEMORY, WHERE(share < 1, share));
    SET(SERVE_PREDICTED, WHERE(predicts, i->speculative_tokens));
    SET(SERVE_VERIFIED, WHERE(predicts, i->speculative_tokens + 1));
}

void calc_plan_serve_apply(const calc_plan *plan, calc_exec *e)
{
    calc_inference *i = &e->inference;
    calc_strategy *s = &e->strategy;
    int64_t slots = SAYS(SERVE_SLOTS) && COUNT(SERVE_SLOTS) > 0 ? COUNT(SERVE_SLOTS) : 0;
    e->training = false;
    e->batch_size = s->data_par * (slots > 0 ? slots : 1);
    s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    s->tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    s->seq_par_ag_redo = false;
    if (s->expert_par > 1) {
        calc_serving_engine_spread(s);
    }
    switch (COUNT(NARROW)) {
    case CALC_PLAN_NARROW_8:
        s->weight_datatype = s->matrix_datatype = CALC_FORMAT_FLOAT8;
        break;
    case CALC_PLAN_NARROW_4:
        s->matrix_datatype = CALC_FORMAT_FLOAT4;
        s->scaling = CALC_SCALING_BLOCK;
        s->weight_datatype = CALC_FORMAT_FLOAT4;
        break;
    case CALC_PLAN_NARROW_4_STORED:
        s->weight_datatype = CALC_FORMAT_FLOAT4;
        break;
    default:
        break;
    }
    i->phase = CALC_INFERENCE_PHASE_SERVE;
    i->engine = (calc_serving_engine){.program = (calc_serving_program)COUNT(SERVE_PROGRAM)};
    const char *release = releases[COUNT(SERVE_PROGRAM)], *version = strrchr(release, '-');
    strcpy(i->engine.name, release);
    if (SAYS(SERVE_RELEASE) && version) { /* whoever reads it takes the latest one up to it */
        const int number = (int)COUNT(SERVE_RELEASE);
        snprintf(i->engine.name, sizeof i->engine.name,
                 number % 1000 ? "%.*s-%d.%d.%d" : "%.*s-%d.%d", (int)(version - release), release,
                 number / 1000000, number / 1000 % 1000, number % 1000);
    }
    i->max_sequences = slots;
    /* Tokens of a prompt beside the decoded ones of a step; 0: whole prompts. */
    int64_t left = COUNT(SERVE_STEP) - slots * (1 + COUNT(SERVE_PREDICTED));
    i->chunk_size = SAYS(SERVE_CHUNK)     ? (YES(SERVE_CHUNK) ? COUNT(SERVE_CHUNK) : 0)
                    : !YES(SERVE_CHUNKED) ? 0
                    : left > 1            ? left
                                          : 1;
    i->traits.eager = YES(SERVE_EAGER);
    i->kv_datatype = (calc_format)COUNT(SERVE_CACHE);
    i->page_size = COUNT(SERVE_PAGE) > 1 ? COUNT(SERVE_PAGE) : 0;
    i->memory_share = SAYS(SERVE_MEMORY) ? VALUE(SERVE_MEMORY) : 0;
    i->speculative_tokens = COUNT(SERVE_PREDICTED);
}
