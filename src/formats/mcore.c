/* Frameworks built on Megatron Core: one list of rows, mcore.fields.h, in four tables. */
#include "formats/framework.h"
#include "formats/refusal_rules.h"

/* clang-format off */
static const calc_word context_type[] = {{"p2p", CALC_CONTEXT_PAR_TYPE_RING}, {"all_gather", CALC_CONTEXT_PAR_TYPE_ALL_GATHER},
    {"a2a", CALC_CONTEXT_PAR_TYPE_ULYSSES}, {"a2a+p2p", CALC_CONTEXT_PAR_TYPE_HIERARCHICAL}, {"allgather", CALC_CONTEXT_PAR_TYPE_ALL_GATHER}, {0}};
static const calc_word mindspeed_context[] = {{"megatron_cp_algo", CALC_CONTEXT_PAR_TYPE_RING}, {"ulysses_cp_algo", CALC_CONTEXT_PAR_TYPE_ULYSSES},
    {"hybrid_cp_algo", CALC_CONTEXT_PAR_TYPE_HIERARCHICAL}, {0}};
static const calc_word mindspeed_schedule[] = {{"dualpipev", CALC_PIPELINE_SCHEDULE_DUALPIPE_V}, {0}};
static const calc_word norm[] = {{"LayerNorm", CALC_NORM_TYPE_LAYER}, {"RMSNorm", CALC_NORM_TYPE_RMS}, {0}};
static const calc_word nemo_norm[] = {{"layernorm", CALC_NORM_TYPE_LAYER}, {"rmsnorm", CALC_NORM_TYPE_RMS}, {0}};
static const calc_word position[] = {{"learned_absolute", CALC_POSITION_TYPE_LEARNED}, {"rope", CALC_POSITION_TYPE_ROPE},
    {"none", CALC_POSITION_TYPE_NONE}, {0}};
static const calc_word nemo_ffn[] = {{"gelu", CALC_FFN_TYPE_GELU}, {"relu", CALC_FFN_TYPE_RELU}, {"fast-swiglu", CALC_FFN_TYPE_SWIGLU},
    {"fast-geglu", CALC_FFN_TYPE_GEGLU}, {"swiglu", CALC_FFN_TYPE_SWIGLU}, {"geglu", CALC_FFN_TYPE_GEGLU}, {0}};
static const calc_word nemo_precision[] = {{"bf16", CALC_DATATYPE_BFLOAT16}, {"16", CALC_DATATYPE_FLOAT16}, {"32", CALC_DATATYPE_FLOAT32},
    {"bf16-mixed", CALC_DATATYPE_BFLOAT16}, {"16-mixed", CALC_DATATYPE_FLOAT16}, {0}};
static const calc_word nemo_optimizer[] = {{"mcore_distributed_optim", 1}, {"megatron_fused_adam", 0}, {"distributed_fused_adam", 1},
    {"fused_adam", 0}, {0}};
static const calc_word router[] = {{"fp32", CALC_FORMAT_FLOAT32}, {0}};
static const calc_word dispatch[] = {{"alltoall", CALC_DISPATCH_TYPE_ALL_TO_ALL}, {"allgather", CALC_DISPATCH_TYPE_ALL_GATHER},
    {"flex", CALC_DISPATCH_TYPE_NODE_LIMITED}, {0}};
static const calc_word flex[] = {{"deepep", 1}, {"hybridep", 2}, {0}};
static const calc_word fp8[] = {{"hybrid", 1}, {"e4m3", 1}, {0}};
static const calc_word fp8_recipe[] = {{"tensorwise", CALC_SCALING_TENSOR}, {"blockwise", CALC_SCALING_BLOCK}, {"delayed", CALC_SCALING_TENSOR},
    {"mxfp8", CALC_SCALING_BLOCK}, {0}};
static const calc_word fp4[] = {{"e2m1", 1}, {0}};
static const calc_word sharded[] = {{"no_shard", 0}, {"optim", 1}, {"optim_grads", 2}, {"optim_grads_params", 3}, {0}};
static const calc_word format[] = {{"fp32", CALC_FORMAT_FLOAT32}, {"fp16", CALC_FORMAT_FLOAT16}, {"bf16", CALC_FORMAT_BFLOAT16},
    {"fp8", CALC_FORMAT_FLOAT8}, {0}};
static const calc_word master[] = {{"fp32", CALC_FORMAT_FLOAT32}, {"fp16", CALC_FORMAT_FLOAT16}, {0}};
enum { LAYER_WISE = CALC_OPTIMIZER_MUON + 1 }; /* the old dist_muon: Muon, with its state sharded */
static const calc_word optimizer[] = {{"adam", CALC_OPTIMIZER_ADAM}, {"muon", CALC_OPTIMIZER_MUON}, {"dist_muon", LAYER_WISE}, {0}};
static const calc_word bridge_grad[] = {{"true", CALC_FORMAT_FLOAT32}, {"false", CALC_FORMAT_BFLOAT16}, {0}};
static const calc_word recompute[] = {{"selective", 1}, {"full", 2}, {0}};
static const calc_word recompute_method[] = {{"uniform", 0}, {"block", 1}, {0}};
static const calc_word modules[] = {
#define CALC_X(name, text) {text, 1 << CALC_RECOMPUTE_MODULES_##name},
    CALC_RECOMPUTE_MODULES_LIST(CALC_X)
#undef CALC_X
        {0}};
static const calc_word modules_0_12[] = {{"core_attn", 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN}, {"moe_act", 1 << CALC_RECOMPUTE_MODULES_MOE_ACT},
    {"layernorm", 1 << CALC_RECOMPUTE_MODULES_LAYERNORM}, {"mla_up_proj", 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ},
    {"mlp", 1 << CALC_RECOMPUTE_MODULES_MLP}, {"moe", 1 << CALC_RECOMPUTE_MODULES_MOE}, {0}};
static const calc_word moved[] = {
#define CALC_X(name, text) {text, 1 << CALC_OFFLOAD_MODULES_##name},
    CALC_OFFLOAD_MODULES_LIST(CALC_X)
#undef CALC_X
        {0}};
static const calc_word backend[] = {{"flash", 1}, {"unfused", 0}, {"fused", 1}, {"auto", 1}, {"local", 0}, {0}};
/* 2: of the parts in graphed. */
static const calc_word graphs[] = {{"local", 1}, {"none", 0}, {"transformer_engine", 2}, {"full_iteration", 1}, {0}};
static const calc_word graphed[] = {{"attn", 1}, {"moe_router", 2}, {"moe_preprocess", 4}, {"mlp", 8}, {"moe", 16}, {"mamba", 32}, {0}};
/* clang-format on */

/* Each leaves out rows of the other frameworks. */
#define ROW(name, ...) {.key = name, __VA_ARGS__},
#define NONE(...)
#define BOTH(option, nemo, bridge, ...) ROW(option, __VA_ARGS__)
#define NEWER BOTH
#define SHELL ROW
#define MEGATRON ROW
#define MINDSPEED NONE
#define NEMO NONE
#define BRIDGE NONE
static const calc_setting_row megatron_rows[] = {
#include "formats/mcore.fields.h"
};
#undef NEWER
#undef MEGATRON
#undef MINDSPEED
#define NEWER NONE
#define MEGATRON NONE
#define MINDSPEED ROW
static const calc_setting_row mindspeed_rows[] = {
#include "formats/mcore.fields.h"
};
#undef BOTH
#undef NEWER
#undef SHELL
#undef MINDSPEED
#undef NEMO
#define BOTH(option, nemo, bridge, ...) ROW(nemo, __VA_ARGS__)
#define NEWER BOTH
#define SHELL NONE
#define MINDSPEED NONE
#define NEMO ROW
static const calc_setting_row nemo_rows[] = {
#include "formats/mcore.fields.h"
};
#undef BOTH
#undef NEMO
#undef BRIDGE
#define BOTH(option, nemo, bridge, ...) ROW(bridge, __VA_ARGS__)
#define NEMO NONE
#define BRIDGE ROW
static const calc_setting_row bridge_rows[] = {
#include "formats/mcore.fields.h"
};

/* clang-format off */
const calc_framework calc_framework_megatron = {.name = "megatron", .title = "Megatron-LM",
    .version = "core_v0.15.0",
    .launch = "run it with bash, from the folder of Megatron-LM; options for data follow",
    .script = "pretrain_gpt.py", .platforms = CALC_ON(CUDA) | CALC_ON(ROCM), .syntax = CALC_SYNTAX_SHELL,
    .has_model = true, CALC_FRAMEWORK_ROWS(megatron_rows),
    CALC_FRAMEWORK_REFUSALS(&calc_refusals_batch_overlap, &calc_refusals_core, &calc_refusals_listed, &calc_refusals_flex,
        &calc_refusals_graphs, &calc_refusals_fsdp, &calc_refusals_fsdp_0_15)};

const calc_framework calc_framework_mindspeed = {.name = "mindspeed", .title = "MindSpeed",
    .version = "2.3.0_core_r0.12.1, with Megatron-LM core_v0.12.1",
    .launch = "run it with bash, from the folder of Megatron-LM; options for data follow",
    .script = "pretrain_gpt.py", .platforms = CALC_ON(CANN), .syntax = CALC_SYNTAX_SHELL, .has_model = true,
    CALC_FRAMEWORK_ROWS(mindspeed_rows),
    CALC_FRAMEWORK_REFUSALS(&calc_refusals_core, &calc_refusals_even, &calc_refusals_flex, &calc_refusals_mindspeed)};

const calc_framework calc_framework_nemo = {.name = "nemo", .title = "NeMo",
    .version = "2.4.0, megatron_gpt_config.yaml",
    .launch = "merge it into megatron_gpt_config.yaml of megatron_gpt_pretraining.py", .platforms = CALC_ON(CUDA),
    .syntax = CALC_SYNTAX_YAML, .has_model = true, .elsewhere = " vocab_size " /* the tokenizer */,
    CALC_FRAMEWORK_ROWS(nemo_rows),
    CALC_FRAMEWORK_REFUSALS(&calc_refusals_core, &calc_refusals_even, &calc_refusals_flex, &calc_refusals_nemo)};

const calc_framework calc_framework_bridge = {.name = "megatron-bridge", .title = "Megatron-Bridge",
    .version = "0.6.0, ConfigContainer",
    .launch = "give it to the pretraining script of a recipe as its file of overrides", .platforms = CALC_ON(CUDA),
    .syntax = CALC_SYNTAX_YAML, .has_model = true,
    .elsewhere = " ffn_type " /* named by the recipe; the file says whether there is a gate */, .launched = true,
    CALC_FRAMEWORK_ROWS(bridge_rows),
    CALC_FRAMEWORK_REFUSALS(&calc_refusals_batch_overlap, &calc_refusals_core, &calc_refusals_listed, &calc_refusals_flex,
        &calc_refusals_graphs, &calc_refusals_fsdp)};
/* clang-format on */
