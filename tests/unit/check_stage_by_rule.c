#include "model/stages/stage_pipeline.h"

#include "frame.h"
#include "model/stages/stage_step.h"

/* A stage of two chunks of 2 blocks that take 2 s forward, 3 s and 1 s backward. */
static calc_stage_terms terms(calc_compat compat)
{
    return (calc_stage_terms){.compat = compat,
                              .block = {{.fw_s = 2, .agrad_s = 3, .wgrad_s = 1}},
                              .stages = 4,
                              .microbatches = 8,
                              .training = true};
}

static const calc_stage_class class = {.stages = 4, .dense = 4, .first = 0.25, .last = 0.25};
static const calc_compat even = 1 << CALC_COMPAT_EVEN_STAGES;

/* ---- Means ----------------------------------------------------------------------------------- */

CALC_TEST(a_stage_has_the_mean_of_its_kinds_of_blocks)
{
    calc_stage_class c = {.dense = 1, .moe = 3};
    ck_assert_double_eq(calc_stage_mean(&c, 4, 8), 7);
    c.dense = 0;
    ck_assert_double_eq(calc_stage_mean(&c, 4, 8), 8);
    c = (calc_stage_class){.dense = 3};
    /* To the bit, and whatever the other kind is. */
    ck_assert_double_eq(calc_stage_mean(&c, 0.1, INFINITY), 0.1);
    c.dense = 0;
    ck_assert_double_eq(calc_stage_mean(&c, 4, 8), 0);
}

/* ---- A pass ---------------------------------------------------------------------------------- */

CALC_TEST(a_pass_by_rule_is_that_of_the_model_without_offload)
{
    calc_stage_terms ours = terms(CALC_COMPAT_NONE), theirs = terms(even);
    calc_stage_links l = {.message_s = 0.5, .back_message_s = 0.25};
    calc_stage_pass a = calc_stage_pass_of(&ours, &l, &class, 2, 1);
    calc_stage_pass b = calc_stage_pass_of(&theirs, &l, &class, 2, 1);
    ck_assert_double_eq(a.fw_s, 4 * 2 + 2 * 0.5);
    ck_assert_double_eq(b.fw_s, a.fw_s);
    ck_assert_double_eq(b.agrad_s, a.agrad_s);
    ck_assert_double_eq(b.wgrad_s, a.wgrad_s);
    /* A base block, and the last of a chunk with its message. */
    ck_assert_double_eq(a.base_fw_s + a.edge_fw_s + a.base_bw_s + a.edge_bw_s, 0);
    ck_assert_double_eq(b.base_fw_s, 2);
    ck_assert_double_eq(b.edge_fw_s, 2.5);
    ck_assert_double_eq(b.base_bw_s, 4);
    ck_assert_double_eq(b.edge_bw_s, 4.25);
}

CALC_TEST(the_last_block_of_a_chunk_may_take_longer)
{
    calc_stage_terms t = terms(even);
    calc_stage_links none = {0};
    t.rule[0].edge_fw_s = 0.5;
    t.rule[0].edge_bw_s = 0.125;
    calc_stage_pass p = calc_stage_pass_of(&t, &none, &class, 2, 1);
    ck_assert_double_eq(p.fw_s, 4 * 2 + 2 * 0.5);
    ck_assert_double_eq(p.agrad_s, 4 * 3 + 2 * 0.125);
    ck_assert_double_eq(p.wgrad_s, 4);
    ck_assert_double_eq(calc_stage_pass_of(&t, &none, &class, 1, 1).fw_s, 4 * 2 + 0.5);
    ck_assert_double_eq(calc_stage_pass_of(&t, &none, &class, 4, 1).fw_s, 4 * 2 + 4 * 0.5);
}

/* Offload of 1.5 s follows 1 s of memory traffic: half a second more than a block has, which a
 * message of half a second hides in the last one. */
CALC_TEST(a_block_waits_for_its_offload_after_its_traffic)
{
    calc_stage_terms t = terms(1 << CALC_COMPAT_OFFLOAD_EACH);
    calc_stage_links l = {.message_s = 0.5};
    t.rule[0].fw_mem_s = t.rule[0].bw_mem_s = 1;
    t.rule[0].fw_away_s = 1.5;
    calc_stage_pass p = calc_stage_pass_of(&t, &l, &class, 2, 1);
    ck_assert_double_eq(p.base_fw_s, 2.5);
    ck_assert_double_eq(p.edge_fw_s, 2.5);
    ck_assert_double_eq(p.fw_s, 4 * 2.5);
    ck_assert_double_eq(p.agrad_s, 4 * 3);
    t.rule[0].fw_away_s = 1; /* just hidden */
    ck_assert_double_eq(calc_stage_pass_of(&t, &l, &class, 2, 1).fw_s, 2 * 2 + 2 * 2.5);
    t.rule[0].fw_away_s = 0;
    t.rule[0].bw_away_s = 7; /* 8 s a block */
    p = calc_stage_pass_of(&t, &l, &class, 2, 1);
    ck_assert_double_eq(p.agrad_s + p.wgrad_s, 4 * 8);
    ck_assert_double_eq(p.wgrad_s, 4);
    t.rule[0].bw_away_s = 0; /* without offload traffic alone delays nothing */
    t.rule[0].bw_mem_s = 100;
    ck_assert_double_eq(calc_stage_pass_of(&t, &l, &class, 2, 1).agrad_s, 12);
}

/* ---- Even stages ----------------------------------------------------------------------------- */

/* Base blocks of 6 s, edge blocks of 6.75 s; a chunk of 12.75 s. */
static calc_stage_pass even_pass(const calc_stage_terms *t, const calc_stage_links *l,
                                 double chunks)
{
    return calc_stage_pass_of(t, l, &class, chunks, 1);
}

/* Narayanan et al. 2021: p - 1 chunks idle. */
CALC_TEST(the_bubble_of_even_stages_is_that_of_the_paper)
{
    calc_stage_terms t = terms(even);
    calc_stage_links l = {.message_s = 0.5, .back_message_s = 0.25};
    calc_stage_pass p = even_pass(&t, &l, 2);
    ck_assert_double_eq(calc_stage_even_bubble_s(&t, &class, &p, 2), 3 * 12.75);
    ck_assert_double_eq(calc_stage_even_s(&t, &l, &class, &p, 2), (8 * 2 + 3) * 12.75);
    t.lost_rounds = 3; /* the last round has one micro-batch of four */
    ck_assert_double_eq(calc_stage_even_bubble_s(&t, &class, &p, 2), (3 + 3) * 12.75);
    p = even_pass(&t, &l, 1);
    ck_assert_double_eq(calc_stage_even_bubble_s(&t, &class, &p, 1), 3 * 24.75);
}

/* Half of them base blocks and half edge blocks; edge blocks where a chunk has no other. */
CALC_TEST(missing_blocks_are_given_back_in_the_bubble)
{
    calc_stage_terms t = terms(even);
    calc_stage_links l = {.message_s = 0.5, .back_message_s = 0.25};
    calc_stage_class c = class;
    c.missing = 3;
    calc_stage_pass p = even_pass(&t, &l, 2);
    ck_assert_double_eq(calc_stage_missing_s(&c, &p, 2), 3 * (6 + 6.75) / 2);
    ck_assert_double_eq(calc_stage_even_bubble_s(&t, &c, &p, 2), 3 * 12.75 - 3 * 12.75 / 2);
    ck_assert_double_eq(calc_stage_even_s(&t, &l, &c, &p, 2), 19 * 12.75 - 3 * 12.75 / 2);
    p = even_pass(&t, &l, 4);
    ck_assert_double_eq(calc_stage_missing_s(&c, &p, 4), 3 * 6.75);
}

/* Without a pipeline no message is sent, though a chunk counts it; forward alone none backward. */
CALC_TEST(messages_that_are_not_sent_are_not_in_the_step)
{
    calc_stage_terms t = terms(even);
    calc_stage_links l = {.message_s = 0.5, .back_message_s = 0.25};
    ck_assert_double_eq(calc_stage_unsent_s(&t, &l, 2), 0);
    t.training = false;
    ck_assert_double_eq(calc_stage_unsent_s(&t, &l, 2), 8 * 2 * 0.25);
    t.stages = 1;
    ck_assert_double_eq(calc_stage_unsent_s(&t, &l, 2), 8 * 2 * 0.75);
    t.training = true;
    ck_assert_double_eq(calc_stage_unsent_s(&t, &l, 1), 8 * 0.75);
    calc_stage_pass p = even_pass(&t, &l, 1);
    ck_assert_double_eq(calc_stage_even_s(&t, &l, &class, &p, 1), 8 * 24);
}

/* ---- Gradients, memory ----------------------------------------------------------------------- */

/* Fields of the overlap: 1 base block and 1 edge block in each of two chunks. Windows: 4 stages
 * times 8.5 s, less 2 blocks of traffic, 1 base and 1 edge block of communication. */
CALC_TEST(gradients_hide_behind_what_the_stage_leaves_free)
{
    calc_stage_terms t = terms(1 << CALC_COMPAT_REDUCE_BY_BLOCK);
    calc_stage_links l = {.back_message_s = 0.5, .same_link = 1};
    t.rule[0] = (calc_rule_part){.busy_s = 1, .link_s = 0.25, .edge_link_s = 0.5};
    calc_stage_pass p = even_pass(&t, &l, 2);
    calc_reduce_times x = calc_stage_reduce_by_block(&t, &l, &class, &p, 2, 100);
    ck_assert_double_eq(x.chunks_window_s, 4 * (8.5 - 2 * 1 - 0.75));
    ck_assert_double_eq(x.tail_window_s, 5.75 - 0.5 - (4 + 4.5) / 2);
    ck_assert_double_eq(x.exposed_s, 100 + (200 - 4 * 5.75) + (100 - 1));
    l.same_link = 0; /* another network: communication does not matter */
    x = calc_stage_reduce_by_block(&t, &l, &class, &p, 2, 100);
    ck_assert_double_eq(x.chunks_window_s, 4 * (8.5 - 2 * 1));
    l.collides = 1; /* a message of each of the last round's micro-batches: 4, or 1 */
    x = calc_stage_reduce_by_block(&t, &l, &class, &p, 2, 100);
    ck_assert_double_eq(x.exposed_s, 100 + (200 - 4 * 6.5 + 4 * 0.5) + (100 - 1.75));
    t.lost_rounds = 3;
    x = calc_stage_reduce_by_block(&t, &l, &class, &p, 2, 100);
    ck_assert_double_eq(x.exposed_s, 100 + (200 - 4 * 6.5 + 1 * 0.5) + (100 - 1.75));
}

/* Korthikanti et al. 2022: p micro-batches, (1 + (p - 1) / (p v)) times as many with v chunks. */
CALC_TEST(every_stage_holds_as_many_micro_batches_as_the_first)
{
    calc_stage_terms t = terms(1 << CALC_COMPAT_MEAN_IN_FLIGHT);
    for (double position = 0; position < 4; position++) {
        calc_pipeline_schedule s = CALC_PIPELINE_SCHEDULE_1F1B;
        ck_assert_double_eq(calc_stage_in_flight(&t, s, position, 1), 4);
        ck_assert_double_eq(calc_stage_in_flight(&t, s, position, 2), 4 * (1 + 3.0 / 8));
    }
    t.microbatches = 3;
    ck_assert_double_eq(calc_stage_mean_in_flight(&t, 1), 3);
    ck_assert_double_eq(calc_stage_mean_in_flight(&t, 2), 3 * (1 + 3.0 / 8));
}

CALC_TEST(both_tiers_hold_their_lines)
{
    calc_stage_terms t = terms(1 << CALC_COMPAT_BLOCK_MEMORY | 1 << CALC_COMPAT_MEAN_IN_FLIGHT);
    t.rule[0] = (calc_rule_part){
        .tier1 = {100, 10}, .tier2 = {1000, 1}, .fixed_bytes = 7, .fixed_away_bytes = 3};
    calc_stage_weights w = {0, 0};
    calc_pipeline_schedule s = CALC_PIPELINE_SCHEDULE_1F1B;
    calc_stage_memory m = calc_stage_memory_sum(&t, &class, &w, s, 1);
    ck_assert_double_eq(m.state, 4 * 100 + 7);
    ck_assert_double_eq(m.activation, 4 * 10 * 4);
    ck_assert_double_eq(m.working, 0);
    ck_assert_double_eq(m.total, 407 + 160);
    calc_stage_tier2 away =
        calc_stage_tier2_at(&t, &class, &w, calc_stage_in_flight(&t, s, class.position, 1));
    ck_assert_double_eq(away.weight + away.activation + away.optimizer, 4 * 1000 + 3 + 4 * 4);
}
