#include "formats/hf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "formats/hf_layers.h"
#include "formats/hf_model.h"
#include "formats/read.h"
#include "io/text.h"
#include "io/utf8.h"
#include "spec/field.h"

/* Number formats of published weights. Sources: transformers 4.57, utils/quantization_config.py;
 * vLLM, model_executor/layers/quantization/{fp8,modelopt,fbgemm_fp8,torchao}.py and quark/quark.py;
 * compressed-tensors, quantization/quant_config.py; TensorRT-LLM, quantization/mode.py
 * (QuantAlgo). */

enum { NOTE_SIZE = 320, WORD_SIZE = 128, WIDE = 16 /* bits, and more: the layout's datatype */ };

/* Bits of weights and of what they are multiplied with. */
typedef struct widths {
    int weight, input;
    bool block; /* a scale per block */
} widths;

/* What names stand for, in small letters; names that begin as w4a8_... say it themselves. */
static const struct {
    const char *names;
    widths is;
} algorithms[] = {
    {"fp8 fbgemm_fp8 fp8_per_channel_per_token fp8_pc_pt int8_sq "
     "int8_dynamic_activation_int8_weight int8dynamicactivationint8weightconfig "
     "float8_dynamic_activation_float8_weight float8dynamicactivationfloat8weightconfig "
     "float8staticactivationfloat8weightconfig",
     {8, 8, false}},
    {"fp8_pb_wo fp8_pb_real fp8_block_scales mxfp8", {8, 8, true}},
    {"eetq int8_weight_only int8weightonlyconfig float8_weight_only float8weightonlyconfig",
     {8, WIDE, false}},
    {"nvfp4 nvfp4_awq", {4, 4, true}},
    {"mxfp4 int4_awq int4_weight_only int4weightonlyconfig", {4, WIDE, false}},
    {"int8_dynamic_activation_int4_weight int8dynamicactivationint4weightconfig "
     "float8dynamicactivationint4weightconfig",
     {4, 8, false}},
    {"no_quant compressed-tensors", {WIDE, WIDE, false}}};

/* Parts of a layer, as bits. */
enum {
    QUERIES = 1,
    KEYS = 2, /* and values */
    INPUTS = QUERIES | KEYS,
    OUTPUT = 4,
    ATTENTION = INPUTS | OUTPUT,
    SHARED = 8,
    EXPERTS = 16,
    DENSE = 32,
    LAYERS = 64 /* whole ones */
};

/* The parts that a name of modules is of, or a pattern of names: the first word that it contains
 * counts. Embeddings, norms, routers and heads are wide in any case; linear mixers are as attention
 * is. */
static const struct {
    unsigned parts;
    const char *words;
} modules[] = {{0,
                "norm indexer conv1d embed lm_head vision visual audio projector patch_merge mtp "
                "router e_score shared_expert_gate linear_attn"},
               {SHARED, "shared_expert"},
               {EXPERTS, "expert"},
               {INPUTS, "qkv_proj query_key_value"},
               {QUERIES, "q_proj q_a_proj q_b_proj"},
               {KEYS, "k_proj v_proj kv_a_proj kv_b_proj"},
               {OUTPUT, "o_proj out_proj"},
               {ATTENTION, "attn attention"},
               {DENSE, "mlp ffn feed_forward"}};

/* Where formats are said: the keys of some settings behind a prefix. */
typedef struct source {
    const calc_settings *settings;
    const char *file, *prefix; /* the first `length` bytes of it */
    size_t length;
} source;

typedef struct storage_reader {
    const calc_hf *hf;
    source source[2];
    const calc_setting *decides; /* the width */
    bool several;                /* formats of different layers */
    calc_errors *errors;
} storage_reader;

static const char *const objects[] = {"quantization_config.", "compression_config."};

/* The end of the name of such an object in a key, which is not that of an encoder; 0: none. */
static size_t object_length(const char *key)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        const char *at = strstr(key, objects[i]);
        bool named = at && (at == key || at[-1] == '.');
        if (named && strncmp(key, "vision_", 7) != 0 && strncmp(key, "audio_", 6) != 0) {
            return (size_t)(at - key) + strlen(objects[i]);
        }
    }
    return 0;
}

/* Where a search goes on, from {0}. */
typedef struct place {
    size_t source, item;
} place;

/* The next setting with a value whose key begins and ends so behind its prefix; NULL: no more. */
static const calc_setting *next(const storage_reader *r, place *at, const char *first,
                                const char *last)
{
    for (; at->source < 2; at->source++, at->item = 0) {
        const source *s = &r->source[at->source];
        while (s->settings && at->item < s->settings->count) {
            const calc_setting *setting = &s->settings->item[at->item++];
            const char *key = setting->key + s->length;
            size_t length = strlen(setting->key), most = strlen(first) + strlen(last);
            if (setting->value[0] && length >= s->length + most &&
                strncmp(setting->key, s->prefix, s->length) == 0 &&
                strncmp(key, first, strlen(first)) == 0 &&
                strcmp(setting->key + length - strlen(last), last) == 0) {
                return setting;
            }
        }
    }
    return NULL;
}

/* The first setting whose key is one of some words; NULL: there is none. */
static const calc_setting *find(const storage_reader *r, const char *keys)
{
    place at = {0};
    const calc_setting *setting;
    while ((setting = next(r, &at, "", ""))) {
        const char *key = setting->key + r->source[at.source].length;
        if (calc_hf_word_in(keys, key, strlen(key))) {
            return setting;
        }
    }
    return NULL;
}

static bool says(const calc_setting *setting, const char *value)
{
    return setting && strcasecmp(setting->value, value) == 0;
}

/* The first number in a text: of bits, in "fp8_e4m3"; 0: there is none. */
static int number_in(const char *text)
{
    long number = strtol(text + strcspn(text, "0123456789"), NULL, 10);
    return number < 1000 ? (int)number : 1000;
}

/* A text in small letters without backslashes, as far as there is room. */
static void small(const char *text, size_t length, char word[WORD_SIZE])
{
    size_t n = 0;
    for (size_t i = 0; i < length && n + 1 < WORD_SIZE; i++) {
        word[n] = (char)tolower((unsigned char)text[i]);
        n += text[i] != '\\';
    }
    word[n] = '\0';
}

static calc_status unknown(const storage_reader *r, const calc_setting *setting, const char *what)
{
    char key[CALC_UTF8_SHOW_SIZE], value[CALC_UTF8_SHOW_SIZE];
    bool beside = r->source[1].settings && setting >= r->source[1].settings->item &&
                  setting < r->source[1].settings->item + r->source[1].settings->count;
    return calc_errors_at(
        r->errors, CALC_ERR_UNSUPPORTED, r->source[beside].file, setting->line, setting->column,
        "without this key the model is read; --set weight_datatype and "
        "matrix_datatype then say the formats of a layout",
        "%s: calc does not know %s \"%s\"", calc_utf8_show(key, setting->key, strlen(setting->key)),
        what, calc_utf8_show(value, setting->value, setting->length));
}

static bool find_algorithm(const char *value, widths *out)
{
    char word[WORD_SIZE];
    small(value, strlen(value), word);
    char *a = word; /* behind the bits of weights in w4a16 */
    long weight = word[0] == 'w' ? strtol(word + 1, &a, 10) : 0;
    long input = *a == 'a' ? strtol(a + 1, NULL, 10) : 0;
    if (weight > 0 && weight <= 16 && input > 0 && input <= 16) {
        *out = (widths){.weight = (int)weight, .input = (int)input};
        return true;
    }
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (calc_hf_word_in(algorithms[i].names, word, strlen(word))) {
            *out = algorithms[i].is;
            return true;
        }
    }
    return false;
}

/* The fewest bits of settings that begin and end so; `otherwise` without any. */
static int fewest(const storage_reader *r, const char *first, const char *last, int otherwise)
{
    place at = {0};
    const calc_setting *setting;
    int least = 0;
    while ((setting = next(r, &at, first, last))) {
        int bits = number_in(setting->value);
        least = bits > 0 && (least == 0 || bits < least) ? bits : least;
    }
    return least > 0 ? least : otherwise;
}

/* Groups of layers: compressed-tensors, and what is written like it. */
static void read_groups(storage_reader *r, widths *out)
{
    static const char first[] = "config_groups.", last[] = ".weights.num_bits";
    place at = {0};
    const calc_setting *setting;
    *out = (widths){WIDE, WIDE, false};
    for (bool more = false; (setting = next(r, &at, first, last)); more = true) {
        r->decides = setting;
        char group[WORD_SIZE], key[WORD_SIZE + 32];
        widths one = {.weight = number_in(setting->value)};
        const char *tail = setting->key + r->source[at.source].length;
        snprintf(group, sizeof group, "%.*s", (int)(strlen(tail) - strlen(last)), tail);
        snprintf(key, sizeof key, "%s.input_activations.num_bits", group);
        one.input = fewest(r, key, "", WIDE);
        snprintf(key, sizeof key, "%s.weights.strategy", group);
        one.block = says(find(r, key), "block");
        r->several = r->several || (more && (one.weight != out->weight || one.input != out->input));
        *out = one;
    }
}

/* AMD's Quark: formats of all layers, and of some. */
static void read_quark(storage_reader *r, widths *out)
{
    place at = {0};
    const calc_setting *setting;
    out->weight = fewest(r, "global_quant_config.weight.", "dtype", WIDE);
    out->input = fewest(r, "global_quant_config.input_tensors.", "dtype", WIDE);
    while ((setting = next(r, &at, "layer_quant_config.", "dtype"))) {
        r->several = r->several ||
                     (strstr(setting->key, ".weight.") && number_in(setting->value) != out->weight);
    }
}

/* The algorithm of NVIDIA's Model Optimizer, or the method with what it needs. */
static calc_status read_widths(storage_reader *r, widths *out)
{
    static const char counted[] = "awq gptq auto-round intel/auto-round auto_round moe_wna16 hqq";
    const calc_setting *method = find(r, "quant_method"), *named = find(r, "quant_algo");
    const calc_setting *bits = find(r, "bits w_bit nbits quant_config.weight_quant_params.nbits");
    const calc_setting *input = find(r, "act_bits");
    place groups = {0};
    char word[WORD_SIZE];
    small(method ? method->value : "", method ? method->length : 0, word);
    named = named ? named
            : method && strcmp(word, "torchao") == 0
                ? find(r, "quant_type quant_type.default._type")
                : NULL;
    r->decides = named ? named : bits ? bits : method;
    if (says(named, "mixed_precision")) {
        r->several = true;
    } else if (named) {
        return find_algorithm(named->value, out) ? CALC_OK : unknown(r, named, "the algorithm");
    } else if (next(r, &groups, "config_groups.", "")) {
        read_groups(r, out);
    } else if (strcmp(word, "quark") == 0) {
        read_quark(r, out);
    } else if (find(r, "load_in_4bit load_in_8bit")) {
        *out = (widths){says(find(r, "load_in_4bit"), "true") ? 4 : 8, WIDE, false};
    } else if (bits && (!method || calc_hf_word_in(counted, word, strlen(word)))) {
        *out = (widths){number_in(bits->value), input ? number_in(input->value) : WIDE, false};
    } else if (method && !find_algorithm(method->value, out)) {
        return unknown(r, method, "the method");
    }
    out->block = out->block || find(r, "weight_block_size");
    return CALC_OK;
}

/* The format of a number of bits. @return whether there is one */
static bool format_of(int bits, calc_format *out)
{
    *out = bits == 4 ? CALC_FORMAT_FLOAT4 : bits == 8 ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    return bits == 4 || bits == 8 || bits >= WIDE;
}

/* Whether a text contains one of some words. */
static bool contains(const char *text, const char *words)
{
    char word[WORD_SIZE];
    int length = 0;
    while (sscanf(words, "%127s%n", word, &length) == 1 && !strstr(text, word)) {
        words += length;
        word[0] = '\0';
    }
    return word[0] != '\0';
}

/* The parts of one name or pattern. Whole layers behind the last are those of multi-token
 * prediction. */
static unsigned parts_of(const char *name, size_t length, const calc_app *app)
{
    char word[WORD_SIZE];
    small(name, length, word);
    size_t n = strcspn(word, "$");
    if ((n >= 4 && strncmp(word + n - 4, "gate", 4) == 0) && (n == 4 || word[n - 5] == '.')) {
        return 0; /* a router */
    }
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        if (contains(word, modules[i].words)) {
            return modules[i].parts;
        }
    }
    const char *layer = strstr(word, "layers.");
    size_t digits = layer ? strspn(layer + 7, "0123456789") : 0;
    bool whole = digits > 0 && strspn(layer + 7 + digits, ".*") == strlen(layer + 7 + digits);
    return whole && number_in(layer + 7) < app->num_blocks ? LAYERS : 0;
}

/* The parts of all names in a value. */
static unsigned parts_in(const char *value, const calc_app *app)
{
    unsigned parts = 0;
    while (*value) {
        size_t length = strcspn(value, " ");
        parts |= parts_of(value, length, app);
        value += length + (value[length] == ' ');
    }
    return parts;
}

/* The parts that are not narrowed: listed, or not aimed at. */
static unsigned wide_parts(const storage_reader *r, const calc_app *app)
{
    static const char lists[] = "ignore exclude_modules modules_to_not_convert exclude "
                                "ignored_layers llm_int8_skip_modules skip_modules";
    place at = {0}, group = {0};
    const calc_setting *setting;
    unsigned parts = says(find(r, "quant_method"), "mxfp4") ? ATTENTION : 0, aimed = 0;
    while ((setting = next(r, &at, "", ""))) {
        const char *key = setting->key + r->source[at.source].length;
        parts |= calc_hf_word_in(lists, key, strlen(key)) ? parts_in(setting->value, app) : 0;
    }
    while ((setting = next(r, &group, "config_groups.", ".targets"))) {
        aimed |= calc_hf_word_in(setting->value, "Linear", 6) ? ATTENTION
                                                              : parts_in(setting->value, app);
    }
    return parts | (aimed & EXPERTS && !(aimed & ATTENTION) ? (unsigned)ATTENTION : 0U);
}

/* Bits of cached keys and values; WIDE: as the layout has them. */
static calc_status read_cache(const storage_reader *r, calc_format *out)
{
    static const char wide[] = "none auto no_quant";
    const calc_setting *setting =
        find(r, "kv_cache_quant_algo kv_cache_quant_method kv_cache_dtype kv_cache_scheme "
                "kv_cache_scheme.num_bits");
    char word[WORD_SIZE];
    int bits = find(r, "export.kv_cache_group")
                   ? fewest(r, "layer_quant_config.", ".output_tensors.dtype", WIDE)
                   : WIDE;
    if (setting) {
        small(setting->value, setting->length, word);
        bits = calc_hf_word_in(wide, word, strlen(word)) ? WIDE : number_in(word);
    }
    return format_of(bits, out) || !setting ? CALC_OK : unknown(r, setting, "the format");
}

/* Formats that layers do not share cannot be said; wide parts that a layout cannot say are. */
static void tell(const storage_reader *r, const calc_app *app, unsigned wide)
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_APP), "checkpoint");
    const char *const *formats = calc_table_find(field->table, "weight_datatype")->choices;
    const struct {
        unsigned parts;
        const char *text;
    } left[] = {{SHARED, "shared experts"},
                {app->num_experts > 0 ? DENSE : 0, "dense feed-forward layers"},
                {LAYERS, "some layers"},
                {app->checkpoint.wide_attention == CALC_WIDE_ATTENTION_NONE ? ATTENTION : 0,
                 "parts of attention"}};
    const calc_checkpoint_formats *c = &app->checkpoint;
    char text[NOTE_SIZE] = "", more[NOTE_SIZE] = "";
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        if (wide & left[i].parts) {
            calc_append(more, sizeof more, "%s%s", *more ? ", " : "", left[i].text);
        }
    }
    if (r->several) {
        calc_hf_tell(r->hf, "the layers of the checkpoint have several number formats, which a "
                            "layout cannot say: --set weight_datatype and matrix_datatype choose");
    }
    if (c->weight_datatype != CALC_FORMAT_AUTO) {
        calc_append(text, sizeof text, "weights in %s", formats[c->weight_datatype]);
        if (c->matrix_datatype != CALC_FORMAT_AUTO) {
            calc_append(text, sizeof text, ", multiplied in %s%s", formats[c->matrix_datatype],
                        c->scaling == CALC_SCALING_BLOCK ? " with a scale per block" : "");
        }
        if (c->wide_attention != CALC_WIDE_ATTENTION_NONE) {
            calc_append(text, sizeof text, ", %s of attention wide",
                        c->wide_attention == CALC_WIDE_ATTENTION_ALL ? "all matrices" : "inputs");
        }
    }
    if (c->kv_datatype != CALC_FORMAT_AUTO) {
        calc_append(text, sizeof text, "%scache in %s", *text ? ", " : "", formats[c->kv_datatype]);
    }
    if (*text) {
        char line[NOTE_SIZE];
        snprintf(line, sizeof line, "served as its checkpoint is: %.240s", text);
        calc_hf_tell(r->hf, line);
    }
    if (*more && c->weight_datatype != CALC_FORMAT_AUTO) {
        snprintf(text, sizeof text, "wide in the checkpoint, and narrow here: %.200s", more);
        calc_hf_tell(r->hf, text);
    }
}

static calc_status set_formats(storage_reader *r, calc_app *app)
{
    widths w = {WIDE, WIDE, false};
    calc_checkpoint_formats *c = &app->checkpoint;
    const calc_setting *said = find(r, "quant_method quant_algo");
    place at = {0};
    said = said ? said : next(r, &at, "", "");
    calc_status status = said ? read_widths(r, &w) : CALC_OK;
    if (status == CALC_OK) {
        status = read_cache(r, &c->kv_datatype);
    }
    if (!said || status != CALC_OK) {
        return status;
    }
    unsigned wide = wide_parts(r, app);
    for (size_t i = 0; i < r->hf->settings->count; i++) {
        const calc_setting *setting = &r->hf->settings->item[i];
        const char *dot = strrchr(setting->key, '.');
        bool experts = strcmp(dot ? dot + 1 : setting->key, "expert_dtype") == 0;
        r->several =
            r->several || (experts && setting->value[0] && number_in(setting->value) != w.weight);
    }
    /* What is left is not most of the weights. */
    r->several = r->several || (wide & (app->num_experts > 0 ? EXPERTS : DENSE) && w.weight < WIDE);
    if (!r->several) {
        int multiplied = w.weight > w.input ? w.weight : w.input;
        if (!format_of(w.weight, &c->weight_datatype) ||
            !format_of(multiplied, &c->matrix_datatype)) {
            return unknown(r, r->decides ? r->decides : said, "the width");
        }
        bool block = w.block || c->matrix_datatype == CALC_FORMAT_FLOAT4;
        c->scaling = block && c->matrix_datatype != CALC_FORMAT_AUTO ? CALC_SCALING_BLOCK
                                                                     : CALC_SCALING_TENSOR;
        c->wide_attention = c->weight_datatype == CALC_FORMAT_AUTO ? CALC_WIDE_ATTENTION_NONE
                            : (wide & ATTENTION) == ATTENTION      ? CALC_WIDE_ATTENTION_ALL
                            : (wide & ATTENTION) == INPUTS         ? CALC_WIDE_ATTENTION_INPUTS
                                                                   : CALC_WIDE_ATTENTION_NONE;
    }
    tell(r, app, wide);
    return CALC_OK;
}

/* Reads the file beside a configuration, where there is one. */
static calc_status read_beside(const calc_hf *hf, char path[CALC_HF_PATH_SIZE],
                               calc_settings *settings, calc_errors *errors)
{
    const char *slash = hf->path ? strrchr(hf->path, '/') : NULL;
    calc_text text = {0};
    snprintf(path, CALC_HF_PATH_SIZE, "%.*shf_quant_config.json",
             slash ? (int)(slash - hf->path) + 1 : 0, slash ? hf->path : "");
    calc_status status =
        hf->path && access(path, F_OK) == 0 ? calc_text_read(&text, path, errors) : CALC_OK;
    if (status == CALC_OK && text.data) {
        status = calc_settings_from_json_whole(settings, text.data, text.length, path, errors);
    }
    if (status == CALC_ERR_NOMEM) {
        calc_errors_no_memory(errors);
    }
    calc_text_free(&text);
    return status;
}

/* Reads the formats, with what the lists of modules that stay wide say of attention. Formats that
 * differ between layers are left open, with a remark; so are, narrowed here, the wide parts that a
 * layout cannot say.
 * @param app  the model, whose `checkpoint` is set
 * @return CALC_OK; CALC_ERR_UNSUPPORTED with an error that names the key of a method, an algorithm
 * or a width that calc does not know; CALC_ERR_SYNTAX, CALC_ERR_IO or CALC_ERR_NOMEM of the file
 * beside it */
static calc_status calc_hf_checkpoint_read(const calc_hf *hf, calc_app *app, calc_errors *errors)
{
    static const char inner[] = "quantization.";
    char path[CALC_HF_PATH_SIZE];
    calc_settings beside = {0};
    storage_reader r = {.hf = hf, .errors = errors};
    for (size_t i = 0; i < hf->settings->count && !r.source[0].settings; i++) {
        size_t length = object_length(hf->settings->item[i].key);
        if (length > 0) {
            r.source[0] = (source){hf->settings, hf->name, hf->settings->item[i].key, length};
        }
    }
    calc_status status = read_beside(hf, path, &beside, errors);
    for (size_t i = 0; i < beside.count && status == CALC_OK; i++) {
        if (strncmp(beside.item[i].key, inner, strlen(inner)) == 0) {
            r.source[1] = (source){&beside, path, inner, strlen(inner)};
        }
    }
    status = status == CALC_OK ? set_formats(&r, app) : status;
    calc_settings_free(&beside);
    return status;
}

enum { NOTES = 20 /* most keys to name */ };

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
    bool audio; /* was skipped */
    calc_errors *errors;
} reader;

static calc_status wrong(const reader *r, const calc_setting *setting, calc_status status,
                         const char *hint, const char *text)
{
    char key[CALC_UTF8_SHOW_SIZE];
    return calc_errors_at(r->errors, status, r->said.hf->name, setting->line, setting->column, hint,
                          "%s: %s", calc_utf8_show(key, setting->key, strlen(setting->key)), text);
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
    calc_hf_passes passes = calc_hf_row_passes(&r->family.row, key, setting->value);
    if (nested || passes == CALC_HF_PASSES || object_length(key) > 0) {
        return CALC_OK;
    }
    if (passes == CALC_HF_PASSES_OTHERWISE) {
        char shown[CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
        snprintf(text, sizeof text, "calc has nothing for models with the value %.80s",
                 calc_utf8_show(shown, setting->value, setting->length));
        return wrong(r, setting, CALC_ERR_UNSUPPORTED, NULL, text);
    }
    if (calc_hf_key_structural(key)) {
        return calc_hf_value_neutral(setting->value)
                   ? CALC_OK
                   : wrong(r, setting, CALC_ERR_UNSUPPORTED, NULL,
                           "calc does not know this key, which seems to change the layers");
    }
    char shown[CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
    if (r->ignored++ < NOTES) {
        snprintf(text, sizeof text, "ignored: %s", calc_utf8_show(shown, key, strlen(key)));
        calc_hf_tell(r->said.hf, text);
    }
    return CALC_OK;
}

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
        {CALC_HF_HEAD_GATE, "true per-head", CALC_OUTPUT_GATE_HEAD},
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
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].member == member &&
            calc_hf_word_in(meanings[i].words, setting->value, setting->length)) {
            r->said.value[member] = meanings[i].value;
            return CALC_OK;
        }
    }
    char words[NOTE_SIZE] = "one of";
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        size_t used = strlen(words);
        if (meanings[i].member == member) {
            snprintf(words + used, sizeof words - used, " %s", meanings[i].words);
        }
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
    char key[CALC_UTF8_SHOW_SIZE], value[2][CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
    snprintf(text, sizeof text, "\"%.80s\", but %.80s is \"%.80s\": both are names of one thing",
             calc_utf8_show(value[0], setting->value, setting->length),
             calc_utf8_show(key, other->key, strlen(other->key)),
             calc_utf8_show(value[1], other->value, other->length));
    return wrong(r, setting, CALC_ERR_RULE, NULL, text);
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
            if ((above > 0) != (pass == 1) || !setting->value[0]) {
                continue; /* null means no value */
            }
            const char *key = calc_hf_family_key(&r->family, setting->key + above);
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

/* The family of the file. A type that is not known is no error: its keys say what it is. */
static calc_status find_family(reader *r, const calc_setting *type)
{
    char shown[CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
    calc_status status =
        calc_hf_family_read(&r->rows, type ? type->value : NULL, &r->family, r->errors);
    r->said.family = &r->family;
    if (!type || !calc_hf_row_known(&r->rows, type->value)) {
        snprintf(text, sizeof text,
                 "model_type %s%.80s: read by its keys; where they say nothing, blocks are as "
                 "Llama's",
                 type ? "is not known, " : "is missing",
                 type ? calc_utf8_show(shown, type->value, type->length) : "");
        calc_hf_tell(r->said.hf, text);
    } else if (r->family.refused) {
        snprintf(text, sizeof text, "calc has nothing for %s", r->family.refused);
        return wrong(r, type, CALC_ERR_UNSUPPORTED, NULL, text);
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
    calc_status status = calc_settings_from_json(
        &r.rows, calc_hf_families.text, calc_hf_families.length, "hf_families.json", errors);
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
            char shown[CALC_UTF8_SHOW_SIZE], text[NOTE_SIZE];
            snprintf(text, sizeof text, "%.80s has no head that scores words",
                     calc_utf8_show(shown, class->value, class->length));
            calc_hf_tell(hf, text);
            app->lm_head = CALC_CHOICE_FALSE;
        }
        status = status == CALC_OK ? calc_hf_encoder_read(&r.said, app, errors) : status;
        status = status == CALC_OK ? calc_hf_checkpoint_read(hf, app, errors) : status;
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
    status = status != CALC_OK || calc_hf_is(&settings) ? status : CALC_ERR_UNSUPPORTED;
    calc_settings_free(&settings);
    return status;
}
