#include "validate/run_models.h"

#include <math.h>
#include <string.h>

/* Words of a model family, where the column is blank; the first that fits the model or the id. */
static const struct {
    const char *contains;
    int64_t words;
} vocabularies[] = {
    {"llama3", 128256},     {"deepseek-v3", 129280}, {"gpt-oss", 201088}, {"qwen3", 151936},
    {"kimi", 163840},       {"llama2", 32000},       {"llama_", 32000},   {"aquila", 100008},
    {"baichuan-", 64000},   {"baichuan2", 125696},   {"bloom", 250880},   {"internlm-", 103168},
    {"codellama", 32000},   {"yi-", 64000},          {"qwen-", 151936},   {"mistral", 32000},
    {"mcore_small", 50257}, {"gpt3-", 51200},        {"gpt4", 51200},     {"", 51200}};

/* Blocks without experts at the beginning, and the width of the shared experts in widths of one
 * routed expert; the first that fits the id. */
static const struct {
    const char *contains, *source;
    int64_t dense, shared;
} mixtures[] = {{"deepseekv2", NULL, 1, 2},
                {"deepseek-v2", NULL, 1, 2},
                {"deepseek", "simumax_b200", 1, 1}, /* their V3 is cut to one dense block */
                {"deepseek", "ascend_msllm", 1, 2},
                {"deepseek", NULL, 3, 1},
                {"kimi", NULL, 1, 1},
                {"", NULL, 0, 0}};

/* Attention that sees the last `window` tokens only, in all blocks or in every other one. */
static const struct {
    const char *contains;
    int64_t window, global_every;
} windows[] = {{"mistral_7B", 4096, 0}, {"gpt-oss", 128, 2}, {"gemma2", 4096, 2}};

static int64_t whole(double number)
{
    return (int64_t)(number + 0.5);
}

static bool is_source(const calc_run_map *map, const char *name)
{
    return !name || strcmp(map->source->name, name) == 0;
}

/* Three matrices with a gate, or two. */
static bool is_gated(const calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    const char *notes = r->model_notes;
    if (calc_runs_has(r->id, "grok")) {
        return true; /* 314 billion parameters only fit a gated layer */
    }
    if (is_source(map, "ascend_msllm")) {
        return !calc_runs_has(r->id, "bloom") && !calc_runs_has(r->id, "gpt3");
    }
    if (calc_runs_has_any_case(r->model, "nemotron")) {
        return false;
    }
    bool gpt = calc_runs_has_any_case(notes, "gelu") || calc_runs_has_any_case(notes, "ReLU") ||
               calc_runs_has_any_case(r->model, "gpt");
    return calc_runs_has_any_case(notes, "SwiGLU") || !gpt;
}

static bool is_latent(const calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    if (is_source(map, "ascend_msllm") && !calc_runs_has(r->id, "deepseek")) {
        return false;
    }
    return r->mla == 1 || calc_runs_has_any_case(r->model, "deepseek-v") ||
           calc_runs_has_any_case(r->model, "deepseekv") ||
           calc_runs_has_any_case(r->model, "kimi");
}

static int64_t vocabulary(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    if (r->vocab > 0) {
        return whole(r->vocab);
    }
    calc_run_assume(map, "vocabulary not printed: that of the model's family");
    size_t i = 0;
    while (!calc_runs_has_any_case(r->model, vocabularies[i].contains) &&
           !calc_runs_has_any_case(r->id, vocabularies[i].contains)) {
        i++;
    }
    return vocabularies[i].words;
}

static void fill_attention(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_app *app = &map->app;
    app->attn_heads = whole(r->heads);
    app->attn_size = whole(calc_runs_or(r->head_dim, r->hidden / r->heads));
    app->kv_heads = whole(calc_runs_or(r->kv_heads, r->heads));
    app->causal = true;
    app->qk_norm = calc_runs_has_any_case(r->model_notes, "qk-norm");
    if (is_latent(map)) {
        app->q_lora_rank = 1536; /* DeepSeek-V2, V3 and Kimi-K2 */
        app->kv_lora_rank = 512;
        app->qk_nope_size = 128;
        app->qk_rope_size = 64;
        app->v_size = 128;
    }
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        if (calc_runs_has_any_case(r->id, windows[i].contains)) {
            app->window_size = windows[i].window;
            app->global_every = windows[i].global_every;
        }
    }
}

static void fill_experts(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_app *app = &map->app;
    if (!(r->num_experts > 1)) { /* a single expert is a dense block */
        return;
    }
    size_t i = 0;
    while (!calc_runs_has(r->id, mixtures[i].contains) || !is_source(map, mixtures[i].source)) {
        i++;
    }
    app->num_experts = whole(r->num_experts);
    app->experts_per_token = whole(calc_runs_or(r->topk, 0));
    app->expert_feedforward = r->moe_ffn > 0 ? whole(r->moe_ffn) : app->feedforward;
    app->dense_blocks = mixtures[i].dense;
    app->shared_feedforward = mixtures[i].shared * app->expert_feedforward;
}

static void fill_structure(calc_run_map *map)
{
    const char *notes = map->row->model_notes;
    calc_app *app = &map->app;
    bool gated = is_gated(map);
    app->ffn_type = gated ? CALC_FFN_TYPE_SWIGLU : CALC_FFN_TYPE_GELU;
    app->norm_type =
        calc_runs_has_any_case(notes, "RMSNorm") ? CALC_NORM_TYPE_RMS : CALC_NORM_TYPE_LAYER;
    app->position_type = gated ? CALC_POSITION_TYPE_ROPE : CALC_POSITION_TYPE_LEARNED;
    bool bias =
        calc_runs_has_any_case(notes, "biases") || calc_runs_has_any_case(notes, "bias=yes");
    app->bias = bias ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    bool dropout = calc_run_assume_trait(map, CALC_RUN_TRAIT_DROPOUT, true);
    app->dropout = dropout ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    bool tied = calc_runs_has_any_case(notes, "tied") && !calc_runs_has_any_case(notes, "untied");
    app->tied_embeddings = tied ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
}

void calc_run_models_app(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    calc_app *app = &map->app;
    if (isnan(r->ffn)) {
        calc_run_assume(map, "feed-forward width not printed: 4 times the hidden width");
    }
    app->hidden = whole(r->hidden);
    app->feedforward = whole(calc_runs_or(r->ffn, 4 * r->hidden));
    app->seq_size = whole(r->seq);
    app->num_blocks = whole(r->layers);
    app->vocab_size = vocabulary(map);
    fill_attention(map);
    fill_experts(map);
    fill_structure(map);
}
