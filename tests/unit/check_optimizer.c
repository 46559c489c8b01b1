#include "model/optimizer.h"

#include "small_case.h"

/* 100 weights. */
static const calc_layer layer = {.weights = 100};

static calc_optimizer optimizer(double shards, double element_bytes)
{
    return (calc_optimizer){.shards = shards, .element_bytes = element_bytes};
}

/* Rajbhandari et al. 2020, section 3.1: master weights, momentum and variance are 12 bytes per
 * parameter beside its 2-byte weight and gradient. */
START_TEST(mixed_precision_keeps_twelve_bytes_per_weight)
{
    calc_optimizer o = optimizer(1, 2);
    ck_assert_double_eq(calc_optimizer_bytes(&o, &layer), 12 * 100);
    ck_assert_double_eq(calc_optimizer_grad_bytes(&o, &layer), 2 * 100);
    o = optimizer(1, 1);
    ck_assert_double_eq(calc_optimizer_bytes(&o, &layer), 12 * 100);
    ck_assert_double_eq(calc_optimizer_grad_bytes(&o, &layer), 1 * 100);
}
END_TEST

START_TEST(single_precision_needs_no_master_weights)
{
    calc_optimizer o = optimizer(1, 4);
    ck_assert_double_eq(calc_optimizer_bytes(&o, &layer), 8 * 100);
    ck_assert_double_eq(calc_optimizer_grad_bytes(&o, &layer), 4 * 100);
}
END_TEST

START_TEST(a_step_takes_eleven_flop_per_weight)
{
    calc_optimizer o = optimizer(1, 2);
    ck_assert_double_eq(calc_optimizer_flop(&o, &layer), 1100);
}
END_TEST

START_TEST(sharding_divides_work_state_and_gradients)
{
    calc_optimizer o = optimizer(4, 2);
    ck_assert_double_eq(calc_optimizer_flop(&o, &layer), 275);
    ck_assert_double_eq(calc_optimizer_bytes(&o, &layer), 300);
    ck_assert_double_eq(calc_optimizer_grad_bytes(&o, &layer), 50);
}
END_TEST

START_TEST(only_a_sharded_layout_has_shards)
{
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 1, 8);
    calc_optimizer o = calc_optimizer_of(&system, &exec);
    ck_assert_double_eq(o.shards, 1);
    ck_assert_double_eq(o.element_bytes, 2);
    ck_assert_int_eq(o.mode, system.processing_mode);
    ck_assert_ptr_eq(o.memory, &system.mem1);
    ck_assert_ptr_eq(o.vector, &system.vector[CALC_DATATYPE_FLOAT16]);
    exec.optimizer_sharding = true;
    ck_assert_double_eq(calc_optimizer_of(&system, &exec).shards, 8);
}
END_TEST

/* 1100 FLOP at 1100 FLOP/s and 1200 bytes at 600 bytes/s. */
START_TEST(the_time_of_a_step_follows_the_processing_mode)
{
    calc_engine vector = {1100, flat_curve(1)};
    calc_memory_tier memory = {.bytes_per_s = 600, .efficiency = flat_curve(1)};
    calc_optimizer o = {.shards = 1, .element_bytes = 2, .memory = &memory, .vector = &vector};
    double flop_s;
    double mem_s;
    ck_assert_double_eq(calc_optimizer_layer_s(&o, &layer, &flop_s, &mem_s), 2);
    ck_assert_double_eq(flop_s, 1);
    ck_assert_double_eq(mem_s, 2);
    o.mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    ck_assert_double_eq(calc_optimizer_layer_s(&o, &layer, &flop_s, &mem_s), 3);
}
END_TEST

/* The first layer is bound by memory and so is the second; each is a step of its own on the curve:
 * 1200 bytes reach all of 1200 bytes/s, 120 bytes a tenth. The layer without weights takes none. */
START_TEST(a_block_sums_the_steps_of_its_layers)
{
    calc_engine vector = {1100, flat_curve(1)};
    calc_memory_tier memory = {.bytes_per_s = 1200, .efficiency = {2, {1000, 0}, {1, 0.1}}};
    calc_optimizer o = {.shards = 1, .element_bytes = 2, .memory = &memory, .vector = &vector};
    calc_layer layers[] = {{.weights = 100}, {.weights = 0}, {.weights = 10}};
    calc_optimizer_block block = {.flop = -1};
    calc_optimizer_profile(&o, layers, 3, &block);
    ck_assert_double_eq(block.flop, 1210);
    assert_near(block.flop_s, 1.1);
    ck_assert_double_eq(block.bytes, 1320);
    ck_assert_double_eq(block.state_bytes, 1320);
    assert_near(block.mem_s, 1 + 1);
    assert_near(block.step_s, 1 + 1);
    ck_assert_double_eq(block.grad_bytes, 220);
}
END_TEST

/* One layer bound by arithmetic and one by memory: a step is longer than either sum. */
START_TEST(the_mode_applies_to_each_layer_and_not_to_their_sums)
{
    calc_engine vector = {110, {2, {1000, 0}, {1, 0.1}}};
    calc_memory_tier memory = {.bytes_per_s = 60, .efficiency = flat_curve(1)};
    calc_optimizer o = {.shards = 1, .element_bytes = 2, .memory = &memory, .vector = &vector};
    /* 1100 FLOP: 10 s, 1200 bytes: 20 s; 110 FLOP at a tenth: 10 s, 120 bytes: 2 s. */
    calc_layer layers[] = {{.weights = 100}, {.weights = 10}};
    calc_optimizer_block block;
    calc_optimizer_profile(&o, layers, 2, &block);
    assert_near(block.flop_s, 20);
    assert_near(block.mem_s, 22);
    assert_near(block.step_s, 30);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("optimizer");
    tcase_add_test(cases, mixed_precision_keeps_twelve_bytes_per_weight);
    tcase_add_test(cases, single_precision_needs_no_master_weights);
    tcase_add_test(cases, a_step_takes_eleven_flop_per_weight);
    tcase_add_test(cases, sharding_divides_work_state_and_gradients);
    tcase_add_test(cases, only_a_sharded_layout_has_shards);
    tcase_add_test(cases, the_time_of_a_step_follows_the_processing_mode);
    tcase_add_test(cases, a_block_sums_the_steps_of_its_layers);
    tcase_add_test(cases, the_mode_applies_to_each_layer_and_not_to_their_sums);
    return run_cases(cases);
}
