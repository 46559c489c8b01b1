#include "model/step.h"

#include "small_case.h"

/* ---- The block ------------------------------------------------------------------------------- */

/* Each term a power of ten, so that a sum shows what it is made of. */
static const calc_block block = {
    .fw = {.flop_s = 7e6, .mem_s = 3, .time_s = 1},
    .recompute = {.flop_s = 1, .mem_s = 1e3, .time_s = 10},
    .agrad = {.flop_s = 10, .mem_s = 1e4, .time_s = 100},
    .wgrad = {.flop_s = 100, .mem_s = 1e5, .time_s = 1e3},
    .fw_comm = {{.link_s = 7e7, .exposed_s = 0.5}, {.link_s = 7e7, .exposed_s = 0.25}},
    .agrad_comm = {{.link_s = 2, .exposed_s = 1e4}, {.link_s = 20, .exposed_s = 2e4}},
    .recomm = {{.link_s = 3, .exposed_s = 1e5}, {.link_s = 30, .exposed_s = 2e5}},
};

START_TEST(a_block_takes_its_work_and_its_exposed_communication)
{
    calc_step_block b = calc_step_block_of(&block);
    ck_assert_double_eq(b.fw_base_s, 1.5);
    ck_assert_double_eq(b.fw_edge_s, 1.25);
    ck_assert_double_eq(b.bw_base_s, 111110);
    ck_assert_double_eq(b.bw_edge_s, 221110);
}
END_TEST

/* Offload may move while recomputation does; gradients may not. */
START_TEST(recomputation_keeps_gradients_waiting_and_not_offload)
{
    calc_step_block b = calc_step_block_of(&block);
    ck_assert_double_eq(b.fw_mem_s, 3);
    ck_assert_double_eq(b.bw_mem_s, 1.1e5);
    ck_assert_double_eq(b.busy_s, 1.11e5);
}
END_TEST

START_TEST(the_backward_pass_has_the_arithmetic_and_links_of_three_parts)
{
    calc_step_block b = calc_step_block_of(&block);
    ck_assert_double_eq(b.compute_s, 111);
    ck_assert_double_eq(b.link_base_s, 5);
    ck_assert_double_eq(b.link_edge_s, 50);
}
END_TEST

/* ---- A pass over a chunk --------------------------------------------------------------------- */

START_TEST(a_chunk_is_its_base_blocks_and_an_edge_block_with_the_message)
{
    calc_step_pass pass = calc_step_pass_of(10, 20, 0, 3, 0, 4);
    ck_assert_double_eq(pass.base_s, 10);
    ck_assert_double_eq(pass.edge_s, 23);
    ck_assert_double_eq(pass.chunk_s, 4 * 10 + 23);
    ck_assert_double_eq(calc_step_pass_of(10, 20, 0, 3, 0, 0).chunk_s, 23);
}
END_TEST

/* 6 s of offload and 2 s of the block's own traffic share the memory. */
START_TEST(offload_hides_behind_all_but_memory_traffic)
{
    calc_step_pass pass = calc_step_pass_of(10, 20, 2, 3, 6, 4);
    ck_assert_double_eq(pass.base_s, 10);
    ck_assert_double_eq(calc_step_offload_overhead_s(10, 2, 6), 0);
    ck_assert_double_eq(calc_step_offload_overhead_s(10, 2, 8), 0);
    pass = calc_step_pass_of(10, 20, 2, 3, 15, 4);
    ck_assert_double_eq(pass.base_s, 17);
    ck_assert_double_eq(pass.edge_s, 23);
    ck_assert_double_eq(pass.chunk_s, 4 * 17 + 23);
    ck_assert_double_eq(calc_step_offload_overhead_s(10, 2, 15), 7);
    ck_assert_double_eq(calc_step_pass_of(10, 20, 2, 3, 30, 4).edge_s, 32);
}
END_TEST

START_TEST(the_overhead_of_offload_is_what_the_pass_grows_by)
{
    for (double offload_s = 0; offload_s <= 40; offload_s += 0.5) {
        calc_step_pass pass = calc_step_pass_of(10, 20, 2, 3, offload_s, 4);
        ck_assert_double_eq(pass.base_s, 10 + calc_step_offload_overhead_s(10, 2, offload_s));
        ck_assert_double_eq(pass.edge_s, 23 + calc_step_offload_overhead_s(23, 2, offload_s));
    }
}
END_TEST

/* ---- The step -------------------------------------------------------------------------------- */

static const calc_step_pass fw = {.base_s = 1, .edge_s = 2, .chunk_s = 5};
static const calc_step_pass bw = {.base_s = 3, .edge_s = 6, .chunk_s = 15};

START_TEST(a_missing_block_gives_back_half_a_pair)
{
    ck_assert_double_eq(calc_step_missing_s(&fw, &bw, 2, 3), 2 * (1 + 2 + 3 + 6) / 2);
    ck_assert_double_eq(calc_step_missing_s(&fw, &bw, 0, 3), 0);
}
END_TEST

START_TEST(a_missing_block_of_a_chunk_without_others_is_an_edge_block)
{
    ck_assert_double_eq(calc_step_missing_s(&fw, &bw, 2, 0), 2 * (2 + 6));
}
END_TEST

START_TEST(a_step_is_its_rounds_and_the_optimizer)
{
    ck_assert_double_eq(calc_step_partial_s(&fw, &bw, 10, 0, 0, 0), 200);
    ck_assert_double_eq(calc_step_partial_s(&fw, &bw, 10, 12, 7, 1), 200 - 12 + 7 - 1);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("step");
    tcase_add_test(cases, a_block_takes_its_work_and_its_exposed_communication);
    tcase_add_test(cases, recomputation_keeps_gradients_waiting_and_not_offload);
    tcase_add_test(cases, the_backward_pass_has_the_arithmetic_and_links_of_three_parts);
    tcase_add_test(cases, a_chunk_is_its_base_blocks_and_an_edge_block_with_the_message);
    tcase_add_test(cases, offload_hides_behind_all_but_memory_traffic);
    tcase_add_test(cases, the_overhead_of_offload_is_what_the_pass_grows_by);
    tcase_add_test(cases, a_missing_block_gives_back_half_a_pair);
    tcase_add_test(cases, a_missing_block_of_a_chunk_without_others_is_an_edge_block);
    tcase_add_test(cases, a_step_is_its_rounds_and_the_optimizer);
    return run_cases(cases);
}
