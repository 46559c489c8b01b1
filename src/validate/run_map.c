#include "validate/run_map.h"

#include <math.h>
#include <string.h>

#include "model/operators/parameters.h"
#include "validate/own_runs.h"
#include "validate/run_arguments.h"
#include "validate/run_assume.h"
#include "validate/run_layout.h"

/* ---- The model ------------------------------------------------------------------------------- */

/* The model of a published run: its columns, or known properties of the model's family where a
 * column is blank. */

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

/* Fill map->app. The row must have layers, width, heads and sequence length. */
static void run_models_app(calc_run_map *map)
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

/* ---- What was measured ----------------------------------------------------------------------- */

/* The measured time of a step from the printed quantity: the time itself, tokens per second, or
 * FLOP per second with the FLOP that the publication counts. */

/* FLOP of a step with full recomputation, GPT: Narayanan et al. 2021 (arXiv 2104.04473), eq. 3,
 * with their vocabulary of 51,200. */
static double gpt_recomputed_flop(const calc_runs_row *r)
{
    double seq = r->seq, hidden = r->hidden, layers = r->layers;
    double shape = 1 + seq / (6 * hidden) + 51200 / (16 * layers * hidden);
    return 96 * r->global_batch * seq * layers * hidden * hidden * shape;
}

/* 6 FLOP per parameter and token, and causal attention: Llama 3 405B, 405.9e9 parameters. */
static double llama3_flop(const calc_runs_row *r)
{
    return r->global_batch * r->seq * (6 * 405.9e9 + 6 * r->layers * r->hidden * r->seq);
}

/* How sources that print FLOP/s alone count FLOP. */
static const struct {
    const char *source;
    double (*flop)(const calc_runs_row *row);
    const char *assumption;
} conventions[] = {
    {"mlm_sc21_tab1", gpt_recomputed_flop, "FLOP counted with full recomputation, as printed"},
    {"mlm_sc21_tab2", gpt_recomputed_flop, "FLOP counted with full recomputation, as printed"},
    {"seqsel_abs", gpt_recomputed_flop, "FLOP counted with full recomputation"},
    {"llama3_paper", llama3_flop, "FLOP: 6 per parameter and token, causal attention"}};

/* Fill map->step_s and map->printed; they stay as they are if nothing usable was printed. Needs
 *  the shape of the model, the number of GPUs and the batch. */
static void run_measure_step(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    double tokens = r->global_batch * r->seq;
    if (r->measured_iteration_s > 0) {
        map->step_s = r->measured_iteration_s;
        map->printed = "measured_iteration_s";
        return;
    }
    if (r->measured_tokens_per_s_per_gpu > 0) {
        map->step_s = tokens / (r->measured_tokens_per_s_per_gpu * r->num_gpus);
        map->printed = "measured_tokens_per_s_per_gpu";
        return;
    }
    for (size_t i = 0; i < sizeof conventions / sizeof *conventions; i++) {
        if (r->measured_tflops_per_gpu > 0 &&
            strcmp(conventions[i].source, map->source->name) == 0) {
            double flop_per_s = r->measured_tflops_per_gpu * 1e12 * r->num_gpus;
            map->step_s = conventions[i].flop(r) / flop_per_s;
            map->printed = "measured_tflops_per_gpu";
            calc_run_assume(map, conventions[i].assumption);
        }
    }
}

/* Whether only a rate of FLOP is left to measure by: it needs the layout, too. */
static bool run_measure_has_rate(const calc_run_map *map)
{
    return isnan(map->step_s) && map->row->measured_tflops_per_gpu > 0;
}

/* The time from that rate, as `tflops_counting` says FLOP are counted: "model" counts matrices and
 *  the whole square of attention ("causal": half of it); "recompute" and "hardware" also count
 *  recomputation. map->app and map->exec must be filled.
 *  @return NULL, or why the rate says nothing */
static const char *run_measure_rate(calc_run_map *map)
{
    const calc_runs_row *r = map->row;
    const calc_exec *e = &map->exec;
    bool again = calc_runs_has_any_case(r->tflops_counting, "recompute") ||
                 calc_runs_has_any_case(r->tflops_counting, "hardware");
    if (!again && !calc_runs_has_any_case(r->tflops_counting, "model")) {
        return "FLOP/s are printed, but not how they are counted";
    }
    bool causal = calc_runs_has_any_case(r->tflops_counting, "causal");
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_shape shape = calc_shape_of(&map->app, &e->strategy, e->microbatch_size, e->seq_size);
    double flop = calc_parameters_step_flop(&shape, e, !causal) * (again && full ? 4.0 / 3 : 1);
    map->step_s = flop / (r->measured_tflops_per_gpu * 1e12 * r->num_gpus);
    map->printed = "measured_tflops_per_gpu";
    calc_run_assume(map, causal ? "FLOP of matrices and of half of the square of attention"
                                : "FLOP of matrices and of the square of attention");
    return NULL;
}

static const char nothing_measured[] = "no measured time or memory";

static bool is_measured(const calc_run_map *map)
{
    return !isnan(map->step_s) || !isnan(map->memory_bytes);
}

/* The column that the row lacks; NULL if it has all. */
static const char *what_is_missing(const calc_run_map *map)
{
    const calc_runs_row *row = map->row;
    bool shape = row->layers > 0 && row->hidden > 0 && row->heads > 0 && row->seq > 0;
    bool hybrid = calc_runs_has(row->id, "nemotron-3") || calc_runs_has(row->id, "nemotron3_super");
    return map->source->reason        ? map->source->reason
           : !map->machine            ? "no description of this machine"
           : !shape                   ? "model shape not published, or a hybrid model"
           : hybrid                   ? "hybrid Mamba model"
           : !(row->num_gpus > 0)     ? "number of GPUs not published"
           : !(row->global_batch > 0) ? "global batch not published"
                                      : NULL;
}

void calc_run_map_row(calc_run_map *out, const calc_runs_row *row)
{
    const calc_run_source *source = calc_run_source_of(row);
    bool complete = row->own && row->own->complete;
    *out = (calc_run_map){.row = row,
                          .source = source,
                          .machine = calc_run_machine_of(row, source),
                          .network = complete ? 0 : calc_run_machine_network(row),
                          .step_s = (double)NAN,
                          .memory_bytes = row->measured_memory_gib * 1073741824.0};
    if (complete) {
        out->app = row->own->app;
        out->exec = row->own->exec;
        run_measure_step(out);
        out->reason = is_measured(out) ? NULL : nothing_measured;
        return;
    }
    calc_run_words_read(&out->words, row);
    out->reason = what_is_missing(out);
    if (out->reason) {
        return;
    }
    run_models_app(out);
    run_measure_step(out);
    if (!is_measured(out) && !run_measure_has_rate(out)) {
        out->reason = nothing_measured;
        return;
    }
    out->reason = calc_run_layout_exec(out);
    out->reason = out->reason ? out->reason : calc_run_arguments_apply(out);
    if (!out->reason && run_measure_has_rate(out)) {
        const char *reason = run_measure_rate(out);
        out->reason = is_measured(out) ? NULL : reason;
    }
}

const calc_system *calc_run_map_system(const calc_run_map *map, const calc_system *system,
                                       calc_system *own)
{
    if (!(map->network > 0) || system->networks_count < 2) {
        return system;
    }
    *own = *system;
    own->networks[own->networks_count - 1].bytes_per_s = map->network;
    return own;
}
