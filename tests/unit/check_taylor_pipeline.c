#include "taylor/memory.h"

#include <stdlib.h>

#include "balance_case.h"
#include "frame.h"
#include "taylor_case.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

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
        calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, (calc_taylor_again)again);
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
    calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, CALC_TAYLOR_AGAIN_NONE);
    calc_exec full = calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, CALC_TAYLOR_AGAIN_FULL);
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
