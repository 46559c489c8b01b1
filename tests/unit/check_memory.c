#include "model/memory.h"

#include "model/pipeline.h"
#include "small_case.h"

/* A block of 100 parameters in 2 bytes, gradients in 4, Adam's state in 12; activations of which
 * 50 of 70 bytes are kept. */
static const calc_block block = {.weight_bytes = 200,
                                 .weight_grad_bytes = 400,
                                 .activation_working_bytes = 70,
                                 .activation_storage_bytes = 50,
                                 .activation_grad_bytes = 9};
static const calc_optimizer_block optimizer = {.state_bytes = 1200, .grad_bytes = 200};

/* The same block, recomputed in full from 8 bytes of input. */
static calc_block checkpointed(void)
{
    calc_block b = block;
    b.activation_storage_bytes = 0;
    b.checkpoint_bytes = 8;
    return b;
}

static const calc_exec training = {CLASSIC_EXEC, .training = true};

static double tier_bytes(const calc_exec *exec, const calc_block *b, double blocks,
                         double in_flight, int tier)
{
    calc_memory_need need = calc_memory_need_of(exec, b, &optimizer, blocks);
    return calc_memory_tier_bytes(tier == 1 ? &need.tier1 : &need.tier2, in_flight);
}

static double sum(const calc_memory_parts *p)
{
    return p->weight + p->activation + p->checkpoint + p->activation_grad + p->weight_grad +
           p->optimizer;
}

/* ---- Everything ------------------------------------------------------------------------------ */

/* Rajbhandari et al. 2020, section 3.1, have 16 bytes with gradients of 2; these are kept in 4
 * until they are reduced. */
START_TEST(model_states_take_eighteen_bytes_per_parameter)
{
    calc_memory_parts p = calc_memory_whole(&training, &block, &optimizer, 1, 1);
    ck_assert_double_eq(p.weight, 2 * 100);
    ck_assert_double_eq(p.weight_grad, 4 * 100);
    ck_assert_double_eq(p.optimizer, 12 * 100);
}
END_TEST

START_TEST(only_the_block_at_hand_has_gradients_that_are_not_reduced)
{
    calc_memory_parts p = calc_memory_whole(&training, &block, &optimizer, 5, 1);
    ck_assert_double_eq(p.weight, 5 * 200);
    ck_assert_double_eq(p.weight_grad, 400 + 4 * 200);
    ck_assert_double_eq(p.optimizer, 5 * 1200);
    ck_assert_double_eq(p.activation_grad, 9);
}
END_TEST

/* 5 blocks of 3 micro-batches: one of the 15 is being worked on. */
START_TEST(all_micro_batches_in_flight_keep_their_activations)
{
    calc_memory_parts p = calc_memory_whole(&training, &block, &optimizer, 5, 3);
    ck_assert_double_eq(p.activation, 70 + 14 * 50);
    ck_assert_double_eq(p.checkpoint, 0);
    p = calc_memory_whole(&training, &block, &optimizer, 1, 1);
    ck_assert_double_eq(p.activation, 70);
}
END_TEST

/* 1F1B: the first stage holds as many micro-batches as there are stages, or as there are at all. */
START_TEST(activations_stop_growing_when_the_pipeline_is_full)
{
    for (int64_t microbatches = 1; microbatches <= 8; microbatches++) {
        calc_pipeline p = calc_pipeline_split(8, 4, 1, microbatches);
        double held = (double)(microbatches < 4 ? microbatches : 4);
        calc_memory_parts parts =
            calc_memory_whole(&training, &block, &optimizer, p.blocks_per_proc, p.in_flight);
        ck_assert_double_eq(parts.activation, 70 + (2 * held - 1) * 50);
    }
}
END_TEST

START_TEST(full_recomputation_keeps_checkpoints_instead)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true,
                      .activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_block b = checkpointed();
    calc_memory_parts p = calc_memory_whole(&exec, &b, &optimizer, 5, 3);
    ck_assert_double_eq(p.activation, 70);
    ck_assert_double_eq(p.checkpoint, 15 * 8);
}
END_TEST

START_TEST(inference_holds_weights_and_one_block_of_activations)
{
    calc_exec exec = {CLASSIC_EXEC, .training = false};
    calc_optimizer_block none = {0};
    calc_memory_parts p = calc_memory_whole(&exec, &block, &none, 5, 3);
    ck_assert_double_eq(p.weight, 5 * 200);
    ck_assert_double_eq(p.activation, 70);
    ck_assert_double_eq(sum(&p), 5 * 200 + 70);
}
END_TEST

/* ---- Tiers ----------------------------------------------------------------------------------- */

START_TEST(without_offload_all_of_it_is_in_tier_1)
{
    for (double in_flight = 1; in_flight <= 4; in_flight += 0.75) {
        calc_memory_parts p = calc_memory_whole(&training, &block, &optimizer, 5, in_flight);
        ck_assert_double_eq(tier_bytes(&training, &block, 5, in_flight, 1), sum(&p));
        ck_assert_double_eq(tier_bytes(&training, &block, 5, in_flight, 2), 0);
    }
    calc_exec full = {CLASSIC_EXEC, .training = true,
                      .activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_block b = checkpointed();
    calc_memory_parts p = calc_memory_whole(&full, &b, &optimizer, 5, 3);
    ck_assert_double_eq(tier_bytes(&full, &b, 5, 3, 1), sum(&p));
}
END_TEST

START_TEST(inference_needs_no_more_than_it_holds)
{
    calc_exec exec = {CLASSIC_EXEC, .training = false};
    calc_optimizer_block none = {0};
    calc_memory_need need = calc_memory_need_of(&exec, &block, &none, 5);
    ck_assert_double_eq(calc_memory_tier_bytes(&need.tier1, 3), 5 * 200 + 70);
    ck_assert_double_eq(calc_memory_tier_bytes(&need.tier2, 3), 0);
}
END_TEST

/* What the rest needs, below: 5 blocks, 3 micro-batches in flight. */
static const double weight = 5 * 200;
static const double activation = 70 + 14 * 50;
static const double state = 400 + 4 * 200 + 5 * 1200; /* with gradients */
static const double activation_grad = 9;

START_TEST(offloaded_weights_leave_two_blocks)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .weight_offload = true};
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1),
                        2 * 200 + activation + state + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2), weight);
}
END_TEST

START_TEST(offloaded_activations_leave_the_block_at_hand_and_the_next)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .activations_offload = true};
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1),
                        weight + (70 + 50) + state + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2), activation);
}
END_TEST

START_TEST(offloaded_checkpoints_leave_two)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .activations_offload = true,
                      .activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_block b = checkpointed();
    ck_assert_double_eq(tier_bytes(&exec, &b, 5, 3, 1),
                        weight + 70 + 2 * 8 + state + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &b, 5, 3, 2), 15 * 8);
}
END_TEST

/* Gradients of one block as they come and of one more as they go; in tier 2 all are reduced. */
START_TEST(offloaded_optimizers_leave_two_blocks_of_state)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .optimizer_offload = true};
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1),
                        weight + activation + (400 + 200 + 2 * 1200) + activation_grad);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2), 5 * 200 + 5 * 1200);
}
END_TEST

START_TEST(offloading_everything_makes_tier_1_independent_of_the_depth)
{
    calc_exec exec = {CLASSIC_EXEC, .training = true, .weight_offload = true,
                      .activations_offload = true, .optimizer_offload = true};
    double kept = 2 * 200 + (70 + 50) + (400 + 200 + 2 * 1200) + activation_grad;
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 1), kept);
    ck_assert_double_eq(tier_bytes(&exec, &block, 50, 8, 1), kept);
    ck_assert_double_eq(tier_bytes(&exec, &block, 5, 3, 2),
                        weight + activation + 5 * 200 + 5 * 1200);
}
END_TEST

START_TEST(what_stays_is_listed_part_by_part)
{
    calc_memory_parts p = calc_memory_offloaded(&training, &block, &optimizer);
    ck_assert_double_eq(p.weight, 2 * 200);
    ck_assert_double_eq(p.activation, 70 + 50);
    ck_assert_double_eq(p.checkpoint, 0);
    ck_assert_double_eq(p.activation_grad, 9);
    ck_assert_double_eq(p.weight_grad, 400 + 200);
    ck_assert_double_eq(p.optimizer, 2 * 1200);
    calc_exec inference = {CLASSIC_EXEC, .training = false};
    p = calc_memory_offloaded(&inference, &block, &optimizer);
    ck_assert_double_eq(sum(&p), 2 * 200 + (70 + 50));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("memory");
    tcase_add_test(cases, model_states_take_eighteen_bytes_per_parameter);
    tcase_add_test(cases, only_the_block_at_hand_has_gradients_that_are_not_reduced);
    tcase_add_test(cases, all_micro_batches_in_flight_keep_their_activations);
    tcase_add_test(cases, activations_stop_growing_when_the_pipeline_is_full);
    tcase_add_test(cases, full_recomputation_keeps_checkpoints_instead);
    tcase_add_test(cases, inference_holds_weights_and_one_block_of_activations);
    tcase_add_test(cases, without_offload_all_of_it_is_in_tier_1);
    tcase_add_test(cases, inference_needs_no_more_than_it_holds);
    tcase_add_test(cases, offloaded_weights_leave_two_blocks);
    tcase_add_test(cases, offloaded_activations_leave_the_block_at_hand_and_the_next);
    tcase_add_test(cases, offloaded_checkpoints_leave_two);
    tcase_add_test(cases, offloaded_optimizers_leave_two_blocks_of_state);
    tcase_add_test(cases, offloading_everything_makes_tier_1_independent_of_the_depth);
    tcase_add_test(cases, what_stays_is_listed_part_by_part);
    return run_cases(cases);
}
