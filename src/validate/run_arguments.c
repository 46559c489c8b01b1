#include "validate/run_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "spec/choice_set.h"
#include "spec/field.h"
#include "spec/stage_list.h"
#include "spec/stage_text.h"

const char *calc_run_argument(const char *arguments, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = arguments; (at = strstr(at, "--")); at += 2) {
        bool starts = at == arguments || at[-1] == ' ';
        const char *end = at + 2 + length;
        if (starts && strncmp(at + 2, name, length) == 0 && (*end == ' ' || *end == '\0')) {
            return end + (*end == ' ');
        }
    }
    return NULL;
}

static bool given(const calc_run_map *map, const char *name)
{
    return calc_run_argument(map->row->arguments, name) != NULL;
}

/* A whole number; `blank` if the option is not given. */
static int64_t number(const calc_run_map *map, const char *name, int64_t blank)
{
    const char *value = calc_run_argument(map->row->arguments, name);
    return value ? strtol(value, NULL, 10) : blank;
}

static bool is_zero(const calc_run_map *map, const char *name)
{
    const char *value = calc_run_argument(map->row->arguments, name);
    return value && strtod(value, NULL) == 0;
}

static bool says(const calc_run_map *map, const char *name, const char *start)
{
    const char *value = calc_run_argument(map->row->arguments, name);
    return value && calc_runs_starts(value, start);
}

/* ---- Model ----------------------------------------------------------------------------------- */

/* "([0]*3+[1]*12)": dense blocks, then blocks with experts. */
static int64_t dense_blocks(const calc_run_map *map)
{
    const char *value = calc_run_argument(map->row->arguments, "moe-layer-freq");
    return value && calc_runs_starts(value, "([0]*") ? strtol(value + 5, NULL, 10) : 0;
}

static void fill_app(calc_run_map *map)
{
    calc_app *app = &map->app;
    bool dropout = !is_zero(map, "hidden-dropout") || !is_zero(map, "attention-dropout");
    app->dropout = dropout ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    bool tied = calc_runs_has(map->row->model_notes, "untied=False");
    app->tied_embeddings = tied ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    app->qk_norm = given(map, "qk-layernorm");
    app->vocab_multiple = number(map, "make-vocab-size-divisible-by", 0);
    app->mtp_blocks = number(map, "mtp-num-layers", 0);
    if (app->kv_lora_rank > 0) {
        app->q_lora_rank = number(map, "q-lora-rank", app->q_lora_rank);
        app->kv_lora_rank = number(map, "kv-lora-rank", app->kv_lora_rank);
        app->qk_nope_size = number(map, "qk-head-dim", app->qk_nope_size);
        app->qk_rope_size = number(map, "qk-pos-emb-head-dim", app->qk_rope_size);
        app->v_size = number(map, "v-head-dim", app->v_size);
    }
    if (app->num_experts > 0) {
        app->dense_blocks = dense_blocks(map);
        app->shared_feedforward = number(map, "moe-shared-expert-intermediate-size", 0);
    }
}

/* ---- Layout ---------------------------------------------------------------------------------- */

/* The text of "--pipeline-model-parallel-layout", as the shell leaves it. */
static bool layout_text(const calc_run_map *map, char *text, size_t size)
{
    const char *value = calc_run_argument(map->row->arguments, "pipeline-model-parallel-layout");
    size_t length = 0;
    for (; value && *value && *value != ' ' && length + 1 < size; value++) {
        text[length] = *value;
        length += *value != '\\';
    }
    text[length] = '\0';
    return length > 0;
}

/* Letters per stage and chunk. @return whether they are a list of blocks, or there are none */
static bool fill_letters(calc_run_map *map)
{
    calc_exec *e = &map->exec;
    char text[256];
    calc_stage_text letters;
    calc_stage_run place[CALC_MAX_PLACES];
    if (!layout_text(map, text, sizeof text)) {
        return true;
    }
    bool read = calc_stage_text_read(text, &letters) && (letters.listed || !letters.uneven) &&
                letters.stages <= CALC_MAX_PLACES && letters.stages % e->pipeline_par == 0 &&
                letters.blocks == map->app.num_blocks && letters.mtp_blocks == map->app.mtp_blocks;
    for (int64_t i = 0; read && i < letters.stages; i++) {
        place[i] = (calc_stage_run){.places = 1,
                                    .blocks = (int16_t)calc_stage_text_blocks(&letters, i),
                                    .recompute_blocks = CALC_STAGE_AS_EXEC,
                                    .recompute = CALC_STAGE_AS_EXEC};
    }
    if (!read || !calc_stage_list_pack(place, letters.stages, &e->stages)) {
        return false;
    }
    e->pipeline_interleaving = letters.stages / e->pipeline_par;
    e->pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    e->first_stage_blocks = e->last_stage_blocks = 0;
    e->strategy.pipeline_par_overlap = e->pipeline_interleaving > 1;
    return true;
}

static void fill_pipeline(calc_run_map *map)
{
    calc_exec *e = &map->exec;
    if (e->pipeline_par > 1 && given(map, "decoder-first-pipeline-num-layers")) {
        e->first_stage_blocks = number(map, "decoder-first-pipeline-num-layers", 0);
        e->last_stage_blocks = number(map, "decoder-last-pipeline-num-layers", 0);
        e->pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    }
    if (given(map, "defer-embedding-wgrad-compute")) {
        int64_t limit = number(map, "wgrad-deferral-limit", 0);
        e->deferred_head_wgrad = limit > 0 ? limit : -1;
    }
}

static void fill_kernels(calc_run_map *map)
{
    calc_exec *e = &map->exec;
    bool fused = given(map, "cross-entropy-loss-fusion");
    e->strategy.fused_cross_entropy = fused && says(map, "cross-entropy-fusion-impl", "te");
    e->strategy.framework_mem |= 1 << CALC_FRAMEWORK_MEM_GEMM_WORKSPACE;
    if (fused && !e->strategy.fused_cross_entropy) {
        e->strategy.framework_mem |= 1 << CALC_FRAMEWORK_MEM_LOSS_COPIES;
        calc_run_assume(map, "native fusion of the loss: TorchScript that makes copies");
    }
    if (map->app.num_experts == 0) {
        e->strategy.expert_tensor_par = 1; /* given, but of no effect */
    }
    bool muon = says(map, "optimizer", "muon") || says(map, "optimizer", "dist_muon");
    e->strategy.optimizer = muon ? CALC_OPTIMIZER_MUON : CALC_OPTIMIZER_ADAM;
    /* The optimizer's state is split among the ranks of one instance of several. */
    int64_t instances = number(map, "num-distributed-optimizer-instances", 1);
    if (instances > 1 && e->strategy.zero_stage > 0) {
        e->strategy.fsdp_par = e->strategy.data_par * e->strategy.context_par / instances;
    }
}

/* "--offload-modules [core_attn attn_proj]", to a set of parts. @return whether all are known */
static bool fill_offload(calc_run_map *map)
{
    calc_strategy *s = &map->exec.strategy;
    const char *value = calc_run_argument(map->row->arguments, "offload-modules");
    const calc_field *row = calc_table_find(calc_table_of(CALC_KIND_EXEC), "offload_modules");
    char text[CALC_CHOICE_SET_SIZE] = "", bad[CALC_CHOICE_SET_SIZE];
    if (!given(map, "fine-grained-activation-offloading")) {
        return true;
    }
    for (; value && *value && !calc_runs_starts(value, "--"); value++) {
        size_t length = strcspn(value, " []");
        if (length > 0) {
            calc_append(text, sizeof text, "%s%.*s", *text ? "+" : "", (int)length, value);
            value += length - 1;
        }
    }
    return *text && calc_choice_set_parse(row->choices, text, &s->offload_modules, bad);
}

static const char *unknown(calc_run_map *map)
{
    return given(map, "hybrid-override-pattern") || given(map, "hybrid-layer-pattern")
               ? "hybrid Mamba model"
           : says(map, "optimizer", "muon") && given(map, "no-use-layer-wise-param-layout")
               ? "optimizer by layers without their layout: one rank has the embedding's state"
           : !fill_offload(map) ? "offload of a part of a block that is not modelled"
           : !fill_letters(map) ? "pipeline layout by letters, with parts of the ends as stages"
                                : NULL;
}

const char *calc_run_arguments_apply(calc_run_map *map)
{
    if (*map->row->arguments == '\0') {
        return NULL;
    }
    fill_app(map);
    fill_pipeline(map);
    fill_kernels(map);
    return unknown(map);
}
