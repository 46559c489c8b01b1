/* Reads arguments from files: their blocks, and other keys that a file may have. */
#include "galvatron/arguments.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/read.h"
#include "io/json_locate.h"
#include "io/utf8.h"

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

static bool is_in(const char *const *words, const char *word, size_t length)
{
    for (; *words; words++) {
        if (strlen(*words) == length && strncmp(*words, word, length) == 0) {
            return true;
        }
    }
    return false;
}

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
    char hint[CALC_HINT_SIZE], shown[CALC_UTF8_SHOW_SIZE];
    return calc_errors_at(r->errors, CALC_ERR_FIELD, r->name, s->line, s->column,
                          calc_did_you_mean(calc_nearest(word, words), hint), "unknown %s \"%s\"",
                          what, calc_utf8_show(shown, word, strlen(word)));
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

/* ---- Outside the blocks ---------------------------------------------------------------------- */

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
    double value = strtod(text, &rest);
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
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/layers/%d/%s", entry, members[i].key);
        members[i].to->of[entry] = whole_at(r, pointer);
        members[i].to->count = entry + 1;
        if (members[i].to->of[entry] == 0) {
            return false;
        }
    }
    return true;
}

static calc_status take_layers(const reader *r, const calc_setting *s)
{
    char pointer[32];
    calc_json_place place;
    int entry = 0;
    for (;; entry++) {
        snprintf(pointer, sizeof pointer, "/layers/%d", entry);
        if (!calc_json_locate(r->text, r->length, pointer, CALC_JSON_VALUE, &place)) {
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
    if (!is_in(others, s->key, strlen(s->key))) {
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

/* ---- Blocks ---------------------------------------------------------------------------------- */

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
    bool shared = strcmp(block, "model_info") == 0 || strcmp(block, "common_train_info") == 0 ||
                  strcmp(block, "parallelism_info") == 0;
    char word[64];
    snprintf(word, sizeof word, " %.*s ", (int)strcspn(key, "."), key);
    if (shared && strstr(training, word)) {
        return CALC_OK;
    }
    char what[80];
    snprintf(what, sizeof what, "argument of %s", block);
    names_of(block, names);
    return unknown(r, s, what, key, names);
}

/* Reads "hardware_info" or "hardware_info.num_nodes". */
static calc_status take(const reader *r, const calc_setting *s, const char *path)
{
    const char *blocks[NAMES];
    size_t length = strcspn(path, ".");
    char block[64];
    names_of(NULL, blocks);
    if (!is_in(blocks, path, length)) {
        /* Reports an unknown block once. */
        return path[length] ? CALC_ERR_FIELD : unknown(r, s, "block", path, blocks);
    }
    snprintf(block, sizeof block, "%.*s", (int)length, path);
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
                               : nested || is_in(blocks, s->key, strlen(s->key));
        calc_status one = CALC_OK;
        if (inside) {
            one = take(r, s, s->key + skip);
            any = true;
        } else if (!nested && root[0] != 's') { /* otherwise these are blocks of other programs */
            one = take_other(r, s);
        }
        status = status == CALC_OK ? one : status;
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
    calc_status status = json ? calc_settings_from_json(&settings, text, length, name, errors)
                              : calc_settings_from_yaml(&settings, text, length, name, errors);
    status = status == CALC_OK ? read_settings(&r, &settings) : status;
    calc_settings_free(&settings);
    return status;
}
