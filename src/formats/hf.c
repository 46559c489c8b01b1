#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "formats/hf_checkpoint.h"
#include "formats/hf_encoder.h"
#include "formats/hf_layers.h"
#include "formats/read.h"
#include "io/utf8.h"
#include "spec/field.h"

enum { NOTES = 20 /* most keys to name */, NOTE_SIZE = 320 };

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
    size_t ignored;
    bool audio; /* was skipped */
    calc_errors *errors;
} reader;

/* Names of objects that hold the text model of a multimodal model. */
static const char *const nests[] = {"thinker_config.text_config.", "text_config.", "llm_config.",
                                    "language_config."};
enum { NESTS = sizeof nests / sizeof *nests };

static calc_status wrong(const reader *r, const calc_setting *setting, calc_status status,
                         const char *hint, const char *text)
{
    char key[CALC_UTF8_SHOW_SIZE];
    return calc_errors_at(r->errors, status, r->said.hf->name, setting->line, setting->column, hint,
                          "%s: %s", calc_utf8_show(key, setting->key, strlen(setting->key)), text);
}

/* ---- Which keys ------------------------------------------------------------------------------ */

/* Length of a key's prefix before the text model's own keys; 0 at the top level. */
static size_t nest_length(const char *key)
{
    for (size_t i = 0; i < NESTS; i++) {
        if (strncmp(key, nests[i], strlen(nests[i])) == 0) {
            return strlen(nests[i]);
        }
    }
    return 0;
}

/* The value of "model_type"; the text model's, if it has its own. */
static const calc_setting *type_of(const calc_settings *settings, bool *nested)
{
    const calc_setting *type = NULL;
    *nested = false;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *setting = &settings->item[i];
        size_t above = nest_length(setting->key);
        *nested = *nested || above > 0;
        bool better = !type || (nest_length(type->key) == 0 && !calc_hf_family_find(type->value));
        if (strcmp(setting->key + above, "model_type") == 0 && setting->value[0] && better &&
            (above == 0 || !type || calc_hf_family_find(setting->value))) {
            type = setting;
        }
    }
    return type;
}

static bool has_key(const calc_settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->item[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether settings look like such a configuration. */
static bool hf_is(const calc_settings *settings)
{
    return has_key(settings, "model_type") || has_key(settings, "architectures") ||
           (has_key(settings, "num_hidden_layers") && has_key(settings, "hidden_size"));
}

static calc_hf_member member_of(const char *key)
{
    int member = 0;
    while (member < CALC_HF_COUNT && !calc_hf_word_in(members[member].keys, key, strlen(key))) {
        member++;
    }
    return (calc_hf_member)member;
}

/* Refuses a key of the text model that is not known and may change its layers; notes another one
 * that has a value. Parts that are not read are noted once, other keys by name. */
static calc_status pass_over(reader *r, const calc_setting *setting, const char *key, bool nested)
{
    if (calc_hf_encoder_prefix(key) > 0) { /* read behind all others */
        return CALC_OK;
    }
    if (strncmp(key, "audio_config.", strlen("audio_config.")) == 0) {
        if (!r->audio) {
            calc_hf_tell(r->said.hf, "audio_config is not read: sound is not modelled");
        }
        r->audio = true;
        return CALC_OK;
    }
    if (nested || calc_hf_key_harmless(key) || calc_hf_checkpoint_has(key)) {
        return CALC_OK;
    }
    if (calc_hf_key_structural(key) && !calc_hf_value_neutral(setting->value)) {
        return wrong(r, setting, CALC_ERR_UNSUPPORTED, NULL,
                     "calc does not know this key, which seems to change the layers");
    }
    char shown[CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
    if (r->ignored++ < NOTES) {
        snprintf(text, sizeof text, "ignored: %s", calc_utf8_show(shown, key, strlen(key)));
        calc_hf_tell(r->said.hf, text);
    }
    return CALC_OK;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static calc_status expected(const reader *r, const calc_setting *setting, const char *what)
{
    char shown[CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
    snprintf(text, sizeof text, "expected %s, found \"%s\"", what,
             calc_utf8_show(shown, setting->value, setting->length));
    return wrong(r, setting, CALC_ERR_RANGE, NULL, text);
}

static calc_status read_number(reader *r, calc_hf_member member, const calc_setting *setting)
{
    char *end, range[128];
    errno = 0;
    double value = strtod(setting->value, &end);
    for (char *next; *end == ' ' && strtod(end, &next) == value && next > end;) {
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
        {CALC_HF_ACTIVATION, "silu swish situ", CALC_FFN_TYPE_SWIGLU},
        {CALC_HF_QK_NORM_TYPE, "per_layer", 1},
        {CALC_HF_QK_NORM_TYPE, "per_head", 0},
        {CALC_HF_ACTIVATION,
         "gelu gelu_new gelu_fast gelu_python gelu_pytorch_tanh gelu_accurate quick_gelu",
         CALC_FFN_TYPE_GELU},
        {CALC_HF_ACTIVATION, "relu relu2 relu6", CALC_FFN_TYPE_RELU},
        {CALC_HF_ROUTER, "noaux_tc", 1},
        {CALC_HF_ROUTER, "greedy group_limited_greedy", 0}};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].member == member &&
            calc_hf_word_in(meanings[i].words, setting->value, setting->length)) {
            r->said.value[member] = meanings[i].value;
            return CALC_OK;
        }
    }
    return expected(r, setting,
                    member == CALC_HF_ROUTER ? "noaux_tc, greedy or group_limited_greedy"
                    : member == CALC_HF_QK_NORM_TYPE
                        ? "per_layer or per_head"
                        : "silu, gelu, gelu_new, gelu_pytorch_tanh or relu");
}

static calc_status read_member(reader *r, calc_hf_member member, const calc_setting *setting)
{
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
            size_t above = nest_length(setting->key);
            if ((above > 0) != (pass == 1) || !setting->value[0]) {
                continue; /* null means no value */
            }
            const char *key = setting->key + above;
            calc_hf_member member = member_of(key);
            if (member == CALC_HF_COUNT) {
                calc_status one = pass_over(r, setting, key, nested && above == 0);
                status = status == CALC_OK ? one : status;
            } else {
                calc_status one = read_member(r, member, setting);
                status = status == CALC_OK ? one : status;
            }
        }
    }
    return status;
}

static void fill_presets(reader *r)
{
    for (int i = 0; i < CALC_HF_PRESETS && r->said.family->preset[i].value > 0; i++) {
        calc_hf_member member = r->said.family->preset[i].member;
        if (isnan(r->said.value[member])) {
            r->said.value[member] = (double)r->said.family->preset[i].value;
        }
    }
}

/* The family of the file. A type that is not known is no error: its keys say what it is. */
static void find_family(reader *r, const calc_setting *type)
{
    char shown[CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
    r->said.family = type ? calc_hf_family_find(type->value) : NULL;
    if (!r->said.family) {
        r->said.family = calc_hf_family_unknown();
        snprintf(text, sizeof text,
                 "model_type %s%.80s: read by its keys; where they say nothing, blocks are as "
                 "Llama's",
                 type ? "is not known, " : "is missing",
                 type ? calc_utf8_show(shown, type->value, type->length) : "");
        calc_hf_tell(r->said.hf, text);
    }
}

static calc_status hf_read(const calc_hf *hf, calc_app *app, calc_errors *errors)
{
    bool nested;
    reader r = {.said = {.hf = hf}, .errors = errors};
    for (int i = 0; i < CALC_HF_COUNT; i++) {
        r.said.value[i] = NAN;
    }
    find_family(&r, type_of(hf->settings, &nested));
    calc_status status = read_settings(&r, nested);
    if (status == CALC_OK) {
        fill_presets(&r);
        int64_t listed = calc_hf_listed(&r.said);
        if (isnan(r.said.value[CALC_HF_LAYERS]) && listed > 0) {
            r.said.value[CALC_HF_LAYERS] = (double)listed;
        }
        status = calc_hf_model(&r.said, app, errors);
        status = status == CALC_OK ? calc_hf_encoder_read(hf, app, errors) : status;
        status = status == CALC_OK ? calc_hf_checkpoint_read(hf, app, errors) : status;
    }
    return status;
}

calc_status calc_hf_read_text(const calc_hf *hf, const char *text, size_t length, calc_app *app,
                              calc_errors *errors)
{
    calc_settings settings = {0};
    calc_hf one = *hf;
    one.settings = &settings;
    calc_status status = calc_settings_from_json_whole(&settings, text, length, hf->name, errors);
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
    calc_status status = calc_settings_from_json(&settings, text, length, "", NULL);
    status = status != CALC_OK || hf_is(&settings) ? status : CALC_ERR_UNSUPPORTED;
    calc_settings_free(&settings);
    return status;
}
