#include "validate/sets.h"

#include <string.h>

enum { SOURCES = 6 };

/* A set: members that are NULL do not matter. */
typedef struct set {
    const char *name;
    const char *source[SOURCES];
    const char *family, *confidence;
} set;

static const set sets[] = {
    {"Calculon table 5 (A100)", {"calculon_tab5"}, NULL, NULL},
    {"SimuMax B200", {"simumax_b200"}, NULL, NULL},
    {"vTrain, several nodes (A100)", {"vtrain_multi"}, NULL, NULL},
    {"vTrain, one node (A100)", {"vtrain_single"}, NULL, NULL},
    {"H100 dense: DGX Cloud, MLPerf, NeMo", {"dgxc_dense", "mlperf", "nemo_2407"}, "H100", NULL},
    {"- DGX Cloud H100 dense", {"dgxc_dense"}, "H100", NULL},
    {"- MLPerf H100", {"mlperf"}, "H100", NULL},
    {"- NeMo 24.07", {"nemo_2407"}, NULL, NULL},
    {"DGX Cloud Grok-1 H100", {"dgxc_grok"}, "H100", NULL},
    {"Megatron-Bridge dense", {"mbridge_dense"}, NULL, NULL},
    {"Megatron-Bridge MoE, Blackwell", {"mbridge_moe"}, "Blackwell", NULL},
    {"Megatron-Bridge MoE, H100", {"mbridge_moe"}, "H100", NULL},
    {"- Megatron-Bridge MoE, high confidence", {"mbridge_moe"}, NULL, "high"},
    {"DGX Cloud, MLPerf on Blackwell", {"dgxc_dense", "dgxc_grok", "mlperf"}, "Blackwell", NULL},
    {"llm-foundry FSDP, A100", {"foundry_a100_40", "foundry_a100_80"}, NULL, NULL},
    {"llm-foundry FSDP, H100", {"foundry_h100"}, NULL, NULL},
    {"torchtitan H100 500 W", {"torchtitan"}, NULL, NULL},
    {"SC21 tables, Megatron 2020",
     {"mlm_sc21_tab1", "mlm_sc21_tab2", "mlm_readme2020"},
     NULL,
     NULL},
    {"Megatron-LM 2024 H100", {"mlm_readme_h100"}, NULL, NULL},
    {"MT-NLG 530B", {"mtnlg"}, NULL, NULL},
    {"AutoModel MoE H100", {"automodel"}, NULL, NULL},
    {"Llama 3 paper, Nemotron-4", {"llama3_paper", "nemotron4"}, NULL, NULL},
    {"Megatron-LM tests", {"mcore_ci"}, NULL, NULL},
    {"Megatron-LM tests, small", {"mcore_small"}, NULL, NULL},
    {"Ascend 910B", {NULL}, "910B", NULL},
    {"BigScience A100", {"bigscience_a100"}, NULL, NULL},
    {"BigScience V100", {"bigscience_v100"}, NULL, NULL},
    {"InternEvo A100", {"internevo"}, NULL, NULL},
    {"nanotron H100, tp 1", {"nanotron_tp1"}, NULL, NULL},
    {"nanotron H100, tp 2 to 32", {"nanotron"}, NULL, NULL},
    {"MaxText", {"maxtext"}, NULL, NULL},
    {"Paxml H100", {"paxml"}, NULL, NULL},
    {"torchao", {"torchao"}, NULL, NULL},
    {"Aleph Alpha A100", {"aleph"}, NULL, NULL},
    {"PaddleNLP A100", {"paddlenlp"}, NULL, NULL},
    {"NeMo launcher A100", {"nemo_launcher"}, NULL, NULL},
    {"other sources", {"other", "seqsel_abs", "simumax", "foundry", "nemo", "primus"}, NULL, NULL},
    {"all high confidence", {NULL}, NULL, "high"},
    {"all but vTrain on one node", {"!vtrain_single"}, NULL, NULL}};

const char *calc_sets_name(size_t index)
{
    return index < sizeof sets / sizeof *sets ? sets[index].name : NULL;
}

bool calc_sets_is_published(const calc_result *result)
{
    return *result->prediction->map.row->publisher != '\0';
}

static bool is(const char *wanted, const char *found)
{
    return !wanted || strcmp(wanted, found) == 0;
}

bool calc_sets_has(size_t index, const calc_result *result)
{
    const set *s = &sets[index];
    if (result->serving || !calc_sets_is_published(result)) {
        return false;
    }
    const calc_runs_row *row = result->prediction->map.row;
    bool source = !s->source[0];
    for (int i = 0; i < SOURCES && s->source[i] && !source; i++) {
        source = s->source[i][0] == '!' ? !is(s->source[i] + 1, row->source)
                                        : is(s->source[i], row->source);
    }
    return source && is(s->family, row->family) && is(s->confidence, row->confidence);
}
