#include "model/cost/block_memory.h"

#include "frame.h"
#include "small_case.h"

/* A block of 100 parameters in 2 bytes, gradients in 4, reduced in 2, Adam's state in 12;
 * activations of which 50 of 70 bytes are kept. */
static const calc_block_memory block = {.weight = 200,
                                        .whole_grad = 400,
                                        .grad = 200,
                                        .optimizer = 1200,
                                        .working = 70,
                                        .stored = 50,
                                        .activation_grad = 9};

/* The same block, recomputed in full from 8 bytes of input. */
static calc_block_memory checkpointed(void)
{
    calc_block_memory b = block;
    b.stored = 0;
    b.checkpoint = 8;
    return b;
}

/* Without what only training has. */
static calc_block_memory forward(void)
{
    return (calc_block_memory){.weight = 200, .working = 70, .stored = 50};
}

static const calc_exec training = {CLASSIC_EXEC, .training = true};

static double tier_bytes(const calc_exec *exec, const calc_block_memory *b, double blocks,
                         double in_flight, int tier)
{
    calc_rule_part part = {0};
    calc_block_memory_lines(&exec->strategy, exec->training, b, &part);
    const calc_rule_line *line = tier == 1 ? &part.tier1 : &part.tier2;
    double once = tier == 1 ? part.fixed_bytes : part.fixed_away_bytes;
    return blocks * (line->block_bytes + line->flight_bytes * in_flight) + once;
}

/* Gradients of all blocks are listed in `grad`. */
static double sum(const calc_block_memory *p)
{
    return p->weight + p->stored + p->checkpoint + p->activation_grad + p->grad + p->optimizer;
}

/* ---- One block ------------------------------------------------------------------------------- */

static double dense_frozen_bytes, expert_frozen_bytes;

static calc_block_memory memory_of(const calc_exec *exec, double shards)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_shape shape = calc_shape_of(&app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_cost_context context =
        calc_cost_context_of(&system, exec, &shape, 1 << CALC_COMPAT_BLOCK_MEMORY);
    calc_cost cost = {.dense_weights = 90,
                      .expert_weights = 10,
                      .dense_frozen_bytes = dense_frozen_bytes,
                      .expert_frozen_bytes = expert_frozen_bytes,
                      .kept_bytes = 50,
                      .working_bytes = 70,
                      .grad_bytes = 9};
    return calc_block_memory_of(&context, &exec->strategy, &cost, shards);
}

/* Gradients of the block at hand have 4 bytes, whatever they are reduced in. */
CALC_TEST(a_block_holds_weights_gradients_state_and_activations)
{
    calc_exec exec = small_exec(1, 1, 4);
    exec.strategy.grad_datatype = CALC_FORMAT_FLOAT16;
    calc_block_memory m = memory_of(&exec, 1);
    ck_assert_mem_eq(&m, &block, sizeof m);
    m = memory_of(&exec, 4);
    ck_assert_double_eq(m.weight, 200);
    ck_assert_double_eq(m.whole_grad, 400);
    ck_assert_double_eq(m.grad, 50);
    ck_assert_double_eq(m.optimizer, 300);
    ck_assert_double_eq(calc_block_memory_kept(&exec.strategy, &m), 50);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    m = memory_of(&exec, 1);
    ck_assert_double_eq(m.stored, 0);
    ck_assert_double_eq(m.checkpoint, 50);
    ck_assert_double_eq(calc_block_memory_kept(&exec.strategy, &m), 50);
    exec = small_exec(1, 1, 4);
    exec.training = false;
    calc_block_memory want = forward();
    m = memory_of(&exec, 1);
    ck_assert_mem_eq(&m, &want, sizeof m);
}

/* Weights that are not trained have no gradients and no state. */
CALC_TEST(frozen_weights_are_held_only)
{
    calc_exec exec = small_exec(1, 1, 4);
    calc_block_memory none = memory_of(&exec, 1);
    dense_frozen_bytes = 30;
    expert_frozen_bytes = 12;
    calc_block_memory m = memory_of(&exec, 1);
    ck_assert_double_eq(m.weight, none.weight + 42);
    m.weight = none.weight;
    ck_assert_mem_eq(&m, &none, sizeof m);
}

/* ---- Everything ------------------------------------------------------------------------------ */

/* Rajbhandari et al. 2020, section 3.1, have 16 bytes with gradients of 2; these are kept in 4
 * until they are reduced. */
CALC_TEST(model_states_take_eighteen_bytes_per_parameter)
{
    calc_block_memory p =
        calc_block_memory_whole(&training.strategy, training.training, &block, 1, 1);
    ck_assert_double_eq(p.weight, 2 * 100);
    ck_assert_double_eq(p.grad, 4 * 100);
    ck_assert_double_eq(p.optimizer, 12 * 100);
}

CALC_TEST(only_the_block_at_hand_has_gradients_that_are_not_reduced)
{
    calc_block_memory p =
        calc_block_memory_whole(&training.strategy, training.training, &block, 5, 1);
    ck_assert_double_eq(p.weight, 5 * 200);
    ck_assert_double_eq(p.grad, 400 + 4 * 200);
    ck_assert_double_eq(p.optimizer, 5 * 1200);
    ck_assert_double_eq(p.activation_grad, 9);
}

/* 5 blocks of 3 micro-batches: one of the 15 is being worked on. */
CALC_TEST(all_micro_batches_in_flight_keep_their_activations)
{
    calc_block_memory p =
        calc_block_memory_whole(&training.strategy, training.training, &block, 5, 3);
    ck_assert_double_eq(p.stored, 70 + 14 * 50);
    ck_assert_double_eq(p.checkpoint, 0);
    p = calc_block_memory_whole(&training.strategy, training.training, &block, 1, 1);
    ck_assert_double_eq(p.stored, 70);
}

CALC_TEST(full_recomputation_keeps_checkpoints_instead)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true,
                      .strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_block_memory b = checkpointed();
    calc_block_memory p = calc_block_memory_whole(&exec.strategy, exec.training, &b, 5, 3);
    ck_assert_double_eq(p.stored, 70);
    ck_assert_double_eq(p.checkpoint, 15 * 8);
}

CALC_TEST(inference_holds_weights_and_one_block_of_activations)
{
    calc_exec exec = {CLASSIC_EXEC, .training = false};
    calc_block_memory block_forward = forward();
    calc_block_memory p =
        calc_block_memory_whole(&exec.strategy, exec.training, &block_forward, 5, 3);
    ck_assert_double_eq(p.weight, 5 * 200);
    ck_assert_double_eq(p.stored, 70);
    ck_assert_double_eq(sum(&p), 5 * 200 + 70);
}

/* ---- Tiers ----------------------------------------------------------------------------------- */

CALC_TEST(without_offload_all_of_it_is_in_tier_1)
{
    for (double in_flight = 1; in_flight <= 4; in_flight += 0.75) {
        calc_block_memory p =
            calc_block_memory_whole(&training.strategy, training.training, &block, 5, in_flight);
        ck_assert_double_eq(tier_bytes(&training, &block, 5, in_flight, 1), sum(&p));
        ck_assert_double_eq(tier_bytes(&training, &block, 5, in_flight, 2), 0);
    }
    calc_exec full = {CLASSIC_EXEC, .training = true,
                      .strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_block_memory b = checkpointed();
    calc_block_memory p = calc_block_memory_whole(&full.strategy, full.training, &b, 5, 3);
    ck_assert_double_eq(tier_bytes(&full, &b, 5, 3, 1), sum(&p));
}

CALC_TEST(inference_needs_no_more_than_it_holds)
{
    calc_exec exec = {CLASSIC_EXEC, .training = false};
    calc_block_memory block_forward = forward();
    ck_assert_double_eq(tier_bytes(&exec, &block_forward, 5, 3, 1), 5 * 200 + 70);
    ck_assert_double_eq(tier_bytes(&exec, &block_forward, 5, 3, 2), 0);
}

/* What the rest needs, below: 5 blocks, 3 micro-batches in flight. */
static const double weight = 5 * 200;
static const double activation = 70 + 14 * 50;
static const double state = 400 + 4 * 200 + 5 * 1200; /* with gradients */
static const double activation_grad = 9;

CALC_TEST(offloaded_weights_leave_two_blocks)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .strategy.weight_offload = true};
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1),
                        2 * 200 + activation + state + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2), weight);
}

CALC_TEST(offloaded_activations_leave_the_block_at_hand_and_the_next)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .strategy.activations_offload = true};
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1),
                        weight + (70 + 50) + state + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2), activation);
}

CALC_TEST(offloaded_checkpoints_leave_two)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .strategy.activations_offload = true,
                      .strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_block_memory b = checkpointed();
    ck_assert_double_eq(tier_bytes(&exec, &b, 5, 3, 1),
                        weight + 70 + 2 * 8 + state + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &b, 5, 3, 2), 15 * 8);
}

/* Gradients of one block as they come and of one more as they go; in tier 2 all are reduced. */
CALC_TEST(offloaded_optimizers_leave_two_blocks_of_state)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .strategy.optimizer_offload = true};
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1),
                        weight + activation + (400 + 200 + 2 * 1200) + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2), 5 * 200 + 5 * 1200);
}

CALC_TEST(offloading_everything_makes_tier_1_independent_of_the_depth)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .strategy.weight_offload = true,
                      .strategy.activations_offload = true, .strategy.optimizer_offload = true};
    double kept = 2 * 200 + (70 + 50) + (400 + 200 + 2 * 1200) + activation_grad;
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1), kept);
    ck_assert_double_eq(tier_bytes(&exec, &block, 50, 8, 1), kept);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2),
                        weight + activation + 5 * 200 + 5 * 1200);
}

CALC_TEST(what_stays_is_listed_part_by_part)
{
    calc_block_memory p = calc_block_memory_offloaded(training.training, &block);
    ck_assert_double_eq(p.weight, 2 * 200);
    ck_assert_double_eq(p.stored, 70 + 50);
    ck_assert_double_eq(p.checkpoint, 0);
    ck_assert_double_eq(p.activation_grad, 9);
    ck_assert_double_eq(p.grad, 400 + 200);
    ck_assert_double_eq(p.optimizer, 2 * 1200);
    calc_exec inference = {CLASSIC_EXEC, .training = false};
    calc_block_memory b = forward();
    p = calc_block_memory_offloaded(inference.training, &b);
    ck_assert_double_eq(sum(&p), 2 * 200 + (70 + 50));
}
