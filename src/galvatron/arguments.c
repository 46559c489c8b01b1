#include "galvatron/arguments.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "formats/read.h"
#include "io/json_report.h"
#include "io/utf8.h"
#include "spec/field.h"

/* In the order of the enums in cost.h. */
const char *const calc_galvatron_dp_words[] = {"ddp", "zero2", NULL};
const char *const calc_galvatron_schedule_words[] = {"gpipe", "pipedream_flush", NULL};
const char *const calc_galvatron_precision_words[] = {"fp32", "fp16", "bf16", NULL};
const char *const calc_galvatron_time_words[] = {"static", "batch", "sequence", NULL};
const char *const calc_galvatron_memory_words[] = {"static", "sequence", NULL};

#define CALC_ARGUMENT(in, key, kind_, where, ...)                                                  \
    {.block = #in,                                                                                 \
     .name = #key,                                                                                 \
     .kind = CALC_GALVATRON_TAKES_##kind_,                                                         \
     .offset = offsetof(calc_galvatron_arguments, where),                                          \
     __VA_ARGS__},
const calc_galvatron_argument calc_galvatron_argument_rows[] = {
#include "galvatron/arguments.fields.h"
    {.name = NULL}};
#undef CALC_ARGUMENT

void calc_galvatron_arguments_start(calc_galvatron_arguments *out)
{
    char why[160];
    memset(out, 0, sizeof *out);
    for (const calc_galvatron_argument *row = calc_galvatron_argument_rows; row->name; row++) {
        if (row->preset) {
            calc_galvatron_arguments_set(out, row, row->preset, why, sizeof why);
        }
    }
}

static bool refuse(const char *value, const char *expected, char *why, size_t size)
{
    snprintf(why, size, "expected %s, found \"%s\"", expected,
             calc_utf8_shown(value, strlen(value)));
    return false;
}

static bool set_number(const calc_galvatron_argument *row, const char *value, void *member,
                       char *why, size_t size)
{
    char expected[96];
    double found;
    bool real = row->kind == CALC_GALVATRON_TAKES_REAL;
    bool limit = row->kind == CALC_GALVATRON_TAKES_LIMIT;
    bool fine = calc_decimal_read(value, false, row->lo, row->hi, &found) ||
                (limit && calc_decimal_read(value, false, -1, -1, &found));
    if (!fine || !(real || found == floor(found))) {
        snprintf(expected, sizeof expected, "%s from %.10g to %.10g%s",
                 real ? "a number" : "a whole number", row->lo, row->hi, limit ? ", or -1" : "");
        return refuse(value, expected, why, size);
    }
    if (real) {
        *(double *)member = found;
    } else {
        *(int64_t *)member = (int64_t)found;
    }
    return true;
}

static bool set_layers(const calc_galvatron_argument *row, const char *value,
                       calc_galvatron_sizes *sizes, char *why, size_t size)
{
    sizes->count = 0;
    for (const char *at = value; sizes->count < CALC_GALVATRON_TYPES;) {
        char *end;
        double found = calc_decimal_at(at, &end);
        bool ends = end != at && (!*end || strchr(", ", *end));
        if (!ends || found != floor(found) || !(found >= row->lo && found <= row->hi)) {
            break;
        }
        sizes->of[sizes->count++] = (int64_t)found;
        if (!*end) {
            return true;
        }
        at = end + 1 + strspn(end + 1, " ");
    }
    const char *expected = CALC_TEXT(
        128, "a whole number from %.10g to %.10g, or up to %d of them with commas between", row->lo,
        row->hi, CALC_GALVATRON_TYPES);
    return refuse(value, expected, why, size);
}

static bool set_word(const calc_galvatron_argument *row, const char *value, void *member, char *why,
                     size_t size)
{
    int index = calc_choice_index(row->choices, value);
    if (index < 0) {
        char expected[128] = "";
        return refuse(value, calc_append_choices(expected, sizeof expected, row->choices), why,
                      size);
    }
    memcpy(member, &index, sizeof index); /* an enum */
    return true;
}

bool calc_galvatron_arguments_set(calc_galvatron_arguments *out, const calc_galvatron_argument *row,
                                  const char *value, char *why, size_t size)
{
    char *member = (char *)out + row->offset;
    switch (row->kind) {
    case CALC_GALVATRON_TAKES_COUNT:
    case CALC_GALVATRON_TAKES_LIMIT:
    case CALC_GALVATRON_TAKES_REAL:
        return set_number(row, value, member, why, size);
    case CALC_GALVATRON_TAKES_TRUTH:
        *(bool *)member = strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0;
        return *(bool *)member || strcmp(value, "0") == 0 || strcasecmp(value, "false") == 0 ||
               refuse(value, "0, 1, true or false", why, size);
    case CALC_GALVATRON_TAKES_WORD:
        return set_word(row, value, member, why, size);
    case CALC_GALVATRON_TAKES_LAYERS:
        return set_layers(row, value, (calc_galvatron_sizes *)member, why, size);
    case CALC_GALVATRON_TAKES_TEXT:
        if (!*value || strlen(value) >= CALC_GALVATRON_PATH_SIZE) {
            return refuse(value, "a name or a path", why, size);
        }
        strcpy(member, value);
        return true;
    case CALC_GALVATRON_TAKES_UNUSED:
        if (strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0) {
            calc_append(member, sizeof out->unused, "%s%s", *member ? ", " : "", row->name);
        }
        return true;
    }
    return true;
}

/* The size of a type. A single value applies to all types. */
static int64_t size_of(const calc_galvatron_sizes *sizes, int type)
{
    return sizes->count == 1 ? sizes->of[0] : sizes->of[type];
}

static bool finish_layers(calc_galvatron_arguments *a, char *why, size_t size)
{
    const calc_galvatron_sizes *said[] = {&a->num_layers, &a->hidden_size, &a->seq_length};
    int types = 1;
    for (int i = 0; i < 3; i++) {
        types = said[i]->count > types ? said[i]->count : types;
    }
    for (int i = 0; i < 3; i++) {
        if (said[i]->count > 1 && said[i]->count != types) {
            snprintf(why, size,
                     "num_layers, hidden_size, seq_length: %d values beside %d of another",
                     said[i]->count, types);
            return false;
        }
    }
    a->request.types = types;
    for (int i = 0; i < types; i++) {
        a->request.layers[i] = (calc_galvatron_layers){.hidden_size = size_of(&a->hidden_size, i),
                                                       .layer_num = size_of(&a->num_layers, i),
                                                       .seq_len = size_of(&a->seq_length, i)};
    }
    return true;
}

static bool finish_name(calc_galvatron_arguments *a, char *why, size_t size)
{
    const char *slash = strrchr(a->hf_model_name_or_path, '/');
    const char *name = *a->model_size ? a->model_size
                       : slash        ? slash + 1
                                      : a->hf_model_name_or_path;
    if (!*name || strlen(name) >= sizeof a->request.model || strchr(name, '/')) {
        snprintf(why, size,
                 *name ? "model_size: at most %zu bytes, without a slash"
                       : "model_size is missing: it names the profiles",
                 sizeof a->request.model - 1);
        return false;
    }
    strcpy(a->request.model, name);
    return true;
}

bool calc_galvatron_arguments_finish(calc_galvatron_arguments *out, char *why, size_t size)
{
    return finish_name(out, why, size) && finish_layers(out, why, size) &&
           calc_galvatron_request_check(&out->request, why, size);
}

calc_galvatron_paths calc_galvatron_arguments_paths(const calc_galvatron_arguments *arguments)
{
    calc_galvatron_paths paths;
    for (int i = 0; i < CALC_GALVATRON_FILE_COUNT; i++) {
        paths.of[i] = *arguments->path[i] ? arguments->path[i]
                      : i < CALC_GALVATRON_FILE_ALLREDUCE
                          ? "configs"
                          : "../../profile_hardware/hardware_configs";
    }
    return paths;
}

/* Reads arguments from files: their blocks, and other keys that a file may have. */

/* Keys outside the blocks, in JSON. */
static const char *const others[] = {"name",         "model_name", "layers", "profile_dir",
                                     "hardware_dir", "args",       NULL};

/* Training arguments in blocks that training and search share, separated by blanks. They are
 * skipped. */
static const char training[] =
    " model_config_path is_moe_model set_experts_manually initialize_on_meta shape_order "
    "dropout_prob print_loss padded_vocab_size make_vocab_size_divisible_by ffn_hidden_size "
    "num_query_groups kv_channels attention_dropout hidden_dropout add_qkv_bias add_bias_linear "
    "layernorm_epsilon norm_epsilon normalization qk_layernorm position_embedding_type "
    "rotary_base rotary_percent gated_linear_unit activation_func "
    "untie_embeddings_and_output_weights num_moe_experts moe_ffn_hidden_size params_dtype seed "
    "train_iters lr min_lr lr_decay_style weight_decay adam_beta1 adam_beta2 adam_eps clip_grad "
    "dataloader_type num_workers global_batch_size micro_batch_size use_flash_attn pp_deg "
    "global_tp_deg global_cp_deg global_ep_deg global_checkpoint cp_mode sdp "
    "galvatron_config_path vocab_sdp vocab_tp vocab_cp vocab_sp use_ulysses reduce_in_fp32 "
    "entropy_in_fp32 num_dataset_builder_threads ";

typedef struct reader {
    calc_galvatron_arguments *out;
    const char *text, *name;
    size_t length;
    calc_errors *errors;
} reader;

/* All names of a block, or the names of the blocks if `block` is NULL; NULL at the end. */
enum { NAMES = 64 };
static void names_of(const char *block, const char *list[NAMES])
{
    size_t count = 0;
    const char *before = "";
    for (const calc_galvatron_argument *row = calc_galvatron_argument_rows; row->name; row++) {
        if (!block && strcmp(before, row->block) != 0) {
            list[count++] = before = row->block;
        } else if (block && strcmp(block, row->block) == 0) {
            list[count++] = row->name;
        }
    }
    list[count] = NULL;
}

static calc_status unknown(const reader *r, const calc_setting *s, const char *what,
                           const char *word, const char *const *words)
{
    return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, s->line, s->column,
                          CALC_DID_YOU_MEAN(calc_nearest(word, words)), "unknown %s \"%s\"", what,
                          calc_utf8_shown(word, strlen(word)));
}

static calc_status wrong(const reader *r, const calc_setting *s, const char *text)
{
    return calc_errors_at(r->errors, CALC_ERR_RANGE, r->name, s->line, s->column, NULL, "%s: %s",
                          s->key, text);
}

/* A path relative to the folder of the file. */
static void beside(const reader *r, const char *value, char *path)
{
    const char *slash = strrchr(r->name, '/');
    int folder = value[0] == '/' || !slash ? 0 : (int)(slash + 1 - r->name);
    snprintf(path, CALC_GALVATRON_PATH_SIZE, "%.*s%s", folder, r->name, value);
}

/* Reads a whole number of at least 1 at a place in the text; 0 if there is none. */
static int64_t whole_at(const reader *r, const char *pointer)
{
    enum { MOST = 1000000000 };
    char text[32];
    size_t start, end;
    if (!calc_json_span(r->text, r->length, pointer, &start, &end) || end - start >= sizeof text) {
        return 0;
    }
    snprintf(text, sizeof text, "%.*s", (int)(end - start), r->text + start);
    char *rest;
    double value = calc_decimal_at(text, &rest);
    return !*rest && value >= 1 && value <= MOST && value == floor(value) ? (int64_t)value : 0;
}

/* Reads an entry of "layers". */
static bool take_layer(const reader *r, int entry)
{
    const struct {
        const char *key;
        calc_galvatron_sizes *to;
    } members[] = {{"layer_num", &r->out->num_layers},
                   {"hidden_size", &r->out->hidden_size},
                   {"seq_len", &r->out->seq_length}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        members[i].to->of[entry] =
            whole_at(r, CALC_TEXT(64, "/layers/%d/%s", entry, members[i].key));
        members[i].to->count = entry + 1;
        if (members[i].to->of[entry] == 0) {
            return false;
        }
    }
    return true;
}

static calc_status take_layers(const reader *r, const calc_setting *s)
{
    calc_json_place place;
    int entry = 0;
    for (;; entry++) {
        if (!calc_json_locate(r->text, r->length, CALC_TEXT(32, "/layers/%d", entry),
                              CALC_JSON_VALUE, &place)) {
            break;
        }
        if (entry == CALC_GALVATRON_TYPES || !take_layer(r, entry)) {
            return calc_errors_at(
                r->errors, CALC_ERR_RANGE, r->name, place.line, place.column, NULL,
                "layers: expected at most %d entries, each with hidden_size, layer_num and seq_len",
                CALC_GALVATRON_TYPES);
        }
    }
    return entry > 0 ? CALC_OK : wrong(r, s, "expected an entry for each type of layers");
}

static calc_status take_other(const reader *r, const calc_setting *s)
{
    calc_galvatron_arguments *a = r->out;
    if (calc_choice_index(others, s->key) < 0) {
        return unknown(r, s, "key", s->key, others);
    }
    if (strcmp(s->key, "layers") == 0) {
        return take_layers(r, s);
    }
    bool model = strcmp(s->key, "profile_dir") == 0;
    if (strcmp(s->key, "model_name") == 0) {
        snprintf(a->model_size, sizeof a->model_size, "%s", s->value);
    } else if (model || strcmp(s->key, "hardware_dir") == 0) {
        for (int i = 0; i < CALC_GALVATRON_FILE_COUNT; i++) {
            if ((i < CALC_GALVATRON_FILE_ALLREDUCE) == model && !*a->path[i]) {
                beside(r, s->value, a->path[i]);
            }
        }
    }
    return CALC_OK;
}

static calc_status take_argument(const reader *r, const calc_setting *s, const char *block,
                                 const char *key)
{
    const char *names[NAMES];
    char why[512];
    for (const calc_galvatron_argument *row = calc_galvatron_argument_rows; row->name; row++) {
        if (strcmp(row->block, block) != 0 || strcmp(row->name, key) != 0) {
            continue;
        }
        /* Training arguments for the model are allowed in a file that both programs read. */
        bool silent = row->kind == CALC_GALVATRON_TAKES_UNUSED && strcmp(block, "model_info") == 0;
        return !s->value[0] || silent ||
                       calc_galvatron_arguments_set(r->out, row, s->value, why, sizeof why)
                   ? CALC_OK
                   : wrong(r, s, why);
    }
    bool shared = calc_is_word("model_info common_train_info parallelism_info", block);
    if (shared && calc_word_in(training, key, strcspn(key, "."))) {
        return CALC_OK;
    }
    names_of(block, names);
    return unknown(r, s, CALC_TEXT(80, "argument of %s", block), key, names);
}

/* Reads "hardware_info" or "hardware_info.num_nodes". */
static calc_status take(const reader *r, const calc_setting *s, const char *path)
{
    const char *blocks[NAMES];
    size_t length = strcspn(path, ".");
    names_of(NULL, blocks);
    const char *block = CALC_TEXT(64, "%.*s", (int)length, path);
    if (calc_choice_index(blocks, block) < 0) {
        /* Reports an unknown block once, by itself; a name with a dot looks like an argument in a
         * block, of which there is none. */
        return path[length] && r->errors->count > 0 ? CALC_ERR_FIELD
                                                    : unknown(r, s, "block", path, blocks);
    }
    return path[length] ? take_argument(r, s, block, path + length + 1) : CALC_OK;
}

/* Prefix of the blocks: "search_engine.", "args." or "". */
static const char *root_of(const calc_settings *settings)
{
    static const char *const roots[] = {"search_engine.", "args."};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < settings->count; i++) {
            if (strncmp(settings->item[i].key, roots[k], strlen(roots[k])) == 0) {
                return roots[k];
            }
        }
    }
    return "";
}

static calc_status read_settings(const reader *r, const calc_settings *settings)
{
    const char *blocks[NAMES];
    const char *root = root_of(settings);
    size_t skip = strlen(root);
    calc_status status = CALC_OK;
    bool any = false;
    names_of(NULL, blocks);
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *s = &settings->item[i];
        bool nested = strchr(s->key, '.') != NULL;
        bool inside = skip > 0 ? strncmp(s->key, root, skip) == 0
                               : nested || calc_choice_index(blocks, s->key) >= 0;
        calc_status one = CALC_OK;
        if (inside) {
            one = take(r, s, s->key + skip);
            any = true;
        } else if (!nested && root[0] != 's') { /* otherwise these are blocks of other programs */
            one = take_other(r, s);
        }
        status = status ? status : one;
    }
    return status == CALC_OK && !any
               ? calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, 0, 0,
                                "its blocks are hardware_info, batch_size_info and others",
                                "there is no search_engine block")
               : status;
}

calc_status calc_galvatron_arguments_read(calc_galvatron_arguments *out, const char *text,
                                          size_t length, const char *name, calc_errors *errors)
{
    const reader r = {out, text, name, length, errors};
    calc_settings settings = {0};
    size_t at = calc_json_scan_mark(text, length);
    while (at < length && isspace((unsigned char)text[at])) {
        at++;
    }
    bool json = at < length && text[at] == '{';
    calc_status status = calc_settings_from_text(
        &settings, json ? CALC_SYNTAX_JSON : CALC_SYNTAX_YAML, text, length, name, errors);
    status = status ? status : read_settings(&r, &settings);
    calc_settings_free(&settings);
    return status;
}
