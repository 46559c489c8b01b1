#include "formats/hf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "formats/hf_layers.h"
#include "formats/hf_model.h"
#include "formats/read.h"
#include "io/utf8.h"
#include "spec/field.h"

enum { NOTE_SIZE = 320, NOTES = 20 /* most keys to name */ };

/* The type of a value. */
typedef enum how {
    HOW_COUNT,
    HOW_YES,
    HOW_RATE,
    HOW_WORD, /* in words_of() */
    HOW_LIST  /* read in a later step */
} how;

static const struct {
    how how;
    const char *field, *keys;
} members[CALC_HF_COUNT] = {
#define CALC_HF(name, how_, field, keys) {HOW_##how_, field, keys},
#include "formats/hf.fields.h"
#undef CALC_HF
};

/* A file and the values read from it so far. */
typedef struct reader {
    calc_hf_said said;
    calc_settings rows; /* of families */
    calc_hf_family family;
    size_t ignored;
    const char *part; /* the last model beside the text model that was left out; or NULL */
    calc_errors *errors;
} reader;

static calc_status wrong(const reader *r, const calc_setting *setting, calc_status status,
                         const char *text)
{
    return calc_errors_at(r->errors, status, r->said.hf->name, setting->line, setting->column, NULL,
                          "%s: %s", calc_utf8_shown(setting->key, strlen(setting->key)), text);
}

static calc_hf_member member_of(const char *key)
{
    int member = 0;
    while (member < CALC_HF_COUNT && !calc_is_word(members[member].keys, key)) {
        member++;
    }
    return (calc_hf_member)member;
}

/* Length of the name of an object, with its dot, that is a model beside the text model; 0: the key
 * is in none. */
static size_t model_beside(const reader *r, const char *key)
{
    char type[CALC_UTF8_SHOW_SIZE];
    size_t above = strncmp(key, "thinker_config.", 15) == 0 ? 15 : 0;
    size_t length = above + strcspn(key + above, ".");
    snprintf(type, sizeof type, "%.*s", (int)length, key);
    bool one = key[length] && !calc_hf_key_structural(type);
    snprintf(type, sizeof type, "%.*s.model_type", (int)length, key);
    return one && (strncmp(key + above, "audio_", 6) == 0 ||
                   calc_settings_last(r->said.hf->settings, type))
               ? length + 1
               : 0;
}

/* Refuses a key of the text model that is not known and may change its layers; notes another one
 * that has a value. Parts that are not read are noted once, other keys by name. */
static calc_status pass_over(reader *r, const calc_setting *setting, const char *key, bool nested)
{
    if (calc_hf_encoder_prefix(key) > 0) { /* read behind all others */
        return CALC_OK;
    }
    calc_hf_passes passes = calc_hf_row_passes(&r->family.row, key, setting->value);
    if (passes == CALC_HF_PASSES || calc_hf_formats_key(key) > 0 ||
        calc_text_has("dropout|initializer|_eps|flash_attn", key, strlen(key))) {
        return CALC_OK;
    }
    size_t part = model_beside(r, key);
    if (part > 0 && (!r->part || strncmp(r->part, key, part) != 0)) {
        calc_hf_tell(r->said.hf, CALC_TEXT(NOTE_SIZE, "%s is not read: only the text model is",
                                           calc_utf8_shown(key, part - 1)));
        r->part = key;
    }
    if (nested || part > 0) {
        return CALC_OK;
    }
    if (passes == CALC_HF_PASSES_OTHERWISE) {
        return wrong(r, setting, CALC_ERR_UNSUPPORTED,
                     CALC_TEXT(NOTE_SIZE, "calc has nothing for models with the value %.80s",
                               calc_utf8_shown(setting->value, setting->length)));
    }
    if (calc_hf_key_structural(key)) {
        return calc_hf_value_neutral(setting->value)
                   ? CALC_OK
                   : wrong(r, setting, CALC_ERR_UNSUPPORTED,
                           "calc does not know this key, which seems to change the layers");
    }
    if (r->ignored++ < NOTES) {
        calc_hf_tell(r->said.hf,
                     CALC_TEXT(NOTE_SIZE, "ignored: %s", calc_utf8_shown(key, strlen(key))));
    }
    return CALC_OK;
}

static calc_status expected(const reader *r, const calc_setting *setting, const char *what)
{
    return wrong(r, setting, CALC_ERR_RANGE,
                 CALC_TEXT(NOTE_SIZE, "expected %s, found \"%s\"", what,
                           calc_utf8_shown(setting->value, setting->length)));
}

static calc_status read_number(reader *r, calc_hf_member member, const calc_setting *setting)
{
    char *end, range[128];
    errno = 0;
    double value = calc_decimal_at(setting->value, &end);
    if (strcasecmp(setting->value, "false") == 0) { /* in place of 0 */
        end = setting->value + setting->length;
        value = 0;
    }
    size_t local = strspn(setting->value, "L"); /* windows before a layer without, as in LLLG */
    if (member == CALC_HF_PATTERN && local > 0 && strcmp(setting->value + local, "G") == 0) {
        value = (double)local + 1;
        end = setting->value + setting->length;
    }
    for (char *next; *end == ' ' && calc_decimal_at(end + 1, &next) == value && next > end + 1;) {
        end = next; /* a list with the same number for each layer */
    }
    if (end == setting->value || *end || errno != 0 || !isfinite(value)) {
        return expected(r, setting, "a number");
    }
    if (members[member].how == HOW_RATE) {
        if (value < 0 || value > 1) {
            return expected(r, setting, "0 to 1");
        }
    } else if (value != floor(value) || (!members[member].field && fabs(value) > 1e9)) {
        return expected(r, setting, value != floor(value) ? "a whole number" : "at most 1e9");
    }
    const calc_field *field =
        members[member].field ? calc_table_find(calc_table_of(CALC_KIND_APP), members[member].field)
                              : NULL;
    if (field && !calc_field_in_range(field, value)) {
        return expected(r, setting, calc_field_range_text(field, value, range, sizeof range));
    }
    r->said.value[member] = value;
    return CALC_OK;
}

/* Activation functions with their cost, and routing with a bias per expert. */
static calc_status read_word(reader *r, calc_hf_member member, const calc_setting *setting)
{
    static const struct {
        calc_hf_member member;
        const char *words;
        int value;
    } meanings[] = {
        {CALC_HF_HEAD_GATE, "false", CALC_OUTPUT_GATE_NONE},
        {CALC_HF_HEAD_GATE, "true per-head head_wise", CALC_OUTPUT_GATE_HEAD},
        {CALC_HF_HEAD_GATE, "per-element", CALC_OUTPUT_GATE_CHANNEL},
        {CALC_HF_TWO_WAYS, "true all", 1},
        {CALC_HF_TWO_WAYS, "false vision", 0}, /* of images: their tokens are few */
        {CALC_HF_ACTIVATION, "silu swish situ swigluoai swiglu", CALC_FFN_TYPE_SWIGLU},
        {CALC_HF_NORM, "rmsnorm rms_norm RMSNorm rms true", CALC_NORM_TYPE_RMS},
        {CALC_HF_NORM, "layer_norm layernorm LayerNorm low_precision_layernorm layer default false",
         CALC_NORM_TYPE_LAYER},
        {CALC_HF_QK_NORM_TYPE, "per_layer", 1},
        {CALC_HF_QK_NORM_TYPE, "per_head", 0},
        {CALC_HF_ACTIVATION,
         "gelu gelu_new gelu_fast gelu_python gelu_pytorch_tanh gelu_accurate quick_gelu xielu",
         CALC_FFN_TYPE_GELU},
        {CALC_HF_ACTIVATION, "relu relu2 relu6", CALC_FFN_TYPE_RELU},
        {CALC_HF_ROUTER, "noaux_tc", 1},
        {CALC_HF_ROUTER, "greedy group_limited_greedy", 0}};
    char words[NOTE_SIZE] = "one of";
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        bool own = meanings[i].member == member;
        if (own && calc_word_in(meanings[i].words, setting->value, setting->length)) {
            r->said.value[member] = meanings[i].value;
            return CALC_OK;
        }
        calc_append(words, sizeof words, "%s%s", own ? " " : "", own ? meanings[i].words : "");
    }
    return expected(r, setting, words);
}

/* Two names of one thing must say the same of one model. Positions are not one thing: how many a
 * table has, and how many tokens were trained with. */
static calc_status agrees(const reader *r, calc_hf_member member, const calc_setting *setting)
{
    const calc_setting *other = r->said.setting[member];
    bool positions = member == CALC_HF_POSITIONS || member == CALC_HF_ORIGINAL;
    if (!other || positions || strcmp(other->key, setting->key) == 0 ||
        calc_hf_nest_length(other->key) != calc_hf_nest_length(setting->key) ||
        strcasecmp(other->value, setting->value) == 0 ||
        (members[member].how == HOW_COUNT &&
         strtod(other->value, NULL) == strtod(setting->value, NULL))) {
        return CALC_OK;
    }
    char value[2][CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
    snprintf(text, sizeof text, "\"%.80s\", but %.80s is \"%.80s\": both are names of one thing",
             calc_utf8_show(value[0], setting->value, setting->length),
             calc_utf8_shown(other->key, strlen(other->key)),
             calc_utf8_show(value[1], other->value, other->length));
    return wrong(r, setting, CALC_ERR_RULE, text);
}

static calc_status read_member(reader *r, calc_hf_member member, const calc_setting *setting)
{
    calc_status status = agrees(r, member, setting);
    if (status != CALC_OK) {
        return status;
    }
    r->said.setting[member] = setting;
    switch (members[member].how) {
    case HOW_YES:
        if (strcasecmp(setting->value, "true") != 0 && strcasecmp(setting->value, "false") != 0) {
            return expected(r, setting, "true or false");
        }
        r->said.value[member] = strcasecmp(setting->value, "true") == 0;
        return CALC_OK;
    case HOW_WORD:
        return read_word(r, member, setting);
    case HOW_LIST:
        r->said.value[member] = 0;
        return CALC_OK;
    default:
        return read_number(r, member, setting);
    }
}

/* Reads all keys; those of the text model override those above it. */
static calc_status read_settings(reader *r, bool nested)
{
    calc_status status = CALC_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < r->said.hf->settings->count; i++) {
            const calc_setting *setting = &r->said.hf->settings->item[i];
            size_t above = calc_hf_nest_length(setting->key);
            if ((above > 0) != (pass == 1) || setting->null) {
                continue; /* no value */
            }
            const char *key = calc_hf_family_key(&r->family, setting->key + above);
            calc_hf_member member = member_of(key);
            if (!setting->value[0] &&
                (member == CALC_HF_COUNT || members[member].how == HOW_LIST)) {
                continue; /* an empty list; what an object has are keys of their own */
            }
            calc_status one = member == CALC_HF_COUNT
                                  ? pass_over(r, setting, key, nested && above == 0)
                                  : read_member(r, member, setting);
            status = status == CALC_OK ? one : status;
        }
    }
    return status;
}

/* The family of the file. A type that is not known is no error: its keys say what it is. */
static calc_status find_family(reader *r, const calc_setting *type)
{
    calc_status status =
        calc_hf_family_read(&r->rows, type ? type->value : NULL, &r->family, r->errors);
    r->said.family = &r->family;
    if (!type || !calc_hf_row_known(&r->rows, type->value)) {
        calc_hf_tell(
            r->said.hf,
            CALC_TEXT(NOTE_SIZE,
                      "model_type %s%.80s: read by its keys; where they say nothing, blocks are "
                      "as Llama's",
                      type ? "is not known, " : "is missing",
                      type ? calc_utf8_shown(type->value, type->length) : ""));
        const calc_setting *class = calc_settings_last(r->said.hf->settings, "architectures");
        const calc_setting *mask = calc_settings_last(r->said.hf->settings, "mask_token_id");
        if ((class && strstr(class->value, "MaskedLM")) || (mask && mask->value[0])) {
            calc_hf_tell(r->said.hf, "it fills in masked words: attention is to both sides");
            r->family.is.causal = false;
        }
    } else if (r->family.refused) {
        return wrong(r, type, CALC_ERR_UNSUPPORTED,
                     CALC_TEXT(NOTE_SIZE, "calc has nothing for %s", r->family.refused));
    }
    return status;
}

/* What keys are worth that a configuration of the family leaves out; a type that is not known has
 * what files leave out that transformers writes: what its base class has. */
static calc_status read_absent(reader *r, bool known)
{
    calc_status status = CALC_OK;
    const calc_setting *row;
    const char *key;
    for (int link = 0; link < r->family.row.links; link++) {
        for (size_t at = 0; (row = calc_hf_row_next(&r->family.row, link, "absent", &at, &key));) {
            calc_hf_member member = member_of(key);
            if (isnan(r->said.value[member])) {
                status = read_member(r, member, row);
                r->said.setting[member] = NULL;
            }
        }
    }
    if (!known && isnan(r->said.value[CALC_HF_TIED])) {
        r->said.value[CALC_HF_TIED] = true;
        calc_hf_tell(r->said.hf, "tie_word_embeddings is absent: taken as true, which transformers "
                                 "does not write");
    }
    return status;
}

static calc_status hf_read(const calc_hf *hf, calc_app *app, calc_errors *errors)
{
    bool nested;
    reader r = {.said = {.hf = hf}, .errors = errors};
    for (int i = 0; i < CALC_HF_COUNT; i++) {
        r.said.value[i] = NAN;
    }
    const calc_embedded *file = calc_embedded_find(calc_hf_list, "families");
    calc_status status = calc_settings_from_text(&r.rows, CALC_SYNTAX_JSON, file->bytes,
                                                 file->length, "hf_families.json", errors);
    const calc_setting *type = calc_hf_type_of(hf->settings, &r.rows, &nested);
    status = status == CALC_OK ? find_family(&r, type) : status;
    status = status == CALC_OK ? read_settings(&r, nested) : status;
    if (status == CALC_OK) {
        status = read_absent(&r, type && calc_hf_row_known(&r.rows, type->value));
        int64_t listed = calc_hf_listed(&r.said);
        if (isnan(r.said.value[CALC_HF_LAYERS]) && listed > 0) {
            r.said.value[CALC_HF_LAYERS] = (double)listed;
        }
        status = status == CALC_OK ? calc_hf_model(&r.said, app, errors) : status;
        bool headed = r.family.is.lm_head == CALC_CHOICE_TRUE; /* the class of no head has one */
        const calc_setting *class = headed ? NULL : calc_hf_headless(hf->settings);
        if (status == CALC_OK && class) {
            calc_hf_tell(hf, CALC_TEXT(NOTE_SIZE, "%.80s has no head that scores words",
                                       calc_utf8_shown(class->value, class->length)));
            app->lm_head = CALC_CHOICE_FALSE;
        }
        status = status == CALC_OK ? calc_hf_encoder_read(&r.said, app, errors) : status;
        status = status == CALC_OK ? calc_hf_formats_read(hf, app, errors) : status;
    }
    calc_settings_free(&r.rows);
    return status;
}

calc_status calc_hf_read_text(const calc_hf *hf, const char *text, size_t length, calc_app *app,
                              calc_errors *errors)
{
    calc_settings settings = {0};
    calc_hf one = *hf;
    one.settings = &settings;
    calc_status status =
        calc_settings_from_text(&settings, CALC_SYNTAX_JSON_WHOLE, text, length, hf->name, errors);
    if (status == CALC_OK) {
        status = hf_read(&one, app, errors);
    } else if (status == CALC_ERR_NOMEM) {
        calc_errors_no_memory(errors);
    }
    calc_settings_free(&settings);
    return status;
}

calc_status calc_hf_is_text(const char *text, size_t length)
{
    calc_settings settings = {0};
    calc_status status =
        calc_settings_from_text(&settings, CALC_SYNTAX_JSON, text, length, "", NULL);
    status = status != CALC_OK || calc_hf_is(&settings) ? status : CALC_ERR_UNSUPPORTED;
    calc_settings_free(&settings);
    return status;
}
