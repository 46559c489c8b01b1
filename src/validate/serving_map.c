#include "validate/serving_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "io/csv_table.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/serving_engine.h"

/* Number formats of the cache, and these with the narrower ones of weights. */
#define WIDE_WORDS "auto", "bf16", "bfloat16", "fp16", "float16", "fp8"
static const char *const cache_words[] = {WIDE_WORDS, NULL};
static const char *const weight_words[] = {WIDE_WORDS, "fp8 (block)", "fp4", "int8", "int4", NULL};
static const char *const truth_words[] = {"False", "True", NULL};
static const char *const ttft_words[] = {"mean", "median", NULL};
static const char *const metric_words[] = {"static batch", "all requests at once", NULL};
static const char *const confidence_words[] = {"low", "medium", "high", NULL};

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_serving_row, line)},
#define CALC_X(type, ...) CALC_CSV_COLUMN_##type(calc_serving_row, __VA_ARGS__),
                                          CALC_SERVING_COLUMN_LIST(CALC_X)
#undef CALC_X
};

enum { COLUMNS = sizeof columns / sizeof *columns };

bool calc_serving_rows_has(const calc_text *text)
{
    bool prompt = false, output = false;
    const char *end = text->data + strcspn(text->data, "\r\n");
    for (const char *cell = text->data; cell < end;) {
        cell += strspn(cell, "\xef\xbb\xbf\" ,");
        size_t length = strcspn(cell, "\",\r\n");
        prompt = prompt || (length == 3 && strncmp(cell, "isl", length) == 0);
        output = output || (length == 3 && strncmp(cell, "osl", length) == 0);
        cell += length;
    }
    return prompt && output;
}

enum { NAME_SIZE = 96 };

/* Names for rows without one: "runs/my.csv.gz" is "my". */
static void fill_names(calc_serving_rows *rows, const char *file)
{
    rows->names = calc_make(rows->count + 1, NAME_SIZE);
    char *stem = rows->names;
    calc_runs_stem(file, stem);
    for (size_t i = 0; i < rows->count; i++) {
        calc_serving_row *row = &rows->row[i];
        row->source = *row->source ? row->source : stem;
        if (!*row->id) {
            char *own = rows->names + (i + 1) * NAME_SIZE;
            snprintf(own, NAME_SIZE, "%s:%d", stem, row->line);
            row->id = own;
        }
    }
}

static const char *path_of(const char *title)
{
    return strncmp(title, "exe.", 4) == 0 ? title + 4 : title;
}

static calc_status set(calc_exec *exec, const char *title, const char *value, calc_errors *errors)
{
    char assignment[256];
    calc_app app = {0};
    snprintf(assignment, sizeof assignment, "exe.%.100s=%.100s", path_of(title), value);
    return calc_set(&app, NULL, exec, assignment, NULL, errors);
}

static calc_status find_fields(calc_serving_fields *fields, const calc_csv_row *from,
                               calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int i = 0; i < from->titles; i++) {
        const char *title = from->title[i];
        const char *path = path_of(title);
        calc_field_ref ref;
        bool column = calc_csv_has_column(columns, COLUMNS, title);
        bool field = !column && calc_field_find(CALC_KIND_EXEC, path, &ref) == CALC_OK &&
                     calc_field_is_single(ref.field);
        bool meant = path != title || strncmp(title, "inference.", 10) == 0;
        if (field && fields->count < CALC_SERVING_FIELDS_MAX) {
            fields->ref[fields->count] = ref;
            fields->cell[fields->count++] = i;
        } else if (field || (meant && !column)) {
            calc_errors why = {0};
            calc_exec exec = {0};
            (void)!set(&exec, title, "0", &why);
            status = calc_errors_at(errors, CALC_ERR_FIELD, from->reader->name, 1, 0,
                                    why.count > 0 && why.item[0].hint[0]
                                        ? why.item[0].hint
                                        : "calc show fields has the names of all",
                                    field ? "column \"%s\": more fields than a table may have"
                                          : "column \"%s\" is no field of one value",
                                    calc_utf8_shown(title, strlen(title)));
        }
    }
    return status;
}

/* Check the cell of a field and keep its number. */
static calc_status read_field(calc_serving_row *row, int k, const calc_csv_row *from,
                              calc_errors *errors)
{
    int at = row->fields->cell[k];
    const char *cell = at < from->cells ? from->cell[at] : "";
    const char *title = from->title[at];
    calc_exec exec = {0};
    calc_errors own = {0};
    row->value[k] = (double)NAN;
    if (cell[strspn(cell, " ")] == '\0') {
        return CALC_OK;
    }
    calc_status status = set(&exec, title, cell, &own);
    if (status == CALC_OK) {
        row->value[k] = calc_field_number(&row->fields->ref[k], &exec);
        return CALC_OK;
    }
    return calc_errors_at(
        errors, status, from->reader->name, from->line, calc_csv_read_column(from->reader, cell),
        own.item[0].hint[0] ? own.item[0].hint : NULL, "%s: %s", title, own.item[0].text);
}

static calc_status finish_row(void *context, void *item, const calc_csv_row *from,
                              calc_errors *errors)
{
    calc_serving_fields *fields = context;
    calc_serving_row *row = item;
    calc_status status = CALC_OK;
    if (fields->count < 0) {
        fields->count = 0;
        status = find_fields(fields, from, errors);
    }
    row->fields = fields;
    for (int k = 0; k < fields->count; k++) {
        calc_status one = read_field(row, k, from, errors);
        status = status == CALC_OK ? one : status;
    }
    calc_assumptions_read(&row->told, from);
    return status;
}

calc_status calc_serving_rows_parse(calc_serving_rows *out, calc_text text, const char *name,
                                    calc_errors *errors)
{
    *out = (calc_serving_rows){.text = text, .fields = calc_make(1, sizeof *out->fields)};
    out->fields->count = -1; /* not looked for */
    const calc_csv_table table = {.column = columns,
                                  .columns = COLUMNS,
                                  .row_bytes = sizeof(calc_serving_row),
                                  .hint = "runs of serving have app, sys, isl and osl",
                                  .finish = finish_row,
                                  .context = out->fields,
                                  .nearly = true};
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    out->row = rows.item;
    out->count = rows.count;
    if (status == CALC_OK) {
        fill_names(out, name);
    }
    return status;
}

CALC_FREES(calc_serving_rows_free, calc_serving_rows, of->row, of->names, of->fields, of->text.data)

static int64_t at_least_one(double number)
{
    return (int64_t)fmax(1, floor(number + 0.5));
}

/* A parallel size: blank and 0 are 1. The product of three is a whole number still. */
static int64_t size_of(double number)
{
    enum { SIZE_MAX_PRINTED = 1000000 };
    return number > 1 ? at_least_one(fmin(number, SIZE_MAX_PRINTED)) : 1;
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
    if (strstr(words, "dp_attention=True")) {
        requests = tensor == world || expert == world ? world : 0;
        tensor = 1;
    } else if (strstr(words, "dp_attention=False") && tensor == 1 && expert == world) {
        requests = world; /* of every GPU for itself, too: nothing else is left */
    }
    *out = (pool){all, copies, world, tensor, expert};
    return *words && all % copies == 0 && tensor * requests == world && world % expert == 0;
}

/* Whether all ranks have all tokens: they split all layers. */
static bool is_replicated(const pool *p)
{
    return p->tensor > 1 && p->tensor == p->world;
}

/* How tokens reach their experts. An execution says it for both pools: where layers of the one that
 * prefills are split and its experts spread, its ranks have different tokens. */
static void send_to_experts(calc_exec *e, const pool *decode, const pool *prefill)
{
    calc_serving_engine_spread(&e->strategy);
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
    int64_t world = alone ? gpus : tensor * stages;
    if (tensor * stages * requests != gpus || world % (stages * expert) != 0) {
        return "the parallel sizes do not give the number of GPUs";
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
    double e2e_s = batch ? seconds((double)NAN, r->e2e_latency_ms) : (double)NAN;
    calc_quantities_none(map->measured);
    map->measured[CALC_QUANTITY_TPOT] = seconds(r->tpot_mean_ms, r->tpot_or_itl_ms);
    map->median = r->ttft_ms > 0 && strcmp(r->ttft_stat, "median") == 0;
    map->measured[CALC_QUANTITY_TTFT] =
        map->median ? r->ttft_ms / 1e3 : seconds(r->ttft_mean_ms, r->ttft_ms);
    map->measured[CALC_QUANTITY_E2E] = e2e_s;
    map->measured[CALC_QUANTITY_OUTPUT_RATE] =
        rate && isnan(e2e_s) ? r->output_tokens_per_s_total : (double)NAN;
}

/* Why nothing can be said of a run as it is; NULL: something can. */
static const char *what_is_missing(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    bool measured = false;
    bool once = map->kind == CALC_SERVING_KIND_ALL_AT_ONCE;
    bool open = map->kind == CALC_SERVING_KIND_OPEN_LOOP;
    for (int q = 0; q < CALC_QUANTITY_COUNT; q++) {
        measured = measured || map->measured[q] > 0;
    }
    return !measured                        ? "no measured time or rate"
           : once && !(r->num_prompts >= 1) ? "how many requests come is in no column"
           : *r->unpredicted                ? r->unpredicted
           : !once && !open && !(r->concurrency_or_batch >= 1)
               ? "batch or concurrency not published"
           : !(r->isl >= 1) || !(r->osl >= 1) ? "lengths not published"
                                              : NULL;
}

enum {
    BATCH_TOKENS = 16384, /* of prompts in a pass of a static batch */
    POOL_TOKENS = 8192,   /* in one of a prefill pool */
    REQUESTS_EACH = 10    /* of a run, over its concurrency: as InferenceX has it */
};

static void fill_lengths(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    calc_inference *i = &map->exec.inference;
    i->prompt_size = at_least_one(r->isl);
    i->generate_size = at_least_one(r->osl);
    i->page_size = 16;
    /* A mean that is no whole number is one of conversations, of any length. */
    const double any = 0.99;
    bool conversations = map->kind != CALC_SERVING_KIND_STATIC_BATCH && floor(r->isl) != r->isl;
    i->prompt_spread = i->generate_spread = conversations ? any : 0;
}

/* Prompts of one pass: as many as there are, up to so many tokens. */
static int64_t together(const calc_serving_map *map, double requests, int64_t tokens)
{
    int64_t most = tokens / map->exec.inference.prompt_size;
    int64_t there = at_least_one(requests);
    return most < 1 ? 1 : most < there ? most : there;
}

/* Limits of a replica that may have more requests than it runs: options given to the engine, or
 * else its defaults. */
static void fill_limits(calc_serving_map *map, const calc_system *system)
{
    const double large = 70.0 * 1073741824;
    calc_inference *i = &map->exec.inference;
    bool small = system && system->chip.mem1.capacity_bytes < large;
    if (small && i->engine.small_chunk > 0 && !(map->row->prefill_tokens >= 1)) {
        i->chunk_size = i->engine.small_chunk;
    }
    if (i->max_sequences == 0) {
        i->max_sequences = small && i->engine.small_sequences > 0 ? i->engine.small_sequences
                                                                  : i->engine.max_sequences;
        calc_assumptions_add(&map->assumed, "the engine's own limit of sequences");
    }
}

static void fill_requests(calc_serving_map *map, const calc_system *system)
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
    i->max_sequences = map->row->max_sequences >= 1 ? (int64_t)map->row->max_sequences : 0;
    if (open) {
        i->arrival_rate = map->row->request_rate;
        i->requests = map->row->num_prompts >= 1 ? (int64_t)map->row->num_prompts : 0;
    } else if (once) {
        i->requests = i->batch;
    } else if (map->row->num_prompts >= 1) {
        i->requests = (int64_t)fmax(map->row->num_prompts, (double)i->batch);
    } else {
        i->requests = REQUESTS_EACH * i->batch;
        calc_assumptions_add(&map->assumed, "ten rounds of requests, the first of them at once");
    }
    if (!pools && (once || open)) {
        fill_limits(map, system);
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

static void fill_formats(calc_serving_map *map)
{
    calc_exec *e = &map->exec;
    const char *w = map->row->weight_dtype;
    e->strategy.datatype =
        calc_word_begins("fp16 float16", w) ? CALC_DATATYPE_FLOAT16 : CALC_DATATYPE_BFLOAT16;
    if (!*w) {
        calc_assumptions_add(&map->assumed, "number format not given: 16 bits");
    } else if (calc_word_begins("fp4", w)) {
        e->strategy.matrix_datatype = e->strategy.weight_datatype = CALC_FORMAT_FLOAT4;
        e->strategy.scaling = CALC_SCALING_BLOCK;
    } else if (calc_word_begins("fp8", w)) {
        e->strategy.matrix_datatype = e->strategy.weight_datatype = CALC_FORMAT_FLOAT8;
        e->strategy.scaling = strcmp(w, "fp8") != 0 ? CALC_SCALING_BLOCK : CALC_SCALING_TENSOR;
    } else if (calc_word_begins("int", w)) {
        e->strategy.weight_datatype =
            calc_word_begins("int8", w) ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_FLOAT4;
    }
}

/* Drafts. The module of DeepSeek-V3 was trained for the first of them, of which 85 to 90 % are
 * accepted (arXiv 2412.19437, 5.4.3); of seven it gives 3.2 tokens a step (Nebius, model card of
 * MTP-DeepSeek-V3-0324): 1 + a + ... + a^7 for a = 0.7. */
static void fill_drafts(calc_serving_map *map)
{
    const double accepted = 0.7;
    calc_inference *i = &map->exec.inference;
    if (!(map->row->drafts >= 1)) {
        return;
    }
    i->speculative_tokens = (int64_t)map->row->drafts;
    if (!(i->speculative_accept > 0)) {
        i->speculative_accept = accepted;
        calc_assumptions_add(&map->assumed, "70 % of the drafts are accepted each");
    }
}

/* The first month in a text; a year alone is its middle; 0: neither. */
static int month_of(const char *text)
{
    char *end;
    long year = strtol(text, &end, 10);
    long month = *end == '-' ? strtol(end + 1, NULL, 10) : 7;
    return year > 1999 && year < 2100 && month >= 1 && month <= 12 ? (int)(100 * year + month) : 0;
}

static const char *fill_engine(calc_serving_map *map, const calc_system *system,
                               const calc_serving_engines *engines)
{
    enum { TOKENS = 8192 };
    const calc_serving_row *r = map->row;
    calc_inference *i = &map->exec.inference;
    int month = month_of(r->published);
    const char *reason = "no description of this engine";
    calc_platform platform = system ? system->platform : CALC_PLATFORM_ANY;
    const calc_serving_engine *engine =
        *r->engine ? calc_serving_engines_find(engines, r->engine)
                   : calc_serving_engines_meant(engines, r->software, month, platform, &reason);
    map->year = (int)(month > 0 || !engine ? month : engine->since) / 100;
    if (!engine) {
        return reason;
    }
    i->engine = *engine;
    bool loop = map->kind != CALC_SERVING_KIND_STATIC_BATCH && !(r->disagg_decode_gpus > 0);
    i->memory_share = loop ? 0 : 1; /* of a batch or a pool it is not published: all there is */
    bool told = r->prefill_tokens >= 1;
    int64_t tokens = told ? (int64_t)r->prefill_tokens : TOKENS;
    if (calc_word_begins("fp8", r->kv_dtype)) {
        i->kv_datatype = CALC_FORMAT_FLOAT8;
    }
    /* Where an engine does not mix, prompts that have come run between the steps, as many as the
     * budget has room for. */
    bool mixes = !i->engine.unmixed;
    i->chunk_size = loop && mixes ? tokens : 0;
    i->prefill_batch = loop && !mixes ? (int64_t)fmax(1, (double)tokens / r->isl) : 0;
    if (loop && !told) {
        calc_assumptions_add(&map->assumed, "tokens per step: 8,192, a default of engines");
    }
    fill_drafts(map);
    return NULL;
}

/* What columns say of fields stands for what follows from the others. */
static void set_fields(calc_serving_map *map)
{
    const calc_serving_row *r = map->row;
    for (int k = 0; r->fields && k < r->fields->count; k++) {
        const calc_field_ref *ref = &r->fields->ref[k];
        if (!isnan(r->value[k])) {
            calc_member_set(ref->field, (char *)&map->exec + ref->offset, r->value[k]);
        }
    }
}

static void complete(calc_serving_map *map, const calc_app *app, const calc_system *system)
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
    /* Checkpoints of experts in 4 bits keep attention in 16, as gpt-oss has it; those of latent
     * attention narrow its outputs, too (DeepSeek-R1-0528-FP4-v2). Those of dense models keep
     * nothing. */
    map->exec.inference.wide_attention =
        app->num_experts == 0 || s->weight_datatype != CALC_FORMAT_FLOAT4 ? CALC_WIDE_ATTENTION_NONE
        : app->kv_lora_rank > 0 ? CALC_WIDE_ATTENTION_INPUTS
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

void calc_serving_map_row(calc_serving_map *out, const calc_serving_row *row, const calc_app *app,
                          const calc_system *system, const calc_serving_engines *engines)
{
    calc_serving_kind kind =
        calc_word_begins("static", row->metric_kind) ? CALC_SERVING_KIND_STATIC_BATCH
        : calc_word_begins("all", row->metric_kind)  ? CALC_SERVING_KIND_ALL_AT_ONCE
        : row->request_rate > 0                      ? CALC_SERVING_KIND_OPEN_LOOP
        : row->disagg_decode_gpus > 0                ? CALC_SERVING_KIND_DISAGGREGATED
                                                     : CALC_SERVING_KIND_CLOSED_LOOP;
    *out = (calc_serving_map){.row = row, .kind = kind, .assumed = row->told};
    fill_measured(out);
    set_fields(out); /* some follow from these */
    out->reason = what_is_missing(out);
    out->reason = out->reason ? out->reason : fill_engine(out, system, engines);
    out->reason = out->reason ? out->reason : calc_serving_layout_fill(out);
    if (out->reason) {
        return;
    }
    fill_formats(out);
    fill_lengths(out);
    fill_requests(out, system);
    if (app && system) {
        complete(out, app, system);
    }
    set_fields(out);
    out->regime = regime_of(out);
}

bool calc_serving_map_alike(const calc_serving_map *a, const calc_serving_map *b)
{
    const calc_strategy *left = &a->exec.strategy, *right = &b->exec.strategy;
    const calc_inference *l = &a->exec.inference, *r = &b->exec.inference;
    return strcmp(a->row->app, b->row->app) == 0 && strcmp(a->row->sys, b->row->sys) == 0 &&
           strcmp(l->engine.name, r->engine.name) == 0 && l->prompt_size == r->prompt_size &&
           l->generate_size == r->generate_size && l->speculative_tokens == r->speculative_tokens &&
           l->prefill_procs == r->prefill_procs && l->prefill_tensor_par == r->prefill_tensor_par &&
           l->prefill_expert_par == r->prefill_expert_par &&
           a->exec.num_procs == b->exec.num_procs && a->exec.pipeline_par == b->exec.pipeline_par &&
           left->tensor_par == right->tensor_par && left->data_par == right->data_par &&
           left->expert_par == right->expert_par &&
           left->expert_tensor_par == right->expert_tensor_par &&
           left->datatype == right->datatype && left->scaling == right->scaling &&
           left->weight_datatype == right->weight_datatype &&
           left->matrix_datatype == right->matrix_datatype;
}

const char *const calc_serving_regime_words[] = {CALC_SERVING_REGIME_LIST(CALC_WORD_OF)};
const char *const calc_serving_kind_words[] = {CALC_SERVING_KIND_LIST(CALC_WORD_OF)};
