/* Sources: transformers 4.57, src/transformers/models/<kind>/{configuration,modeling}_<kind>.py;
 * modeling_intern_vit.py and modeling_internvl_chat.py beside the weights of InternVL;
 * modeling_kimi_k25.py beside those of Kimi K2.5. */
#include "formats/hf_encoder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "formats/hf_families.h"
#include "formats/hf_model.h"
#include "io/utf8.h"

/* What a configuration says of a tower. */
typedef enum member {
    HIDDEN,
    BLOCKS,
    FEEDFORWARD,
    HEADS,
    HEAD_SIZE,
    HEADS_WIDTH, /* of all heads */
    PATCH,       /* side */
    CHANNELS,
    FRAMES,
    WINDOW, /* side, in numbers of an image */
    FULL,
    IMAGE, /* side */
    POSITIONS,
    POSITIONS_SIDE,
    MERGE,     /* side */
    SHUFFLE,   /* 1 / side of a merge */
    TOKENS,    /* of an image, after pooling */
    POOL,      /* side */
    PROJECTOR, /* width of its hidden layers */
    PROJECTOR_BIAS,
    DEEPSTACK,
    MEMBERS
} member;

/* Keys of a vision_config, and of the model above it; later ones of a file count. */
static const struct {
    const char *keys, *above;
} members[MEMBERS] = {
    [HIDDEN] = {"hidden_size embed_dim vt_hidden_size", ""},
    [BLOCKS] = {"num_hidden_layers depth vt_num_hidden_layers", ""},
    [FEEDFORWARD] = {"intermediate_size vt_intermediate_size", ""},
    [HEADS] = {"num_attention_heads num_heads vt_num_attention_heads", ""},
    [HEAD_SIZE] = {"head_dim", ""},
    [HEADS_WIDTH] = {"qkv_hidden_size", ""},
    [PATCH] = {"patch_size spatial_patch_size", ""},
    [CHANNELS] = {"num_channels in_channels in_chans", ""},
    [FRAMES] = {"temporal_patch_size", ""},
    [WINDOW] = {"window_size", ""},
    [FULL] = {"fullatt_block_indexes", ""},
    [IMAGE] = {"image_size", ""},
    [POSITIONS] = {"num_position_embeddings position_embedding_size", ""},
    [POSITIONS_SIDE] = {"init_pos_emb_height", ""},
    [MERGE] = {"spatial_merge_size merge_kernel_size", "spatial_merge_size"},
    [SHUFFLE] = {"pixel_shuffle_ratio", "downsample_ratio"},
    [TOKENS] = {"", "mm_tokens_per_image"},
    [POOL] = {"pooling_kernel_size", ""},
    [PROJECTOR] = {"projector_output_dim", ""},
    [PROJECTOR_BIAS] = {"", "multimodal_projector_bias"},
    [DEEPSTACK] = {"deepstack_visual_indexes", ""},
};

/* Keys of towers that change neither shape nor cost. */
static const char harmless[] =
    "architectures model_type dtype torch_dtype transformers_version hidden_act hidden_activation "
    "out_hidden_size text_hidden_size mm_hidden_size vision_output_dim projector_input_dim "
    "num_key_value_heads global_head_dim max_position_embeddings mlp_ratio init_pos_emb_width "
    "init_pos_emb_time num_register_tokens vision_feature_layer attention_bias qkv_bias "
    "merge_type mm_projector_type pos_emb_type video_attn_type hidden_size_per_layer_input "
    "layer_norm_eps "
    "projection_dim vocab_size";

/* A kind of tower: how it is built, and what its configurations may leave out. */
typedef struct tower {
    const char *types; /* "model_type" of the vision_config, or of the model */
    calc_encoder is;
    /* Vectors of weights beside: as wide as the tower, for each block, and as merged patches. */
    int vectors, block_vectors, merged_vectors;
    int tables;       /* of positions */
    int image, patch; /* sides, where the file leaves them out; image 0: they differ in size */
    int shuffle;      /* side of a merge, where the file leaves it out */
    bool mark;        /* one vector more than an image has patches (class token) */
    bool merged;      /* hidden layers of the projector are as wide as merged patches */
    bool deep;        /* projectors behind blocks have a norm of merged patches */
} tower;

#define ROTARY .position_type = CALC_POSITION_TYPE_ROPE
#define RMS .norm_type = CALC_NORM_TYPE_RMS
#define GATED .ffn_type = CALC_FFN_TYPE_SWIGLU
#define PLAIN .bias = CALC_CHOICE_FALSE
#define PIXTRAL                                                                                    \
    .hidden = 1024, .num_blocks = 24, .feedforward = 4096, .attn_heads = 16, ROTARY, RMS, GATED,   \
    PLAIN
#define PROJECTOR_OF(layers) .projector_layers = (layers)

static const tower towers[] = {
    {.types = "qwen2_vl",
     .is = {ROTARY, PROJECTOR_OF(1), .projector_bias = true},
     .vectors = 2,
     .merged = true},
    {.types = "qwen2_5_vl",
     .is = {ROTARY, RMS, GATED, PROJECTOR_OF(1), .projector_bias = true},
     .vectors = 1,
     .patch = 14,
     .merged = true},
    {.types = "qwen3_vl qwen3_vl_moe qwen3_5 qwen3_5_moe qwen3_5_moe_vision qwen3_5_vision "
              "qwen3_omni_moe_vision_encoder",
     .is = {ROTARY, PROJECTOR_OF(1), .projector_bias = true},
     .vectors = 3, /* a norm, and the bias of the patches */
     .merged = true,
     .deep = true},
    {.types = "siglip_vision_model",
     .is = {.num_blocks = 0},
     .vectors = 4, /* a norm with its bias, one without, and the bias of the patches */
     .tables = 1,
     .image = 224,
     .patch = 16},
    {.types = "gemma4_vision",
     .is = {ROTARY, RMS, .norm_place = CALC_NORM_PLACE_SANDWICH, GATED, PLAIN, .qk_norm = true},
     .tables = 2},
    {.types = "llama4_vision_model",
     .is = {ROTARY, PROJECTOR_OF(2)},
     .vectors = 5, /* a class token and two norms */
     .tables = 1,
     .shuffle = 2,
     .mark = true},
    {.types = "mistral3",
     .is = {PIXTRAL, .merge_matrix = true, PROJECTOR_OF(1)},
     .vectors = 2,
     .patch = 14},
    {.types = "pixtral",
     .is = {PIXTRAL, PROJECTOR_OF(1), .projector_bias = true},
     .vectors = 1,
     .patch = 16},
    {.types = "internvl_chat intern_vit_6b",
     .is = {PROJECTOR_OF(1), .projector_bias = true},
     .vectors = 2, /* a class token and the bias of the patches */
     .block_vectors = 2,
     .merged_vectors = 2,
     .tables = 1,
     .shuffle = 2,
     .mark = true},
    {.types = "kimi_k25",
     .is = {ROTARY, PROJECTOR_OF(1), .projector_bias = true},
     .vectors = 5, /* two norms and the bias of the patches */
     .merged = true},
    {.types = "clip_vision_model",
     .is = {PROJECTOR_OF(1), .projector_bias = true},
     .vectors = 5, /* a class token and two norms */
     .tables = 1,
     .image = 336,
     .patch = 14,
     .mark = true},
};

static const char *const prefixes[] = {"vision_config.", "thinker_config.vision_config."};

size_t calc_hf_encoder_prefix(const char *key)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0) {
            return strlen(prefixes[i]);
        }
    }
    return 0;
}

/* The kind of tower of a file; NULL: none that is known. @param any  whether it has one */
static const tower *find(const calc_settings *settings, bool *any)
{
    const tower *by_model = NULL, *own = NULL;
    *any = false;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *s = &settings->item[i];
        size_t prefix = calc_hf_encoder_prefix(s->key);
        *any = *any || prefix > 0;
        for (size_t k = 0; k < sizeof towers / sizeof *towers; k++) {
            if (strcmp(s->key + prefix, "model_type") == 0 &&
                calc_hf_word_in(towers[k].types, s->value, s->length)) {
                *(prefix > 0 ? &own : &by_model) = &towers[k];
            }
        }
    }
    return by_model ? by_model : own;
}

/* Reads a number, or the first of several that are alike; words of switches are 0 and 1. */
static calc_status read_value(const calc_hf *hf, member m, const calc_setting *s, double *value,
                              calc_errors *errors)
{
    char *end, shown[CALC_UTF8_SHOW_SIZE], key[CALC_UTF8_SHOW_SIZE];
    bool words = m == PROJECTOR_BIAS;
    double number = strtod(s->value, &end);
    if (m == DEEPSTACK || m == FULL) { /* how many there are */
        *value = s->length > 0;
        for (const char *at = s->value; *at; at++) {
            *value += *at == ' ';
        }
        return CALC_OK;
    }
    if (words && (strcasecmp(s->value, "true") == 0 || strcasecmp(s->value, "false") == 0)) {
        *value = strcasecmp(s->value, "true") == 0;
        return CALC_OK;
    }
    bool whole = m == SHUFFLE ? number > 0 && number <= 1 : number >= 1 && number == floor(number);
    if (words || end == s->value || (*end && *end != ' ') || !whole || number > 1e9) {
        return calc_errors_at(errors, CALC_ERR_RANGE, hf->name, s->line, s->column, NULL,
                              "%s: expected %s, found \"%s\"",
                              calc_utf8_show(key, s->key, strlen(s->key)),
                              words          ? "true or false"
                              : m == SHUFFLE ? "more than 0, at most 1"
                                             : "a whole number of at least 1",
                              calc_utf8_show(shown, s->value, s->length));
    }
    *value = number;
    return CALC_OK;
}

static calc_status read_values(const calc_hf *hf, double value[MEMBERS], calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (size_t i = 0; i < hf->settings->count; i++) {
        const calc_setting *s = &hf->settings->item[i];
        size_t prefix = calc_hf_encoder_prefix(s->key);
        const char *key = s->key + prefix;
        char text[320], shown[CALC_UTF8_SHOW_SIZE];
        int m = 0;
        while (m < MEMBERS && !calc_hf_word_in(prefix > 0 ? members[m].keys : members[m].above, key,
                                               strlen(key))) {
            m++;
        }
        if (m < MEMBERS && s->value[0]) {
            calc_status one = read_value(hf, (member)m, s, &value[m], errors);
            status = status == CALC_OK ? one : status;
        } else if (m == MEMBERS && prefix > 0 && s->value[0] && calc_hf_key_structural(key) &&
                   !calc_hf_key_harmless(key) && !calc_hf_word_in(harmless, key, strlen(key)) &&
                   !calc_hf_value_neutral(s->value)) {
            snprintf(text, sizeof text, "%s is not modelled",
                     calc_utf8_show(shown, s->key, strlen(s->key)));
            calc_hf_tell(hf, text);
        }
    }
    return status;
}

/* A value, or that of the row. */
static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

static void build(const tower *t, const double *v, calc_encoder *e)
{
    double side = or_else(v[PATCH], t->patch);
    double image = or_else(v[IMAGE], t->image);
    double across = side > 0 && (t->image > 0 || t->mark) ? floor(image / side) : 0;
    double merge = or_else(v[MERGE], isnan(v[SHUFFLE]) ? (t->shuffle > 0 ? t->shuffle : 1)
                                                       : round(1 / v[SHUFFLE]));
    double deep = or_else(v[DEEPSTACK], 0);
    *e = t->is;
    e->hidden = (int64_t)or_else(v[HIDDEN], (double)e->hidden);
    e->num_blocks = (int64_t)or_else(v[BLOCKS], (double)e->num_blocks);
    e->attn_heads = (int64_t)or_else(v[HEADS], (double)e->attn_heads);
    double hidden = (double)e->hidden;
    e->feedforward =
        (int64_t)or_else(v[FEEDFORWARD], e->feedforward > 0 ? (double)e->feedforward : 4 * hidden);
    double size = !isnan(v[HEADS_WIDTH]) && e->attn_heads > 0
                      ? v[HEADS_WIDTH] / (double)e->attn_heads
                      : or_else(v[HEAD_SIZE], 0);
    e->attn_size = size * (double)e->attn_heads == hidden ? 0 : (int64_t)size;
    e->patch_values =
        (int64_t)(or_else(v[CHANNELS], 3) * side * side * or_else(v[FRAMES], t->deep ? 2 : 1));
    e->patches = (int64_t)(across * across + (across > 0 && t->mark));
    double window = side > 0 ? floor(or_else(v[WINDOW], 0) / side) : 0;
    e->window = (int64_t)(window * window);
    e->full_blocks = e->window > 0 ? (int64_t)or_else(v[FULL], 0) : 0;
    e->positions = t->tables > 0 && across > 0 ? t->tables * e->patches
                   : !isnan(v[POSITIONS_SIDE])
                       ? (int64_t)(v[POSITIONS_SIDE] * v[POSITIONS_SIDE])
                       : (int64_t)(or_else(v[POSITIONS], 0) * (t->tables > 1 ? t->tables : 1));
    e->pool = !isnan(v[TOKENS]) ? (int64_t)((double)e->patches / v[TOKENS])
                                : (int64_t)(isnan(v[POOL]) ? 0 : v[POOL] * v[POOL]);
    e->merge = merge > 1 ? (int64_t)(merge * merge) : 0;
    if (!isnan(v[PROJECTOR_BIAS])) {
        e->projector_bias = v[PROJECTOR_BIAS] > 0;
    }
    e->projector_width =
        t->merged ? (int64_t)(hidden * merge * merge) : (int64_t)or_else(v[PROJECTOR], 0);
    e->projectors = deep > 0 ? (int64_t)deep + 1 : 0;
    e->other_weights =
        (int64_t)(hidden * (t->vectors + t->block_vectors * (double)e->num_blocks +
                            merge * merge * (t->merged_vectors + (t->deep ? 2 * deep : 0))));
}

calc_status calc_hf_encoder_read(const calc_hf *hf, calc_app *app, calc_errors *errors)
{
    double value[MEMBERS];
    bool any;
    const tower *t = find(hf->settings, &any);
    for (int i = 0; i < MEMBERS; i++) {
        value[i] = NAN;
    }
    if (!any) {
        return CALC_OK;
    }
    calc_status status = t ? read_values(hf, value, errors) : CALC_OK;
    calc_encoder encoder = {0};
    if (t && status == CALC_OK) {
        build(t, value, &encoder);
    }
    if (encoder.hidden > 0 && encoder.num_blocks > 0 && encoder.attn_heads > 0) {
        app->encoder = encoder;
    } else if (status == CALC_OK) {
        calc_hf_tell(hf, "vision_config is not read: only the text model is");
    }
    return status;
}
