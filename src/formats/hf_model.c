/* Derives a model from the values of a configuration. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formats/hf_model.h"
#include "spec/field.h"

enum { NOTE_SIZE = 256 };

#define GET(name, absent) calc_hf_get(s, CALC_HF_##name, (double)(absent))
#define SAYS(name) (!isnan(s->value[CALC_HF_##name]))
#define COUNT(name) ((int64_t)GET(name, 0))
#define YES(name) (GET(name, 0) > 0)

static bool is_gated(const calc_hf_said *s)
{
    return s->family->ffn >= CALC_FFN_TYPE_SWIGLU;
}

static calc_ffn_type ffn_of(const calc_hf_said *s)
{
    calc_ffn_type said = (calc_ffn_type)GET(ACTIVATION, s->family->ffn);
    if (is_gated(s)) {
        return said == CALC_FFN_TYPE_SWIGLU ? said : CALC_FFN_TYPE_GEGLU;
    }
    return said == CALC_FFN_TYPE_RELU ? said : CALC_FFN_TYPE_GELU;
}

static calc_choice choice(bool yes, bool preset)
{
    return yes == preset ? CALC_CHOICE_AUTO : yes ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
}

/* Chooses the preset that explains most values, and sets the values that differ from it. */
static void set_structure(const calc_hf_said *s, calc_app *a)
{
    const calc_hf_family *f = s->family;
    calc_ffn_type ffn = ffn_of(s);
    calc_position_type position = YES(ALIBI) ? CALC_POSITION_TYPE_NONE : f->position;
    bool llama = f->norm == CALC_NORM_TYPE_RMS;
    bool bias = GET(BIAS, f->bias || (YES(MLP_BIAS) && YES(ATTN_BIAS))) > 0;
    a->structure_type = llama ? CALC_STRUCTURE_TYPE_LLAMA : CALC_STRUCTURE_TYPE_GPT;
    if (ffn != (llama ? CALC_FFN_TYPE_SWIGLU : CALC_FFN_TYPE_GELU)) {
        a->ffn_type = ffn;
    }
    if (position != (llama ? CALC_POSITION_TYPE_ROPE : CALC_POSITION_TYPE_LEARNED)) {
        a->position_type = position;
    }
    a->bias = choice(bias, !llama);
    a->dropout = choice(GET(DROPOUT, f->dropout) > 0, !llama);
    a->tied_embeddings = choice(GET(TIED, f->tied) > 0, !llama);
    a->causal = true;
    if (!bias && !f->attn_bias && (YES(ATTN_BIAS) || YES(MLP_BIAS))) {
        calc_hf_tell(s->hf, "biases of some matrices only are not modelled");
    }
    if (SAYS(WORD_SIZE) && COUNT(WORD_SIZE) != a->hidden) {
        calc_hf_tell(s->hf,
                     "word_embed_proj_dim is not modelled: words are as wide as the blocks here");
    }
}

/* Number of key and value heads. Some configurations state a number of heads and a separate switch
 * that says whether it applies. */
static int64_t kv_heads_of(const calc_hf_said *s, int64_t heads)
{
    bool counted = YES(GROUPED) || !(SAYS(GROUPED) || SAYS(MULTI_QUERY));
    return counted ? (int64_t)GET(KV_HEADS, heads) : YES(MULTI_QUERY) ? 1 : heads;
}

static void set_attention(const calc_hf_said *s, calc_app *a)
{
    a->attn_heads = COUNT(HEADS);
    a->kv_lora_rank = COUNT(KV_LORA);
    a->qk_norm = GET(QK_NORM, s->family->qk_norm) > 0;
    if (a->kv_lora_rank > 0) {
        a->q_lora_rank = COUNT(Q_LORA);
        a->qk_nope_size = COUNT(QK_NOPE);
        a->qk_rope_size = COUNT(QK_ROPE);
        a->v_size = COUNT(V_SIZE);
        a->attn_size = a->qk_nope_size;
        return;
    }
    a->attn_size = COUNT(HEAD_SIZE) > 0 ? COUNT(HEAD_SIZE) : a->hidden / a->attn_heads;
    a->kv_heads = kv_heads_of(s, a->attn_heads);
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Sets the period of the blocks without a window from "layer_types", and notes an uneven spacing.
 */
static void set_global_blocks(const calc_hf_said *s, calc_app *a)
{
    const char *at = s->setting[CALC_HF_LAYER_TYPES]->value;
    int64_t full = 0, all = 0, first = 0, strayed = 0;
    for (; *at; at += strcspn(at, " "), at += strspn(at, " "), all++) {
        bool is_full = strncmp(at, "full_attention", strlen("full_attention")) == 0;
        full += is_full;
        first = is_full && first == 0 ? all + 1 : first;
        strayed += first > 0 && is_full != ((all + 1) % first == 0);
    }
    a->window_size = full < all ? a->window_size : 0;
    a->global_every = full > 0 && full < all ? first : 0;
    if (strayed > 0 && full < all) {
        char note[NOTE_SIZE];
        a->global_every = (all + full / 2) / full;
        snprintf(note, sizeof note,
                 "layer_types has %lld of %lld blocks without a window, not at equal distances: "
                 "here one of every %lld is",
                 (long long)full, (long long)all, (long long)a->global_every);
        calc_hf_tell(s->hf, note);
    }
}

static void set_window(const calc_hf_said *s, calc_app *a)
{
    if (!(GET(USE_WINDOW, !s->family->windowless) > 0)) {
        return;
    }
    a->window_size = COUNT(WINDOW);
    if (a->window_size == 0) {
        return;
    }
    if (SAYS(LAYER_TYPES)) {
        set_global_blocks(s, a);
        return;
    }
    a->global_every = COUNT(PATTERN) > 1 ? COUNT(PATTERN) : 0;
    if (s->family->windowless && SAYS(WINDOW_AFTER) && COUNT(WINDOW_AFTER) > 0) {
        if (COUNT(WINDOW_AFTER) < a->num_blocks) {
            calc_hf_tell(s->hf,
                         "max_window_layers: windows in the last blocks only are not modelled; "
                         "here no block has one");
        }
        a->window_size = 0;
    }
}

/* ---- Experts --------------------------------------------------------------------------------- */

/* Reads a list of dense blocks, which must be the first ones. */
static int64_t dense_blocks_of(const calc_hf_said *s)
{
    int64_t dense = COUNT(DENSE_FIRST);
    if (!SAYS(DENSE_LAYERS)) {
        return dense;
    }
    int64_t listed = 0, ordered = 0;
    for (const char *at = s->setting[CALC_HF_DENSE_LAYERS]->value; *at; listed++) {
        int64_t block = 0;
        for (; *at >= '0' && *at <= '9' && block < 1000000; at++) {
            block = 10 * block + (*at - '0');
        }
        ordered += block == listed;
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    if (ordered < listed) {
        calc_hf_tell(s->hf, "mlp_only_layers: dense blocks that are not the first ones count as "
                            "if they were");
    }
    return listed > dense ? listed : dense;
}

static void set_experts(const calc_hf_said *s, calc_app *a)
{
    a->num_experts = COUNT(EXPERTS);
    if (a->num_experts == 0) {
        return;
    }
    a->experts_per_token = COUNT(TOP_K);
    a->expert_feedforward = COUNT(EXPERT_FFN) > 0 ? COUNT(EXPERT_FFN) : a->feedforward;
    a->shared_feedforward =
        SAYS(SHARED_FFN) ? COUNT(SHARED_FFN) : COUNT(SHARED) * a->expert_feedforward;
    a->dense_blocks = dense_blocks_of(s);
    a->moe_every = COUNT(MOE_EVERY) > 1 ? COUNT(MOE_EVERY) : 0;
    if (COUNT(GROUPS) > 1) {
        a->expert_groups = COUNT(GROUPS);
        a->groups_per_token = COUNT(TOKEN_GROUPS);
    }
    a->router_bias = GET(ROUTER, s->family->router_bias) > 0;
}

/* ---- The whole model ------------------------------------------------------------------------- */

/* Pre-training uses shorter sequences than the later extended positions allow. */
static void set_sequence(const calc_hf_said *s, calc_app *a)
{
    char note[NOTE_SIZE];
    if (s->hf->seq_size > 0) {
        a->seq_size = s->hf->seq_size;
        return;
    }
    calc_hf_member member = SAYS(ORIGINAL) ? CALC_HF_ORIGINAL : CALC_HF_POSITIONS;
    int64_t said = (int64_t)calc_hf_get(s, member, CALC_HF_SEQ_MAX);
    a->seq_size = said < CALC_HF_SEQ_MAX ? said : CALC_HF_SEQ_MAX;
    if (s->setting[member]) {
        snprintf(note, sizeof note,
                 "sequences of %lld tokens (%.80s is %lld); seq_size sets another",
                 (long long)a->seq_size, s->setting[member]->key, (long long)said);
    } else {
        snprintf(note, sizeof note,
                 "sequences of %lld tokens, as the file says none; seq_size sets another",
                 (long long)a->seq_size);
    }
    calc_hf_tell(s->hf, note);
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
                  {CALC_HF_FFN, "the width of its feed-forward layer", "intermediate_size"}};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        bool derived = needed[i].member == CALC_HF_FFN && !is_gated(s); /* four times the width */
        if (!derived && !(calc_hf_get(s, needed[i].member, 0) > 0)) {
            status = calc_errors_at(errors, CALC_ERR_FIELD, s->hf->name, 0, 0, NULL,
                                    "\"%s\" is missing: %s", needed[i].key, needed[i].what);
        }
    }
    bool heads_are_derived = !(COUNT(KV_LORA) > 0) && !(COUNT(HEAD_SIZE) > 0);
    if (status == CALC_OK && heads_are_derived && COUNT(HIDDEN) % COUNT(HEADS) != 0) {
        const calc_setting *heads = s->setting[CALC_HF_HEADS];
        status = calc_errors_at(errors, CALC_ERR_RULE, s->hf->name, heads->line, heads->column,
                                "\"head_dim\" says how wide a head is",
                                "%.60s: %lld does not divide the width %lld", heads->key,
                                (long long)COUNT(HEADS), (long long)COUNT(HIDDEN));
    }
    return status;
}

/* Checks derived numbers, which can leave the range of their field. */
static calc_status check_ranges(const calc_hf_said *s, const calc_app *a, calc_errors *errors)
{
    const calc_table *table = calc_table_of(CALC_KIND_APP);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        double number = calc_member_number(field, (const char *)a + field->offset);
        if (field->type == CALC_TYPE_INT && !calc_field_in_range(field, number)) {
            char range[128];
            return calc_errors_at(errors, CALC_ERR_RANGE, s->hf->name, 0, 0, NULL,
                                  "%s would be %.0f, expected %s", field->key, number,
                                  calc_field_range_text(field, number, range, sizeof range));
        }
    }
    return CALC_OK;
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
    app->feedforward = COUNT(FFN) > 0 ? COUNT(FFN) : 4 * app->hidden;
    app->vocab_size = COUNT(VOCAB);
    app->mtp_blocks = COUNT(MTP);
    set_sequence(s, app);
    set_structure(s, app);
    set_attention(s, app);
    set_window(s, app);
    set_experts(s, app);
    if (s->family->note) {
        calc_hf_tell(s->hf, s->family->note);
    }
    return check_ranges(s, app, errors);
}
