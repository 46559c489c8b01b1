#include "model/operators/processor.h"

#include "frame.h"
#include "small_case.h"

static const calc_curve three_steps = {
    .count = 3, .threshold = {100, 10, 0}, .efficiency = {0.9, 0.5, 0.1}};

/* ---- Curves ---------------------------------------------------------------------------------- */

CALC_TEST(a_size_at_a_threshold_has_its_efficiency)
{
    ck_assert_double_eq(calc_curve_at(&three_steps, 100), 0.9);
    ck_assert_double_eq(calc_curve_at(&three_steps, 10), 0.5);
    ck_assert_double_eq(calc_curve_at(&three_steps, 0), 0.1);
}

CALC_TEST(a_size_just_below_a_threshold_has_that_of_the_next)
{
    ck_assert_double_eq(calc_curve_at(&three_steps, nextafter(100, 0)), 0.5);
    ck_assert_double_eq(calc_curve_at(&three_steps, nextafter(10, 0)), 0.1);
}

CALC_TEST(sizes_beyond_the_first_threshold_have_its_efficiency)
{
    ck_assert_double_eq(calc_curve_at(&three_steps, nextafter(100, 1000)), 0.9);
    ck_assert_double_eq(calc_curve_at(&three_steps, 1e300), 0.9);
}

CALC_TEST(a_curve_of_one_step_holds_for_all_sizes)
{
    calc_curve curve = flat_curve(0.25);
    ck_assert_double_eq(calc_curve_at(&curve, 0), 0.25);
    ck_assert_double_eq(calc_curve_at(&curve, 1e300), 0.25);
}

CALC_TEST(a_full_curve_reaches_its_last_step)
{
    calc_curve curve = {.count = CALC_MAX_CURVE_STEPS};
    for (int i = 0; i < CALC_MAX_CURVE_STEPS; i++) {
        curve.threshold[i] = CALC_MAX_CURVE_STEPS - 1 - i;
        curve.efficiency[i] = 1.0 / (1 + i);
    }
    ck_assert_double_eq(calc_curve_at(&curve, 0.5), 1.0 / CALC_MAX_CURVE_STEPS);
    ck_assert_double_eq(calc_curve_at(&curve, 1), 1.0 / (CALC_MAX_CURVE_STEPS - 1));
}

/* ---- Times ----------------------------------------------------------------------------------- */

/* Peak 1000 FLOP/s: 200 FLOP at 0.9, 50 at 0.5, 5 at 0.1. */
CALC_TEST(arithmetic_takes_its_flop_over_the_rate_reached)
{
    calc_engine engine = {1000, three_steps};
    assert_near(calc_engine_s(&engine, 200), 200.0 / 900);
    assert_near(calc_engine_s(&engine, 50), 0.1);
    assert_near(calc_engine_s(&engine, 5), 0.05);
}

CALC_TEST(traffic_takes_its_bytes_over_the_rate_reached)
{
    calc_memory_tier tier = {.bytes_per_s = 1000, .efficiency = three_steps};
    assert_near(calc_memory_tier_s(&tier, 100), 100.0 / 900);
    assert_near(calc_memory_tier_s(&tier, 99), 99.0 / 500);
    assert_near(calc_memory_tier_s(&tier, 1), 0.01);
}

/* So an engine or datatype that is not offered (rate 0) is no trouble where it does nothing. */
CALC_TEST(no_work_takes_no_time_even_at_rate_zero)
{
    calc_engine engine = {0};
    calc_memory_tier tier = {0};
    ck_assert_double_eq(calc_engine_s(&engine, 0), 0);
    ck_assert_double_eq(calc_memory_tier_s(&tier, 0), 0);
}

CALC_TEST(roofline_is_the_larger_of_both_times)
{
    ck_assert_double_eq(calc_processing_s(CALC_PROCESSING_MODE_ROOFLINE, 3, 2), 3);
    ck_assert_double_eq(calc_processing_s(CALC_PROCESSING_MODE_ROOFLINE, 2, 3), 3);
    ck_assert_double_eq(calc_processing_s(CALC_PROCESSING_MODE_ROOFLINE, 3, 3), 3);
}

CALC_TEST(no_overlap_is_the_sum_of_both_times)
{
    ck_assert_double_eq(calc_processing_s(CALC_PROCESSING_MODE_NO_OVERLAP, 3, 2), 5);
    ck_assert_double_eq(calc_processing_s(CALC_PROCESSING_MODE_NO_OVERLAP, 0, 2), 2);
}
