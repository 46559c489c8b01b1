/* What a framework can be told comes back: layouts, shipped and random, are exported, written, read
   and imported. Fields that the framework cannot be told, listed here by hand from its options, are
   put back; then shipped layouts must be the same, and no statistic of any may differ in a bit.
   (Random ones have values in fields that mean nothing for them, which frameworks are not told.)
   CALC_PROPERTY_CASES says how many random layouts (400 if not given). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "formats/export.h"
#include "formats/import.h"
#include "formats/read.h"
#include "formats/write.h"
#include "frame.h"
#include "io/text.h"
#include "random_modern.h"
#include "spec/field.h"
#include "unit/scratch.h"

const calc_test_frame calc_tests = {.in_one_process = true};

static const uint64_t seed = 20241101;

static uint64_t cases(void)
{
    const char *text = getenv("CALC_PROPERTY_CASES");
    return text ? strtoull(text, NULL, 10) : 400;
}

typedef struct framework_case {
    const calc_framework *framework;
    const char *const *wordless;                /* fields of which it cannot be told every value */
    bool (*takes)(const calc_random_layout *l); /* whether it can run such a layout; NULL: any */
    bool seen[96]; /* one did come back otherwise: the list says no more than is so */
} framework_case;

/* What none of them is told: it is a matter of calc, of the machine, or of serving; or what they
 * always do, or choose for themselves, or take one value of only. */
#define IMAGES "images_per_sequence", "patches_per_image", "encoder_trained"
#define FROZEN                                                                                     \
    IMAGES, "trained", "trained_blocks", "frozen_datatype", "lora_rank", "lora_modules",           \
        "lora_experts", "lora_fused", "dora", "packed_size", "padding_share", "loss_share"
#define OF_ALL FROZEN, "lora_dropout", BASE
#define BRIDGED                                                                                    \
    IMAGES, "trained", "trained_blocks", "frozen_datatype", "lora_modules", "lora_experts",        \
        "lora_fused", "packed_size", "padding_share", "loss_share", BASE
#define BASE                                                                                       \
    "rank_order", "memory_model", "training", "tensor_par_overlap", "tensor_par_comm_type",        \
        "seq_par_ag_redo", "context_par_balance", "eager", "cuda_graph", "looped_experts",         \
        "recompute_early_stop", "unfused_experts", "unfused_rope", "unfused_norm",                 \
        "software_efficiency", "moe_imbalance", "framework_mem", "attention_kernel",               \
        "attention_datatype", "dispatch_datatype", "combine_datatype", "activation_datatype",      \
        "matrix_datatype", "weight_datatype", "grad_datatype", "grad_reduce_datatype",             \
        "master_datatype", "optimizer_moment_datatype", "scaling", "datatype", "weight_offload",   \
        "offload_share", "pipeline_schedule", "pipeline_balance", "recompute_blocks",              \
        "optimizer_shards", "param_gather_datatype", "launch_blocking", "activation_recompute",    \
        "grad_offload", "offload_buffers", "pipeline_par_overlap"

/* clang-format off */
static const char *const megatron[] = {OF_ALL, "trained_datatype", "offload_modules", "rank_capacity_factor", "paged_stash", "fused_experts", "causal", "activations_offload",
    "param_gather_overlap", NULL};
static const char *const mindspeed[] = {OF_ALL, "trained_datatype", "offload_modules", "rank_capacity_factor", "paged_stash", "optimizer", "delayed_wgrad", "fused_experts", "causal", "ffn_type", "param_gather_overlap",
    "context_par_type", "window_size", "global_every", "attention_sinks", "pipeline_interleaving",
    "recompute_modules", NULL};
static const char *const nemo[] = {OF_ALL, "trained_datatype", "offload_modules", "rank_capacity_factor", "paged_stash", "optimizer", "delayed_wgrad", "fused_experts", "causal", "param_gather_overlap", "vocab_size",
    "zero_stage", "fsdp_par", "expert_par_overlap", "context_par_inner",
    "attention_type", "kv_heads", "kv_lora_rank", "q_lora_rank", "qk_nope_size", "qk_rope_size",
    "v_size", "mtp_blocks", "window_size", "global_every", "attention_sinks", "optimizer_offload",
    "recompute_modules", NULL};
static const char *const bridge[] = {BRIDGED, "trained_datatype", "causal", "ffn_type", "activations_offload",
    "param_gather_overlap", NULL};
static const char *const mindformers[] = {OF_ALL, "trained_datatype", "offload_modules", "rank_capacity_factor", "paged_stash", "optimizer", "deferred_head_wgrad", "delayed_wgrad", "fused_experts", "causal", "ffn_type", "activations_offload",
    "param_gather_overlap", "context_par_type", "context_par_inner", "fused_activation",
    "expert_par_overlap", "dispatch_type", "fused_cross_entropy", "capacity_factor",
    "vocab_multiple", "zero_stage", "fsdp_par", "data_par_overlap", "expert_tensor_par",
    "window_size", "global_every", "attention_sinks", "moe_every", "optimizer_offload",
    "recompute_modules", "first_stage_blocks", "last_stage_blocks", "recompute_group", "distribute_saved_activations", NULL};
static const char *const paddle[] = {OF_ALL, "offload_modules", "rank_capacity_factor", "paged_stash", "optimizer", "deferred_head_wgrad", "delayed_wgrad", "fused_experts", "activations_offload", "param_gather_overlap",
    "context_par_type", "context_par_inner", "fused_activation", "expert_par_overlap",
    "dispatch_type", "fused_cross_entropy", "capacity_factor", "fsdp_par", "data_par_overlap",
    "expert_tensor_par", "recompute_modules", "first_stage_blocks",
    "last_stage_blocks", "recompute_group", "distribute_saved_activations", NULL};
static const char *const deepspeed[] = {FROZEN, "offload_modules", "rank_capacity_factor", "paged_stash", "optimizer", "optimizer_shards", "param_gather_datatype", "launch_blocking", "fused_experts", "attention_datatype", "delayed_wgrad", "rank_order", "memory_model", "training",
    "tensor_par_overlap", "tensor_par_comm_type", "seq_par_ag_redo", "context_par_balance", "eager",
    "cuda_graph", "looped_experts", "recompute_early_stop", "unfused_experts", "unfused_rope", "unfused_norm", "software_efficiency", "moe_imbalance",
    "framework_mem", "attention_kernel", "dispatch_datatype", "combine_datatype",
    "activation_datatype", "matrix_datatype", "weight_datatype", "grad_datatype",
    "grad_reduce_datatype", "master_datatype", "optimizer_moment_datatype", "scaling", "datatype",
    "offload_share", "recompute_blocks",
    "param_gather_overlap", "context_par_inner", "capacity_factor", "expert_tensor_par",
    "dispatch_type", "expert_par_overlap", "fused_activation", "flash_attention",
    "context_par_type", "fused_cross_entropy", "activation_recompute", "recompute_modules", "recompute_group", "distribute_saved_activations", "grad_offload", "offload_buffers", NULL};
static const char *const torchtitan[] = {FROZEN, "lora_dropout", "pipeline_par_overlap", "offload_modules", "rank_capacity_factor", "paged_stash", "optimizer", "deferred_head_wgrad", "optimizer_shards", "param_gather_datatype", "launch_blocking", "fused_experts", "attention_datatype", "delayed_wgrad", "rank_order", "memory_model", "training",
    "tensor_par_overlap", "tensor_par_comm_type", "seq_par_ag_redo", "context_par_balance",
    "cuda_graph", "looped_experts", "recompute_early_stop", "unfused_experts", "unfused_rope", "unfused_norm", "software_efficiency", "moe_imbalance",
    "framework_mem", "attention_kernel", "dispatch_datatype", "combine_datatype",
    "activation_datatype", "matrix_datatype", "weight_datatype", "grad_datatype",
    "grad_reduce_datatype", "master_datatype", "optimizer_moment_datatype", "scaling", "datatype",
    "offload_share", "pipeline_schedule", "pipeline_balance",
    "recompute_blocks", "first_stage_blocks", "last_stage_blocks",
    "capacity_factor", "activations_offload", "expert_tensor_par", "dispatch_type",
    "optimizer_offload", "fused_activation", "param_gather_overlap", "expert_par_overlap",
    "data_par_overlap", "flash_attention", "activation_recompute", "zero_stage",
    "recompute_modules", "fused_cross_entropy", "recompute_group", "grad_offload", "weight_offload", "offload_buffers", "distribute_saved_activations", NULL};
/* clang-format on */

/* Its pipeline stages and experts are code. */
static bool deepspeed_takes(const calc_random_layout *l)
{
    return l->exec.pipeline_par == 1 && l->exec.strategy.expert_par <= 1;
}

/* Chunks are counted in blocks of a model that it knows by name; weights are always shared by the
 * ranks of context parallelism. */
static bool torchtitan_takes(const calc_random_layout *l)
{
    return l->exec.pipeline_interleaving == 1 && l->exec.strategy.context_par <= 1;
}

static framework_case frameworks[] = {
    {&calc_framework_megatron, megatron, NULL, {false}},
    {&calc_framework_mindspeed, mindspeed, NULL, {false}},
    {&calc_framework_nemo, nemo, NULL, {false}},
    {&calc_framework_bridge, bridge, NULL, {false}},
    {&calc_framework_mindformers, mindformers, NULL, {false}},
    {&calc_framework_paddle, paddle, NULL, {false}},
    {&calc_framework_deepspeed, deepspeed, deepspeed_takes, {false}},
    {&calc_framework_torchtitan, torchtitan, torchtitan_takes, {false}},
};

static bool is_network(const char *key)
{
    size_t length = strlen(key);
    return length > 4 && strcmp(key + length - 4, "_net") == 0;
}

/* Index of a name in a list; SIZE_MAX if it is not there. */
static size_t find(const char *const *list, const char *name)
{
    for (size_t i = 0; list[i]; i++) {
        if (strcmp(list[i], name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static size_t size_of(const calc_field *field)
{
    switch (field->type) {
    case CALC_TYPE_INT:
    case CALC_TYPE_SET:
        return sizeof(int64_t);
    case CALC_TYPE_REAL:
        return sizeof(double);
    case CALC_TYPE_BOOL:
        return sizeof(bool);
    case CALC_TYPE_ENUM:
        return sizeof(calc_choice);
    default:
        return 0;
    }
}

/* Put what the framework has no word for back in, and name what else is not the same. */
static void restore(framework_case *c, calc_kind kind, const void *before, void *after, char *names)
{
    const calc_table *table = calc_table_of(kind);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *was = (const char *)before + field->offset;
        char *is = (char *)after + field->offset;
        size_t size = size_of(field);
        size_t listed = find(c->wordless, field->key);
        if (size == 0 || memcmp(was, is, size) == 0) {
            continue;
        }
        if (listed != SIZE_MAX || is_network(field->key)) {
            memcpy(is, was, size);
            if (listed != SIZE_MAX) {
                c->seen[listed] = true;
            }
        } else {
            strcat(strcat(names, " "), field->key);
        }
    }
}

/* Fields that came back otherwise may do so only where they mean nothing: no statistic moves. */
static void compare(framework_case *c, const calc_random_layout *before,
                    const calc_random_layout *after, const char *names, const char *what)
{
    calc_stats a, b;
    calc_errors errors = {0};
    if (calc_check(&before->app, &before->system, &before->exec, &errors) != CALC_OK) {
        return;
    }
    if (calc_check(&after->app, &after->system, &after->exec, &errors) != CALC_OK) {
        ck_abort_msg("%s, %s:%s: %s", c->framework->name, what, names, errors.item[0].text);
    }
    calc_run(&before->app, &before->system, &before->exec, CALC_COMPAT_NONE, &a);
    calc_run(&after->app, &after->system, &after->exec, CALC_COMPAT_NONE, &b);
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        const char *was = (const char *)&a + field->offset;
        const char *is = (const char *)&b + field->offset;
        ck_assert_msg(memcmp(was, is, size_of(field)) == 0, "%s, %s:%s: %s moves",
                      c->framework->name, what, names, field->key);
    }
}

static calc_status read_back(const calc_framework *framework, const char *path,
                             calc_settings *settings)
{
    calc_text text = {0};
    ck_assert_int_eq(calc_text_read(&text, path, NULL), CALC_OK);
    calc_status status = framework->syntax == CALC_SYNTAX_YAML
                             ? calc_settings_from_text(settings, CALC_SYNTAX_YAML, text.data,
                                                       text.length, path, NULL)
                         : framework->syntax == CALC_SYNTAX_JSON
                             ? calc_settings_from_text(settings, CALC_SYNTAX_JSON, text.data,
                                                       text.length, path, NULL)
                         : framework->syntax == CALC_SYNTAX_TOML
                             ? calc_settings_from_toml(settings, text.data, text.length, path, NULL)
                             : calc_settings_from_script(settings, text.data, text.length, NULL);
    calc_text_free(&text);
    return status;
}

static void round_trip(framework_case *c, calc_random_layout before, bool exact, const char *name)
{
    const calc_framework *f = c->framework;
    calc_settings given = {0}, found = {0};
    calc_random_layout after = before;
    calc_errors errors = {0};
    calc_output *out;
    char names[2048] = "";
    ck_assert_msg(calc_export(f, &before.app, &before.exec, 8, &given, &errors) == CALC_OK,
                  "%s: %s", name, errors.item[0].text);
    ck_assert_int_eq(calc_output_open(&out, "file", NULL), CALC_OK);
    calc_settings_write(out, f, &given);
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(read_back(f, "file", &found), CALC_OK);
    const calc_import import = {
        .framework = f, .settings = &found, .procs = f->launched ? before.exec.num_procs : 0};
    ck_assert_msg(calc_import_run(&import, &after.app, &after.exec, &errors) == CALC_OK, "%s: %s",
                  name, errors.item[0].text);
    calc_plan_resolve(&before.app, &before.exec);
    if (!f->has_model) {
        after.app = before.app;
        after.exec.strategy.attention_type = before.exec.strategy.attention_type;
    }
    calc_plan_resolve(&after.app, &after.exec);
    after.app.encoder = before.app.encoder; /* none is told: export says so */
    restore(c, CALC_KIND_APP, &before.app, &after.app, names);
    restore(c, CALC_KIND_EXEC, &before.exec, &after.exec, names);
    after.exec.inference = before.exec.inference;
    ck_assert_msg(!exact || !names[0], "%s, %s: not the same:%s", f->name, name, names);
    compare(c, &before, &after, names, name);
    calc_settings_free(&given);
    calc_settings_free(&found);
}

static void round_trips(const calc_random_layout *layout, bool exact, const char *name)
{
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        if (!frameworks[i].takes || frameworks[i].takes(layout)) {
            round_trip(&frameworks[i], *layout, exact, name);
        }
    }
}

/* ---- Shipped layouts ------------------------------------------------------------------------- */

static void load(calc_kind kind, void *object, const char *folder, const char *name)
{
    char path[1024];
    calc_errors errors = {0};
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s/%s.json", folder, name);
    ck_assert_msg(calc_load(kind, object, path, &errors) == CALC_OK, "%s: %s", path,
                  errors.item[0].text);
}

/* A layout is named after its model, up to the first "_"; short names of two families are not
   files. */
static void model_of(const char *layout, char *model, size_t size)
{
    static const char *const odd[][2] = {
        {"3072", "gpt3-175B"}, {"deepseek-v3", "deepseek-v3-671B"}, {"kimi-k2", "kimi-k2-1T"}};
    snprintf(model, size, "%.*s", (int)strcspn(layout, "_"), layout);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        if (strcmp(model, odd[i][0]) == 0) {
            snprintf(model, size, "%s", odd[i][1]);
        }
    }
}

static int shipped_folder(const char *folder)
{
    char path[512];
    int count = 0;
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/%s", folder);
    DIR *dir = opendir(path);
    ck_assert_msg(dir, "%s", path);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        char name[256], model[256];
        calc_random_layout l;
        char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".json") != 0) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        model_of(name, model, sizeof model);
        load(CALC_KIND_APP, &l.app, "models", model);
        load(CALC_KIND_SYSTEM, &l.system, "systems", "gb300_nvl72");
        load(CALC_KIND_EXEC, &l.exec, folder, name);
        round_trips(&l, true, name);
        count++;
    }
    closedir(dir);
    return count;
}

CALC_TEST(shipped_layouts_come_back)
{
    char folder[256];
    scratch_enter(folder, sizeof folder);
    int count = shipped_folder("executions") + shipped_folder("executions/seqsel_fig1") +
                shipped_folder("executions/seqsel_fig7") + shipped_folder("executions/seqsel_tab5");
    ck_assert_int_ge(count, 60);
    scratch_leave(folder);
}

CALC_TEST(random_layouts_come_back)
{
    char folder[256], name[64];
    scratch_enter(folder, sizeof folder);
    for (uint64_t i = 0; i < cases(); i++) {
        calc_rng rng;
        calc_random_layout l;
        calc_rng_init(&rng, seed, i);
        snprintf(name, sizeof name, "seed %llu, case %llu", (unsigned long long)seed,
                 (unsigned long long)i);
        if (i % 4 == 0) {
            calc_random_layout_make(&rng, &l);
        } else {
            calc_random_modern_make(&rng, &l);
        }
        round_trips(&l, false, name);
    }
    scratch_leave(folder);
}

/* After the others. */
CALC_TEST(the_lists_say_no_more_than_is_so)
{
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        const framework_case *c = &frameworks[i];
        for (size_t j = 0; c->wordless[j]; j++) {
            ck_assert_msg(c->seen[j], "%s is told every %s", c->framework->name, c->wordless[j]);
        }
    }
}
