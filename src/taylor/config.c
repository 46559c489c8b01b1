#include "taylor/config.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "balance/evaluate.h"
#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "formats/import.h"
#include "formats/read.h"
#include "io/utf8.h"
#include "taylor/memory.h"

enum { MEMORY_GB = 58 /* Taylor's default if the file gives no value that it can read */ };

typedef struct reader {
    const calc_settings *settings;
    const char *name;
    calc_errors *errors;
} reader;

static calc_status wrong(const reader *r, const calc_setting *s, const char *expected)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, s->line, s->column, NULL,
                          "%s: expected %s, found \"%s\"", s->key, expected,
                          calc_utf8_show(shown, s->value, strlen(s->value)));
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
                              "first_k_dense_replace: %lld layers of %lld cannot be dense",
                              (long long)out->dense, (long long)out->layers);
    }
    return read_memory(r, out);
}

/* Skips keys that the planner decides, whose lists have no counterpart here, and keys that matter
 * only for the file's own layout. */
static bool is_planned(const char *key)
{
    static const char *const planned[] = {"recompute_config.", "model.model_config.offset",
                                          "parallel_config.",
                                          "model.model_config.pp_interleave_num"};
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++) {
        if (strncmp(key, planned[i], strlen(planned[i])) == 0) {
            return strcmp(key, "parallel_config.use_seq_parallel") != 0;
        }
    }
    return false;
}

static calc_status read_model(const reader *r, calc_taylor_config *out)
{
    calc_settings kept = {.item = malloc((r->settings->count + 1) * sizeof(calc_setting))};
    if (!kept.item) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < r->settings->count; i++) {
        if (!is_planned(r->settings->item[i].key)) {
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
    calc_status status = calc_settings_from_yaml(&settings, text, length, name, errors);
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

static divisors divisors_of(int64_t world)
{
    divisors d = {.count = 0};
    for (int64_t i = 1; i <= world; i++) {
        if (world % i == 0 && d.count < DIVISORS) {
            d.item[d.count++] = i;
        }
    }
    return d;
}

/* Shards of the optimizer: divisors of dp that contain whole groups of an expert's replicas.
 * @param replicas  1: any */
static int64_t count_shards(const divisors *d, int64_t data, int64_t replicas)
{
    int64_t count = 0;
    for (int i = 0; i < d->count; i++) {
        count += data % d->item[i] == 0 && d->item[i] % replicas == 0;
    }
    return count;
}

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
        int64_t shards = count_shards(d, l->data, s->experts == 1 ? 1 : ranks / expert);
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
    divisors d = divisors_of(s->world);
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

/* ---- Edits ------------------------------------------------------------------------------------
 */

/* Adds an edit. An edit that does not fit is dropped; a test of the longest lists ensures that
 * this does not happen. */
static void taylor_edit(calc_taylor_edits *edits, const char *key, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    size_t room = sizeof edits->text - edits->used;
    char *at = edits->text + edits->used;
    int length = vsnprintf(at, room, fmt, list);
    va_end(list);
    if (length >= 0 && (size_t)length < room && edits->count < CALC_TAYLOR_EDITS) {
        edits->item[edits->count++] = (calc_yaml_edit){key, at};
        edits->used += (size_t)length + 1;
    }
}

char *calc_taylor_file_name(const calc_taylor_candidate *c, char name[CALC_TAYLOR_NAME_SIZE])
{
    snprintf(name, CALC_TAYLOR_NAME_SIZE, "DP%lld_TP%lld_PP%lld_EP%lld_pretrain.yaml",
             (long long)c->layout.data, (long long)c->layout.tensor, (long long)c->layout.pipeline,
             (long long)c->expert);
    return name;
}

/* Reads a count after letters, from 1 to 10^6. @return the rest; NULL if it is not there */
static const char *take_count(const char *at, const char *letters, int64_t *out)
{
    size_t length = strlen(letters);
    char *end;
    if (strncmp(at, letters, length) != 0 || !isdigit((unsigned char)at[length])) {
        return NULL;
    }
    long long count = strtoll(at + length, &end, 10);
    *out = count;
    return count >= 1 && count <= 1000000 ? end : NULL;
}

bool calc_taylor_file_layout(const char *name, calc_taylor_candidate *out)
{
    for (const char *start = strstr(name, "DP"); start; start = strstr(start + 1, "DP")) {
        *out = (calc_taylor_candidate){.layout.context = 1};
        const char *at = take_count(start, "DP", &out->layout.data);
        at = at ? take_count(at, "_TP", &out->layout.tensor) : NULL;
        at = at ? take_count(at, "_PP", &out->layout.pipeline) : NULL;
        at = at ? take_count(at, "_EP", &out->expert) : NULL;
        if (at) {
            return true;
        }
    }
    return false;
}

/* Writes a list of counts: "[1, 0]". */
static char *list_text(const int *item, int64_t count, char *text, size_t size)
{
    snprintf(text, size, "[");
    for (int64_t i = 0; i < count; i++) {
        calc_append(text, size, "%s%d", i ? ", " : "", item[i]);
    }
    return calc_append(text, size, "]");
}

static void edit_parallel(const calc_taylor_config *config, int64_t data, int64_t tensor,
                          int64_t pipeline, int64_t expert, int64_t microbatches,
                          const char *dataset, calc_taylor_edits *edits)
{
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"parallel_config.data_parallel", data},
                 {"parallel_config.model_parallel", tensor},
                 {"parallel_config.pipeline_stage", pipeline},
                 {"parallel_config.expert_parallel", expert},
                 {"parallel_config.micro_batch_num", microbatches}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        taylor_edit(edits, sizes[i].key, "%lld", (long long)sizes[i].value);
    }
    if (config->strategies > 0) {
        char text[4096] = "[";
        for (int64_t i = 0; i < config->strategies; i++) {
            calc_append(text, sizeof text, "%s[%lld, 1]", i ? ", " : "", (long long)data);
        }
        calc_append(text, sizeof text, "]");
        taylor_edit(edits, "parallel.dataset_strategy", "%s", text);
    }
    if (dataset) {
        taylor_edit(edits, "train_dataset.data_loader.dataset_dir", "\"%s\"", dataset);
    }
}

void calc_taylor_edits_layout(const calc_taylor_config *config, const calc_taylor_candidate *c,
                              int64_t batch, const char *dataset, calc_taylor_edits *edits)
{
    int offset[CALC_BALANCE_STAGES];
    char text[4096];
    int64_t stages = c->layout.pipeline;
    edit_parallel(config, c->layout.data, c->layout.tensor, stages, c->expert,
                  batch / c->layout.data / config->exec.microbatch_size, dataset, edits);
    calc_taylor_initial_offset(stages, config->layers + config->prediction, offset);
    bool even = (config->layers + config->prediction) % stages == 0;
    taylor_edit(edits, "model.model_config.offset", "%s",
                even ? "0" : list_text(offset, stages, text, sizeof text));
}

/* Shapes for profiles: some stage has layers with and layers without recomputation, and all stages
 * are present. */
static const struct {
    int64_t stages;
    int layers; /* including prediction layers */
    int offset[8], again[8];
} shapes[] = {{2, 11, {1, 0}, {6, 0}},
              {4, 11, {1, 1, 1, 0}, {3, 3, 0, 0}},
              {8, 13, {2, 0, 0, 0, 0, 1, 1, 1}, {3, 1, 1, 1, 1, 2, 0, 2}}};

bool calc_taylor_edits_profile(const calc_taylor_config *config, const calc_taylor_candidate *c,
                               int64_t batch, int64_t ranks, const char *dataset,
                               const char *small_dataset, calc_taylor_edits *edits)
{
    enum { MOST_STAGES = 8, SMALL_DATA = 4 };
    int64_t stages = c->layout.pipeline, data = c->layout.data, expert = c->expert;
    while (stages > 2 && stages % 2 == 0 &&
           (stages > MOST_STAGES || data * c->layout.tensor * stages > ranks)) {
        stages /= 2;
    }
    while (data > 1 && data % 2 == 0 && data * c->layout.tensor * stages > ranks) {
        data /= 2;
    }
    while (data * c->layout.tensor % expert != 0) {
        expert /= 2;
    }
    size_t shape = 0;
    while (shape < sizeof shapes / sizeof *shapes && shapes[shape].stages != stages) {
        shape++;
    }
    if (shape == sizeof shapes / sizeof *shapes || data * c->layout.tensor * stages > ranks) {
        return false;
    }
    char text[256];
    edit_parallel(config, data, c->layout.tensor, stages, expert,
                  batch / c->layout.data / config->exec.microbatch_size,
                  c->layout.data <= SMALL_DATA && small_dataset ? small_dataset : dataset, edits);
    taylor_edit(edits, config->layers_key, "%lld",
                (long long)(shapes[shape].layers - config->prediction));
    taylor_edit(edits, "model.model_config.offset", "%s",
                list_text(shapes[shape].offset, stages, text, sizeof text));
    taylor_edit(edits, "recompute_config.recompute", "%s",
                list_text(shapes[shape].again, stages, text, sizeof text));
    const struct {
        const char *key, *value;
    } profile[] = {
        {"profile", "True"},    {"profile_start_step", "4"},       {"profile_stop_step", "6"},
        {"profile_level", "1"}, {"profile_communication", "True"}, {"profile_memory", "True"},
        {"op_time", "True"}};
    for (size_t i = 0; i < sizeof profile / sizeof *profile; i++) {
        taylor_edit(edits, profile[i].key, "%s", profile[i].value);
    }
    return true;
}

/* Operators that recompute in parts, by the names that the framework matches; each has the
 * matrix. */
static void edit_operators(calc_taylor_edits *edits, const char *key, const char *const *operators,
                           const char *matrix)
{
    char text[16384] = "{";
    for (size_t i = 0; operators[i]; i++) {
        calc_append(text, sizeof text, "%s'%s': %s", i ? ", " : "", operators[i], matrix);
    }
    calc_append(text, sizeof text, "}");
    taylor_edit(edits, key, "%s", text);
}

void calc_taylor_edits_balance(const calc_taylor_config *config, const calc_taylor_ask *ask,
                               const calc_balance_share *share, calc_taylor_edits *edits)
{
    static const char *const computed[] = {"feed_forward\\.null",
                                           "feed_forward\\.w1\\.activation\\.silu",
                                           "feed_forward\\.w1\\.reshape",
                                           "feed_forward\\.w2\\.reshape",
                                           "add",
                                           "cast_up",
                                           NULL};
    static const char *const sent[] = {".*\\.norm",
                                       "attention\\.wq\\.reshape",
                                       "attention\\.wk\\.reshape",
                                       "feed_forward\\.w1\\.reshape",
                                       "feed_forward\\.w3\\.reshape",
                                       NULL};
    char text[4096];
    taylor_edit(edits, "model.model_config.offset", "%s",
                calc_taylor_matrix_text(ask, share, CALC_TAYLOR_OFFSET, text, sizeof text));
    taylor_edit(edits, "recompute_config.recompute", "%s",
                calc_taylor_matrix_text(ask, share, CALC_TAYLOR_FULL, text, sizeof text));
    if (ask->may_select) {
        calc_taylor_matrix_text(ask, share, CALC_TAYLOR_SELECTIVE, text, sizeof text);
        edit_operators(edits, "recompute_config.select_recompute", computed, text);
        edit_operators(edits, "recompute_config.select_comm_recompute", sent, text);
    } else if (config->selects) {
        taylor_edit(edits, "recompute_config.select_recompute", "False");
        taylor_edit(edits, "recompute_config.select_comm_recompute", "False");
    }
    taylor_edit(edits, "recompute_config.parallel_optimizer_comm_recompute", "False");
    taylor_edit(edits, "recompute_config.mp_comm_recompute", "True");
    taylor_edit(edits, "recompute_config.recompute_slice_activation", "True");
}

#define COUNT_COLUMN(text, member)                                                                 \
    {                                                                                              \
        .name = (text), CALC_CSV_MEMBER(calc_taylor_profile, member), .lo = 1, .hi = 1e6           \
    }
#define RATIO_COLUMN(text, other, member)                                                          \
    {                                                                                              \
        .name = (text), .also = (other), CALC_CSV_MEMBER(calc_taylor_profile, member), .lo = 0,    \
        .hi = 1e6, .flags = CALC_CSV_OPTIONAL | CALC_CSV_BLANK                                     \
    }

static const calc_csv_column columns[] = {{CALC_CSV_MEMBER(calc_taylor_profile, line)},
                                          COUNT_COLUMN("dp", data),
                                          COUNT_COLUMN("tp", tensor),
                                          COUNT_COLUMN("pp", pipeline),
                                          COUNT_COLUMN("ep", expert),
                                          RATIO_COLUMN("dmratio", NULL, dense),
                                          RATIO_COLUMN("bfratio", NULL, backward),
                                          RATIO_COLUMN("re_grow_ration", "re_grow_ratio", again),
                                          RATIO_COLUMN("hratio", NULL, head),
                                          RATIO_COLUMN("moe_bw", NULL, layer_ms)};

const calc_csv_table calc_taylor_profiles = CALC_CSV_TABLE(
    columns, calc_taylor_profile,
    "the first row names the columns: "
    "dp,tp,pp,ep,dmratio,bfratio,re_grow_ration,hratio,moe_bw, the last in milliseconds");

static double said_or(double value, double absent)
{
    return isnan(value) ? absent : value;
}

bool calc_taylor_profiles_find(const calc_csv_rows *rows, const calc_taylor_candidate *c,
                               calc_taylor_ratios *out)
{
    const calc_taylor_profile *profile = rows->item;
    *out = (calc_taylor_ratios){/* Taylor's defaults, and no time */
                                .dense = 0.3,
                                .backward = 2,
                                .again = 1,
                                .head = 1.5,
                                .layer_ms = NAN};
    for (size_t i = rows->count; i > 0; i--) {
        const calc_taylor_profile *p = &profile[i - 1];
        if (p->data == c->layout.data && p->tensor == c->layout.tensor &&
            p->pipeline == c->layout.pipeline && p->expert == c->expert) {
            *out = (calc_taylor_ratios){.dense = said_or(p->dense, out->dense),
                                        .backward = said_or(p->backward, out->backward),
                                        .again = said_or(p->again, out->again),
                                        .head = said_or(p->head, out->head),
                                        .layer_ms = p->layer_ms};
            return true;
        }
    }
    return false;
}
