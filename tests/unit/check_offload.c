#include "model/offload.h"

#include "small_case.h"

static const calc_block block = {
    .weight_bytes = 100, .activation_storage_bytes = 60, .checkpoint_bytes = 30};
static const calc_optimizer_block optimizer = {.state_bytes = 600, .grad_bytes = 200};

static calc_offload offload(bool weight, bool activations, bool state, bool training)
{
    calc_exec exec = {.weight_offload = weight,
                      .activations_offload = activations,
                      .optimizer_offload = state,
                      .training = training};
    return calc_offload_of(&exec, &block, &optimizer);
}

static void assert_bytes(calc_offload got, double fw_bytes, double bw_bytes)
{
    ck_assert_double_eq(got.fw_bytes, fw_bytes);
    ck_assert_double_eq(got.bw_bytes, bw_bytes);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

START_TEST(what_is_not_offloaded_does_not_travel)
{
    assert_bytes(offload(false, false, false, true), 0, 0);
}
END_TEST

START_TEST(each_part_travels_alone)
{
    assert_bytes(offload(true, false, false, true), 100, 100);
    assert_bytes(offload(false, true, false, true), 60, 60);
    assert_bytes(offload(false, false, true, true), 0, 600);
}
END_TEST

/* In forward weights come in while activations go out; backward moves all of it. */
START_TEST(the_link_is_duplex_forward)
{
    assert_bytes(offload(true, true, false, true), 100, 160);
    assert_bytes(offload(true, true, true, true), 100, 760);
}
END_TEST

START_TEST(inference_moves_nothing_backward)
{
    assert_bytes(offload(true, true, false, false), 100, 0);
}
END_TEST

START_TEST(full_recomputation_offloads_checkpoints)
{
    calc_exec exec = {.activations_offload = true,
                      .activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL,
                      .training = true};
    assert_bytes(calc_offload_of(&exec, &block, &optimizer), 30, 30);
    ck_assert_double_eq(calc_offload_activation_bytes(&exec, &block), 30);
    exec.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    ck_assert_double_eq(calc_offload_activation_bytes(&exec, &block), 60);
}
END_TEST

/* ---- Required bandwidth ---------------------------------------------------------------------- */

/* Windows of 2 s forward and 4 s backward. */
START_TEST(each_part_has_its_window)
{
    calc_exec exec = {.training = true};
    calc_offload_bandwidths b = calc_offload_required(&exec, &block, &optimizer, 2, 4);
    ck_assert_double_eq(b.weight, 50);
    ck_assert_double_eq(b.activation, 30);
    ck_assert_double_eq(b.optimizer, 200);
    ck_assert_double_eq(b.layout, 0);
}
END_TEST

START_TEST(the_layout_needs_the_larger_of_both_passes)
{
    calc_exec exec = {.training = true, .weight_offload = true};
    /* 100 bytes in 2 s forward; in 4 s or 1 s backward. */
    ck_assert_double_eq(calc_offload_required(&exec, &block, &optimizer, 2, 4).layout, 50);
    ck_assert_double_eq(calc_offload_required(&exec, &block, &optimizer, 2, 1).layout, 100);
}
END_TEST

START_TEST(inference_needs_bandwidth_forward_alone)
{
    calc_exec exec = {.weight_offload = true};
    calc_offload_bandwidths b = calc_offload_required(&exec, &block, &optimizer, 2, 1);
    ck_assert_double_eq(b.layout, 50);
    ck_assert_double_eq(b.optimizer, 0);
}
END_TEST

START_TEST(without_a_window_no_bandwidth_suffices)
{
    calc_exec exec = {.training = true, .weight_offload = true};
    calc_offload_bandwidths b = calc_offload_required(&exec, &block, &optimizer, 0, 4);
    ck_assert(isinf(b.weight) && b.weight > 0);
    ck_assert(isinf(b.layout) && b.layout > 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("offload");
    tcase_add_test(cases, what_is_not_offloaded_does_not_travel);
    tcase_add_test(cases, each_part_travels_alone);
    tcase_add_test(cases, the_link_is_duplex_forward);
    tcase_add_test(cases, inference_moves_nothing_backward);
    tcase_add_test(cases, full_recomputation_offloads_checkpoints);
    tcase_add_test(cases, each_part_has_its_window);
    tcase_add_test(cases, the_layout_needs_the_larger_of_both_passes);
    tcase_add_test(cases, inference_needs_bandwidth_forward_alone);
    tcase_add_test(cases, without_a_window_no_bandwidth_suffices);
    return run_cases(cases);
}
