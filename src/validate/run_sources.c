#include "validate/run_sources.h"

#include <string.h>

#include "validate/own_runs.h"

#define T(name) CALC_RUN_TRAIT_##name

enum {
    OLD_GPT = T(UNFUSED_ATTENTION) | T(DROPOUT) | T(UNFUSED_LOSS),
    MEGATRON_2021 = OLD_GPT | T(NO_MESSAGE_OVERLAP),
    VTRAIN = MEGATRON_2021 | T(HALF_GRADIENTS),
    NVIDIA_EARLIER = T(DATA_OVERLAP) | T(HALF_GRADIENTS) | T(FUSED_TENSOR_OVERLAP),
    /* fp8_params of MLPerf 4.0's configurations (3.1's have none), of DGX Cloud's since v24.11 and
     * of NeMo's recipes; fp8_param_gather of Megatron-Bridge (mixed_precision.py of v0.2.0 to
     * v0.6.0). NeMo-Framework-Launcher of 24.07 names it for MLPerf's model alone. */
    NVIDIA_RECIPE = NVIDIA_EARLIER | T(FLOAT8_GATHER),
    PYTORCH = T(PORTABLE_ATTENTION) | T(DATA_OVERLAP) | T(WIDE_INPUTS),
    TITAN = PYTORCH | T(UNFUSED_LOSS) | T(EAGER_UNLESS_COMPILED) | T(MICROBATCH_PER_STAGE) |
            T(CHUNKS_2) | T(FLOAT32_SHARDS),
    BIGSCIENCE = MEGATRON_2021 | T(NO_TENSOR_OVERLAP) | T(FLOAT16_GRADIENTS),
    FOUNDRY = T(EAGER) | T(UNFUSED_LOSS) | T(PORTABLE_ATTENTION),
    NANOTRON = FOUNDRY | T(NO_MESSAGE_OVERLAP) | T(COST_BALANCED),
    INTERNEVO = T(EAGER) | T(PORTABLE_ATTENTION) | T(NO_TENSOR_OVERLAP) | T(HALF_GRADIENTS) |
                T(WHOLE_TENSORS),
    FMS = PYTORCH | T(UNFUSED_LOSS) | T(EAGER_UNLESS_COMPILED) | T(HALF_GRADIENTS),
    SIMUMAX = T(NO_TENSOR_OVERLAP) | T(NO_MESSAGE_OVERLAP) | T(ULYSSES) | T(ENGINE_BUFFERS)
};

static const char nothing_shared[] = "GPU count is not the product of the parallel sizes";

/* The first row that fits counts. NULL prefix: any id. */
static const calc_run_source sources[] = {
    {"simumax_b200", NULL, 0, "simumax_b200", SIMUMAX, NULL},
    {"simumax", NULL, 0, "simumax", SIMUMAX, NULL},
    {"seqsel_tab5", NULL, 0, "calculon_tab5", MEGATRON_2021, NULL},
    {"seqsel_fig", NULL, 0, "seqsel_fig1", OLD_GPT, "analytical memory values, no measurement"},
    {"seqsel", NULL, 0, "seqsel_abs", OLD_GPT, NULL},
    {"mlm_sc21_tab1", NULL, 0, "mlm_sc21_tab1", MEGATRON_2021 | T(MICROBATCH_SEARCH), NULL},
    {"mlm_sc21_tab2", NULL, 0, "mlm_sc21_tab2", MEGATRON_2021 | T(MICROBATCH_SEARCH), NULL},
    {"mlm_readme2020", NULL, 0, "mlm_readme2020",
     OLD_GPT | T(NO_TENSOR_OVERLAP) | T(HALF_GRADIENTS), NULL},
    {"mlm_readme_h100", NULL, 0, "mlm_readme_h100", T(DATA_OVERLAP) | T(MICROBATCH_SEARCH), NULL},
    {"vtrain_multi", NULL, 0, "vtrain_multi", VTRAIN, NULL},
    {"vtrain_single", NULL, 0, "vtrain_single", VTRAIN, NULL},
    {"foundry_h100", NULL, 0, "foundry_h100", FOUNDRY, NULL},
    {"foundry_a100_80", NULL, 0, "foundry_a100_80", FOUNDRY, NULL},
    {"foundry_a100_40", NULL, 0, "foundry_a100_40", FOUNDRY, NULL},
    {"foundry", NULL, 0, "foundry", FOUNDRY, NULL},
    {"mlperf3", NULL, 0, "mlperf", NVIDIA_EARLIER, NULL},
    {"mlperf", NULL, 0, "mlperf", NVIDIA_RECIPE, NULL},
    {"torchtitan_ao", NULL, 0, "torchao", TITAN, NULL},
    {"torchtitan", NULL, 0, "torchtitan", TITAN, NULL},
    {"nemo_24", NULL, 0, "nemo_2407", NVIDIA_EARLIER, NULL},
    {"nemo_long", NULL, 0, "nemo_longseq", 0, nothing_shared},
    {"nemo_", NULL, 0, "nemo", NVIDIA_RECIPE, NULL},
    {"automodel", "GPT-OSS", 0, "automodel", PYTORCH | T(NO_RECOMPUTE) | T(SPREAD_EXPERTS), NULL},
    {"automodel", NULL, 0, "automodel", PYTORCH | T(NO_RECOMPUTE), NULL},
    {"mcore_small", NULL, 0, "mcore_small", T(UNFUSED_LOSS) | T(SPLIT_EXPERTS), NULL},
    {"mcore_ci", NULL, 0, "mcore_ci", T(DROPOUT) | T(UNFUSED_LOSS), NULL},
    {"msllm", NULL, 0, "ascend_msllm", T(NO_MESSAGE_OVERLAP), NULL},
    {"mtnlg", NULL, 0, "mtnlg", OLD_GPT, NULL},
    {"llama3_405b", NULL, 0, "llama3_paper",
     T(UNFUSED_LOSS) | T(DATA_OVERLAP) | T(MICROBATCH_1) | T(CHUNKS_8) | T(BALANCED_ENDS), NULL},
    {"nemotron4", NULL, 0, "nemotron4", T(DATA_OVERLAP) | T(MICROBATCH_1) | T(CHUNKS_8), NULL},
    {"primus", NULL, 0, "primus", T(DATA_OVERLAP), NULL},
    {"dgxc_", "grok", 0, "dgxc_grok", NVIDIA_RECIPE | T(SPLIT_EXPERTS), NULL},
    {"dgxc_", "nemotron4-340b", 0, "dgxc_dense",
     T(DATA_OVERLAP) | T(HALF_GRADIENTS) | T(FLOAT8_GATHER), NULL},
    {"dgxc_", NULL, 0, "dgxc_dense", NVIDIA_RECIPE, NULL},
    {"mbridge", NULL, 1, "mbridge_moe",
     T(DATA_OVERLAP) | T(HALF_GRADIENTS) | T(FLOAT8_GATHER) | T(NODE_LIMITED_DISPATCH) |
         T(ENGINE_BUFFERS),
     NULL},
    {"mbridge", "nemotron-3", 0, "mbridge_moe", 0, NULL},
    {"mbridge", NULL, -1, "mbridge_dense", NVIDIA_RECIPE | T(ENGINE_BUFFERS), NULL},
    {"bigscience_v100", NULL, 0, "bigscience_v100", BIGSCIENCE, NULL},
    {"bigscience", NULL, 0, "bigscience_a100", BIGSCIENCE | T(LAUNCH_BLOCKING), NULL},
    {"internevo", NULL, 0, "internevo", INTERNEVO, NULL},
    {"nanotron", "_tp1_", 0, "nanotron_tp1", NANOTRON, NULL},
    {"nanotron", NULL, 0, "nanotron", NANOTRON, NULL},
    {"maxtext", NULL, 0, "maxtext", T(DATA_OVERLAP), NULL},
    {"paxml", NULL, 0, "paxml", T(DATA_OVERLAP), NULL},
    {"fms_fsdp", NULL, 0, CALC_RUN_SOURCE_OTHER, FMS, NULL},
    {"", NULL, 0, CALC_RUN_SOURCE_OTHER, 0, NULL}};

/* A source that is not known runs its kind of software as it is set up today. */
static const calc_run_source *unknown_source(const calc_runs_row *row)
{
    static const calc_run_source megatron = {"",  NULL, 0, CALC_RUN_SOURCE_OTHER, T(DATA_OVERLAP),
                                             NULL};
    static const calc_run_source ascend = {
        "", NULL, 0, CALC_RUN_SOURCE_OTHER, T(NO_MESSAGE_OVERLAP), NULL};
    static const calc_run_source fsdp = {
        "",  NULL, 0, CALC_RUN_SOURCE_OTHER, PYTORCH | T(UNFUSED_LOSS) | T(EAGER_UNLESS_COMPILED),
        NULL};
    if (calc_runs_has_any_case(row->hardware, "ascend") || calc_runs_has(row->hardware, "910")) {
        return &ascend;
    }
    return calc_runs_has_any_case(row->zero_stage_fsdp, "fsdp") ? &fsdp : &megatron;
}

const calc_run_source *calc_run_source_of(const calc_runs_row *row)
{
    if (row->own && row->own->source) {
        return row->own->source;
    }
    const calc_run_source *source = sources;
    int experts = calc_runs_or(row->num_experts, 0) > 1 ? 1 : -1;
    while (!calc_runs_starts(row->id, source->prefix) ||
           (source->contains && !calc_runs_has(row->id, source->contains)) ||
           (source->experts != 0 && source->experts != experts)) {
        source++;
    }
    return *source->prefix ? source : unknown_source(row);
}

const char *calc_run_source_publisher(const calc_run_source *source, size_t *length)
{
    /* Megatron-LM and its papers, NeMo, Megatron-Bridge, AutoModel, DGX Cloud, and MLPerf's runs,
     * all but one of them its own. */
    static const char *const nvidia[] = {"automodel", "calculon",  "dgxc",   "mbridge",
                                         "mcore",     "mlm",       "mlperf", "mtnlg",
                                         "nemo",      "nemotron4", "seqsel"};
    *length = strcspn(source->name, "_");
    for (size_t i = 0; i < sizeof nvidia / sizeof *nvidia; i++) {
        if (strlen(nvidia[i]) == *length && strncmp(source->name, nvidia[i], *length) == 0) {
            *length = strlen("nvidia");
            return "nvidia";
        }
    }
    return source->name;
}

const char *calc_run_source_assumption(int trait)
{
    static const char *const texts[] = {
#define CALC_X(name, text) text,
        CALC_RUN_TRAIT_LIST(CALC_X)
#undef CALC_X
    };
    int index = 0;
    while (index + 1 < CALC_RUN_TRAITS && trait >> index != 1) {
        index++;
    }
    return texts[index];
}
