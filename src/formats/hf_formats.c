#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
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
    bool block;          /* a scale per block of what is multiplied */
    double scale, group; /* bits of scales and zero points for so many weights; 0: not said */
} widths;

/* clang-format off */
/* What names stand for, in small letters; names that begin as w4a8_... say it themselves. Of names of
 * a model, the words with the most strength count: those with bits; methods, with the bits that most
 * of their checkpoints have (collections of Qwen, RedHatAI, nvidia, amd and unsloth on Hugging Face);
 * words that say only that it is narrow. */
static const struct {
    const char *names;
    widths is;
    int strength;
} algorithms[] = {
    {"fp8 fbgemm_fp8 fp8_per_channel_per_token fp8_pc_pt int8_sq int8_dynamic_activation_int8_weight int8dynamicactivationint8weightconfig "
     "float8_dynamic_activation_float8_weight float8dynamicactivationfloat8weightconfig float8staticactivationfloat8weightconfig", {8, 8, false, 0, 0}, 3},
    {"fp8_pb_wo fp8_pb_real fp8_block_scales", {8, 8, true, 0, 0}, 3},
    {"mxfp8", {8, 8, true, 8, 32}, 3},
    {"eetq int8_weight_only int8weightonlyconfig float8_weight_only float8weightonlyconfig int8 8bit", {8, WIDE, false, 0, 0}, 3},
    {"nvfp4 nvfp4_awq fp4", {4, 4, true, 8, 16}, 3},
    {"nvfp4a16", {4, WIDE, false, 8, 16}, 3},
    {"mxfp4", {4, WIDE, false, 8, 32}, 3},
    {"int4_weight_only int4weightonlyconfig", {4, WIDE, false, 32, 128}, 3},
    {"int4_awq int4 4bit", {4, WIDE, false, 0, 0}, 3},
    {"w4afp8 int8_dynamic_activation_int4_weight int8dynamicactivationint4weightconfig float8dynamicactivationint4weightconfig", {4, 8, false, 0, 0}, 3},
    {"no_quant compressed-tensors bf16 fp16", {WIDE, WIDE, false, 0, 0}, 3},
    {"awq gptq autoround", {4, WIDE, false, 16 + 4, 128}, 2},
    {"bnb gguf quantized mlx exl2", {WIDE, WIDE, false, 0, 0}, 1}};
/* clang-format on */

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
/* clang-format off */
static const struct {
    unsigned parts;
    const char *words;
} modules[] = {
    {0, "norm|indexer|conv1d|embed|lm_head|vision|visual|audio|projector|patch_merge|mtp|router|e_score|shared_expert_gate|linear_attn"},
    {SHARED, "shared_expert"}, {EXPERTS, "expert"}, {INPUTS, "qkv_proj|query_key_value"}, {QUERIES, "q_proj|q_a_proj|q_b_proj"},
    {KEYS, "k_proj|v_proj|kv_a_proj|kv_b_proj"}, {OUTPUT, "o_proj|out_proj"}, {ATTENTION, "attn|attention"}, {DENSE, "mlp|ffn|feed_forward"}};
/* clang-format on */

/* Where formats are said: the keys of some settings behind a prefix. */
typedef struct source {
    const calc_settings *settings;
    const char *file, *prefix; /* the first `length` bytes of it */
    size_t length;
} source;

typedef struct storage_reader {
    const calc_hf *hf;
    source source[2];
    const calc_app *app;
    const calc_setting *decides; /* the width */
    widths taken;                /* of formats that differ, that of most weights */
    int attention;               /* bits of its weights among those; 0: not said */
    bool several, found;         /* formats differ; that of most weights is among them */
    bool unsaid;                 /* they differ, and which layers have which is not said */
    calc_errors *errors;
} storage_reader;

static const char *const objects[] = {"quantization_config.", "compression_config.",
                                      "quantization." /* of MLX */};

size_t calc_hf_formats_key(const char *key)
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
        if (calc_is_word(keys, key)) {
            return setting;
        }
    }
    return NULL;
}

static const calc_setting *inside(const storage_reader *r, const char *prefix, const char *name)
{
    return find(r, CALC_TEXT(WORD_SIZE + 64, "%.*s%s", WORD_SIZE, prefix, name));
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
    bool beside = r->source[1].settings && setting >= r->source[1].settings->item &&
                  setting < r->source[1].settings->item + r->source[1].settings->count;
    return calc_errors_at(
        r->errors, CALC_ERR_UNSUPPORTED, r->source[beside].file, setting->line, setting->column,
        "without this key the model is read; --set weight_datatype and "
        "matrix_datatype then say the formats of a layout",
        "%s: calc does not know %s \"%s\"", calc_utf8_shown(setting->key, strlen(setting->key)),
        what, calc_utf8_shown(setting->value, setting->length));
}

/* @return its strength; 0: it is not known */
static int find_algorithm(const char *value, size_t length, widths *out)
{
    char word[WORD_SIZE];
    size_t prefix = strncmp(value, "quantized.", 10) == 0 ? 10 : 0;
    small(value + prefix, length - prefix, word);
    char *a = word; /* behind the bits of weights in w4a16 */
    long weight = word[0] == 'w' ? strtol(word + 1, &a, 10) : 0;
    long input = *a == 'a' ? strtol(a + 1, NULL, 10) : 0;
    if (weight > 0 && weight <= 16 && input > 0 && input <= 16) {
        *out = (widths){.weight = (int)weight, .input = (int)input};
        return 3;
    }
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (calc_is_word(algorithms[i].names, word)) {
            *out = algorithms[i].is;
            return algorithms[i].strength;
        }
    }
    return 0;
}

/* The fewest bits of settings that begin and end so; WIDE without any. */
static int fewest(const storage_reader *r, const char *first, const char *last)
{
    place at = {0};
    const calc_setting *setting;
    int least = 0;
    while ((setting = next(r, &at, first, last))) {
        int bits = number_in(setting->value);
        least = bits > 0 && (least == 0 || bits < least) ? bits : least;
    }
    return least > 0 ? least : WIDE;
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
        if (calc_text_has(modules[i].words, word, strlen(word))) {
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
    for (size_t length; (length = calc_next_word(&value, " ")) > 0;) {
        parts |= parts_of(value - length, length, app);
    }
    return parts;
}

/* The parts that hold most of the weights. */
static unsigned most_of(const calc_app *app)
{
    return app->num_experts > 0 ? EXPERTS : DENSE;
}

/* Takes the formats of some layers, of no named ones if `parts` is 0, unless those with most
 * weights are known. */
static void take(storage_reader *r, const calc_setting *decides, unsigned parts, const widths *one)
{
    bool most = parts & most_of(r->app), first = r->taken.weight == 0;
    r->several =
        r->several || (!first && (one->weight != r->taken.weight || one->input != r->taken.input));
    if (first || (!r->found && (most || parts == 0))) {
        r->taken = *one;
        r->decides = decides;
    }
    r->found = r->found || most;
    bool attention = parts & ATTENTION || (parts == 0 && r->attention == 0);
    r->attention = attention ? one->weight : r->attention;
}

/* What weights share with their neighbours: floats a scale of 8 bits, integers one of 16, and of
 * those that are not symmetric a zero point: as wide as they are, or as the scale is. GPTQ stores
 * them in any case. Sources: compressed-tensors, QuantizationArgs; AutoAWQ and GPTQModel, qzeros;
 * MLX, quantized.py; HQQ, core/quantize.py. */
static void read_group(const storage_reader *r, const char *prefix, widths *w)
{
    static const char *const types[] = {"type", "dtype", "data_type", "mode"};
    static const char sizes[] = "group_size q_group_size quant_type.default._data.group_size "
                                "quant_config.weight_quant_params.group_size";
    static const char packed[] = "gptq auto-round intel/auto-round auto_round moe_wna16 inc";
    const calc_setting *size = *prefix ? inside(r, prefix, "group_size") : find(r, sizes);
    const calc_setting *method = find(r, "quant_method");
    const char *by = method ? method->value : find(r, "quant_algo") ? "" : "mlx";
    bool floats = false, pairs = calc_is_word("hqq torchao sinq mlx", by);
    if (!size || w->weight >= WIDE || (w->weight == 8 && *size->value == '-')) {
        return;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const calc_setting *type = inside(r, prefix, types[i]);
        floats = floats || (type && calc_text_has("fp|float", type->value, type->length));
    }
    bool zeros = calc_is_word(packed, by) || says(find(r, "zero_point has_zero_point"), "true") ||
                 says(inside(r, prefix, "symmetric"), "false");
    w->scale = w->scale > 0 ? w->scale : floats ? 8 : pairs ? 32 : 16 + (zeros ? w->weight : 0);
    w->group = *size->value == '-' ? (double)r->app->hidden : number_in(size->value);
}

/* Groups of layers: compressed-tensors, and what is written like it. */
static void read_groups(storage_reader *r, widths *out)
{
    static const char first[] = "config_groups.", last[] = ".weights.num_bits";
    place at = {0};
    const calc_setting *setting;
    while ((setting = next(r, &at, first, last))) {
        char group[WORD_SIZE], key[WORD_SIZE + 32];
        widths one = {.weight = number_in(setting->value)};
        const char *tail = setting->key + r->source[at.source].length;
        snprintf(group, sizeof group, "%.*s.", (int)(strlen(tail) - strlen(last)), tail);
        snprintf(key, sizeof key, "%sinput_activations.num_bits", group);
        one.input = fewest(r, key, "");
        const calc_setting *strategy = inside(r, group, "weights.strategy");
        one.block = says(strategy, "block") || (one.weight == one.input && says(strategy, "group"));
        snprintf(key, sizeof key, "%sweights.", group);
        read_group(r, key, &one);
        const calc_setting *targets = inside(r, group, "targets");
        take(r, setting, targets ? parts_in(targets->value, r->app) : 0, &one);
        r->unsaid = r->unsaid || (!targets && r->several);
    }
    *out = r->unsaid ? *out : r->taken;
}

/* Layers with algorithms of their own: NVIDIA's Model Optimizer. @return whether there are any */
static bool read_layers(storage_reader *r, widths *out)
{
    static const char first[] = "quantized_layers.", last[] = ".quant_algo";
    place at = {0};
    const calc_setting *setting;
    widths one;
    while ((setting = next(r, &at, first, last))) {
        const char *name = setting->key + r->source[at.source].length + strlen(first);
        if (find_algorithm(setting->value, setting->length, &one) == 3) {
            take(r, setting, parts_of(name, strlen(name) - strlen(last), r->app), &one);
        }
    }
    *out = r->found ? r->taken : *out;
    return r->found;
}

/* AMD's Quark: formats of all layers, and of some. */
static void read_quark(storage_reader *r, widths *out)
{
    place at = {0};
    const calc_setting *setting;
    out->weight = fewest(r, "global_quant_config.weight.", "dtype");
    out->input = fewest(r, "global_quant_config.input_tensors.", "dtype");
    read_group(r, "global_quant_config.weight.", out);
    while ((setting = next(r, &at, "layer_quant_config.", "dtype"))) {
        r->several = r->several ||
                     (strstr(setting->key, ".weight.") && number_in(setting->value) != out->weight);
    }
}

/* The algorithm of NVIDIA's Model Optimizer, or the method with what it needs. */
static calc_status read_widths(storage_reader *r, widths *out)
{
    static const char counted[] =
        "awq gptq auto-round intel/auto-round auto_round moe_wna16 hqq inc sinq higgs";
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
        r->unsaid = !read_layers(r, out);
    } else if (named) {
        if (find_algorithm(named->value, named->length, out) < 3) {
            return unknown(r, named, "the algorithm");
        }
    } else if (next(r, &groups, "config_groups.", "")) {
        read_groups(r, out);
    } else if (strcmp(word, "quark") == 0) {
        read_quark(r, out);
    } else if (find(r, "load_in_4bit load_in_8bit")) {
        bool four = says(find(r, "load_in_4bit"), "true");
        bool twice = four && says(find(r, "bnb_4bit_use_double_quant"), "true");
        *out = (widths){four ? 4 : 8, WIDE, false, twice ? 8 + 32.0 / 256 : 0, 64};
    } else if (bits && (!method || calc_is_word(counted, word))) {
        *out = (widths){.weight = number_in(bits->value),
                        .input = input ? number_in(input->value) : WIDE};
    } else if (method && find_algorithm(method->value, method->length, out) < 3) {
        return unknown(r, method, "the method");
    }
    read_group(r, "", out);
    out->block = out->block || find(r, "weight_block_size");
    return CALC_OK;
}

/* The format of a number of bits. @return whether there is one */
static bool format_of(int bits, calc_format *out)
{
    *out = bits == 4 ? CALC_FORMAT_FLOAT4 : bits == 8 ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    return bits == 4 || bits == 8 || bits >= WIDE;
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
        parts |= calc_is_word(lists, key) ? parts_in(setting->value, app) : 0;
    }
    while ((setting = next(r, &group, "config_groups.", ".targets"))) {
        aimed |=
            calc_word_in(setting->value, "Linear", 6) ? ATTENTION : parts_in(setting->value, app);
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
                   ? fewest(r, "layer_quant_config.", ".output_tensors.dtype")
                   : WIDE;
    if (setting) {
        small(setting->value, setting->length, word);
        bits = calc_is_word(wide, word) ? WIDE : number_in(word);
    }
    return format_of(bits, out) || !setting ? CALC_OK : unknown(r, setting, "the format");
}

/* Fills the formats of weights and of what is multiplied. @return whether there are such */
static bool take_widths(const widths *w, calc_checkpoint_formats *c)
{
    int multiplied = w->weight > w->input ? w->weight : w->input;
    bool good =
        format_of(w->weight, &c->weight_datatype) && format_of(multiplied, &c->matrix_datatype);
    double usual = w->weight == 4 ? 0.5 : 0, bits = w->group > 0 ? w->scale / w->group : 0;
    c->weight_scale_bits = c->weight_datatype != CALC_FORMAT_AUTO && bits != usual ? bits : 0;
    bool block = w->block || c->matrix_datatype == CALC_FORMAT_FLOAT4;
    c->scaling =
        block && c->matrix_datatype != CALC_FORMAT_AUTO ? CALC_SCALING_BLOCK : CALC_SCALING_TENSOR;
    return good;
}

/* "weights in float8, multiplied in float8, cache in float8"; "" if nothing is said. */
static void put_formats(const calc_checkpoint_formats *c, char text[NOTE_SIZE])
{
    const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_APP), "checkpoint");
    const char *const *formats = calc_table_find(field->table, "weight_datatype")->choices;
    text[0] = '\0';
    if (c->weight_datatype != CALC_FORMAT_AUTO) {
        calc_append(text, NOTE_SIZE, "weights in %s", formats[c->weight_datatype]);
        if (c->weight_scale_bits > 0) {
            calc_append(text, NOTE_SIZE, ", %.3g bits of scales each", c->weight_scale_bits);
        }
        if (c->matrix_datatype != CALC_FORMAT_AUTO) {
            calc_append(text, NOTE_SIZE, ", multiplied in %s%s", formats[c->matrix_datatype],
                        c->scaling == CALC_SCALING_BLOCK ? " with a scale per block" : "");
        }
        if (c->wide_attention != CALC_WIDE_ATTENTION_NONE) {
            calc_append(text, NOTE_SIZE, ", %s of attention wide",
                        c->wide_attention == CALC_WIDE_ATTENTION_ALL ? "all matrices" : "inputs");
        }
    }
    if (c->kv_datatype != CALC_FORMAT_AUTO) {
        calc_append(text, NOTE_SIZE, "%scache in %s", *text ? ", " : "", formats[c->kv_datatype]);
    }
}

bool calc_hf_is_format(const char *word, size_t length)
{
    widths ignored;
    return find_algorithm(word, length, &ignored) > 0;
}

calc_hf_named calc_hf_name_formats(const char *name, calc_checkpoint_formats *out,
                                   char text[CALC_HF_FORMATS_TEXT])
{
    int most = 0;
    widths w = {.weight = WIDE, .input = WIDE}, one;
    calc_format cache = out->kv_datatype;
    const char *slash = strrchr(name, '/');
    for (const char *word = slash ? slash + 1 : name; *word; word += *word != '\0') {
        size_t length = strcspn(word, "-_");
        int strength = find_algorithm(word, length, &one);
        w = strength > 0 && strength >= most ? one : w;
        most = strength > most ? strength : most;
        bool kv = most > 0 && length == 2 && strncasecmp(word, "kv", 2) == 0;
        cache = kv ? CALC_FORMAT_FLOAT8 : cache;
        word += length;
    }
    char formats[NOTE_SIZE] = "";
    if (most >= CALC_HF_NAMED_FORMATS) {
        *out = (calc_checkpoint_formats){.kv_datatype = cache};
        (void)take_widths(&w, out);
        put_formats(out, formats);
    }
    snprintf(text, CALC_HF_FORMATS_TEXT,
             most == 0 ? "with the number formats of its file"
             : most == 1
                 ? "in 16 bits, as its name does not say what else: --set weight_datatype does"
                 : "served with %s, as its name says; calc import of its config.json says all",
             *formats ? formats : "weights in 16 bits");
    return most < CALC_HF_NAMED_FORMATS ? (calc_hf_named)most : CALC_HF_NAMED_FORMATS;
}

void calc_hf_name_take(const char *name, const char *path, calc_app *app)
{
    char text[CALC_HF_FORMATS_TEXT];
    const char *slash = strrchr(name, '/');
    if (!strstr(path, slash ? slash + 1 : name)) {
        (void)calc_hf_name_formats(name, &app->checkpoint, text);
    }
}

/* Formats that layers do not share cannot be said; wide parts that a layout cannot say are. */
static void tell(const storage_reader *r, const calc_app *app, unsigned wide)
{
    const struct {
        unsigned parts;
        const char *text;
    } left[] = {{SHARED, "shared experts"},
                {app->num_experts > 0 ? DENSE : 0, "dense feed-forward layers"},
                {LAYERS, "some layers"},
                {app->checkpoint.wide_attention == CALC_WIDE_ATTENTION_NONE ? ATTENTION : 0,
                 "parts of attention"}};
    const calc_checkpoint_formats *c = &app->checkpoint;
    char text[NOTE_SIZE], more[NOTE_SIZE] = "";
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        if (wide & left[i].parts) {
            calc_append(more, sizeof more, "%s%s", *more ? ", " : "", left[i].text);
        }
    }
    if (r->several) {
        const char *taken = r->unsaid              ? "none"
                            : app->num_experts > 0 ? "the experts'"
                                                   : "the feed-forward layers'";
        calc_hf_tell(r->hf, CALC_TEXT(NOTE_SIZE,
                                      "the layers of the checkpoint have several number formats: "
                                      "%s is taken; --set weight_datatype and matrix_datatype "
                                      "choose",
                                      taken));
    }
    put_formats(c, text);
    if (*text) {
        calc_hf_tell(r->hf, CALC_TEXT(NOTE_SIZE, "served as its checkpoint is: %.240s", text));
    }
    if (*more && c->weight_datatype != CALC_FORMAT_AUTO) {
        calc_hf_tell(r->hf,
                     CALC_TEXT(NOTE_SIZE, "wide in the checkpoint, and narrow here: %.200s", more));
    }
}

static calc_status set_formats(storage_reader *r, calc_app *app)
{
    widths w = {.weight = WIDE, .input = WIDE};
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
        int bits = experts ? number_in(setting->value) : 0;
        if (bits > 0 && bits != w.weight) {
            r->several = true;
            r->attention = w.weight;
            w.weight = bits;
        }
    }
    if (wide & most_of(app) && !r->found && w.weight < WIDE) {
        r->several = true;
        w = (widths){.weight = WIDE, .input = WIDE};
    }
    if (!take_widths(&w, c)) {
        return unknown(r, r->decides ? r->decides : said, "the width");
    }
    wide |= r->attention > 0 && r->attention != w.weight ? (unsigned)ATTENTION : 0;
    c->wide_attention = c->weight_datatype == CALC_FORMAT_AUTO ? CALC_WIDE_ATTENTION_NONE
                        : (wide & ATTENTION) == ATTENTION      ? CALC_WIDE_ATTENTION_ALL
                        : (wide & ATTENTION) == INPUTS         ? CALC_WIDE_ATTENTION_INPUTS
                                                               : CALC_WIDE_ATTENTION_NONE;
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
        status = calc_settings_from_text(settings, CALC_SYNTAX_JSON_WHOLE, text.data, text.length,
                                         path, errors);
    }
    if (status == CALC_ERR_NOMEM) {
        calc_errors_no_memory(errors);
    }
    calc_text_free(&text);
    return status;
}

calc_status calc_hf_formats_read(const calc_hf *hf, calc_app *app, calc_errors *errors)
{
    static const char inner[] = "quantization.";
    char path[CALC_HF_PATH_SIZE];
    calc_settings beside = {0};
    storage_reader r = {.hf = hf, .app = app, .errors = errors};
    for (size_t i = 0; i < hf->settings->count && !r.source[0].settings; i++) {
        size_t length = calc_hf_formats_key(hf->settings->item[i].key);
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
