/* What parts of a block keep in the second tier, by the sizes of what they save: bytes by hand. */
#include "model/cost/cost.h"

#include "frame.h"
#include "stage_case.h"

/* Sizes of modern_app(), moe_app() and latent_app(): a micro-batch of 32 tokens, 64 wide, 4 query
 * heads on 2 of keys and values, of 16; 8 experts of 32, 2 a token; latents of 32 and 16. */
enum {
    T = 32,
    H = 64,
    Q = 4 * 16,
    KV = 2 * 2 * 16,
    K = 2,
    FE = 32,
    RANKS = 32 + 16,
    QK = 24,
    V = 16
};

#define PART(name) ((int64_t)1 << CALC_OFFLOAD_MODULES_##name)
#define AGAIN(name) ((int64_t)1 << CALC_RECOMPUTE_MODULES_##name)

static calc_offload offload_of(modern_case *c, calc_block_kind kind, int64_t parts)
{
    make_block(c, kind);
    c->exec.strategy.offload_modules = parts;
    return calc_offload_of(&c->exec.strategy, c->operators, c->count,
                           calc_operator_recompute(&c->exec.strategy, c->exec.training));
}

/* @param bytes  that leave the first tier; and that are copied */
static void moves(modern_case *c, calc_block_kind kind, int64_t parts, double bytes,
                  double copied_bytes)
{
    calc_offload o = offload_of(c, kind, parts);
    ck_assert_double_eq(o.away_bytes, bytes);
    ck_assert_double_eq(o.copied_bytes, copied_bytes);
}

static void recomputing(modern_case *c, int64_t modules)
{
    c->exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    c->exec.strategy.recompute_modules = modules;
}

CALC_TEST(none_is_nothing)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    moves(&c, CALC_DENSE_BLOCK, 0, 0, 0);
    moves(&c, CALC_MOE_BLOCK, 0, 0, 0);
}

/* Two bytes each; the output of flash attention is copied with its inputs, and once more as the
 * input of the projection. */
CALC_TEST(a_part_moves_its_input)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    double hidden = 2 * T * H, inputs = 2 * T * (Q + KV), output = 2 * T * Q;
    moves(&c, CALC_DENSE_BLOCK, PART(ATTN_NORM), hidden, hidden);
    moves(&c, CALC_DENSE_BLOCK, PART(QKV_LINEAR), hidden, hidden);
    moves(&c, CALC_DENSE_BLOCK, PART(MLP_NORM), hidden, hidden);
    moves(&c, CALC_DENSE_BLOCK, PART(CORE_ATTN), inputs, inputs + output);
    moves(&c, CALC_DENSE_BLOCK, PART(CORE_ATTN) | PART(ATTN_PROJ), inputs + output,
          inputs + 2 * output);
    int64_t experts = PART(EXPERT_FC1) | PART(MOE_ACT) | PART(FUSED_GROUP_MLP);
    moves(&c, CALC_DENSE_BLOCK, experts, 0, 0);
}

CALC_TEST(stored_scores_move_with_attention)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.flash_attention = false;
    double bytes = 2 * T * (Q + KV) + 2 * 4 * T * T;
    moves(&c, CALC_DENSE_BLOCK, PART(CORE_ATTN), bytes, bytes);
}

CALC_TEST(sequence_parallelism_splits_what_moves)
{
    modern_case c = case_of(modern_app(), modern_exec(2, 1, 1));
    moves(&c, CALC_DENSE_BLOCK, PART(ATTN_NORM), 2 * T * H / 2, 2 * T * H / 2);
    moves(&c, CALC_DENSE_BLOCK, PART(CORE_ATTN) | PART(ATTN_PROJ), 2 * T * (Q + KV + Q) / 2,
          2 * T * (Q + KV + 2 * Q) / 2);
}

/* Gate and value of every copy of a token; the input of the way back only where all are one. */
CALC_TEST(experts_move_tokens_that_arrived)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    double input = 2 * K * T * H, gates = 2 * K * T * 2 * FE, back = 2 * K * T * FE;
    moves(&c, CALC_MOE_BLOCK, PART(EXPERT_FC1), input, input);
    moves(&c, CALC_MOE_BLOCK, PART(MOE_ACT), gates, gates);
    moves(&c, CALC_MOE_BLOCK, PART(FUSED_GROUP_MLP), input + gates + back, input + gates + back);
}

/* The input of both down projections, the latents, and these normed. */
CALC_TEST(latents_move_with_the_projections)
{
    modern_case c = case_of(latent_app(), modern_exec(1, 1, 1));
    double bytes = 2 * T * H + 2 * 2 * T * RANKS;
    moves(&c, CALC_DENSE_BLOCK, PART(QKV_LINEAR), bytes, bytes);
}

/* What is computed again frees nothing, but is saved and copied before it is dropped. */
CALC_TEST(outputs_that_are_dropped_are_copied)
{
    modern_case c = case_of(latent_app(), modern_exec(1, 1, 1));
    double inputs = 2 * T * 4 * (QK + QK + V), output = 2 * T * 4 * V, latents = 2 * 2 * T * RANKS;
    recomputing(&c, AGAIN(MLA_UP_PROJ));
    moves(&c, CALC_DENSE_BLOCK, PART(CORE_ATTN), 0, inputs + output);
    recomputing(&c, AGAIN(LAYERNORM));
    moves(&c, CALC_DENSE_BLOCK, PART(CORE_ATTN), inputs, inputs + output);
    moves(&c, CALC_DENSE_BLOCK, PART(QKV_LINEAR), latents, 2 * T * H + latents);
}

/* Nothing of a part that runs again as a whole. */
CALC_TEST(parts_that_run_again_save_nothing)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    recomputing(&c, AGAIN(CORE_ATTN));
    moves(&c, CALC_DENSE_BLOCK, PART(CORE_ATTN), 0, 0);
    recomputing(&c, AGAIN(MOE));
    moves(&c, CALC_MOE_BLOCK, PART(EXPERT_FC1) | PART(MOE_ACT), 0, 0);
    recomputing(&c, AGAIN(MOE_ACT)); /* its input is kept */
    moves(&c, CALC_MOE_BLOCK, PART(MOE_ACT), 2 * K * T * 2 * FE, 2 * K * T * 2 * FE);
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    moves(&c, CALC_DENSE_BLOCK, PART(ATTN_NORM), 0, 0);
}

/* ---- On a stage ------------------------------------------------------------------------------ */

static const double attention_bytes = 2.0 * T * (Q + KV + Q);
static const double copied_bytes = 2.0 * T * (Q + KV + 2 * Q);

static void moving(stage_case *s, calc_app app, int64_t stages)
{
    app.vocab_size = 0;
    build(s, app, modern_exec(1, stages, 1));
    s->c.exec.strategy.offload_modules = PART(CORE_ATTN) | PART(ATTN_PROJ);
}

/* 4 blocks on the first of 2 stages, 2 micro-batches in flight; one block is computed, of another
 * one these parts come or go. */
CALC_TEST(bytes_are_in_one_tier_or_the_other)
{
    stage_case plain, s;
    moving(&plain, modern_app(), 2);
    plain.c.exec.strategy.offload_modules = 0;
    calc_stage_memory all = memory_of(&plain, 0);
    moving(&s, modern_app(), 2);
    calc_stage_memory rest = memory_of(&s, 0);
    double moved = 2 * 4 * attention_bytes;
    assert_near(rest.activation, all.activation - moved);
    assert_near(rest.working, all.working + 2 * attention_bytes);
    ck_assert(s.terms.away && !plain.terms.away);
    assert_near(calc_stage_tier2_sum(&s.terms, &s.stages.item[0], &(calc_stage_weights){0, 0},
                                     CALC_PIPELINE_SCHEDULE_1F1B, 1)
                    .activation,
                moved);
    s.c.exec.strategy.offload_share = 0.25;
    rest = memory_of(&s, 0);
    assert_near(rest.activation, all.activation - moved / 4);
    assert_near(rest.working, all.working + 2 * attention_bytes / 4);
}

/* Blocks with experts and without move parts of their own. */
CALC_TEST(kinds_of_blocks_move_what_they_have)
{
    stage_case s;
    moving(&s, moe_app(), 1);
    s.c.exec.strategy.offload_modules = PART(EXPERT_FC1);
    settle(&s);
    ck_assert_double_eq(s.terms.block[CALC_DENSE_BLOCK].away_bytes, 0);
    assert_near(s.terms.block[CALC_MOE_BLOCK].away_bytes, 2 * K * T * H);
}

/* Out in the forward pass, back in the backward pass; each shows what it does not hide. */
CALC_TEST(copies_hide_behind_the_passes_of_the_block)
{
    stage_case s;
    moving(&s, modern_app(), 1);
    s.c.system.chip.mem2.bytes_per_s = 0x1p60;
    settle(&s);
    double fw_s = s.terms.block[CALC_DENSE_BLOCK].fw_s;
    double agrad_s = s.terms.block[CALC_DENSE_BLOCK].agrad_s;
    double wgrad_s = s.terms.block[CALC_DENSE_BLOCK].wgrad_s;
    s.c.exec.strategy.offload_modules = 0;
    settle(&s);
    ck_assert_double_eq(s.terms.block[CALC_DENSE_BLOCK].fw_s, fw_s);
    ck_assert_double_eq(s.terms.block[CALC_DENSE_BLOCK].agrad_s, agrad_s);
    s.c.exec.strategy.offload_modules = PART(CORE_ATTN) | PART(ATTN_PROJ);
    s.c.system.chip.mem2.bytes_per_s = copied_bytes / (4 * (fw_s + agrad_s + wgrad_s));
    settle(&s);
    double copy_s = 4 * (fw_s + agrad_s + wgrad_s);
    assert_near(s.terms.block[CALC_DENSE_BLOCK].fw_s, copy_s);
    assert_near(s.terms.block[CALC_DENSE_BLOCK].agrad_s + wgrad_s, copy_s);
    const calc_cost *block = &s.parts.block[CALC_DENSE_BLOCK];
    calc_stage_offload o = calc_stage_offload_of(&s.c.context, &s.c.exec.strategy, block,
                                                 &(calc_stage_sharded){0, 0, 0});
    assert_near(o.fw_s, copy_s - fw_s);
    assert_near(o.bw_s, copy_s - agrad_s - wgrad_s);
}
