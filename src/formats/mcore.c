/* Frameworks built on Megatron Core: one list of rows, mcore.fields.h, in four tables. */
#include "formats/framework.h"
#include "formats/refusal_rules.h"

static const char context_type[] =
    "p2p=ring all_gather a2a=ulysses a2a+p2p=hierarchical allgather=all_gather";
static const char format[] = "fp32=float32 fp16=float16 bf16=bfloat16 fp8=float8";
static const char moved[] =
    "attn_norm qkv_linear core_attn attn_proj mlp_norm expert_fc1 moe_act fused_group_mlp";
/* 2: of the parts that --cuda-graph-scope names. */
static const char graphs[] = "local=1 none=0 transformer_engine=2 full_iteration=1";

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
/* Keys that are not read: first those of all that matter, then a framework's own. */
static const calc_framework harmless = {.unread = &calc_unread_mcore_harmless};
static const calc_framework mindspeed = {.unread = &calc_unread_mindspeed}, nemo = {.unread = &calc_unread_nemo};
static const calc_framework bridge = {.unread = &calc_unread_bridge};
const calc_framework calc_framework_megatron = {.name = "megatron", .title = "Megatron-LM",
    .version = "core_v0.15.0",
    .launch = "run it with bash, from the folder of Megatron-LM; options for data follow",
    .script = "pretrain_gpt.py", .platforms = CALC_ON(CUDA) | CALC_ON(ROCM), .syntax = CALC_SYNTAX_SHELL,
    .has_model = true, CALC_FRAMEWORK_ROWS(megatron_rows, mcore), CALC_FRAMEWORK_BASES(&harmless),
    CALC_FRAMEWORK_REFUSALS(calc_refusals_batch_overlap, calc_refusals_core, calc_refusals_layers, calc_refusals_listed, calc_refusals_flex,
        calc_refusals_graphs, calc_refusals_fsdp, calc_refusals_fsdp_0_15)};

const calc_framework calc_framework_mindspeed = {.name = "mindspeed", .title = "MindSpeed",
    .version = "2.3.0_core_r0.12.1, with Megatron-LM core_v0.12.1",
    .launch = "run it with bash, from the folder of Megatron-LM; options for data follow",
    .script = "pretrain_gpt.py", .platforms = CALC_ON(CANN), .syntax = CALC_SYNTAX_SHELL, .has_model = true,
    CALC_FRAMEWORK_ROWS(mindspeed_rows, mcore), CALC_FRAMEWORK_BASES(&mindspeed, &harmless),
    CALC_FRAMEWORK_REFUSALS(calc_refusals_core, calc_refusals_even, calc_refusals_flex, calc_refusals_mindspeed)};

const calc_framework calc_framework_nemo = {.name = "nemo", .title = "NeMo",
    .version = "2.4.0, megatron_gpt_config.yaml",
    .launch = "merge it into megatron_gpt_config.yaml of megatron_gpt_pretraining.py", .platforms = CALC_ON(CUDA),
    .syntax = CALC_SYNTAX_YAML, .has_model = true, .elsewhere = " vocab_size " /* the tokenizer */,
    CALC_FRAMEWORK_ROWS(nemo_rows, mcore), CALC_FRAMEWORK_BASES(&nemo, &harmless),
    CALC_FRAMEWORK_REFUSALS(calc_refusals_core, calc_refusals_even, calc_refusals_flex, calc_refusals_nemo)};

const calc_framework calc_framework_bridge = {.name = "megatron-bridge", .title = "Megatron-Bridge",
    .version = "0.6.0, ConfigContainer",
    .launch = "give it to the pretraining script of a recipe as its file of overrides", .platforms = CALC_ON(CUDA),
    .syntax = CALC_SYNTAX_YAML, .has_model = true,
    .elsewhere = " ffn_type norm_place qk_norm_whole " /* of the recipe's model; the file says whether there is a gate */, .launched = true,
    CALC_FRAMEWORK_ROWS(bridge_rows, mcore), CALC_FRAMEWORK_BASES(&bridge, &harmless),
    CALC_FRAMEWORK_REFUSALS(calc_refusals_batch_overlap, calc_refusals_core, calc_refusals_layers, calc_refusals_letters, calc_refusals_listed, calc_refusals_flex,
        calc_refusals_graphs, calc_refusals_fsdp)};
/* clang-format on */
