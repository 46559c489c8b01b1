#include "model/cost/optimizer.h"

#include "frame.h"
#include "small_case.h"

/* 12 bytes of state: master weight and two moments. */
static const double state_bytes = 12;

/* A machine whose vector engine and memory have those rates. */
static calc_system machine(double flop_per_s, double bytes_per_s)
{
    calc_system system = small_system();
    system.chip.vector[CALC_DATATYPE_FLOAT16] = (calc_engine){flop_per_s, flat_curve(1)};
    system.chip.mem1 = (calc_memory_tier){.bytes_per_s = bytes_per_s, .efficiency = flat_curve(1)};
    return system;
}

static calc_cost_context context_of(const calc_system *system)
{
    return (calc_cost_context){.chip = &system->chip,
                               .vector = &system->chip.vector[CALC_DATATYPE_FLOAT16]};
}

/* 1100 FLOP at 1100 FLOP/s and 1200 bytes at 600 bytes/s. */
CALC_TEST(a_step_takes_eleven_flop_and_its_state_per_weight)
{
    calc_system system = machine(1100, 600);
    calc_cost_context c = context_of(&system);
    calc_optimizer_step s = calc_optimizer_layer(&c, state_bytes, 100, 1);
    ck_assert_double_eq(s.flop, 1100);
    ck_assert_double_eq(s.bytes, 1200);
    ck_assert_double_eq(s.flop_s, 1);
    ck_assert_double_eq(s.mem_s, 2);
    ck_assert_double_eq(s.step_s, 2);
    system.chip.processing_mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    ck_assert_double_eq(calc_optimizer_layer(&c, state_bytes, 100, 1).step_s, 3);
}

CALC_TEST(sharding_divides_work_and_state)
{
    calc_system system = machine(1100, 600);
    calc_cost_context c = context_of(&system);
    calc_optimizer_step s = calc_optimizer_layer(&c, state_bytes, 100, 4);
    ck_assert_double_eq(s.flop, 275);
    ck_assert_double_eq(s.bytes, 300);
    ck_assert_double_eq(s.step_s, 0.5);
}

/* Each layer is a step of its own on the curve: 1200 bytes reach all of 1200 bytes/s, 120 bytes a
 * tenth. The layer without weights takes none. */
CALC_TEST(a_block_sums_the_steps_of_its_layers)
{
    static const double weights[] = {100, 0, 10};
    calc_system system = machine(1100, 1200);
    system.chip.mem1.efficiency = (calc_curve){2, {1000, 0}, {1, 0.1}};
    calc_cost_context c = context_of(&system);
    calc_optimizer_step s = calc_optimizer_block(&c, state_bytes, weights, 3, 1);
    ck_assert_double_eq(s.flop, 1210);
    assert_near(s.flop_s, 1.1);
    ck_assert_double_eq(s.bytes, 1320);
    assert_near(s.mem_s, 1 + 1);
    assert_near(s.step_s, 1 + 1);
}

/* One layer bound by arithmetic and one by memory: a step is longer than either sum. 1100 FLOP take
 * 10 s and 1200 bytes 20 s; 110 FLOP at a tenth 10 s, 120 bytes 2 s. */
CALC_TEST(the_mode_applies_to_each_layer_and_not_to_their_sums)
{
    static const double weights[] = {100, 10};
    calc_system system = machine(110, 60);
    system.chip.vector[CALC_DATATYPE_FLOAT16].efficiency = (calc_curve){2, {1000, 0}, {1, 0.1}};
    calc_cost_context c = context_of(&system);
    calc_optimizer_step s = calc_optimizer_block(&c, state_bytes, weights, 2, 1);
    assert_near(s.flop_s, 20);
    assert_near(s.mem_s, 22);
    assert_near(s.step_s, 30);
}
