#include "taylor/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance_case.h"
#include "frame.h"
#include "taylor/yaml.h"
#include "taylor_case.h"

CALC_TEST(layers_that_do_not_divide_go_first_and_before_the_last)
{
    static const struct {
        int stages, layers;
        int offset[8];
    } cases[] = {{1, 7, {0}},           {4, 8, {0}},           {4, 9, {1, 0, 0, 0}},
                 {4, 10, {1, 0, 1, 0}}, {4, 11, {1, 1, 1, 0}}, {8, 61, {1, 0, 0, 1, 1, 1, 1, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int offset[8];
        int layers = 0;
        calc_taylor_initial_offset(cases[i].stages, cases[i].layers, offset);
        for (int s = 0; s < cases[i].stages; s++) {
            ck_assert_int_eq(offset[s], cases[i].offset[s]);
            layers += cases[i].layers / cases[i].stages + offset[s];
        }
        ck_assert_int_eq(layers, cases[i].layers);
    }
}

/* What calc says of each stage of a layout is the sum of the terms. */
CALC_TEST(terms_add_up_to_the_stages_of_the_model)
{
    calc_system system = taylor_system();
    static const char *const dense[] = {"3", "0"};
    for (int i = 0; i < 2; i++) {
        calc_taylor_config c =
            taylor_config("moe_config.first_k_dense_replace", dense[i], NULL, NULL);
        for (int again = 0; again < CALC_BALANCE_RECOMPUTES; again++) {
            calc_exec e =
                calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, (calc_balance_recompute)again);
            calc_taylor_memory m;
            calc_stage_stats stage[16];
            calc_taylor_memory_of(&c, &system, &e, &m);
            ck_assert_uint_eq(calc_each_stage(&c.app, &system, &e, CALC_COMPAT_NONE, stage, 16),
                              16);
            for (int64_t s = 0; s < 16; s++) {
                int64_t moe = (int64_t)stage[s].moe_blocks;
                int64_t layers[] = {(int64_t)stage[s].blocks - moe, moe};
                double mb = calc_taylor_stage_mb(&m, calc_taylor_end_of(s, 16), layers,
                                                 (calc_balance_recompute)again,
                                                 (int64_t)stage[s].in_flight);
                double expected_mb = stage[s].mem_tier1 / 1024 / 1024;
                /* Ends whose logits hide in what a block works on, and stages of both kinds. */
                bool simple = s > 0 && s < 15 && again != CALC_BALANCE_SELECTIVE;
                ck_assert_double_eq_tol(mb / expected_mb, 1, simple ? 1e-9 : 0.04);
            }
        }
    }
}

CALC_TEST(dense_layers_are_the_first_ones)
{
    calc_system system = taylor_system();
    calc_taylor_config c = taylor_config("moe_config.first_k_dense_replace", "5", NULL, NULL);
    calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 32, 128, CALC_BALANCE_NONE);
    static const int64_t layers[][2] = {{4, 0}, {1, 2}, {0, 4}};
    calc_taylor_memory m;
    calc_taylor_memory_of(&c, &system, &e, &m);
    for (int s = 0; s < 3; s++) { /* 8 micro-batches are in flight, not 16 - s */
        ck_assert_double_eq_tol(
            calc_taylor_initial_mb(&c, &m, &e, CALC_BALANCE_NONE, s),
            calc_taylor_stage_mb(&m, calc_taylor_end_of(s, 16), layers[s], CALC_BALANCE_NONE, 8),
            1e-9);
    }
}

CALC_TEST(the_fullest_stage_is_the_most_of_all)
{
    calc_system system = taylor_system();
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, CALC_BALANCE_FULL);
    calc_taylor_memory m;
    double most_mb = 0;
    calc_taylor_memory_of(&c, &system, &e, &m);
    for (int64_t s = 0; s < 16; s++) {
        most_mb = fmax(most_mb, calc_taylor_initial_mb(&c, &m, &e, CALC_BALANCE_FULL, s));
    }
    ck_assert_double_eq(calc_taylor_initial_mb(&c, &m, &e, CALC_BALANCE_FULL, -1), most_mb);
}

/* Two probes of calc's own model predict a third of the same stage. With ep 1 tokens stay where
 * they are, which takes less. */
CALC_TEST(peaks_are_affine_in_the_inverse_of_expert_parallelism)
{
    calc_system system = taylor_system();
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    double peak_mb[7];
    for (int i = 0; i < 7; i++) {
        calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 1 << i, 1024, CALC_BALANCE_FULL);
        calc_taylor_memory m;
        calc_taylor_memory_of(&c, &system, &e, &m);
        peak_mb[i] = calc_taylor_initial_mb(&c, &m, &e, CALC_BALANCE_FULL, 3);
    }
    calc_taylor_fit fit = calc_taylor_fit_of(8, peak_mb[3], 16, peak_mb[4]);
    for (int i = 1; i < 7; i++) {
        ck_assert_double_eq_tol(calc_taylor_fit_mb(&fit, 1 << i) / peak_mb[i], 1, 1e-9);
    }
}

CALC_TEST(estimates_fit_the_fullest_stage_at_both_probes)
{
    calc_system system = taylor_system();
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    const calc_taylor_layout l = {16, 4, 1, 16}, few = {2, 1, 1, 16}, odd = {1, 3, 1, 16};
    char why[320] = "";
    calc_taylor_fit fit = calc_taylor_estimate(&c, &system, &l, 1024, why, sizeof why);
    ck_assert_int_eq(fit.probes, 2);
    for (int64_t ep = 2; ep <= 64; ep *= 2) {
        double mb = calc_taylor_estimate_mb(&c, &system, &l, ep, 1024, why, sizeof why);
        bool probed = ep == 8 || ep == 16;
        ck_assert_double_ge(mb / calc_taylor_fit_mb(&fit, ep), 1 - 1e-12);
        ck_assert_double_le(mb / calc_taylor_fit_mb(&fit, ep), probed ? 1 + 1e-12 : 1.01);
    }
    const calc_taylor_layout wide = {64, 1, 1, 16}; /* the fullest stage is another from ep 32 on */
    fit = calc_taylor_estimate(&c, &system, &wide, 1024, why, sizeof why);
    for (int64_t ep = 8; ep <= 16; ep *= 2) {
        double mb = calc_taylor_estimate_mb(&c, &system, &wide, ep, 1024, why, sizeof why);
        ck_assert_double_eq_tol(calc_taylor_fit_mb(&fit, ep) / mb, 1, 1e-12);
    }
    fit = calc_taylor_estimate(&c, &system, &few, 1024, why, sizeof why); /* of ep 1 and 2 */
    ck_assert_double_eq_tol(calc_taylor_fit_mb(&fit, 2) / calc_taylor_estimate_mb(&c, &system, &few,
                                                                                  2, 1024, why,
                                                                                  sizeof why),
                            1, 1e-12);
    ck_assert_str_eq(why, "");
    ck_assert_int_eq(calc_taylor_estimate(&c, &system, &odd, 1024, why, sizeof why).probes, 0);
    ck_assert_str_ne(why, "");
}

/* A published example as the planner asks it: limits are what static memory leaves. */
static calc_balance_problem asked(const balance_case *c, bool shipped)
{
    const double memory_mb = 100000;
    calc_taylor_ask ask = {.stages = c->stages,
                           .chunks = c->chunks,
                           .microbatches = c->microbatches,
                           .layers = {c->dense, c->others},
                           .memory_mb = memory_mb,
                           .less_memory = true,
                           .may_full = true,
                           .may_select = c->may_select,
                           .shipped = shipped};
    const calc_taylor_ratios ratios = {
        .dense = c->dense_ratio, .backward = c->back, .again = c->again, .head = c->head};
    const calc_taylor_memory memory = {
        .layer_mb = {c->dense_held, 3000},
        .act_mb = {{c->dense_flight, 500, 50}, {800, 500, 50}},
        .static_mb = {memory_mb - c->first, memory_mb - c->middle, memory_mb - c->last}};
    calc_balance_problem p;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_taylor_ask_check(&ask, &errors), CALC_OK);
    calc_taylor_problem(&ask, &ratios, &memory, &p);
    return p;
}

CALC_TEST(examples_have_their_published_optima)
{
    for (int i = 0; i < BALANCE_CASES; i++) {
        const balance_case *c = &balance_cases[i];
        calc_balance_problem p = asked(c, true);
        calc_balance_solution s;
        const calc_balance_options options = {0};
        ck_assert_int_eq(calc_balance_solve(&p, &options, &s), CALC_OK);
        ck_assert_msg(s.feasible == (c->optimum < INFINITY), "%s", c->name);
        if (s.feasible) {
            ck_assert_double_eq_tol(s.answer.step_s, c->optimum, 1e-9);
        }
    }
}

/* 62 layers on 16 stages: the published window is 1132.65 to 1132.67. */
CALC_TEST(a_large_pipeline_has_its_published_optimum)
{
    const double memory_mb = 60000;
    const calc_taylor_ask ask = {.stages = 16,
                                 .chunks = 1,
                                 .microbatches = 64,
                                 .layers = {3, 59},
                                 .memory_mb = memory_mb,
                                 .may_full = true};
    const calc_taylor_ratios ratios = {.dense = 0.397, .backward = 1.839, .again = 1, .head = 1.5};
    const calc_taylor_memory memory = {
        .layer_mb = {866, 10691},
        .act_mb = {{479, 479, 30}, {765, 765, 30}},
        .static_mb = {memory_mb - 51913, memory_mb - 52914, memory_mb - 46621}};
    const calc_balance_options options = {0};
    calc_balance_problem p;
    calc_balance_solution s;
    calc_taylor_problem(&ask, &ratios, &memory, &p);
    ck_assert_int_eq(calc_balance_solve(&p, &options, &s), CALC_OK);
    ck_assert_double_eq_tol(s.answer.step_s, 1132.662249, 5e-7);
    ck_assert(s.proven);
}

CALC_TEST(dense_layers_recompute_by_their_ratio_unless_as_shipped)
{
    const balance_case *e9 = &balance_cases[8];
    ck_assert_str_eq(e9->name, "e9");
    calc_balance_problem intended = asked(e9, false);
    calc_balance_problem shipped = asked(e9, true);
    ck_assert_double_eq_tol(intended.layer[0][0].again_s[CALC_BALANCE_FULL], 0.9 * 0.4, 1e-15);
    ck_assert_double_eq_tol(shipped.layer[0][0].again_s[CALC_BALANCE_FULL], 0.4, 1e-15);
    ck_assert_double_eq(intended.layer[0][1].again_s[CALC_BALANCE_FULL],
                        shipped.layer[0][1].again_s[CALC_BALANCE_FULL]);
}

CALC_TEST(one_chunk_is_always_less_memory_and_limits_go_down_by_end)
{
    calc_taylor_ask ask = {.stages = 4,
                           .chunks = 1,
                           .microbatches = 8,
                           .layers = {0, 8},
                           .memory_mb = 1000,
                           .tighter_mb = {1, 2, 3}};
    const calc_taylor_ratios ratios = {.dense = 1, .backward = 2};
    const calc_taylor_memory memory = {.static_mb = {10, 20, 30}, .working_mb = 5};
    calc_balance_problem p;
    calc_taylor_problem(&ask, &ratios, &memory, &p);
    ck_assert(p.less_memory);
    static const double limit[] = {999, 998, 998, 997}, fixed[] = {10, 20, 20, 30};
    for (int s = 0; s < 4; s++) {
        ck_assert_double_eq(p.stage[s].limit_bytes, limit[s]);
        ck_assert_double_eq(p.stage[s].fixed_bytes, fixed[s]);
        ck_assert_double_eq(p.stage[s].working_bytes, 5);
    }
    ask.chunks = 2;
    calc_taylor_problem(&ask, &ratios, &memory, &p);
    ck_assert(!p.less_memory);
}

static void refused(calc_taylor_ask ask, const char *text)
{
    calc_errors errors = {0};
    ck_assert_int_eq(calc_taylor_ask_check(&ask, &errors), CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, text);
}

CALC_TEST(questions_that_have_no_pipeline_are_refused)
{
    calc_taylor_ask ask = {.stages = 4, .chunks = 2, .microbatches = 4, .layers = {1, 7}};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_taylor_ask_check(&ask, &errors), CALC_OK);
    ask.layers[1] = 6;
    refused(ask, "7 layers, for as many chunks: expected 8 to 1024");
    ask.layers[1] = 7;
    ask.microbatches = 3;
    refused(ask, "3 micro-batches: expected 4 to 1000000");
    ask.stages = 257;
    refused(ask, "257 pipeline stages: expected 1 to 256");
    ask.stages = 256;
    ask.chunks = 3;
    refused(ask, "3 chunks per stage: expected 1 to 2");
}

CALC_TEST(matrices_are_lists_of_stages_and_of_chunks)
{
    const balance_case *e4 = &balance_cases[3];
    const calc_balance_share share[] = {
        {{0, 2}, {0}, {0, 1}}, {{0, 2}, {0}, {0}}, {{0, 3}, {0, 2}, {0}}, {{0, 1}, {0}, {0}}};
    calc_taylor_ask ask = {.stages = e4->stages, .chunks = 2, .layers = {0, 8}};
    char text[256];
    ck_assert_str_eq(calc_taylor_matrix_text(&ask, share, CALC_TAYLOR_LAYERS, text, 256),
                     "[[2, 2], [3, 1]]");
    ck_assert_str_eq(calc_taylor_matrix_text(&ask, share, CALC_TAYLOR_OFFSET, text, 256),
                     "[[0, 0], [1, -1]]");
    ck_assert_str_eq(calc_taylor_matrix_text(&ask, share, CALC_TAYLOR_FULL, text, 256),
                     "[[1, 0], [0, 0]]");
    ck_assert_str_eq(calc_taylor_matrix_text(&ask, share, CALC_TAYLOR_SELECTIVE, text, 256),
                     "[[0, 0], [2, 0]]");
    ask.chunks = 1;
    ask.layers[1] = 4;
    ck_assert_str_eq(calc_taylor_matrix_text(&ask, share, CALC_TAYLOR_OFFSET, text, 256), "[0, 0]");
}

/* A stage as calc itself divides the model is checked to what calc says of it. */
CALC_TEST(checked_peaks_are_those_of_the_model)
{
    calc_system system = taylor_system();
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_taylor_ask ask = calc_taylor_ask_of(&c, 0);
    const calc_taylor_ratios ratios = {.dense = 0.3, .backward = 2, .again = 1, .head = 1.5};
    for (int again = 0; again < 3; again += 2) {
        calc_exec e =
            calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, (calc_balance_recompute)again);
        calc_taylor_memory m;
        calc_balance_problem p;
        calc_balance_share share[16] = {0};
        calc_balance_answer answer;
        calc_stage_stats stage[16];
        calc_taylor_memory_of(&c, &system, &e, &m);
        calc_taylor_problem(&ask, &ratios, &m, &p);
        ck_assert_uint_eq(calc_each_stage(&c.app, &system, &e, CALC_COMPAT_NONE, stage, 16), 16);
        for (int s = 0; s < 16; s++) {
            share[s].layers[1] = (int)stage[s].moe_blocks;
            share[s].layers[0] = (int)(stage[s].blocks - stage[s].moe_blocks);
            for (int kind = 0; kind < 2; kind++) {
                share[s].full[kind] = again ? share[s].layers[kind] : 0;
            }
        }
        ck_assert_int_eq(calc_balance_evaluate(&p, share, &answer), CALC_OK);
        for (int s = 0; s < 16; s++) {
            double mb = calc_taylor_checked_mb(&c, &system, &e, &p, share, &answer, s);
            ck_assert_double_eq_tol(mb, stage[s].mem_tier1 / 1024 / 1024, 1e-6);
        }
    }
}

/* Of a stage between the ends, which has messages beside its layers. */
CALC_TEST(ratios_of_the_model_are_those_of_its_stages)
{
    calc_system system = taylor_system();
    calc_taylor_config c = taylor_config(NULL, NULL, NULL, NULL);
    calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, CALC_BALANCE_NONE);
    calc_exec full = calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, CALC_BALANCE_FULL);
    calc_taylor_ratios r = calc_taylor_ratios_of(&c, &system, &e);
    calc_stage_stats stage[16], again[16];
    calc_each_stage(&c.app, &system, &e, CALC_COMPAT_NONE, stage, 16);
    calc_each_stage(&c.app, &system, &full, CALC_COMPAT_NONE, again, 16);
    double layer_s = stage[5].fw_time / stage[5].blocks;
    double more_s = (again[5].bw_time - stage[5].bw_time) / stage[5].blocks;
    ck_assert_double_eq_tol(r.layer_ms / 1000 / layer_s, 1, 0.01);
    ck_assert_double_eq_tol(r.backward, stage[5].bw_time / stage[5].fw_time, 0.02);
    ck_assert_double_eq_tol(r.again / (more_s / layer_s), 1, 0.01);
    ck_assert_double_gt(r.dense, 0.05);
    ck_assert_double_lt(r.dense, 1);
    double head_s = stage[15].fw_time - stage[15].blocks * layer_s;
    ck_assert_double_eq_tol(r.head / (head_s / layer_s), 1, 0.05);
    calc_taylor_ratios same = calc_taylor_ratios_of(&c, &system, &full);
    ck_assert_mem_eq(&same, &r, sizeof r);
}

static calc_status parse(const char *csv, calc_csv_rows *rows, calc_errors *errors)
{
    calc_text text = {strdup(csv), strlen(csv)};
    return calc_csv_table_parse(rows, &calc_taylor_probes, text, "peaks.csv", errors);
}

CALC_TEST(two_peaks_give_base_and_experts)
{
    calc_taylor_fit fit = calc_taylor_fit_of(4, 162358, 8, 96950);
    ck_assert_double_eq(fit.expert_mb, 523264);
    ck_assert_double_eq(fit.base_mb, 31542);
    ck_assert_double_eq(calc_taylor_fit_mb(&fit, 4), 162358);
    ck_assert_double_eq(calc_taylor_fit_mb(&fit, 8), 96950);
    fit = calc_taylor_fit_of(8, 96950, 32, 47894); /* not neighbours */
    ck_assert_double_eq(fit.expert_mb, 523264);
}

/* Peaks at ep 4 and 8. Those of 16,8,8 are published; the others follow from the rows that Taylor
 * keeps, of which two or more fix both terms; for 64,4,4 and 32,8,4 it keeps one, so that their
 * experts' part is chosen such that ep 32 does not fit. */
static const char peaks[] = "dp,tp,pp,ep,peak_mem\n"
                            "16,8,8,4,162358\n16,8,8,8,96950\n"
                            "64,4,4,4,301965\n64,4,4,8,170893\n"
                            "32,8,4,4,287613\n32,8,4,8,156792\n"
                            "8,8,16,4,101784\n8,8,16,8,68632\n"
                            "4,8,32,4,71710\n4,8,32,8,54686\n";

CALC_TEST(layouts_that_taylor_keeps_are_kept)
{
    static const struct {
        calc_taylor_layout layout;
        int64_t expert;
        double peak_mb;
    } kept[] = {{{16, 8, 1, 8}, 32, 47894}, {{16, 8, 1, 8}, 64, 39718},
                {{64, 4, 1, 4}, 64, 56205}, {{32, 8, 1, 4}, 64, 42323.625},
                {{8, 8, 1, 16}, 16, 52056}, {{8, 8, 1, 16}, 32, 43768},
                {{8, 8, 1, 16}, 64, 39624}, {{4, 8, 1, 32}, 8, 54686},
                {{4, 8, 1, 32}, 16, 46174}, {{4, 8, 1, 32}, 32, 41918}};
    enum { KEPT = sizeof kept / sizeof *kept };
    const double limit_mb = 55 * 1024;
    calc_csv_rows rows;
    calc_errors errors = {0};
    size_t found = 0;
    ck_assert_int_eq(parse(peaks, &rows, &errors), CALC_OK);
    for (size_t i = 0; i < KEPT; i++) {
        if (i > 0 && memcmp(&kept[i].layout, &kept[i - 1].layout, sizeof kept[i].layout) == 0) {
            continue;
        }
        calc_taylor_fit fit = calc_taylor_probes_fit(&rows, &kept[i].layout);
        ck_assert_int_eq(fit.probes, 2);
        for (int64_t ep = 1; ep <= 128; ep++) {
            if (calc_taylor_tries(&kept[i].layout, 0, 64, ep) &&
                calc_taylor_fit_mb(&fit, ep) <= limit_mb) {
                ck_assert_uint_lt(found, KEPT);
                ck_assert_int_eq(kept[found].layout.data, kept[i].layout.data);
                ck_assert_int_eq(kept[found].expert, ep);
                ck_assert_double_eq(calc_taylor_fit_mb(&fit, ep), kept[found].peak_mb);
                found++;
            }
        }
    }
    ck_assert_uint_eq(found, KEPT);
    calc_csv_rows_free(&rows);
}

CALC_TEST(powers_of_two_that_divide_are_tried)
{
    const calc_taylor_layout l = {6, 4, 1, 1};
    int tried[] = {1, 2, 4, 8};
    int count = 0;
    for (int64_t ep = 1; ep <= 24; ep++) {
        if (calc_taylor_tries(&l, 0, 24, ep)) {
            ck_assert_int_lt(count, 4);
            ck_assert_int_eq(ep, tried[count++]);
        }
    }
    ck_assert_int_eq(count, 4);
    ck_assert(!calc_taylor_tries(&l, 0, 4, 8));
    ck_assert(!calc_taylor_tries(&l, 12, 24, 8));
    ck_assert(calc_taylor_tries(&l, 12, 24, 4));
}

/* ---- Files in words: unit/check_taylor_memory.txt ---------------------------------------------
 */

static void print_errors(const calc_errors *errors, FILE *out)
{
    char line[1200];
    for (int i = 0; i < errors->count; i++) {
        calc_error_print(&errors->item[i], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
}

/* Terms, of which the file may name some. */
static void answer_terms(const char *text, FILE *out)
{
    calc_taylor_memory m = {.static_mb = {1, 2, 3}};
    calc_errors errors = {0};
    int said = 0;
    if (calc_taylor_memory_parse(&m, &said, text, strlen(text), "m.txt", &errors) == CALC_OK) {
        fprintf(out, "%d terms: act_mem0 %g, select_mem12 %g, first %g, last %g\n", said,
                m.act_mb[0][CALC_BALANCE_NONE], m.act_mb[0][CALC_BALANCE_SELECTIVE],
                m.static_mb[CALC_TAYLOR_FIRST], m.static_mb[CALC_TAYLOR_LAST]);
    }
    print_errors(&errors, out);
}

/* Probes of dp 16, tp 8, pp 8, and of another layout. */
static void answer_peaks(const char *text, FILE *out)
{
    const calc_taylor_layout there = {16, 8, 1, 8}, absent = {8, 16, 1, 8};
    calc_csv_rows rows;
    calc_errors errors = {0};
    if (parse(text, &rows, &errors) == CALC_OK) {
        fprintf(out, "%d and %d probes\n", (int)calc_taylor_probes_fit(&rows, &there).probes,
                (int)calc_taylor_probes_fit(&rows, &absent).probes);
    }
    print_errors(&errors, out);
    calc_csv_rows_free(&rows);
}

/* The profile of dp 16, tp 4, pp 8, ep 32, and of ep 64; wrong rows do not matter to others. */
static void answer_profiles(const char *csv, FILE *out)
{
    calc_taylor_candidate c = {.layout = {16, 4, 1, 8}, .expert = 32};
    calc_text text = {strdup(csv), strlen(csv)};
    calc_csv_rows rows;
    calc_errors errors = {0};
    calc_taylor_ratios r;
    (void)!calc_csv_table_parse(&rows, &calc_taylor_profiles, text, "profile.csv", &errors);
    print_errors(&errors, out);
    for (; c.expert <= 64; c.expert *= 2) {
        if (calc_taylor_profiles_find(&rows, &c, &r)) {
            fprintf(out, "ep %d: dense %g, backward %g, again %g, head %g, %g ms\n", (int)c.expert,
                    r.dense, r.backward, r.again, r.head, r.layer_ms);
        }
    }
    calc_csv_rows_free(&rows);
}

static void answer(const char *said, FILE *out)
{
    const char *text = strchr(said, '\n') + 1;
    (*said == 't'                       ? answer_terms
     : strncmp(said, "peaks\n", 6) == 0 ? answer_peaks
                                        : answer_profiles)(text, out);
}

const calc_test_frame calc_tests = {
    .timeout_s = 60, .cases = "unit/check_taylor_memory.txt", .answer = answer};
