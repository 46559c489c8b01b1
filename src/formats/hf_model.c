#include "formats/hf_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "formats/hf_layers.h"
#include "formats/read.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/rules.h"

/* Sources: transformers 4.57, src/transformers/models/<kind>/{configuration,modeling}_<kind>.py;
 * modeling_intern_vit.py and modeling_internvl_chat.py beside the weights of InternVL;
 * modeling_kimi_k25.py beside those of Kimi K2.5. */

/* What a configuration says of a tower, X(NAME, keys of a vision_config, and of the model above
 * it); later ones of a file count. Of a size with two sides one is said. */
#define MEMBER_LIST(X)                                                                             \
    X(HIDDEN, "hidden_size embed_dim vt_hidden_size", "")                                          \
    X(BLOCKS, "num_hidden_layers depth vt_num_hidden_layers", "")                                  \
    X(FEEDFORWARD, "intermediate_size vt_intermediate_size", "")                                   \
    X(HEADS, "num_attention_heads num_heads vt_num_attention_heads", "")                           \
    X(HEAD_SIZE, "head_dim", "")                                                                   \
    X(HEADS_WIDTH, "qkv_hidden_size", "") /* of all heads */                                       \
    X(PATCH, "patch_size spatial_patch_size", "")                                                  \
    X(CHANNELS, "num_channels in_channels in_chans", "")                                           \
    X(FRAMES, "temporal_patch_size", "")                                                           \
    X(WINDOW, "window_size", "") /* in numbers of an image */                                      \
    X(FULL, "fullatt_block_indexes", "")                                                           \
    X(IMAGE, "image_size", "")                                                                     \
    X(POSITIONS, "num_position_embeddings position_embedding_size", "")                            \
    X(POSITIONS_SIDE, "init_pos_emb_height", "")                                                   \
    X(MERGE, "spatial_merge_size merge_kernel_size", "spatial_merge_size")                         \
    X(SHUFFLE, "pixel_shuffle_ratio", "downsample_ratio") /* 1 / side of a merge */                \
    X(TOKENS, "", "mm_tokens_per_image")                  /* of an image, after pooling */         \
    X(POOL, "pooling_kernel_size", "")                                                             \
    X(PROJECTOR, "projector_output_dim", "") /* width of its hidden layers */                      \
    X(PROJECTOR_BIAS, "", "multimodal_projector_bias")                                             \
    X(DEEPSTACK, "deepstack_visual_indexes", "")
#define NAME(name, ...) name,
typedef enum member { MEMBER_LIST(NAME) MEMBERS } member;

static const struct {
    const char *keys, *above;
} members[MEMBERS] = {
#define KEYS(name, keys, above) {keys, above},
    MEMBER_LIST(KEYS)
#undef KEYS
};

/* A kind of tower: how it is built, and what its configurations may leave out. Beside `is`, its row
 * has X(NAME, its key): vectors of weights beside, as wide as the tower, for each block, and as
 * merged patches. */
#define OF_TOWER_LIST(X)                                                                           \
    X(VECTORS, "vectors")                                                                          \
    X(BLOCK_VECTORS, "block_vectors")                                                              \
    X(MERGED_VECTORS, "merged_vectors")                                                            \
    X(TABLES, "tables")  /* of positions */                                                        \
    X(IMAGE_OF, "image") /* side, where the file leaves it out; without, images differ in size */  \
    X(PATCH_OF, "patch") /* likewise */                                                            \
    X(SHUFFLE_OF, "shuffle") /* side of a merge, likewise */                                       \
    X(MARK, "mark")          /* one vector more than an image has patches (class token) */         \
    X(MERGED, "merged")      /* hidden layers of the projector are as wide as merged patches */    \
    X(DEEP, "deep")          /* projectors behind blocks have a norm of merged patches */
typedef enum of_tower { OF_TOWER_LIST(NAME) OF_TOWER } of_tower;
#undef NAME

typedef struct tower {
    calc_hf_row row;
    calc_encoder is;
    int has[OF_TOWER]; /* 0: not said; true is 1 */
} tower;

size_t calc_hf_encoder_prefix(const char *key)
{
    return calc_word_begins("vision_config. thinker_config.vision_config.", key);
}

/* Reads the kind of tower of a file: of the model, or else of its own type.
 * @param any  whether it has one
 * @return whether there is a row of its kind, and the row is right */
static bool read_tower(const calc_settings *settings, const calc_settings *rows, tower *out,
                       bool *any)
{
    static const char *const names[] = {OF_TOWER_LIST(CALC_WORD_OF)};
    const char *type = NULL, *key;
    *any = false;
    for (size_t i = 0; i < settings->count; i++) {
        const calc_setting *s = &settings->item[i];
        size_t prefix = calc_hf_encoder_prefix(s->key);
        *any = *any || prefix > 0;
        if (strcmp(s->key + prefix, "model_type") == 0 && (!type || prefix == 0) &&
            calc_hf_row_known(rows, s->value)) {
            type = s->value;
        }
    }
    memset(out, 0, sizeof *out);
    calc_hf_row_find(rows, type, NULL, &out->row);
    for (int link = out->row.links; link-- > 0;) {
        for (int m = 0; m < OF_TOWER; m++) {
            size_t at = 0;
            const calc_setting *s = calc_hf_row_next(&out->row, link, names[m], &at, &key);
            if (s) {
                out->has[m] = strcmp(s->value, "true") == 0 ? 1 : (int)strtol(s->value, NULL, 10);
            }
        }
    }
    const calc_table *table = calc_table_find(calc_table_of(CALC_KIND_APP), "encoder")->table;
    return out->row.links > 0 && !calc_hf_row_fill(&out->row, table, &out->is);
}

/* Reads a number, or the first of several that are alike; words of switches are 0 and 1. */
static calc_status read_value(const calc_hf *hf, member m, const calc_setting *s, double *value,
                              calc_errors *errors)
{
    char *end;
    bool words = m == PROJECTOR_BIAS;
    double number = calc_decimal_at(s->value, &end);
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
                              calc_utf8_shown(s->key, strlen(s->key)),
                              words          ? "true or false"
                              : m == SHUFFLE ? "more than 0, at most 1"
                                             : "a whole number of at least 1",
                              calc_utf8_shown(s->value, s->length));
    }
    *value = number;
    return CALC_OK;
}

static calc_status read_values(const calc_hf_said *said, const tower *t, double value[MEMBERS],
                               calc_errors *errors)
{
    const calc_hf *hf = said->hf;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < hf->settings->count; i++) {
        const calc_setting *s = &hf->settings->item[i];
        size_t prefix = calc_hf_encoder_prefix(s->key);
        const char *key = s->key + prefix;
        int m = 0;
        while (m < MEMBERS &&
               !calc_word_in(prefix > 0 ? members[m].keys : members[m].above, key, strlen(key))) {
            m++;
        }
        if (m < MEMBERS && s->value[0]) {
            calc_status one = read_value(hf, (member)m, s, &value[m], errors);
            status = status == CALC_OK ? one : status;
        } else if (m == MEMBERS && prefix > 0 && s->value[0] && calc_hf_key_structural(key) &&
                   calc_hf_row_passes(&said->family->row, key, s->value) != CALC_HF_PASSES &&
                   calc_hf_row_passes(&t->row, key, s->value) != CALC_HF_PASSES &&
                   !calc_hf_value_neutral(s->value)) {
            calc_hf_tell(
                hf, CALC_TEXT(320, "%s is not modelled", calc_utf8_shown(s->key, strlen(s->key))));
        }
    }
    return status;
}

/* A value, or that of the row. */
static double or_else(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* A product of sizes, however large. */
static int64_t whole(double value)
{
    return (int64_t)fmin(value, 1e15);
}

static void build(const tower *t, const double *v, calc_encoder *e)
{
    double side = or_else(v[PATCH], t->has[PATCH_OF]);
    double image = or_else(v[IMAGE], t->has[IMAGE_OF]);
    double across =
        side > 0 && (t->has[IMAGE_OF] > 0 || t->has[MARK] > 0) ? floor(image / side) : 0;
    double merge =
        or_else(v[MERGE], isnan(v[SHUFFLE]) ? (t->has[SHUFFLE_OF] > 0 ? t->has[SHUFFLE_OF] : 1)
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
        whole(or_else(v[CHANNELS], 3) * side * side * or_else(v[FRAMES], t->has[DEEP] > 0 ? 2 : 1));
    e->patches = whole(across * across + (across > 0 && t->has[MARK] > 0));
    double window = side > 0 ? floor(or_else(v[WINDOW], 0) / side) : 0;
    e->window = whole(window * window);
    e->full_blocks = e->window > 0 ? (int64_t)or_else(v[FULL], 0) : 0;
    e->positions =
        t->has[TABLES] > 0 && across > 0 ? t->has[TABLES] * e->patches
        : !isnan(v[POSITIONS_SIDE])
            ? whole(v[POSITIONS_SIDE] * v[POSITIONS_SIDE])
            : whole(or_else(v[POSITIONS], 0) * (t->has[TABLES] > 1 ? t->has[TABLES] : 1));
    e->pool = !isnan(v[TOKENS]) ? whole((double)e->patches / v[TOKENS])
                                : whole(isnan(v[POOL]) ? 0 : v[POOL] * v[POOL]);
    e->merge = merge > 1 ? whole(merge * merge) : 0;
    if (!isnan(v[PROJECTOR_BIAS])) {
        e->projector_bias = v[PROJECTOR_BIAS] > 0;
    }
    e->projector_width =
        t->has[MERGED] > 0 ? whole(hidden * merge * merge) : (int64_t)or_else(v[PROJECTOR], 0);
    e->projectors = deep > 0 ? (int64_t)deep + 1 : 0;
    e->other_weights = whole(
        hidden * (t->has[VECTORS] + t->has[BLOCK_VECTORS] * (double)e->num_blocks +
                  merge * merge * (t->has[MERGED_VECTORS] + (t->has[DEEP] > 0 ? 2 * deep : 0))));
}

calc_status calc_hf_encoder_read(const calc_hf_said *said, calc_app *app, calc_errors *errors)
{
    double value[MEMBERS];
    calc_settings rows = {0};
    tower t;
    bool any;
    const calc_embedded *file = calc_embedded_find(calc_hf_list, "encoders");
    calc_status status = calc_settings_from_text(&rows, CALC_SYNTAX_JSON, file->bytes, file->length,
                                                 "hf_encoders.json", errors);
    bool known = read_tower(said->hf->settings, &rows, &t, &any);
    for (int i = 0; i < MEMBERS; i++) {
        value[i] = NAN;
    }
    calc_encoder encoder = {0};
    status = status == CALC_OK && known && any ? read_values(said, &t, value, errors) : status;
    if (status == CALC_OK && known && any) {
        build(&t, value, &encoder);
    }
    const calc_table *table = calc_table_find(calc_table_of(CALC_KIND_APP), "encoder")->table;
    for (size_t i = 0; i < table->count && status == CALC_OK; i++) {
        const calc_field *f = &table->rows[i];
        const void *at = (const char *)&encoder + f->offset;
        if (!calc_member_allowed(f, at)) {
            char range[128];
            status = calc_errors_at(
                errors, CALC_ERR_RANGE, said->hf->name, 0, 0, NULL,
                "encoder.%s would be %.0f, expected %s", f->key, calc_member_number(f, at),
                calc_field_range_text(f, calc_member_number(f, at), range, sizeof range));
        }
    }
    if (encoder.hidden > 0 && encoder.num_blocks > 0 && encoder.attn_heads > 0) {
        app->encoder = encoder;
    } else if (status == CALC_OK && any) {
        calc_hf_tell(said->hf, "vision_config is not read: only the text model is");
    }
    calc_settings_free(&rows);
    return status;
}

/* Derives a model from the values of a configuration. */

enum { NOTE_SIZE = 256 };

static calc_ffn_type ffn_of(const calc_hf_said *s)
{
    calc_ffn_type said = (calc_ffn_type)GET(ACTIVATION, s->family->is.ffn_type);
    const calc_setting *word = s->setting[CALC_HF_ACTIVATION];
    /* A square of the rectifier has no gate in any model; the rectifier itself keeps it. */
    if (s->family->is.ffn_type >= CALC_FFN_TYPE_SWIGLU &&
        (said != CALC_FFN_TYPE_RELU || !word || strcmp(word->value, "relu2") != 0)) {
        return said == CALC_FFN_TYPE_SWIGLU ? said : CALC_FFN_TYPE_GEGLU;
    }
    return said == CALC_FFN_TYPE_RELU ? said : CALC_FFN_TYPE_GELU;
}

/* Chooses the preset that explains most values, and sets the values that differ from it. */
static void set_structure(const calc_hf_said *s, calc_app *a)
{
    const calc_app *f = &s->family->is;
    calc_ffn_type ffn = ffn_of(s);
    calc_position_type position = YES(ALIBI) ? CALC_POSITION_TYPE_NONE : f->position_type;
    calc_norm_type norm = (calc_norm_type)GET(NORM, f->norm_type);
    bool llama = f->norm_type == CALC_NORM_TYPE_RMS;
    bool bias = GET(BIAS, f->bias == CALC_CHOICE_TRUE || (YES(MLP_BIAS) && YES(ATTN_BIAS))) > 0;
    a->structure_type = llama ? CALC_STRUCTURE_TYPE_LLAMA : CALC_STRUCTURE_TYPE_GPT;
    if (ffn != (llama ? CALC_FFN_TYPE_SWIGLU : CALC_FFN_TYPE_GELU)) {
        a->ffn_type = ffn;
    }
    if (position != (llama ? CALC_POSITION_TYPE_ROPE : CALC_POSITION_TYPE_LEARNED)) {
        a->position_type = position;
    }
    if (norm != f->norm_type) {
        a->norm_type = norm;
    }
    a->bias = calc_plan_choice(bias, !llama);
    a->dropout = calc_plan_choice(GET(DROPOUT, f->dropout == CALC_CHOICE_TRUE) > 0, !llama);
    a->tied_embeddings =
        calc_plan_choice(GET(TIED, f->tied_embeddings == CALC_CHOICE_TRUE) > 0, !llama);
    a->causal = f->causal && GET(CAUSAL, 1) > 0 && !YES(TWO_WAYS);
    bool attention = GET(ATTN_BIAS, f->qkv_bias) > 0;
    a->qkv_bias = !bias && (attention || YES(QKV_BIAS));
    if (!bias && ((!f->qkv_bias && YES(ATTN_BIAS)) || YES(MLP_BIAS))) {
        calc_hf_tell(s->hf, "biases of some matrices only are not modelled");
    }
    if (SAYS(WORD_SIZE) && COUNT(WORD_SIZE) != a->hidden) {
        calc_hf_tell(s->hf,
                     "word_embed_proj_dim is not modelled: words are as wide as the blocks here");
    }
    if (YES(ALIBI)) {
        calc_hf_tell(s->hf, "ALiBi is not modelled: positions cost nothing");
    }
    if (YES(PARALLEL)) {
        calc_hf_tell(s->hf, "attention and feed-forward stand side by side in it; here they follow "
                            "each other");
    }
}

static void set_attention(const calc_hf_said *s, calc_app *a)
{
    a->attn_heads = (int64_t)GET(HEADS, 1);
    a->kv_lora_rank = COUNT(KV_LORA);
    a->qk_norm_whole = GET(QK_NORM, 1) > 0 && GET(QK_NORM_TYPE, s->family->is.qk_norm_whole) > 0;
    a->qk_norm = !a->qk_norm_whole && GET(QK_NORM, s->family->is.qk_norm) > 0;
    a->attention_sinks = GET(SINKS, s->family->is.attention_sinks) > 0;
    a->output_gate = SAYS(HEAD_GATE) ? (calc_output_gate)GET(HEAD_GATE, 0)
                     : !SAYS(GATE)   ? s->family->is.output_gate
                     : YES(GATE)     ? CALC_OUTPUT_GATE_CHANNEL
                                     : CALC_OUTPUT_GATE_NONE;
    if (COUNT(INDEX_HEADS) > 0 && !SAYS(O_GROUPS) && !SAYS(INDEX_BLOCK)) {
        a->index_heads = COUNT(INDEX_HEADS);
        a->index_size = COUNT(INDEX_SIZE);
        a->index_topk = COUNT(INDEX_TOPK);
    }
    if (a->kv_lora_rank > 0) {
        a->q_lora_rank = COUNT(Q_LORA);
        a->qk_nope_size = COUNT(QK_NOPE);
        a->qk_rope_size = COUNT(QK_ROPE);
        a->v_size = COUNT(V_SIZE);
        a->attn_size = a->qk_nope_size;
        return;
    }
    a->attn_size = COUNT(HEAD_SIZE) > 0 ? COUNT(HEAD_SIZE) : a->hidden / a->attn_heads;
    /* Some configurations say a number, and by a switch whether it applies. */
    bool counted = YES(GROUPED) || !(SAYS(GROUPED) || SAYS(MULTI_QUERY));
    a->kv_heads = counted            ? (int64_t)GET(KV_HEADS, a->attn_heads)
                  : YES(MULTI_QUERY) ? 1
                                     : a->attn_heads;
    a->v_head_size = SAYS(V_SIZE) && COUNT(V_SIZE) != a->attn_size ? COUNT(V_SIZE) : 0;
}

static void set_experts(const calc_hf_said *s, calc_app *a)
{
    a->num_experts = COUNT(EXPERTS);
    if (a->num_experts <= 1) { /* one is a dense layer, which needs no router */
        a->num_experts = 0;
        return;
    }
    a->experts_per_token = COUNT(TOP_K);
    /* With a key for dense layers the usual one is the width of an expert. */
    a->expert_feedforward = COUNT(EXPERT_FFN) > 0 ? COUNT(EXPERT_FFN) : a->feedforward;
    a->feedforward = SAYS(DENSE_FFN) ? COUNT(DENSE_FFN) : a->feedforward;
    a->shared_feedforward =
        SAYS(SHARED_FFN) ? COUNT(SHARED_FFN) : COUNT(SHARED) * a->expert_feedforward;
    a->shared_gate = s->family->is.shared_gate && a->shared_feedforward > 0;
    a->expert_latent = COUNT(LATENT);
    a->expert_latent_norm = YES(LATENT_NORM);
    a->router_scale = s->family->is.router_scale;
    a->zero_experts = COUNT(ZERO_EXPERTS);
    if (COUNT(GROUPS) > 1) {
        a->expert_groups = COUNT(GROUPS);
        a->groups_per_token = COUNT(TOKEN_GROUPS);
    }
    a->router_bias = GET(ROUTER, GET(ROUTER_BIAS, s->family->is.router_bias)) > 0;
}

static void set_residual(const calc_hf_said *s, calc_app *a)
{
    a->norm_place = s->family->is.norm_place;
    a->residual_type = COUNT(HYPER) > 0      ? CALC_RESIDUAL_TYPE_HYPER
                       : COUNT(ALTUP) > 0    ? CALC_RESIDUAL_TYPE_ALTUP
                       : COUNT(SNAPSHOT) > 0 ? CALC_RESIDUAL_TYPE_ATTENTION
                                             : CALC_RESIDUAL_TYPE_PLAIN;
    a->residual_streams = COUNT(HYPER) + COUNT(ALTUP) + COUNT(SNAPSHOT);
    a->residual_rank = COUNT(ALTUP) > 0 ? COUNT(RESIDUAL_RANK) : 0;
    a->layer_embedding = COUNT(LAYER_EMBED);
    a->layer_vocab_size = a->layer_embedding > 0 ? COUNT(LAYER_VOCAB) : 0;
}

/* Pre-training uses shorter sequences than the later extended positions allow. */
static void set_sequence(const calc_hf_said *s, calc_app *a)
{
    if (s->hf->seq_size > 0) {
        a->seq_size = s->hf->seq_size;
        return;
    }
    calc_hf_member length = SAYS(ORIGINAL) ? CALC_HF_ORIGINAL : CALC_HF_POSITIONS;
    int64_t said = (int64_t)calc_hf_get(s, length, CALC_HF_SEQ_MAX);
    a->seq_size = said < CALC_HF_SEQ_MAX ? said : CALC_HF_SEQ_MAX;
    const char *why = s->setting[length] ? CALC_TEXT(NOTE_SIZE, " (%.80s is %lld)",
                                                     s->setting[length]->key, (long long)said)
                                         : ", as the file says none";
    calc_hf_tell(s->hf, CALC_TEXT(NOTE_SIZE, "sequences of %lld tokens%s; seq_size sets another",
                                  (long long)a->seq_size, why));
}

static calc_status check(const calc_hf_said *s, calc_errors *errors)
{
    static const struct {
        calc_hf_member member;
        const char *what, *key;
    } needed[] = {{CALC_HF_LAYERS, "the number of blocks", "num_hidden_layers"},
                  {CALC_HF_HIDDEN, "the width", "hidden_size"},
                  {CALC_HF_HEADS, "the number of heads", "num_attention_heads"},
                  {CALC_HF_VOCAB, "the vocabulary", "vocab_size"},
                  {CALC_HF_TOP_K, "the experts of a token", "num_experts_per_tok"},
                  {CALC_HF_FFN, "the width of its feed-forward layer", "intermediate_size"},
                  {CALC_HF_QK_NOPE, "the width of a key's content", "qk_nope_head_dim"},
                  {CALC_HF_QK_ROPE, "the width of a key's position", "qk_rope_head_dim"},
                  {CALC_HF_V_SIZE, "the width of a value", "v_head_dim"}};
    /* Widths of layers, as a search left them. */
    bool searched = calc_settings_have(s->hf->settings, "block_configs.0");
    calc_status status = CALC_OK;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        /* Four times the width; or no layer has it. */
        bool derived =
            needed[i].member == CALC_HF_FFN &&
            (s->family->is.norm_type == CALC_NORM_TYPE_LAYER || COUNT(EXPERT_FFN) > 0 || searched);
        derived = derived || (s->family->alone && (needed[i].member == CALC_HF_FFN ||
                                                   needed[i].member == CALC_HF_HEADS));
        derived = derived || (needed[i].member == CALC_HF_TOP_K && !(COUNT(EXPERTS) > 1)) ||
                  (needed[i].member >= CALC_HF_QK_NOPE && needed[i].member <= CALC_HF_V_SIZE &&
                   !(COUNT(KV_LORA) > 0));
        if (!derived && !(calc_hf_get(s, needed[i].member, 0) > 0)) {
            status = calc_errors_at(errors, CALC_ERR_FIELD, s->hf->name, 0, 0, NULL,
                                    "\"%s\" is missing: %s", needed[i].key, needed[i].what);
        }
    }
    const struct {
        calc_hf_member member;
        bool is;
        const char *text;
    } wrong[] = {{CALC_HF_KV_HEADS, SAYS(KV_HEADS) && COUNT(KV_HEADS) == 0 && !s->family->alone,
                  "expected at least 1, found 0"},
                 {CALC_HF_Q_LORA, COUNT(Q_LORA) > 0 && COUNT(KV_LORA) == 0 && !SAYS(O_GROUPS),
                  "only latent attention compresses queries, and kv_lora_rank is missing"},
                 {CALC_HF_ATTN_OFFSET,
                  COUNT(ATTN_OFFSET) > 0 && COUNT(ATTN_OFFSET) >= COUNT(ATTN_PERIOD),
                  "expected less than attn_layer_period"},
                 {CALC_HF_EXPERT_OFFSET,
                  COUNT(EXPERT_OFFSET) > 0 && COUNT(EXPERT_OFFSET) >= COUNT(EXPERT_PERIOD),
                  "expected less than expert_layer_period"},
                 {CALC_HF_SHARED_KV, COUNT(SHARED_KV) > 0 && COUNT(SHARED_KV) >= COUNT(LAYERS),
                  "no layer is left that has keys and values of its own"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong && status == CALC_OK; i++) {
        const calc_setting *at = s->setting[wrong[i].member];
        if (wrong[i].is && at) {
            status = calc_errors_at(errors, CALC_ERR_RULE, s->hf->name, at->line, at->column, NULL,
                                    "%.60s: %s", at->key, wrong[i].text);
        }
    }
    bool heads_are_derived = SAYS(HEADS) && !(COUNT(KV_LORA) > 0) && !(COUNT(HEAD_SIZE) > 0);
    if (status == CALC_OK && heads_are_derived && COUNT(HIDDEN) % COUNT(HEADS) != 0) {
        const calc_setting *heads = s->setting[CALC_HF_HEADS];
        status = calc_errors_at(errors, CALC_ERR_RULE, s->hf->name, heads->line, heads->column,
                                "\"head_dim\" says how wide a head is",
                                "%.60s: %lld does not divide the width %lld", heads->key,
                                (long long)COUNT(HEADS), (long long)COUNT(HIDDEN));
    }
    return status;
}

/* Whether the model may be run: an error has the place of the key that gives the field. */
static calc_status check_model(const calc_hf_said *s, const calc_app *app, calc_errors *errors)
{
    char text[256];
    static const char *const fields[CALC_HF_COUNT] = {
#define CALC_HF(name, how, field, keys) field,
#include "formats/hf.fields.h"
#undef CALC_HF
    };
    calc_errors found = {0};
    const calc_setting *at = NULL;
    if (calc_misfit(CALC_KIND_APP, app, false, text, sizeof text)) {
        return calc_errors_at(errors, CALC_ERR_RANGE, s->hf->name, 0, 0, NULL, "%s", text);
    }
    calc_rules_model(app, false, &found);
    if (found.count == 0) {
        return CALC_OK;
    }
    const calc_error *e = &found.item[0];
    for (int m = 0; m < CALC_HF_COUNT; m++) {
        const calc_setting *one = s->setting[m];
        const char *field = fields[m];
        bool gives = m == CALC_HF_DENSE_FIRST || m == CALC_HF_MOE_EVERY
                         ? strcmp(e->pointer, "/dense_blocks") == 0
                     : m == CALC_HF_LINEAR_KEYS || m == CALC_HF_SSM_GROUPS
                         ? strcmp(e->pointer, "/parts") == 0
                         : field && strcmp(field, e->pointer + 1) == 0;
        /* Of several that give it, the one with the number that is wrong. */
        at = gives && one && (!at || strstr(e->text, one->value)) ? one : at;
    }
    return calc_errors_at(errors, e->status, s->hf->name, at ? at->line : 0, at ? at->column : 0,
                          e->hint, "%.60s: %.200s", at ? at->key : e->pointer + 1, e->text);
}

calc_status calc_hf_model(const calc_hf_said *s, calc_app *app, calc_errors *errors)
{
    calc_status status = check(s, errors);
    memset(app, 0, sizeof *app);
    if (status != CALC_OK) {
        return status;
    }
    app->hidden = COUNT(HIDDEN);
    app->num_blocks = COUNT(LAYERS);
    app->feedforward = COUNT(FFN) > 0          ? COUNT(FFN)
                       : COUNT(EXPERT_FFN) > 0 ? COUNT(EXPERT_FFN)
                                               : 4 * app->hidden;
    app->feedforward /= s->family->halved ? 2 : 1;
    if (YES(FFN_FITTED)) { /* two thirds, in whole steps: a gate is a third matrix */
        int64_t step = (int64_t)GET(FFN_STEP, 256);
        app->feedforward = (2 * app->feedforward / 3 + step - 1) / step * step;
    }
    app->vocab_size = COUNT(VOCAB);
    app->mtp_blocks = COUNT(MTP);
    app->mtp_shared = app->mtp_blocks > 1 && YES(MTP_SHARED);
    set_sequence(s, app);
    set_structure(s, app);
    set_attention(s, app);
    bool windowed = GET(USE_WINDOW, !s->family->windowless || SAYS(LOCAL_LIST)) > 0;
    app->window_size = windowed ? COUNT(WINDOW) : 0;
    set_experts(s, app);
    set_residual(s, app);
    if (s->family->note) {
        calc_hf_tell(s->hf, s->family->note);
    }
    status = calc_hf_layers(s, app, errors);
    return status == CALC_OK ? check_model(s, app, errors) : status;
}
