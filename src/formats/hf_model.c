/* Derives a model from the values of a configuration. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formats/hf_layers.h"
#include "spec/field.h"

enum { NOTE_SIZE = 256 };

#define GET(name, absent) calc_hf_get(s, CALC_HF_##name, (double)(absent))
#define SAYS(name) (!isnan(s->value[CALC_HF_##name]))
#define COUNT(name) ((int64_t)GET(name, 0))
#define YES(name) (GET(name, 0) > 0)

/* A square of the rectifier has no gate in any model. */
static bool is_gated(const calc_hf_said *s)
{
    return s->family->ffn >= CALC_FFN_TYPE_SWIGLU &&
           GET(ACTIVATION, CALC_FFN_TYPE_SWIGLU) != CALC_FFN_TYPE_RELU;
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
    bool attention = GET(ATTN_BIAS, f->attn_bias) > 0;
    a->qkv_bias = !bias && (attention || YES(QKV_BIAS));
    if (!bias && ((!f->attn_bias && YES(ATTN_BIAS)) || YES(MLP_BIAS))) {
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
    a->qk_norm_whole = GET(QK_NORM, 1) > 0 && GET(QK_NORM_TYPE, s->family->whole_norm) > 0;
    a->qk_norm = !a->qk_norm_whole && GET(QK_NORM, s->family->qk_norm) > 0;
    a->attention_sinks = GET(SINKS, s->family->sinks) > 0;
    a->output_gate = YES(HEAD_GATE) ? CALC_OUTPUT_GATE_HEAD
                     : !SAYS(GATE)  ? s->family->gate
                     : YES(GATE)    ? CALC_OUTPUT_GATE_CHANNEL
                                    : CALC_OUTPUT_GATE_NONE;
    if (COUNT(INDEX_HEADS) > 0 && !SAYS(RATIOS)) {
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
    a->kv_heads = kv_heads_of(s, a->attn_heads);
    a->v_head_size = SAYS(V_SIZE) && COUNT(V_SIZE) != a->attn_size ? COUNT(V_SIZE) : 0;
}

static void set_window(const calc_hf_said *s, calc_app *a)
{
    bool windowed = GET(USE_WINDOW, !s->family->windowless || SAYS(LOCAL_LIST)) > 0;
    a->window_size = windowed ? COUNT(WINDOW) : 0;
}

/* ---- Experts --------------------------------------------------------------------------------- */

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
    a->shared_gate = s->family->shared_gate && a->shared_feedforward > 0;
    a->expert_latent = COUNT(LATENT);
    a->expert_latent_norm = YES(LATENT_NORM);
    a->router_scale = s->family->router_scale;
    a->zero_experts = COUNT(ZERO_EXPERTS);
    if (COUNT(GROUPS) > 1) {
        a->expert_groups = COUNT(GROUPS);
        a->groups_per_token = COUNT(TOKEN_GROUPS);
    }
    a->router_bias = GET(ROUTER, GET(ROUTER_BIAS, s->family->router_bias)) > 0;
    if (SAYS(DENSE_FFN)) { /* the usual key is the width of an expert, then */
        a->expert_feedforward = a->feedforward;
        a->shared_feedforward = COUNT(SHARED) * a->feedforward;
        a->feedforward = COUNT(DENSE_FFN);
    }
}

static void set_residual(const calc_hf_said *s, calc_app *a)
{
    a->norm_place = s->family->place;
    a->residual_type = s->family->residual;
    a->residual_streams = a->residual_type != CALC_RESIDUAL_TYPE_PLAIN ? COUNT(STREAMS) : 0;
    a->residual_rank = a->residual_type == CALC_RESIDUAL_TYPE_ALTUP ? COUNT(RESIDUAL_RANK) : 0;
    if (COUNT(SNAPSHOT) > 0) {
        a->residual_type = CALC_RESIDUAL_TYPE_ATTENTION;
        a->residual_streams = COUNT(SNAPSHOT);
    }
    a->layer_embedding = COUNT(LAYER_EMBED);
    a->layer_vocab_size = a->layer_embedding > 0 ? COUNT(LAYER_VOCAB) : 0;
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
                  {CALC_HF_TOP_K, "the experts of a token", "num_experts_per_tok"},
                  {CALC_HF_FFN, "the width of its feed-forward layer", "intermediate_size"}};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        /* Four times the width; or no layer has it. */
        bool derived =
            needed[i].member == CALC_HF_FFN && (s->family->norm == CALC_NORM_TYPE_LAYER ||
                                                COUNT(EXPERT_FFN) > 0 || calc_hf_searched(s->hf));
        derived = derived || (needed[i].member == CALC_HF_TOP_K && !(COUNT(EXPERTS) > 0));
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
    app->vocab_size = COUNT(VOCAB);
    app->mtp_blocks = COUNT(MTP);
    app->mtp_shared = app->mtp_blocks > 1 && YES(MTP_SHARED);
    set_sequence(s, app);
    set_structure(s, app);
    set_attention(s, app);
    set_window(s, app);
    set_experts(s, app);
    set_residual(s, app);
    if (s->family->note) {
        calc_hf_tell(s->hf, s->family->note);
    }
    char text[256];
    status = calc_hf_layers(s, app, errors);
    return status == CALC_OK && calc_misfit(CALC_KIND_APP, app, false, text, sizeof text)
               ? calc_errors_at(errors, CALC_ERR_RANGE, s->hf->name, 0, 0, NULL, "%s", text)
               : status;
}
