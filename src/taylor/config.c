#include "taylor/config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/make.h"
#include "formats/import.h"
#include "formats/read.h"
#include "io/utf8.h"

enum { MEMORY_GB = 58 /* Taylor's default if the file gives no value that it can read */ };

typedef struct reader {
    const calc_settings *settings;
    const char *name;
    calc_errors *errors;
} reader;

static calc_status wrong(const reader *r, const calc_setting *s, const char *expected)
{
    return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, s->line, s->column, NULL,
                          "%s: expected %s, found \"%s\"", s->key, expected,
                          calc_utf8_shown(s->value, strlen(s->value)));
}

/* Reads a count from 1 to `hi`; `absent` without the key, or an error if that is -1. */
static calc_status count_of(const reader *r, const char *key, const char *other, int64_t absent,
                            int64_t *out)
{
    enum { HI = 1000000000 };
    const calc_setting *s = calc_settings_last(r->settings, key);
    s = !s && other ? calc_settings_last(r->settings, other) : s;
    if (!s || !s->value[0]) {
        *out = absent;
        return absent >= 0 ? CALC_OK
                           : calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0, NULL,
                                            "%s%s%s is missing", key, other ? " or " : "",
                                            other ? other : "");
    }
    char *end;
    double value = calc_decimal_at(s->value, &end);
    bool counts = value >= 0 && value <= HI; /* neither infinite nor NaN */
    if (*end != '\0' || !counts || value != (double)(int64_t)value || (value == 0 && absent != 0)) {
        return wrong(r, s, absent == 0 ? "a whole number" : "a whole number from 1");
    }
    *out = (int64_t)value;
    return CALC_OK;
}

/* Whether recomputation is requested: a truth value, or lists of counts. */
static calc_status asks(const reader *r, const char *key, bool *out)
{
    const calc_setting *s = calc_settings_last(r->settings, key);
    *out = false;
    if (!s || !s->value[0] || strcasecmp(s->value, "false") == 0) {
        return CALC_OK;
    }
    *out = strcasecmp(s->value, "true") == 0;
    bool numbers = !*out;
    for (const char *at = s->value; numbers && *at; at += strcspn(at, " "), at += *at == ' ') {
        char *end;
        double count = calc_decimal_at(at, &end);
        numbers = end != at && (*end == ' ' || !*end) && count >= 0;
        *out = *out || count > 0;
    }
    return numbers || *out ? CALC_OK : wrong(r, s, "true, false or counts of layers");
}

static calc_status read_memory(const reader *r, calc_taylor_config *out)
{
    const calc_setting *s = calc_settings_last(r->settings, "context.max_device_memory");
    out->memory_mb = MEMORY_GB * 1024;
    out->says_memory = s && s->value[0];
    if (!out->says_memory) {
        return CALC_OK;
    }
    double gb = strtod(s->value + strcspn(s->value, "0123456789"), NULL);
    if (gb < 1 || gb > 1e6) {
        return wrong(r, s, "an amount from 1GB to 1000000GB");
    }
    out->memory_mb = (double)(int64_t)gb * 1024;
    return CALC_OK;
}

static calc_status read_sizes(const reader *r, calc_taylor_config *out)
{
    const struct {
        const char *key, *other;
        int64_t absent, *to;
    } counts[] = {
        {"parallel_config.data_parallel", NULL, 1, &out->data},
        {"parallel_config.model_parallel", NULL, 1, &out->tensor},
        {"parallel_config.pipeline_stage", NULL, 1, &out->pipeline},
        {"parallel_config.expert_parallel", NULL, 1, &out->expert},
        {"parallel_config.micro_batch_num", NULL, 1, &out->microbatches},
        {"model.model_config.pp_interleave_num", NULL, 1, &out->chunks},
        {"model.model_config.num_layers", "model.model_config.num_hidden_layers", -1, &out->layers},
        {"model.model_config.mtp_depth", "model.model_config.mtp_num_layers", 0, &out->prediction},
        {"moe_config.first_k_dense_replace", "model.model_config.first_k_dense_replace", 0,
         &out->dense},
        {"moe_config.expert_num", "model.model_config.num_experts", 0, &out->experts},
        {"model.model_config.num_heads", "model.model_config.num_attention_heads", -1, &out->heads},
    };
    calc_status status = CALC_OK;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        calc_status one =
            count_of(r, counts[i].key, counts[i].other, counts[i].absent, counts[i].to);
        status = status ? status : one;
    }
    if (status != CALC_OK) {
        return status;
    }
    const calc_setting *context =
        calc_settings_last(r->settings, "parallel_config.context_parallel");
    if (context && context->value[0] && strcmp(context->value, "1") != 0) {
        return wrong(r, context, "1, since the planner has no context parallelism");
    }
    bool full = false, selective = false;
    status = asks(r, "parallel.enable_parallel_optimizer", &out->shards);
    status = status ? status : asks(r, "recompute_config.recompute", &full);
    status = status ? status : asks(r, "recompute_config.select_recompute", &selective);
    /* Operators with counts of layers are keys below it. */
    for (size_t i = 0; i < r->settings->count; i++) {
        const char *key = r->settings->item[i].key;
        selective = selective || strncmp(key, "recompute_config.select_recompute.", 34) == 0;
    }
    if (status != CALC_OK) {
        return status;
    }
    out->selects = selective;
    out->again = full ? CALC_BALANCE_FULL : selective ? CALC_BALANCE_SELECTIVE : CALC_BALANCE_NONE;
    out->layers_key = calc_settings_last(r->settings, "model.model_config.num_layers")
                          ? "model.model_config.num_layers"
                          : "model.model_config.num_hidden_layers";
    const calc_setting *strategy = calc_settings_last(r->settings, "parallel.dataset_strategy");
    for (const char *at = strategy ? strategy->value : NULL; at; at = strchr(at + 1, ' ')) {
        out->strategies++; /* two numbers each */
    }
    out->strategies /= 2;
    out->experts = out->experts > 1 ? out->experts : 0;
    out->dense = out->experts > 0 ? out->dense : 0;
    if (out->dense > out->layers) {
        return calc_errors_at(r->errors, CALC_ERR_RULE, r->name, 0, 0, NULL,
                              "first_k_dense_replace: %jd layers of %jd cannot be dense",
                              out->dense, out->layers);
    }
    return read_memory(r, out);
}

static calc_status read_model(const reader *r, calc_taylor_config *out)
{
    /* Keys that the planner decides, whose lists have no counterpart here, and keys that matter
     * only for the file's own layout. */
    static const char planned[] = "recompute_config. model.model_config.offset parallel_config. "
                                  "model.model_config.pp_interleave_num";
    calc_settings kept = {.item = calc_make(r->settings->count, sizeof(calc_setting))};
    for (size_t i = 0; i < r->settings->count; i++) {
        const char *key = r->settings->item[i].key;
        if (!calc_word_begins(planned, key) ||
            strcmp(key, "parallel_config.use_seq_parallel") == 0) {
            kept.item[kept.count++] = r->settings->item[i];
        }
    }
    const calc_import import = {
        .framework = &calc_framework_mindformers, .settings = &kept, .name = r->name};
    calc_status status = calc_import_run(&import, &out->app, &out->exec, r->errors);
    status = status ? status : calc_import_complete(&import, &out->app, r->errors);
    free(kept.item);
    return status;
}

static calc_status read_shared_experts(const reader *r, calc_taylor_config *out)
{
    int64_t shared = 0;
    calc_status status = count_of(r, "moe_config.shared_expert_num",
                                  "model.model_config.shared_expert_num", 0, &shared);
    calc_app *a = &out->app;
    if (status == CALC_OK && out->experts > 0 && a->shared_feedforward == 0) {
        int64_t width = a->expert_feedforward > 0 ? a->expert_feedforward : a->feedforward;
        a->shared_feedforward = shared * width;
    }
    return status;
}

calc_status calc_taylor_config_parse(calc_taylor_config *out, const char *text, size_t length,
                                     const char *name, calc_errors *errors)
{
    calc_settings settings = {0};
    const reader r = {&settings, name, errors};
    *out = (calc_taylor_config){0};
    calc_status status =
        calc_settings_from_text(&settings, CALC_SYNTAX_YAML, text, length, name, errors);
    status = status ? status : read_sizes(&r, out);
    status = status ? status : read_model(&r, out);
    status = status ? status : read_shared_experts(&r, out);
    calc_settings_free(&settings);
    if (status == CALC_OK) {
        out->app.num_blocks = out->layers + out->prediction;
        out->app.mtp_blocks = 0;
        out->exec.pipeline_interleaving = 1;
    }
    return status;
}

int64_t calc_taylor_config_world(const calc_taylor_config *config)
{
    return config->data * config->tensor * config->pipeline;
}

void calc_taylor_config_recompute(const calc_taylor_config *config, calc_balance_recompute again,
                                  int64_t blocks, calc_exec *exec)
{
    /* Norms, and the activation functions of experts, if they are covered by the operators named in
     * select_recompute. */
    const int64_t parts = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM |
                          (config->experts > 0 ? 1 << CALC_RECOMPUTE_MODULES_MOE_ACT : 0);
    static const calc_activation_recompute recompute[] = {
        [CALC_BALANCE_NONE] = CALC_ACTIVATION_RECOMPUTE_NONE,
        [CALC_BALANCE_SELECTIVE] = CALC_ACTIVATION_RECOMPUTE_MODULES,
        [CALC_BALANCE_FULL] = CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_strategy *s = &exec->strategy;
    s->activation_recompute = recompute[again];
    s->recompute_modules = again == CALC_BALANCE_SELECTIVE ? parts : 0;
    exec->recompute_blocks = blocks;
    s->seq_par_ag_redo =
        s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG && again != CALC_BALANCE_FULL;
}

calc_exec calc_taylor_config_exec(const calc_taylor_config *config, int64_t data, int64_t tensor,
                                  int64_t pipeline, int64_t expert, int64_t batch,
                                  calc_balance_recompute again)
{
    calc_exec e = config->exec;
    bool split = tensor > 1;
    e.num_procs = data * tensor * pipeline;
    e.strategy.data_par = data;
    e.strategy.tensor_par = tensor;
    e.pipeline_par = pipeline;
    e.strategy.expert_par = config->experts > 0 ? expert : 0;
    e.strategy.expert_tensor_par = config->experts > 0 ? 1 : 0;
    e.batch_size = batch;
    e.strategy.tensor_par_comm_type =
        split ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    e.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    e.strategy.optimizer_sharding = data > 1 && config->shards;
    e.strategy.zero_stage = e.strategy.optimizer_sharding ? 1 : 0;
    e.strategy.data_par_overlap = data > 1;
    calc_taylor_config_recompute(config, again, 0, &e);
    return e;
}

enum { DIVISORS = 240 /* most divisors of a number up to 10^6 */ };

/* Every size divides the world. */
typedef struct divisors {
    int64_t item[DIVISORS];
    int count;
} divisors;

static void count(const calc_taylor_space *s, const divisors *d, const calc_taylor_layout *l,
                  calc_taylor_counts *all, int64_t *kept)
{
    int64_t ranks = l->data * l->tensor;
    int64_t chunks = (s->layers + s->prediction + l->pipeline - 1) / l->pipeline; /* from 0 on */
    int64_t switches = s->world < s->sequence_from ? 2 : 1;
    /* Whether a quadruple passes the filters that depend on nothing else. */
    bool keep = l->context <= s->most_context && l->tensor <= s->most_tensor &&
                (!s->divides || s->batch % l->data == 0) && l->pipeline >= s->fewest_stages &&
                l->pipeline <= s->most_stages &&
                (s->tensor_indivisible == 0 || l->tensor % s->tensor_indivisible != 0) &&
                (s->heads == 0 || s->heads % l->tensor == 0);
    for (int i = 0; i < d->count; i++) {
        int64_t expert = d->item[i];
        if (ranks % expert != 0 || (s->experts > 0 && expert > s->experts)) {
            continue;
        }
        /* Shards of the optimizer: divisors of dp with whole groups of an expert's replicas. */
        int64_t shards = 0, replicas = s->experts == 1 ? 1 : ranks / expert;
        for (int k = 0; k < d->count; k++) {
            shards += l->data % d->item[k] == 0 && d->item[k] % replicas == 0;
        }
        for (int64_t m = 1; m <= CALC_TAYLOR_MICROBATCH_MOST; m *= 2) {
            all->total += 2 * shards * chunks;
            *kept += keep && expert <= s->most_expert &&
                             (!s->fills ||
                              (l->pipeline <= s->layers && l->pipeline <= s->batch / l->data / m))
                         ? switches * shards * chunks
                         : 0;
        }
    }
}

static void take(const calc_taylor_space *s, const divisors *d, const calc_taylor_layout *layout,
                 calc_taylor_counts *counts,
                 void (*visit)(void *context, const calc_taylor_layout *layout), void *context)
{
    int64_t kept = 0;
    count(s, d, layout, counts, &kept);
    counts->kept += kept;
    counts->layouts += kept > 0;
    if (kept > 0 && visit) {
        visit(context, layout);
    }
}

calc_taylor_counts calc_taylor_space_walk(const calc_taylor_space *s,
                                          void (*visit)(void *context,
                                                        const calc_taylor_layout *layout),
                                          void *context)
{
    calc_taylor_counts counts = {0};
    divisors d = {.count = 0};
    for (int64_t i = 1; i <= s->world; i++) {
        if (s->world % i == 0 && d.count < DIVISORS) {
            d.item[d.count++] = i;
        }
    }
    for (int i = 0; i < d.count; i++) {
        int64_t after_data = s->world / d.item[i];
        for (int j = 0; j < d.count && d.item[j] <= after_data; j++) {
            int64_t after_tensor = after_data / d.item[j];
            for (int k = 0; after_data % d.item[j] == 0 && k < d.count; k++) {
                calc_taylor_layout layout = {d.item[i], d.item[j], d.item[k],
                                             after_tensor / d.item[k]};
                if (after_tensor % d.item[k] == 0) {
                    take(s, &d, &layout, &counts, visit, context);
                }
            }
        }
    }
    return counts;
}
