#include "spec/alias.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "spec/field.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const calc_alias aliases[] = {
    /* Names of Hugging Face's configurations and of forks of Calculon. */
    {CALC_KIND_APP, "kv_groups", "kv_heads", {NULL}},
    {CALC_KIND_APP, "qk_nope_head_dim", "qk_nope_size", {NULL}},
    {CALC_KIND_APP, "qk_rope_head_dim", "qk_rope_size", {NULL}},
    {CALC_KIND_APP, "v_head_dim", "v_size", {NULL}},
    {CALC_KIND_APP, "moe_topk", "experts_per_token", {NULL}},
    {CALC_KIND_APP, "moe_feedforward", "expert_feedforward", {NULL}},
    {CALC_KIND_APP,
     "num_shared_experts",
     "shared_feedforward",
     {"expert_feedforward", "feedforward"}},
    {CALC_KIND_APP, "first_k_dense", "dense_blocks", {NULL}},
    {CALC_KIND_APP, "num_nextn_predict_layers", "mtp_blocks", {NULL}},
    /* Names that the papers of single mixers use; CALC_KIND_NONE: fields of a part of a layer. */
    {CALC_KIND_NONE, "heads", "value_heads", {NULL}},
    {CALC_KIND_NONE, "head_size", "value_size", {NULL}},
    {CALC_KIND_NONE, "groups", "key_heads", {NULL}},
    {CALC_KIND_NONE, "state", "key_size", {NULL}},
    {CALC_KIND_EXEC, "matrix_dtype", "matrix_datatype", {NULL}},
    /* Words that people type, and short names of options of training frameworks. */
    {CALC_KIND_SYSTEM, "price", "usd_per_hour", {NULL}},
    {CALC_KIND_EXEC, "gpus", "num_procs", {NULL}},
    {CALC_KIND_EXEC, "tp", "tensor_par", {NULL}},
    {CALC_KIND_EXEC, "pp", "pipeline_par", {NULL}},
    {CALC_KIND_EXEC, "dp", "data_par", {NULL}},
    {CALC_KIND_EXEC, "cp", "context_par", {NULL}},
    {CALC_KIND_EXEC, "ep", "expert_par", {NULL}},
    {CALC_KIND_EXEC, "etp", "expert_tensor_par", {NULL}},
    {CALC_KIND_EXEC, "vpp", "pipeline_interleaving", {NULL}},
    {CALC_KIND_EXEC, "mbs", "microbatch_size", {NULL}},
    {CALC_KIND_EXEC, "gbs", "batch_size", {NULL}},
    {CALC_KIND_EXEC, "seq", "seq_size", {NULL}},
    {CALC_KIND_EXEC, "zero", "zero_stage", {NULL}},
    {CALC_KIND_EXEC, "dtype", "datatype", {NULL}},
    {CALC_KIND_EXEC, "recompute", "activation_recompute", {NULL}},
    {CALC_KIND_STATS, "mfu", "model_flops_utilization", {NULL}},
    {CALC_KIND_STATS, "hfu", "hardware_flops_utilization", {NULL}},
    {CALC_KIND_STATS, "mem1", "proc_mem_tier1_cap_req", {NULL}},
    {CALC_KIND_STATS, "mem2", "proc_mem_tier2_cap_req", {NULL}},
    {CALC_KIND_STATS, "memory", "proc_mem_tier1_cap_req", {NULL}},
    {CALC_KIND_STATS, "step_time", "total_time", {NULL}},
    /* Labels of the summary of a run. */
    {CALC_KIND_STATS, "time per step", "total_time", {NULL}},
    {CALC_KIND_STATS, "samples/s", "sample_rate", {NULL}},
    {CALC_KIND_STATS, "tokens/s", "tokens_per_s", {NULL}},
    {CALC_KIND_STATS, "tokens/s/processor", "tokens_per_s_per_proc", {NULL}},
    {CALC_KIND_STATS, "model FLOPs utilisation", "model_flops_utilization", {NULL}},
    {CALC_KIND_STATS, "MFU, full square", "model_flops_utilization_square", {NULL}},
    {CALC_KIND_STATS, "hardware FLOPs utilis.", "hardware_flops_utilization", {NULL}},
    {CALC_KIND_STATS, "compute efficiency", "compute_efficiency", {NULL}},
    {CALC_KIND_STATS, "system efficiency", "system_efficiency", {NULL}},
    {CALC_KIND_STATS, "total efficiency", "total_efficiency", {NULL}},
    {CALC_KIND_STATS, "days/1e12 tokens", "days_per_trillion_tokens", {NULL}},
    {CALC_KIND_STATS, "proc.-h/1e12 tokens", "proc_hours_per_trillion_tokens", {NULL}},
    {CALC_KIND_STATS, "USD/1e12 tokens", "usd_per_trillion_tokens", {NULL}},
    {CALC_KIND_STATS, "J/token", "energy_per_token", {NULL}},
    {CALC_KIND_STATS, "forward", "fw_time", {NULL}},
    {CALC_KIND_STATS, "backward", "bw_time", {NULL}},
    {CALC_KIND_STATS, "recompute", "recompute_time", {NULL}},
    {CALC_KIND_STATS, "repeated communication", "recomm_exposed_time", {NULL}},
    {CALC_KIND_STATS, "pipeline bubble", "bubble_time", {NULL}},
    {CALC_KIND_STATS, "tensor-parallel comm.", "tp_comm_exposed_time", {NULL}},
    {CALC_KIND_STATS, "pipeline comm.", "pp_comm_exposed_time", {NULL}},
    {CALC_KIND_STATS, "data-parallel comm.", "dp_comm_exposed_time", {NULL}},
    {CALC_KIND_STATS, "context-parallel comm.", "cp_comm_exposed_time", {NULL}},
    {CALC_KIND_STATS, "expert-parallel comm.", "ep_comm_exposed_time", {NULL}},
    {CALC_KIND_STATS, "forward offload", "fw_offload_exposed_time", {NULL}},
    {CALC_KIND_STATS, "backward offload", "bw_offload_exposed_time", {NULL}},
    {CALC_KIND_STATS, "embedding and head", "head_time", {NULL}},
    {CALC_KIND_STATS, "waiting for the host", "host_time", {NULL}},
    {CALC_KIND_STATS, "stragglers", "straggler_time", {NULL}},
    {CALC_KIND_STATS, "fixed overhead", "overhead_time", {NULL}},
    {CALC_KIND_STATS, "weights", "weight_space", {NULL}},
    {CALC_KIND_STATS, "activations", "act_space", {NULL}},
    {CALC_KIND_STATS, "checkpoints", "act_checkpoint_size", {NULL}},
    {CALC_KIND_STATS, "block at hand", "act_grad_space", {NULL}},
    {CALC_KIND_STATS, "activation gradients", "act_grad_space", {NULL}},
    {CALC_KIND_STATS, "weight gradients", "weight_grad_space", {NULL}},
    {CALC_KIND_STATS, "head", "head_space", {NULL}},
    {CALC_KIND_STATS, "framework", "framework_space", {NULL}},
    {CALC_KIND_STATS, "fragmentation, reserve", "mem_overhead", {NULL}},
    {CALC_KIND_STATS, "cached keys and values", "kv_cache_space", {NULL}},
    {CALC_KIND_STATS, "first token", "ttft", {NULL}},
    {CALC_KIND_STATS, "per output token", "tpot", {NULL}},
    {CALC_KIND_STATS, "whole request", "request_time", {NULL}},
    {CALC_KIND_STATS, "output tokens/s", "output_tokens_per_s", {NULL}},
    {CALC_KIND_STATS, "output tokens/s/processor", "output_tokens_per_s_per_proc", {NULL}},
    {CALC_KIND_STATS, "output tokens/s/request", "tokens_per_s_per_user", {NULL}},
    {CALC_KIND_STATS, "requests/s", "requests_per_s", {NULL}},
};

static const struct {
    const char *word, *choice;
} choices[] = {{"mla", "multi_latent"}, {"groupquery", "grouped_query"}};

static const calc_table *table_of(const calc_alias *alias)
{
    return alias->kind == CALC_KIND_NONE ? calc_part_table() : calc_table_of(alias->kind);
}

const calc_alias *calc_alias_find(const calc_table *table, const char *key)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        if (table_of(&aliases[i]) == table && strcmp(aliases[i].key, key) == 0) {
            return &aliases[i];
        }
    }
    return NULL;
}

const calc_alias *calc_alias_next(const calc_table *table, const char *field,
                                  const calc_alias *before)
{
    for (size_t i = before ? (size_t)(before - aliases) + 1 : 0; i < COUNT(aliases); i++) {
        if (table_of(&aliases[i]) == table && strcmp(aliases[i].field, field) == 0) {
            return &aliases[i];
        }
    }
    return NULL;
}

const calc_alias *calc_alias_of(const calc_table *table, const char *field)
{
    const calc_alias *alias = calc_alias_next(table, field, NULL);
    return alias && (alias->kind <= CALC_KIND_EXEC || alias->kind == CALC_KIND_NONE) ? alias : NULL;
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
            snprintf(path + used, room, "%s", field->key);
            consider(best, path);
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
        const calc_alias *alias = calc_alias_find(table, path);
        if (only != CALC_KIND_NONE && only != kinds[i]) {
            continue;
        }
        consider_table(&best, table, at);
        if (alias) { /* whose number is another one */
            best.distance = 0;
            snprintf(best.path, sizeof best.path, "%s", alias->field);
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
