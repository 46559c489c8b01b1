/* Terms of a step: state, groups, what is sharded and what is kept in the second memory tier:
 * unit/check_stage_terms.txt, and here what it has no words for. */
#include "model_formulas.h"

const calc_test_frame calc_tests = {.cases = "unit/check_stage_terms.txt",
                                    .answer = formula_answer};

CALC_TEST(zero_stage_overrules_optimizer_sharding)
{
    calc_exec e = modern_exec(1, 1, 4);
    ck_assert_int_eq(calc_zero_stage(&e.strategy), 0);
    e.strategy.optimizer_sharding = true;
    ck_assert_int_eq(calc_zero_stage(&e.strategy), 1);
    e.strategy.zero_stage = 3;
    ck_assert_int_eq(calc_zero_stage(&e.strategy), 3);
}

/* A sweep makes the row once, and a cell of it for each size of the groups. */
CALC_TEST(a_row_and_its_cells_are_the_terms)
{
    for (int64_t zero = 0; zero <= 3; zero++) {
        stage_case s;
        build(&s, moe_app(), modern_exec(1, 1, 2));
        s.c.app.tied_embeddings = CALC_CHOICE_TRUE;
        s.c.exec.strategy.zero_stage = zero;
        settle(&s);
        calc_stage_terms row;
        calc_stage_terms_row(&s.c.context, &s.c.exec, &s.parts, NULL, NULL, &row);
        for (int64_t p = 1; p <= 2; p++) {
            s.c.exec.pipeline_par = p;
            s.c.exec.strategy.data_par = 8 / p;
            s.c.exec.num_procs = 8;
            s.c.exec.batch_size = 48;
            settle(&s);
            calc_stage_terms cell = row;
            calc_stage_terms_cell(&s.c.context, &s.c.exec, &s.parts, &s.lines, NULL, &cell);
            calc_stage_links links =
                calc_stage_links_of(&s.c.context, &s.c.exec, s.parts.message_bytes, &s.lines);
            int n = calc_stages_classes(&s.stages);
            calc_stage_step a = calc_stage_step_of(&cell, &links, CALC_PIPELINE_SCHEDULE_1F1B, n,
                                                   s.stages.item, 1, 1);
            calc_stage_step b = calc_stage_step_of(&s.terms, &s.links, CALC_PIPELINE_SCHEDULE_1F1B,
                                                   n, s.stages.item, 1, 1);
            ck_assert_double_eq(a.partial_s, b.partial_s);
            ck_assert_double_eq(a.total_s[0][0], b.total_s[0][0]);
            ck_assert_double_eq(a.total_s[1][1], b.total_s[1][1]);
            ck_assert_double_eq(a.tier1_bytes, b.tier1_bytes);
            ck_assert_double_eq(cell.microbatches, 48.0 / (8.0 / (double)p));
        }
    }
}

CALC_TEST(weights_are_gathered_beside_the_pass_as_gradients_unless_said)
{
    calc_exec e = modern_exec(1, 1, 4);
    ck_assert(!calc_stage_gathers_beside(&e.strategy));
    e.strategy.data_par_overlap = true;
    ck_assert(calc_stage_gathers_beside(&e.strategy));
    e.strategy.param_gather_overlap = CALC_CHOICE_FALSE;
    ck_assert(!calc_stage_gathers_beside(&e.strategy));
    e.strategy.data_par_overlap = false;
    e.strategy.param_gather_overlap = CALC_CHOICE_TRUE;
    ck_assert(calc_stage_gathers_beside(&e.strategy));
}

/* ---- Messages by rule ------------------------------------------------------------------------ */

static calc_stage_links links_of(calc_exec exec, calc_compat compat)
{
    stage_case s;
    build(&s, without_ends(), exec);
    s.c.system.networks[0].latency_s = 0x1p-20;
    s.c.system.networks[1].latency_s = 0x1p-18;
    s.c.system.networks[1].processor_usage = 0.125;
    settle(&s);
    s.c.context.compat = compat;
    return calc_stage_links_of(&s.c.context, &s.c.exec, 0x1p12, &s.lines);
}

/* 2^12 bytes at 2^33 bytes/s. */
CALC_TEST(messages_go_both_ways_where_there_is_a_pipeline_that_trains)
{
    const double message_s = 0x1p-18 + 0x1p-21;
    calc_exec e = modern_exec(1, 4, 1);
    for (int rules = 0; rules < 2; rules++) {
        calc_stage_links l = links_of(e, rules ? CALC_COMPAT_CALCULON : CALC_COMPAT_NONE);
        assert_near(l.message_s, message_s);
        assert_near(l.back_message_s, message_s);
    }
    e.training = false;
    calc_stage_links l = links_of(e, CALC_COMPAT_NONE);
    assert_near(l.message_s, message_s);
    ck_assert_double_eq(l.back_message_s, 0);
    /* By rule there is one backward, without bytes. */
    l = links_of(e, 1 << CALC_COMPAT_INFERENCE_MESSAGE);
    assert_near(l.message_s, message_s);
    ck_assert_double_eq(l.back_message_s, 0x1p-18);
}

CALC_TEST(without_a_pipeline_a_message_takes_a_latency_by_rule)
{
    calc_compat idle = 1 << CALC_COMPAT_IDLE_MESSAGE;
    calc_compat inference = 1 << CALC_COMPAT_INFERENCE_MESSAGE;
    calc_exec e = modern_exec(1, 1, 1);
    calc_stage_links l = links_of(e, CALC_COMPAT_CALCULON & ~idle);
    ck_assert_double_eq(l.message_s, 0);
    ck_assert_double_eq(l.back_message_s, 0);
    l = links_of(e, idle);
    ck_assert_double_eq(l.message_s, 0x1p-18);
    ck_assert_double_eq(l.back_message_s, 0x1p-18);
    e.pipeline_par_net = 0;
    ck_assert_double_eq(links_of(e, idle).message_s, 0x1p-20);
    e.training = false;
    l = links_of(e, idle);
    ck_assert_double_eq(l.message_s, 0x1p-20);
    ck_assert_double_eq(l.back_message_s, 0);
    ck_assert_double_eq(links_of(e, idle | inference).back_message_s, 0x1p-20);
    ck_assert_double_eq(links_of(e, inference).back_message_s, 0);
}

/* Data parallelism is on network 1, whose driving takes an eighth. */
CALC_TEST(reductions_know_what_else_is_on_their_network)
{
    calc_exec e = modern_exec(2, 2, 2);
    calc_stage_links l = links_of(e, CALC_COMPAT_NONE);
    ck_assert_double_eq(l.usage, 0.125);
    ck_assert_double_eq(l.collides, 1);
    ck_assert_double_eq(l.same_link, 0);
    e.pipeline_par_net = 0;
    e.strategy.tensor_par_net = 1;
    l = links_of(e, CALC_COMPAT_NONE);
    ck_assert_double_eq(l.collides, 0);
    ck_assert_double_eq(l.same_link, 1);
    e.strategy.data_par_net = 0;
    l = links_of(e, CALC_COMPAT_NONE);
    ck_assert_double_eq(l.usage, 0);
    ck_assert_double_eq(l.collides, 1);
    ck_assert_double_eq(l.same_link, 0);
}

/* Calculon has no table of words. */
CALC_TEST(calculons_list_ties_no_tables)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    s.c.app.tied_embeddings = CALC_CHOICE_TRUE;
    settle(&s);
    ck_assert_double_gt(s.links.tied_s, 0);
    s.c.context.compat = 1 << CALC_COMPAT_LAYERS;
    ck_assert_double_eq(calc_stage_links_of(&s.c.context, &s.c.exec, 0x1p12, &s.lines).tied_s, 0);
}
