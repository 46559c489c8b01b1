#include "taylor/memory.h"

#include <stdlib.h>

#include "frame.h"
#include "taylor_case.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

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
                calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, (calc_taylor_again)again);
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
    calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 32, 128, CALC_TAYLOR_AGAIN_NONE);
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
    calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 32, 1024, CALC_TAYLOR_AGAIN_FULL);
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
        calc_exec e = calc_taylor_config_exec(&c, 16, 4, 16, 1 << i, 1024, CALC_TAYLOR_AGAIN_FULL);
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

CALC_TEST(files_replace_the_terms_that_they_name)
{
    const char text[] = "# measured\nact_mem0=796.6\r\n  select_mem12 = 5 \nlm_head_mem=6904.4\n"
                        "act_mem0=796.6";
    calc_taylor_memory m = {.static_mb = {1, 2, 3}};
    calc_errors errors = {0};
    int said;
    ck_assert_int_eq(calc_taylor_memory_parse(&m, &said, text, strlen(text), "m.txt", &errors),
                     CALC_OK);
    ck_assert_int_eq(said, 3);
    ck_assert_double_eq(m.act_mb[0][CALC_BALANCE_NONE], 796.6);
    ck_assert_double_eq(m.act_mb[0][CALC_BALANCE_SELECTIVE], 5);
    ck_assert_double_eq(m.static_mb[CALC_TAYLOR_LAST], 6904.4);
    ck_assert_double_eq(m.static_mb[CALC_TAYLOR_FIRST], 1);
}

static void fails(const char *text, const char *printed)
{
    calc_taylor_memory m = {0};
    calc_errors errors = {0};
    int said;
    char line[1024];
    ck_assert_int_ne(calc_taylor_memory_parse(&m, &said, text, strlen(text), "m.txt", &errors),
                     CALC_OK);
    calc_error_print(&errors.item[0], line, sizeof line);
    ck_assert_str_eq(line, printed);
}

CALC_TEST(wrong_lines_are_refused_with_their_place)
{
    fails("act_mem=1\nact_men=2\n",
          "m.txt:2:1: no term of memory is called \"act_men\"\n  hint: did you mean \"act_mem\"?");
    fails("act_mem 1\n", "m.txt:1:1: expected \"term=MB\"");
    fails("act_mem=\n", "m.txt:1:9: act_mem: expected MB from 0 to 1e+09, found \"\"");
    fails("act_mem=1MB\n", "m.txt:1:9: act_mem: expected MB from 0 to 1e+09, found \"1MB\"");
    fails("act_mem=-1\n", "m.txt:1:9: act_mem: expected MB from 0 to 1e+09, found \"-1\"");
    fails("act_mem=nan\n", "m.txt:1:9: act_mem: expected MB from 0 to 1e+09, found \"nan\"");
}
