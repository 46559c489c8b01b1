#include "spec/alias.h"

#include <string.h>

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
    {CALC_KIND_EXEC, "matrix_dtype", "matrix_datatype", {NULL}},
};

static const struct {
    const char *word, *choice;
} choices[] = {{"mla", "multi_latent"}, {"groupquery", "grouped_query"}};

const calc_alias *calc_alias_find(const calc_table *table, const char *key)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        if (calc_table_of(aliases[i].kind) == table && strcmp(aliases[i].key, key) == 0) {
            return &aliases[i];
        }
    }
    return NULL;
}

const calc_alias *calc_alias_of(const calc_table *table, const char *field)
{
    for (size_t i = 0; i < COUNT(aliases); i++) {
        if (calc_table_of(aliases[i].kind) == table && strcmp(aliases[i].field, field) == 0) {
            return &aliases[i];
        }
    }
    return NULL;
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
