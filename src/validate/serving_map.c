#include "validate/serving_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/serving_program.h"
#include "validate/serving_names.h"

/* ---- The layout ------------------------------------------------------------------------------ */

static int64_t whole(double number)
{
    return (int64_t)(number + 0.5);
}

/* A parallel size: blank and 0 are 1. The product of three is a whole number still. */
static int64_t size_of(double number)
{
    enum { SIZE_MAX_PRINTED = 1000000 };
    return number > 1 ? whole(fmin(number, SIZE_MAX_PRINTED)) : 1;
}

/* GPUs that hold a copy of the model, several times over. */
typedef struct pool {
    int64_t gpus, copies;
    int64_t world;  /* of a copy */
    int64_t tensor; /* ranks that split attention; those that split its requests are the rest */
    int64_t
        expert; /* ranks that experts are spread over; those that split an expert are the rest */
} pool;

static const char uncounted[] = "how many GPUs each of two pools has is not published";
static const char inconsistent[] = "the sizes of a pool are not those of its GPUs";

/* ---- Pools ----------------------------------------------------------------------------------- */

/* The number after "key=" in words that blanks part; `missing` if it is not there. */
static double number_of(const char *words, const char *key, double missing)
{
    size_t length = strlen(key);
    for (const char *at = words; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, key, length) == 0 && at[length] == '=') {
            return strtod(at + length + 1, NULL);
        }
    }
    return missing;
}

static bool says(const char *words, const char *pair)
{
    return strstr(words, pair) != NULL;
}

/* A pool of a disaggregated run. "dp_attention=True" is attention of every GPU for itself;
 * "attention_dp=n" counts the ranks. @return whether the sizes are those of its GPUs */
static bool read_pool(pool *out, const char *words, double gpus)
{
    int64_t copies = size_of(number_of(words, "workers", 1));
    int64_t tensor = size_of(number_of(words, "tp", 1));
    int64_t expert = size_of(number_of(words, "moe_ep", number_of(words, "ep", 1)));
    int64_t all = size_of(gpus);
    int64_t world = all / copies;
    int64_t requests = size_of(number_of(words, "attention_dp", 1));
    if (says(words, "dp_attention=True")) {
        requests = tensor == world || expert == world ? world : 0;
        tensor = 1;
    } else if (says(words, "dp_attention=False") && tensor == 1 && expert == world) {
        requests = world; /* of every GPU for itself, too: nothing else is left */
    }
    *out = (pool){all, copies, world, tensor, expert};
    return *words && all % copies == 0 && tensor * requests == world && world % expert == 0;
}

/* ---- Experts --------------------------------------------------------------------------------- */

/* Whether all ranks have all tokens: they split all layers. */
static bool is_replicated(const pool *p)
{
    return p->tensor > 1 && p->tensor == p->world;
}

/* How tokens reach their experts. An execution says it for both pools: where layers of the one that
 * prefills are split and its experts spread, its ranks have different tokens. */
static void send_to_experts(calc_exec *e, const pool *decode, const pool *prefill)
{
    calc_serving_program_spread(&e->strategy);
    if (!is_replicated(decode) && prefill->tensor > 1 && prefill->expert > 1) {
        e->strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    }
}

static void fill(calc_serving_map *map, const pool *p, int64_t stages)
{
    calc_exec *e = &map->exec;
    e->num_procs = p->gpus;
    e->pipeline_par = stages;
    e->strategy.tensor_par = p->tensor;
    e->strategy.data_par = p->gpus / (p->tensor * stages);
    e->strategy.expert_par = p->expert;
    e->strategy.expert_tensor_par = p->world / stages / p->expert;
    e->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    e->strategy.context_par_net = e->strategy.expert_par_net = -1;
    e->strategy.expert_tensor_par_net = e->strategy.expert_data_par_net = -1;
    map->gpus = (double)p->gpus;
}

/* An execution says how experts are split for both pools, where one of them has not all tokens on
 * all ranks: over no more ranks than a prefill worker has, and where that has more it spreads them
 * over the rest. */
static void spread_prefill(calc_serving_map *map, const pool *decode, pool *prefill)
{
    int64_t split = is_replicated(decode) ? 1 : map->exec.strategy.expert_tensor_par;
    if (split > prefill->world && split % prefill->world == 0) {
        split = prefill->world;
        map->exec.strategy.expert_tensor_par = split;
        map->exec.strategy.expert_par = decode->world / split;
        calc_assumptions_add(&map->assumed, "the pool that decodes splits experts over as many "
                                            "ranks as the smaller one that prefills has");
    }
    bool own = is_replicated(prefill) && (is_replicated(decode) || prefill->expert > 1);
    if (!own && prefill->world / prefill->expert != split && prefill->world % split == 0) {
        prefill->expert = prefill->world / split;
        calc_assumptions_add(&map->assumed, "the prefill pool spreads experts over more ranks, "
                                            "instead of splitting them");
    }
}

/* ---- One pool, or two ------------------------------------------------------------------------ */

static const char *fill_two(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    calc_inference *i = &map->exec.inference;
    pool decode, prefill;
    if (!read_pool(&decode, r->decode_layout, r->disagg_decode_gpus) ||
        !read_pool(&prefill, r->prefill_layout, r->disagg_prefill_gpus)) {
        return inconsistent;
    }
    fill(map, &decode, 1);
    spread_prefill(map, &decode, &prefill);
    i->prefill_procs = prefill.gpus;
    i->prefill_tensor_par = prefill.tensor;
    i->prefill_expert_par = prefill.expert;
    send_to_experts(&map->exec, &decode, &prefill);
    map->gpus += (double)prefill.gpus;
    return NULL;
}

enum { TENSOR_MAX = 16 /* GPUs that split a layer in any engine */ };

/* Whether a copy of InferenceX's rows prints tp squared ranks of experts on as many GPUs where its
 * recipes (benchmarks/minimaxm2.5_*) have tp GPUs, and experts over all of them. */
static bool is_squared(const calc_serving_row *r)
{
    return strncmp(r->source, "aiconfigurator silicon_sample: InferenceX", 41) == 0 && r->tp > 1 &&
           r->dp == r->tp && r->ep == r->tp * r->dp && r->num_gpus == r->ep;
}

/* Those recipes give every GPU attention for itself in 4 bits only, where many requests run. */
static bool is_alone(const calc_serving_row *r)
{
    bool many = r->concurrency_or_batch >= 256;
    bool b300 = strncmp(r->gpu, "B300", 4) == 0;
    return strncmp(r->weight_dtype, "fp4", 3) == 0 && many && (b300 || r->isl <= 1024);
}

static const char *fill_one(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    int64_t gpus = size_of(r->num_gpus);
    int64_t tensor = size_of(r->tp), stages = size_of(r->pp);
    int64_t expert = size_of(r->ep), requests = size_of(r->dp);
    bool alone = strcmp(r->dp_attention, "True") == 0;
    if (!(r->num_gpus > 0) || !(r->tp > 0)) {
        return "number of GPUs, or how they split the model, not published";
    }
    if (strncmp(r->source, "InferenceX ", 11) == 0 && expert > 1) {
        /* Its sizes are of the whole model: attention for itself is within tp. */
        bool twice = gpus == tensor * stages * expert;
        if (twice) {
            map->output_tokens_per_s /= (double)expert;
            gpus = tensor * stages;
            calc_assumptions_add(&map->assumed,
                                 "GPUs are tp: the published count and rate have them ep times");
        }
        tensor = alone && tensor % requests == 0 ? tensor / requests : tensor;
    }
    if (is_squared(r)) {
        gpus = expert = tensor;
        alone = is_alone(r);
        requests = alone ? gpus : 1;
        tensor /= requests;
        calc_assumptions_add(&map->assumed,
                             "GPUs and ranks of experts are tp, as the recipe has them");
    }
    int64_t world = alone ? gpus : tensor * stages;
    if (tensor * stages * requests != gpus || world % (stages * expert) != 0) {
        return "the parallel sizes do not give the number of GPUs";
    }
    if (tensor > TENSOR_MAX) {
        return "pools of a disaggregated run, published as one that splits its layers over all";
    }
    const pool p = {gpus, gpus / world, world, tensor, expert};
    fill(map, &p, stages);
    send_to_experts(&map->exec, &p, &p);
    return NULL;
}

const char *calc_serving_layout_fill(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    bool two = *r->decode_layout || *r->prefill_layout || r->disagg_decode_gpus > 0;
    return !two ? fill_one(map) : r->disagg_decode_gpus > 0 ? fill_two(map) : uncounted;
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static bool starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- How requests come, and the measurement -------------------------------------------------- */

static calc_serving_kind kind_of(const calc_serving_row *row)
{
    bool batch =
        starts(row->metric_kind, "static batch") || starts(row->metric_kind, "single stream");
    return batch                                      ? CALC_SERVING_KIND_STATIC_BATCH
           : starts(row->metric_kind, "all requests") ? CALC_SERVING_KIND_ALL_AT_ONCE
           : row->request_rate > 0                    ? CALC_SERVING_KIND_OPEN_LOOP
           : row->disagg_decode_gpus > 0              ? CALC_SERVING_KIND_DISAGGREGATED
                                                      : CALC_SERVING_KIND_CLOSED_LOOP;
}

/* A mean where there is one [s]. */
static double seconds(double mean_ms, double other_ms)
{
    return (mean_ms > 0 ? mean_ms : other_ms > 0 ? other_ms : (double)NAN) / 1e3;
}

static void fill_measured(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    bool batch = map->kind == CALC_SERVING_KIND_STATIC_BATCH;
    bool rate = r->output_tokens_per_s_total > 0;
    map->tpot_s = seconds(r->tpot_mean_ms, r->tpot_or_itl_ms);
    map->median = r->ttft_ms > 0 && starts(r->ttft_stat, "median");
    map->ttft_s = map->median ? r->ttft_ms / 1e3 : seconds(r->ttft_mean_ms, r->ttft_ms);
    map->e2e_s = batch ? seconds((double)NAN, r->e2e_latency_ms) : (double)NAN;
    map->output_tokens_per_s =
        rate && isnan(map->e2e_s) ? r->output_tokens_per_s_total : (double)NAN;
}

/* Why nothing can be said of a run as it is; NULL: something can. */
static const char *what_is_missing(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    bool measured =
        map->tpot_s > 0 || map->ttft_s > 0 || map->e2e_s > 0 || map->output_tokens_per_s > 0;
    bool once = map->kind == CALC_SERVING_KIND_ALL_AT_ONCE;
    bool open = map->kind == CALC_SERVING_KIND_OPEN_LOOP;
    bool known = map->kind == CALC_SERVING_KIND_STATIC_BATCH || once || open || !*r->metric_kind ||
                 starts(r->metric_kind, "fixed concurrency");
    return !measured ? "no measured time or rate"
           : !known && !(r->isl >= 1)
               ? "as many requests as can be served: lengths of prompts and layouts are not in "
                 "the log"
           : !known                         ? "how requests come is not understood"
           : once && !(r->num_prompts >= 1) ? "how many requests come is in no column"
           : !once && !open && !(r->concurrency_or_batch >= 1)
               ? "batch or concurrency not published"
           : !(r->isl >= 1) || !(r->osl >= 1) ? "lengths not published"
                                              : NULL;
}

/* ---- Lengths and batch ----------------------------------------------------------------------- */

enum {
    BATCH_TOKENS = 16384, /* of prompts in a pass of a static batch */
    POOL_TOKENS = 8192,   /* in one of a prefill pool */
    REQUESTS_EACH = 10    /* of a run, over its concurrency: as InferenceX has it */
};

static int64_t at_least_one(double number)
{
    return (int64_t)fmax(1, floor(number + 0.5));
}

static void fill_lengths(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    calc_inference *i = &map->exec.inference;
    double mean = has(r->length_note, "mean 0.9") ? 0.9 : 1;
    i->prompt_size = at_least_one(r->isl * mean);
    i->generate_size = at_least_one(r->osl * mean);
    i->page_size = 16;
    if (map->kind != CALC_SERVING_KIND_STATIC_BATCH) {
        /* A mean that is no whole number is one of conversations, of any length. */
        const double any = 0.99;
        bool conversations = floor(r->isl) != r->isl;
        i->prompt_spread = i->generate_spread = conversations ? any : 1 / mean - 1;
    }
}

/* Prompts of one pass: as many as there are, up to so many tokens. */
static int64_t together(const calc_serving_map *map, double requests, int64_t tokens)
{
    int64_t most = tokens / map->exec.inference.prompt_size;
    int64_t there = at_least_one(requests);
    return most < 1 ? 1 : most < there ? most : there;
}

/* Sequences that a replica decodes at once, where so many requests come to each. */
static void fill_slots(calc_serving_map *map, double each)
{
    int64_t told = map->row->max_sequences >= 1
                       ? (int64_t)map->row->max_sequences
                       : calc_serving_recipe_slots(map->row, map->exec.inference.engine, each);
    map->exec.inference.max_sequences = told;
}

/* Limits of a replica that may have more requests than it runs: options given to the engine, or
 * else its defaults. */
static void fill_limits(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    calc_inference *i = &map->exec.inference;
    calc_serving_limits own = calc_serving_limits_of(i->engine, map->system);
    double tokens = r->prefill_tokens >= 1 ? r->prefill_tokens : (double)own.tokens;
    i->max_sequences = r->max_sequences >= 1 ? (int64_t)r->max_sequences : own.sequences;
    i->prefill_batch = i->prefill_batch > 0 ? (int64_t)fmax(1, tokens / r->isl) : 0;
    i->chunk_size = i->chunk_size > 0 ? (int64_t)tokens : 0;
    if (!(r->max_sequences >= 1)) {
        calc_assumptions_add(&map->assumed, "the engine's own limit of sequences");
    }
}

static void fill_requests(calc_serving_map *map)
{
    calc_exec *e = &map->exec;
    calc_inference *i = &e->inference;
    bool once = map->kind == CALC_SERVING_KIND_ALL_AT_ONCE;
    bool open = map->kind == CALC_SERVING_KIND_OPEN_LOOP;
    map->requests = (double)at_least_one(open   ? 1
                                         : once ? map->row->num_prompts
                                                : map->row->concurrency_or_batch);
    double each = map->requests / (double)e->strategy.data_par;
    bool pools = map->row->disagg_decode_gpus > 0;
    bool routed = pools && each > 1;
    e->batch_size = at_least_one(each) * e->strategy.data_par;
    i->batch = open ? 0 : routed ? (int64_t)map->requests : e->batch_size;
    e->microbatch_size = 1;
    if (!open && (double)i->batch != map->requests) {
        calc_assumptions_add(&map->assumed, "as many requests on every replica, one at least");
    }
    if (map->kind == CALC_SERVING_KIND_STATIC_BATCH) {
        i->phase = CALC_INFERENCE_PHASE_PREFILL;
        i->prefill_batch = together(map, each, BATCH_TOKENS);
        if (i->prefill_batch < i->batch / e->strategy.data_par) {
            calc_assumptions_add(&map->assumed, "prompts are prefilled 16,384 tokens at a time");
        }
        return;
    }
    i->phase = CALC_INFERENCE_PHASE_SERVE;
    if (open) {
        i->arrival_rate = map->row->request_rate;
    } else if (once) {
        i->requests = i->batch;
    } else {
        i->requests = REQUESTS_EACH * i->batch;
        calc_assumptions_add(&map->assumed, "ten rounds of requests, the first of them at once");
    }
    if (!pools && (once || open)) {
        fill_limits(map);
    }
    if (pools) {
        int64_t replicas = i->prefill_procs / i->prefill_tensor_par;
        bool told = map->row->prefill_tokens >= 1;
        i->phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
        i->prefill_batch = together(map, map->requests / (double)replicas,
                                    told ? (int64_t)map->row->prefill_tokens : POOL_TOKENS);
        if (!told) {
            calc_assumptions_add(&map->assumed, "prompts are prefilled 8,192 tokens at a time");
        }
        fill_slots(map, each);
    }
}

/* A prompt takes about as long as 1/256 of its tokens decoded alone: weights are read for each of
 * these (H100: 256 = peak FLOP/s / bandwidth / 2 bytes, times efficiencies). */
static calc_serving_regime regime_of(const calc_serving_map *map)
{
    const calc_inference *i = &map->exec.inference;
    double each = map->requests / (double)map->exec.strategy.data_par;
    double prompt = (double)i->prompt_size, tokens = (double)i->generate_size;
    bool prefill = tokens <= 1 || (prompt > tokens && prompt * each > 256 * tokens);
    return prefill      ? CALC_SERVING_REGIME_PREFILL
           : each <= 4  ? CALC_SERVING_REGIME_LOW
           : each <= 64 ? CALC_SERVING_REGIME_MIDDLE
                        : CALC_SERVING_REGIME_LARGE;
}

/* ---- Number formats -------------------------------------------------------------------------- */

static void set_float8(calc_exec *e, bool block)
{
    e->strategy.matrix_datatype = e->strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    e->strategy.scaling = block ? CALC_SCALING_BLOCK : CALC_SCALING_TENSOR;
}

/* Weights as the checkpoint has them. */
static void as_published(calc_serving_map *map)
{
    switch (map->model.checkpoint) {
    case CALC_SERVING_CHECKPOINT_FLOAT8:
    case CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK:
        set_float8(&map->exec, map->model.checkpoint == CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK);
        break;
    case CALC_SERVING_CHECKPOINT_MXFP4:
        map->exec.strategy.weight_datatype = CALC_FORMAT_FLOAT4;
        break;
    default:
        break;
    }
}

static const char *fill_formats(calc_serving_map *map)
{
    calc_exec *e = &map->exec;
    const char *w = map->row->weight_dtype;
    bool block = map->model.checkpoint == CALC_SERVING_CHECKPOINT_FLOAT8_BLOCK || has(w, "block");
    e->strategy.datatype = CALC_DATATYPE_BFLOAT16;
    if (!*w || starts(w, "checkpoint") || map->model.checkpoint == CALC_SERVING_CHECKPOINT_MXFP4) {
        as_published(map);
        if (!*w) {
            calc_assumptions_add(&map->assumed, "number format not printed: the checkpoint's");
        }
    } else if (starts(w, "fp4")) {
        e->strategy.matrix_datatype = e->strategy.weight_datatype = CALC_FORMAT_FLOAT4;
        e->strategy.scaling = CALC_SCALING_BLOCK;
    } else if (starts(w, "fp8")) {
        set_float8(e, block);
    } else if (starts(w, "int8")) {
        e->strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    } else if (starts(w, "int4") || has(w, "int4")) {
        e->strategy.weight_datatype = CALC_FORMAT_FLOAT4;
    } else if (starts(w, "float16") || starts(w, "fp16")) {
        e->strategy.datatype = CALC_DATATYPE_FLOAT16;
    } else if (!starts(w, "bf16") && !starts(w, "bfloat16")) {
        return "number format of the weights not understood";
    }
    return NULL;
}

/* ---- Engine and cache ------------------------------------------------------------------------ */

/* Drafts, where how many there are is known. The module of DeepSeek-V3 was trained for the first of
 * them, of which 85 to 90 % are accepted (arXiv 2412.19437, 5.4.3); of seven it gives 3.2 tokens a
 * step (Nebius, model card of MTP-DeepSeek-V3-0324): 1 + a + ... + a^7 for a = 0.7. @return why
 * they are not, or NULL */
static const char *fill_drafts(calc_serving_map *map, const calc_serving_recipe *recipe)
{
    const double accepted = 0.7;
    if (!*map->row->spec_decode) {
        return NULL;
    }
    if (recipe->drafts == 0) {
        return "speculative decoding: how many drafts there are is not published";
    }
    map->exec.inference.speculative_tokens = recipe->drafts;
    map->exec.inference.speculative_accept = accepted;
    calc_assumptions_add(&map->assumed, "drafts as the recipes of InferenceX have them, of which "
                                        "70 % are accepted each");
    return NULL;
}

static const char *fill_engine(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    calc_inference *i = &map->exec.inference;
    const char *reason;
    i->engine = calc_serving_engine_of(r, &map->year, &reason);
    if (reason) {
        return reason;
    }
    i->memory_share = 1; /* what a run took is not published: some need more than the default */
    calc_serving_recipe recipe = calc_serving_recipe_of(r, i->engine, map->system);
    bool loop = map->kind != CALC_SERVING_KIND_STATIC_BATCH && !(r->disagg_decode_gpus > 0);
    i->hold_steps = loop ? recipe.hold_steps : 0;
    bool told = !*r->kv_dtype || starts(r->kv_dtype, "auto");
    if (told) {
        i->kv_datatype = recipe.kv_datatype;
    } else if (has(r->kv_dtype, "fp8")) {
        i->kv_datatype = CALC_FORMAT_FLOAT8;
    } else if (!starts(r->kv_dtype, "float16") && !starts(r->kv_dtype, "bf")) {
        return "number format of the cache not understood";
    }
    /* SGLang does not mix: prompts that have come run between the steps, as many as the budget has
     * room for. */
    bool mixes = calc_serving_mixes(i->engine);
    i->chunk_size = loop && mixes ? recipe.chunk_size : 0;
    i->prefill_batch = loop && !mixes ? (int64_t)fmax(1, (double)recipe.chunk_size / r->isl) : 0;
    if (loop || (told && recipe.kv_datatype != CALC_FORMAT_AUTO)) {
        calc_assumptions_add(&map->assumed, recipe.assumed);
    }
    return fill_drafts(map, &recipe);
}

void calc_serving_map_row(calc_serving_map *out, const calc_serving_row *row)
{
    const char *(*const steps[])(calc_serving_map * map) = {what_is_missing, fill_engine,
                                                            calc_serving_layout_fill, fill_formats};
    const char *assumed;
    *out = (calc_serving_map){.row = row,
                              .model = calc_serving_model_of(row),
                              .system = calc_serving_machine_of(row, &assumed),
                              .kind = kind_of(row)};
    fill_measured(out);
    if (assumed) {
        calc_assumptions_add(&out->assumed, assumed);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !out->reason; i++) {
        out->reason = steps[i](out);
    }
    if (!out->reason) {
        fill_lengths(out);
        fill_requests(out);
        out->regime = regime_of(out);
    }
}

/* ---- By model and machine -------------------------------------------------------------------- */

void calc_serving_map_complete(calc_serving_map *map, const calc_app *app,
                               const calc_system *system)
{
    calc_strategy *s = &map->exec.strategy;
    bool grouped = app->kv_heads > 0 && app->kv_heads < app->attn_heads;
    s->attention_type = app->kv_lora_rank > 0           ? CALC_ATTENTION_TYPE_MULTI_LATENT
                        : grouped && app->kv_heads == 1 ? CALC_ATTENTION_TYPE_MULTIQUERY
                        : grouped                       ? CALC_ATTENTION_TYPE_GROUPED_QUERY
                                                        : CALC_ATTENTION_TYPE_MULTIHEAD;
    s->flash_attention = s->fused_activation = true;
    s->memory_model = CALC_MEMORY_MODEL_MEGATRON;
    map->exec.pipeline_interleaving = 1;
    if (app->num_experts == 0) {
        s->expert_par = s->expert_tensor_par = 0;
        map->exec.inference.prefill_expert_par = 0;
        s->dispatch_type = CALC_DISPATCH_TYPE_ALL_TO_ALL;
        s->tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    }
    /* Checkpoints of experts in 4 bits keep attention in 16: AMD's of DeepSeek-R1, and gpt-oss.
     * NVIDIA's of DeepSeek-R1 narrow its outputs, too (DeepSeek-R1-0528-FP4-v2). Those of dense
     * models keep nothing. */
    bool nvidia = app->kv_lora_rank > 0 && !starts(map->system, "mi");
    map->exec.inference.wide_attention =
        app->num_experts == 0 || s->weight_datatype != CALC_FORMAT_FLOAT4 ? CALC_WIDE_ATTENTION_NONE
        : nvidia ? CALC_WIDE_ATTENTION_INPUTS
                 : CALC_WIDE_ATTENTION_ALL;
    if (app->num_experts > 0 && app->num_experts % s->expert_par != 0) {
        map->exec.inference.redundant_experts = s->expert_par - app->num_experts % s->expert_par;
        calc_assumptions_add(&map->assumed, "as many copies of experts as fill the ranks");
    }
    /* A machine without such arithmetic keeps the weights so and computes in 16 bits. */
    calc_format format = s->matrix_datatype;
    bool narrow = format == CALC_FORMAT_FLOAT8 || format == CALC_FORMAT_FLOAT4;
    calc_datatype matrix =
        format == CALC_FORMAT_FLOAT4 ? CALC_DATATYPE_FLOAT4 : CALC_DATATYPE_FLOAT8;
    if (narrow && !(system->chip.matrix[matrix].flop_per_s > 0)) {
        s->matrix_datatype = CALC_FORMAT_AUTO;
        s->scaling = CALC_SCALING_TENSOR;
        calc_assumptions_add(&map->assumed, "the machine has no such arithmetic: weights alone "
                                            "are narrow");
    }
    /* The indices must be there, though the order of ranks decides. */
    int64_t outer = system->networks_count > 1 ? 1 : 0;
    map->exec.pipeline_par_net = outer;
    s->data_par_net = outer;
}

const char *calc_serving_regime_word(calc_serving_regime regime)
{
    static const char *const words[] = {
#define CALC_X(name, word) word,
        CALC_SERVING_REGIME_LIST(CALC_X)
#undef CALC_X
    };
    return words[regime];
}

const char *calc_serving_kind_word(calc_serving_kind kind)
{
    static const char *const words[] = {
#define CALC_X(name, word) word,
        CALC_SERVING_KIND_LIST(CALC_X)
#undef CALC_X
    };
    return words[kind];
}
