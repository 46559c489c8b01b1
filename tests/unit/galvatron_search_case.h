/* What a search of a case of tests/galvatron/ is asked, beyond what its costs need, and what
 * upstream answered. */
#ifndef CALC_TESTS_GALVATRON_SEARCH_CASE_H
#define CALC_TESTS_GALVATRON_SEARCH_CASE_H

#include "galvatron/search.h"
#include "galvatron_case.h"

static const char *const galvatron_cases[] = {
    "01_llama2-7b_1x8_36G_bsz16",
    "02_llama2-7b_1x8_24G_bsz64",
    "03_llama2-7b_1x8_16G_bsz64",
    "04_llama2-7b_1x4_40G_bsz32",
    "06_fixture_seq8192_1x8_36G_bsz64_chunk32",
    "07_fixture_seq8192_1x8_36G_bsz64_chunk8_coarse",
    "08_fixture_seq8192_1x8_40G_bsz64_chunk16",
    "10_fixture_static_gpipe_ddp_nosp_notp_1x8_40G",
    "11_llama2-7b_1x8_6G_infeasible",
    "15_llama2-7b_1x8_40G_bsz32_statictime_nofsdp",
    "16_llama2-7b_1x8_24G_bsz64_infeasible_dp_pp_only",
    "17_t5-3B_twolayertypes_1x8_12G_bsz64",
    "18_llama2-7b_1x8_24G_bsz32_pp4_1f1b",
    "19_llama2-7b_1x8_24G_bsz32_pp4_gpipe",
    "20_llama2-7b_1x8_20G_bsz64_chunk8",
    "21_llama2-7b_1x8_21G_bsz64_chunk8",
};
enum { GALVATRON_CASES = sizeof galvatron_cases / sizeof galvatron_cases[0] };

static inline void galvatron_search_open(galvatron_case *c, const char *name)
{
    const char *space = "search_space_info";
    galvatron_open(c, name);
    calc_galvatron_request *r = &c->request;
    r->disable_dp = galvatron_int(c, space, "disable_dp") == 1;
    r->disable_cp = galvatron_int(c, space, "disable_cp") == 1;
    r->disable_fsdp = galvatron_int(c, space, "disable_fsdp") == 1;
    r->disable_embedding_lmhead_tp = galvatron_int(c, space, "disable_embedding_lmhead_tp") == 1;
    r->disable_embedding_lmhead_sp = galvatron_int(c, space, "disable_embedding_lmhead_sp") == 1;
    r->max_cp_deg = galvatron_int(c, space, "max_cp_deg");
    r->fine_grained = galvatron_int(c, "options_info", "fine_grained_mode") != 0;
    r->num_nodes = r->num_nodes < 0 ? 1 : r->num_nodes;
    r->compat = true;
    galvatron_load(c);
    galvatron_take_fits(c, name);
}

/* As upstream prints them: pp-tpsp[*]-dp[f][-c][-sp]; `*` and `f` of more than one rank. */
static inline void galvatron_words(const calc_galvatron_strategy *s, char *text, size_t size)
{
    int tpsp = s->tp > s->sp ? s->tp : s->sp;
    snprintf(text, size, "%d-%d%s-%d%s%s%s", s->pp, tpsp, tpsp > 1 ? "*" : "", s->dp,
             s->type == CALC_GALVATRON_ZERO3 ? "f" : "", s->checkpoint ? "-c" : "",
             s->sp > 1 ? "-sp" : "");
}

/* All layers, "20x 1-1-8f-c 12x 1-1-8f". */
static inline void galvatron_runs(const calc_galvatron_answer *a, int layers, char *text,
                                  size_t size)
{
    char word[64] = "";
    int count = 0;
    text[0] = 0;
    for (int i = 0; i <= layers; i++) {
        char next[64] = "";
        if (i < layers) {
            galvatron_words(&a->layer[i], next, sizeof next);
        }
        if (i > 0 && strcmp(word, next) != 0) {
            size_t at = strlen(text);
            snprintf(text + at, size - at, "%s%dx %s", at ? " " : "", count, word);
            count = 0;
        }
        count++;
        snprintf(word, sizeof word, "%s", next);
    }
}

static inline void galvatron_expected_runs(const json_t *result, char *text, size_t size)
{
    size_t i;
    const json_t *run;
    text[0] = 0;
    json_array_foreach (json_object_get(result, "strategy_runs"), i, run) {
        size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%dx %s", at ? " " : "",
                 (int)json_integer_value(json_array_get(run, 1)),
                 json_string_value(json_array_get(run, 0)));
    }
}

#endif
