#include "model/stages/stages.h"

#include "frame.h"
#include "modern_case.h"

static const calc_block_memory block = {
    .weight = 100, .stored = 60, .checkpoint = 30, .grad = 200, .optimizer = 600};

/* ---- What travels ---------------------------------------------------------------------------- */

static calc_stage_travel travel(bool weight, bool activations, bool state, bool training)
{
    calc_exec exec = {.strategy.weight_offload = weight,
                      .strategy.activations_offload = activations,
                      .strategy.optimizer_offload = state,
                      .training = training};
    return calc_stage_rules_travel(&exec.strategy, exec.training, &block);
}

static void assert_bytes(calc_stage_travel got, double fw_bytes, double bw_bytes)
{
    ck_assert_double_eq(got.fw_bytes, fw_bytes);
    ck_assert_double_eq(got.bw_bytes, bw_bytes);
}

/* In forward weights come in while activations go out; backward moves all of it. */
CALC_TEST(each_part_travels_alone_and_the_link_is_duplex_forward)
{
    assert_bytes(travel(false, false, false, true), 0, 0);
    assert_bytes(travel(true, false, false, true), 100, 100);
    assert_bytes(travel(false, true, false, true), 60, 60);
    assert_bytes(travel(false, false, true, true), 0, 600);
    assert_bytes(travel(true, true, false, true), 100, 160);
    assert_bytes(travel(true, true, true, true), 100, 760);
    assert_bytes(travel(true, true, false, false), 100, 0);
}

CALC_TEST(full_recomputation_offloads_checkpoints)
{
    calc_exec exec = {.strategy.activations_offload = true,
                      .strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL,
                      .training = true};
    assert_bytes(calc_stage_rules_travel(&exec.strategy, exec.training, &block), 30, 30);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    assert_bytes(calc_stage_rules_travel(&exec.strategy, exec.training, &block), 60, 60);
}

/* ---- The terms of a block -------------------------------------------------------------------- */

enum { RULES = 1 << CALC_COMPAT_OPTIMIZER_ROOFLINE | 1 << CALC_COMPAT_OFFLOAD_EACH };

/* A block of 100 weights in two layers, whose every number can be told apart. */
static calc_stage_terms terms_of(calc_compat compat, const calc_exec *exec, double shards)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_shape shape = calc_shape_of(&app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_cost_context context = calc_cost_context_of(&system, exec, &shape, compat);
    calc_stage_parts parts = {.layers = {2}, .weights = {{60, 40}}};
    calc_cost *b = &parts.block[CALC_DENSE_BLOCK];
    b->dense_weights = 100;
    b->kept_bytes = 32;
    b->tensor = (calc_cost_comm){
        .bw_link_s = 1, .re_link_s = 2, .fw_exposed_s = 3, .bw_exposed_s = 5, .re_exposed_s = 7};
    b->edge = (calc_cost_comm){.bw_link_s = 11,
                               .re_link_s = 22,
                               .fw_exposed_s = 33,
                               .bw_exposed_s = 55,
                               .re_exposed_s = 77};
    b->work[CALC_PASS_FW].mem_s = 100;
    b->work[CALC_PASS_AGRAD] = (calc_cost_work){.flop_s = 200, .mem_s = 400};
    b->work[CALC_PASS_WGRAD] = (calc_cost_work){.flop_s = 800, .mem_s = 1600};
    b->re = (calc_cost_work){.flop_s = 3200, .mem_s = 6400};
    calc_stage_terms t = {.compat = compat};
    calc_stage_rules_of(&context, &exec->strategy, &parts, shards, NULL, &t);
    return t;
}

CALC_TEST(without_rules_there_is_nothing)
{
    calc_exec exec = small_exec(1, 1, 4);
    exec.strategy.weight_offload = exec.strategy.optimizer_offload = true;
    calc_stage_terms t = terms_of(CALC_COMPAT_NONE, &exec, 4);
    calc_stage_terms none = {.compat = CALC_COMPAT_NONE};
    ck_assert_mem_eq(t.rule, none.rule, sizeof t.rule);
}

CALC_TEST(edges_and_what_gradients_hide_behind_come_from_the_block)
{
    calc_exec exec = small_exec(1, 1, 4);
    calc_rule_part r = terms_of(1 << CALC_COMPAT_REDUCE_BY_BLOCK, &exec, 4).rule[0];
    ck_assert_double_eq(r.edge_fw_s, 30);
    ck_assert_double_eq(r.edge_bw_s, 50 + 70);
    ck_assert_double_eq(r.fw_mem_s, 100);
    ck_assert_double_eq(r.bw_mem_s, 400 + 1600);
    ck_assert_double_eq(r.busy_s, 400 + 1600 + 6400);
    ck_assert_double_eq(r.compute_s, 200 + 800 + 3200);
    ck_assert_double_eq(r.link_s, 3);
    ck_assert_double_eq(r.edge_link_s, 33);
    /* Rules of their own: */
    ck_assert_double_eq(r.optimizer_s, 0);
    ck_assert_double_eq(r.optimizer_window_s, 0);
    ck_assert_double_eq(r.fw_away_s, 0);
    ck_assert_double_eq(r.bw_away_s, 0);
}

/* 12 bytes of state at 2^38 bytes/s, and 11 FLOP at 2^36 FLOP/s, which are longer; the difference
 * hides gradients unless the state is sharded. */
CALC_TEST(an_optimizer_that_is_not_sharded_runs_block_by_block)
{
    calc_exec exec = small_exec(1, 1, 4);
    double flop_s = 1100 / 0x1p36, mem_s = 1200 / 0x1p38;
    calc_rule_part r = terms_of(RULES, &exec, 4).rule[0];
    assert_near(r.optimizer_s, flop_s);
    ck_assert_double_eq_tol(r.optimizer_window_s, flop_s - mem_s, 1e-20);
    ck_assert_double_eq(r.compute_s, 200 + 800 + 3200 + flop_s);
    exec.strategy.optimizer_sharding = true;
    r = terms_of(RULES, &exec, 4).rule[0];
    assert_near(r.optimizer_s, flop_s / 4);
    ck_assert_double_eq(r.optimizer_window_s, 0);
    ck_assert_double_eq(r.compute_s, 200 + 800 + 3200);
    exec.training = false;
    ck_assert_double_eq(terms_of(RULES, &exec, 4).rule[0].optimizer_s, 0);
}

/* 200 bytes of weights, 32 of activations and 1200 of state, at 2^34 bytes/s. */
CALC_TEST(offload_takes_the_time_of_its_bytes)
{
    calc_exec exec = small_exec(1, 1, 4);
    ck_assert_double_eq(terms_of(RULES, &exec, 1).rule[0].fw_away_s, 0);
    exec.strategy.weight_offload = exec.strategy.activations_offload =
        exec.strategy.optimizer_offload = true;
    calc_rule_part r = terms_of(RULES, &exec, 1).rule[0];
    assert_near(r.fw_away_s, 200 / 0x1p34);
    assert_near(r.bw_away_s, (200 + 32 + 1200) / 0x1p34);
    exec.strategy.optimizer_sharding = true;
    r = terms_of(RULES, &exec, 4).rule[0];
    assert_near(r.bw_away_s, (200 + 32 + 300) / 0x1p34);
}

/* Four ranks share a state only where it is sharded. */
CALC_TEST(memory_follows_the_shards)
{
    calc_exec exec = small_exec(1, 1, 4);
    exec.strategy.grad_datatype = CALC_FORMAT_FLOAT16;
    calc_rule_part r = terms_of(1 << CALC_COMPAT_BLOCK_MEMORY, &exec, 4).rule[0];
    ck_assert_double_eq(r.tier1.block_bytes, 200 + 200 + 1200);
    ck_assert_double_eq(r.tier1.flight_bytes, 32);
    exec.strategy.optimizer_sharding = true;
    r = terms_of(1 << CALC_COMPAT_BLOCK_MEMORY, &exec, 4).rule[0];
    ck_assert_double_eq(r.tier1.block_bytes, 200 + 50 + 300);
}
