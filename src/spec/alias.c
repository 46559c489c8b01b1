#include "spec/alias.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "spec/field.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const calc_alias aliases[] = {
    /* Names of Hugging Face's configurations and of forks of Calculon. */
    {"app", "kv_groups", "kv_heads", {NULL}},
    {"app", "qk_nope_head_dim", "qk_nope_size", {NULL}},
    {"app", "qk_rope_head_dim", "qk_rope_size", {NULL}},
    {"app", "v_head_dim", "v_size", {NULL}},
    {"app", "moe_topk", "experts_per_token", {NULL}},
    {"app", "moe_feedforward", "expert_feedforward", {NULL}},
    {"app", "num_shared_experts", "shared_feedforward", {"expert_feedforward", "feedforward"}},
    {"app", "first_k_dense", "dense_blocks", {NULL}},
    {"app", "num_nextn_predict_layers", "mtp_blocks", {NULL}},
    /* Names that the papers of single mixers use. */
    {"part", "heads", "value_heads", {NULL}},
    {"part", "head_size", "value_size", {NULL}},
    {"part", "groups", "key_heads", {NULL}},
    {"part", "state", "key_size", {NULL}},
    {"exe", "matrix_dtype", "matrix_datatype", {NULL}},
    /* Words that people type, and short names of options of training frameworks. */
    {"sys", "price", "usd_per_hour", {NULL}},
    {"exe", "gpus", "num_procs", {NULL}},
    {"exe", "tp", "tensor_par", {NULL}},
    {"exe", "pp", "pipeline_par", {NULL}},
    {"exe", "dp", "data_par", {NULL}},
    {"exe", "cp", "context_par", {NULL}},
    {"exe", "ep", "expert_par", {NULL}},
    {"exe", "etp", "expert_tensor_par", {NULL}},
    {"exe", "vpp", "pipeline_interleaving", {NULL}},
    {"exe", "mbs", "microbatch_size", {NULL}},
    {"exe", "gbs", "batch_size", {NULL}},
    {"exe", "seq", "seq_size", {NULL}},
    {"exe", "zero", "zero_stage", {NULL}},
    {"exe", "dtype", "datatype", {NULL}},
    {"exe", "recompute", "activation_recompute", {NULL}},
    /* Those of engines and of what loads them. */
    {"inference", "isl", "prompt_size", {NULL}},
    {"inference", "osl", "generate_size", {NULL}},
    {"inference", "concurrency", "batch", {NULL}},
    {"inference", "request_rate", "arrival_rate", {NULL}},
    {"inference", "max_num_seqs", "max_sequences", {NULL}},
    {"inference", "gpu_memory_utilization", "memory_share", {NULL}},
    {"inference", "kv_cache_dtype", "kv_datatype", {NULL}},
    {"engine traits", "enforce_eager", "eager", {NULL}},
    {"engine traits", "disable_cuda_graph", "eager", {NULL}},
    {"stats", "mfu", "model_flops_utilization", {NULL}},
    {"stats", "hfu", "hardware_flops_utilization", {NULL}},
    {"stats", "mem1", "proc_mem_tier1_cap_req", {NULL}},
    {"stats", "mem2", "proc_mem_tier2_cap_req", {NULL}},
    {"stats", "memory", "proc_mem_tier1_cap_req", {NULL}},
    {"stats", "step_time", "total_time", {NULL}},
    /* Labels of the summary of a run. */
    {"stats", "time per step", "total_time", {NULL}},
    {"stats", "samples/s", "sample_rate", {NULL}},
    {"stats", "tokens/s", "tokens_per_s", {NULL}},
    {"stats", "tokens/s/processor", "tokens_per_s_per_proc", {NULL}},
    {"stats", "model FLOPs utilisation", "model_flops_utilization", {NULL}},
    {"stats", "MFU, full square", "model_flops_utilization_square", {NULL}},
    {"stats", "hardware FLOPs utilis.", "hardware_flops_utilization", {NULL}},
    {"stats", "compute efficiency", "compute_efficiency", {NULL}},
    {"stats", "system efficiency", "system_efficiency", {NULL}},
    {"stats", "total efficiency", "total_efficiency", {NULL}},
    {"stats", "days/1e12 tokens", "days_per_trillion_tokens", {NULL}},
    {"stats", "proc.-h/1e12 tokens", "proc_hours_per_trillion_tokens", {NULL}},
    {"stats", "USD/1e12 tokens", "usd_per_trillion_tokens", {NULL}},
    {"stats", "J/token", "energy_per_token", {NULL}},
    {"stats", "forward", "fw_time", {NULL}},
    {"stats", "backward", "bw_time", {NULL}},
    {"stats", "recompute", "recompute_time", {NULL}},
    {"stats", "repeated communication", "recomm_exposed_time", {NULL}},
    {"stats", "pipeline bubble", "bubble_time", {NULL}},
    {"stats", "tensor-parallel comm.", "tp_comm_exposed_time", {NULL}},
    {"stats", "pipeline comm.", "pp_comm_exposed_time", {NULL}},
    {"stats", "data-parallel comm.", "dp_comm_exposed_time", {NULL}},
    {"stats", "context-parallel comm.", "cp_comm_exposed_time", {NULL}},
    {"stats", "expert-parallel comm.", "ep_comm_exposed_time", {NULL}},
    {"stats", "forward offload", "fw_offload_exposed_time", {NULL}},
    {"stats", "backward offload", "bw_offload_exposed_time", {NULL}},
    {"stats", "embedding and head", "head_time", {NULL}},
    {"stats", "waiting for the host", "host_time", {NULL}},
    {"stats", "stragglers", "straggler_time", {NULL}},
    {"stats", "fixed overhead", "overhead_time", {NULL}},
    {"stats", "weights", "weight_space", {NULL}},
    {"stats", "activations", "act_space", {NULL}},
    {"stats", "checkpoints", "act_checkpoint_size", {NULL}},
    {"stats", "block at hand", "act_grad_space", {NULL}},
    {"stats", "activation gradients", "act_grad_space", {NULL}},
    {"stats", "weight gradients", "weight_grad_space", {NULL}},
    {"stats", "head", "head_space", {NULL}},
    {"stats", "framework", "framework_space", {NULL}},
    {"stats", "fragmentation, reserve", "mem_overhead", {NULL}},
    {"stats", "cached keys and values", "kv_cache_space", {NULL}},
    {"stats", "first token", "ttft", {NULL}},
    {"stats", "per output token", "tpot", {NULL}},
    {"stats", "whole request", "request_time", {NULL}},
    {"stats", "output tokens/s", "output_tokens_per_s", {NULL}},
    {"stats", "output tokens/s/processor", "output_tokens_per_s_per_proc", {NULL}},
    {"stats", "output tokens/s/request", "tokens_per_s_per_user", {NULL}},
    {"stats", "requests/s", "requests_per_s", {NULL}},
    /* Heads of tables. */
    {"stats", "tok/s/proc", "output_tokens_per_s_per_proc", {NULL}},
    {"stats", "tok/s/user", "tokens_per_s_per_user", {NULL}},
    {"stats", "USD/Mtok", "usd_per_million_output_tokens", {NULL}},
};

static const struct {
    const char *word, *choice;
} choices[] = {{"mla", "multi_latent"}, {"groupquery", "grouped_query"},
               {"fp4", "float4"},       {"fp8", "float8"},
               {"fp16", "float16"},     {"bf16", "bfloat16"},
               {"fp32", "float32"}};

const calc_alias *calc_alias_find(const calc_table *table, const char *key)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        if (strcmp(aliases[i].table, table->name) == 0 && strcmp(aliases[i].key, key) == 0) {
            return &aliases[i];
        }
    }
    return NULL;
}

const calc_alias *calc_alias_next(const calc_table *table, const char *field,
                                  const calc_alias *before)
{
    for (size_t i = before ? (size_t)(before - aliases) + 1 : 0; i < COUNT(aliases); i++) {
        if (strcmp(aliases[i].table, table->name) == 0 && strcmp(aliases[i].field, field) == 0) {
            return &aliases[i];
        }
    }
    return NULL;
}

const calc_alias *calc_alias_of(const calc_table *table, const char *field)
{
    const calc_alias *alias = calc_alias_next(table, field, NULL);
    return alias && table != calc_table_of(CALC_KIND_STATS) ? alias : NULL;
}

const char *calc_alias_head(const char *word)
{
    static const struct {
        const char *head, *path;
    } heads[] = {{"procs", "num_procs"},
                 {"il", "pipeline_interleaving"},
                 {"schedule", "pipeline_schedule"},
                 {"balance", "pipeline_balance"},
                 {"modules", "recompute_modules"},
                 {"comm", "tensor_par_comm_type"},
                 {"requests", "inference.batch"},
                 {"chunk", "inference.chunk_size"},
                 {"prefill", "inference.prefill_procs"}};
    for (size_t i = 0; i < COUNT(heads); i++) {
        if (strcmp(heads[i].head, word) == 0) {
            return heads[i].path;
        }
    }
    return word;
}

const char *calc_alias_choice(const char *word)
{
    for (size_t i = 0; i < COUNT(choices); i++) {
        if (strcmp(choices[i].word, word) == 0) {
            return choices[i].choice;
        }
    }
    return NULL;
}

const char *calc_alias_of_choice(const char *choice)
{
    for (size_t i = 0; i < COUNT(choices); i++) {
        if (strcmp(choices[i].choice, choice) == 0) {
            return choices[i].word;
        }
    }
    return NULL;
}

enum { PATH_SIZE = 128 };

/* The best so far. */
typedef struct nearest {
    const char *word;
    int distance;
    char path[PATH_SIZE];
} nearest;

/* What is inside the same object is told apart by the rest of its name. Where nothing is near, the
 * name alone of a member of another object is. */
static void consider(nearest *best, const char *path)
{
    size_t same = 0;
    for (size_t i = 0; path[i] && path[i] == best->word[i]; i++) {
        same = path[i] == '.' ? i + 1 : same;
    }
    const char *const one[] = {path + same, NULL}, *dot = strrchr(path, '.');
    bool near = calc_nearest(best->word + same, one);
    if (near || (dot && strcmp(dot + 1, best->word) == 0)) {
        int distance = near ? calc_edit_distance(best->word + same, path + same) : INT_MAX - 1;
        if (distance < best->distance) {
            best->distance = distance;
            snprintf(best->path, sizeof best->path, "%s", path);
        }
    }
}

/* Consider all fields of a table that are no notes; `path` is extended and restored. */
static void consider_table(nearest *best, const calc_table *table, char path[PATH_SIZE])
{
    const unsigned list = CALC_STAGES | CALC_LAYERS | CALC_STACK | CALC_SOFTWARE;
    size_t used = strlen(path);
    size_t room = PATH_SIZE - used;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        int copies = field->type == CALC_TYPE_OBJECT ? 1
                     : field->type == CALC_TYPE_LIST ? CALC_MAX_NETWORKS
                                                     : 0;
        if (!field->table && (field->type != CALC_TYPE_NOTE || field->flags & list)) {
            const char *dot = strrchr(best->word, '.'), *last = dot ? dot + 1 : best->word;
            const calc_alias *other = calc_alias_find(table, last);
            snprintf(path + used, room, "%s", field->key);
            consider(best, path);
            if (other && strcmp(other->field, field->key) == 0) { /* whose number may be another */
                best->distance = 0;
                snprintf(best->path, sizeof best->path, "%s", path);
            }
        }
        for (int k = 0; field->type == CALC_TYPE_MAP ? field->choices[k] != NULL : k < copies;
             k++) {
            if (field->type == CALC_TYPE_MAP) {
                snprintf(path + used, room, "%s.%s.", field->key, field->choices[k]);
            } else if (copies > 1) {
                snprintf(path + used, room, "%s[%d].", field->key, k);
            } else {
                snprintf(path + used, room, "%s.", field->key);
            }
            consider_table(best, field->table, path);
        }
    }
    path[used] = '\0';
}

void calc_alias_hint(calc_kind only, const char *path, const char *const *others, char *hint,
                     size_t size)
{
    static const calc_kind kinds[] = {CALC_KIND_EXEC, CALC_KIND_APP, CALC_KIND_SYSTEM};
    nearest best = {.word = path, .distance = INT_MAX};
    char at[PATH_SIZE] = "";
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const calc_table *table = calc_table_of(kinds[i]);
        if (only == CALC_KIND_NONE || only == kinds[i]) {
            consider_table(&best, table, at);
        }
    }
    for (; others && *others; others++) {
        consider(&best, *others);
    }
    hint[0] = '\0';
    if (best.path[0]) {
        snprintf(hint, size, "did you mean \"%s%s%s\"?", calc_kind_name(only),
                 only == CALC_KIND_NONE ? "" : ".", best.path);
    }
}
