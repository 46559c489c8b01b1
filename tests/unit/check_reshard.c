/* Activations rearranged between layers, by hand: 64 wide, 32 tokens, 2 bytes, on rings of 2^36 and
 * beyond 8 ranks 2^33 bytes per second. */
#include "model/stages/placed.h"

#include "frame.h"
#include "small_case.h"
#include "spec/layer_list.h"

static calc_app app;
static calc_system system_;
static calc_exec exec;

/* Sixteen ranks share sixteen sequences. */
static void setup(void)
{
    app = small_app();
    system_ = small_system();
    exec = small_exec(1, 1, 16);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
}

const calc_test_frame calc_tests = {.setup = setup};

static calc_exec of(int tensor, int context)
{
    calc_layer_strategy s = calc_layer_as_exec;
    s.tensor_par = (int16_t)tensor;
    s.context_par = (int16_t)context;
    return calc_layer_list_exec(&exec, &s);
}

static calc_reshard between(const calc_exec *a, const calc_exec *b)
{
    return calc_reshard_of(&app, &system_, a, b);
}

/* With sequence parallelism a rank holds a sixteenth of the sixteen sequences. */
#define HELD (32.0 * 64 * 2)

CALC_TEST(with_sequence_parallelism_shards_of_the_ratio_are_gathered_both_ways)
{
    calc_exec one = of(1, 1), four = of(4, 1);
    ck_assert_int_eq(calc_reshard_ranks(&one, &four), 4);
    ck_assert_int_eq(calc_reshard_ranks(&four, &one), 4);
    double gather_s = 4 * HELD * (1 - 1.0 / 4) / two_to(36);
    assert_near(between(&one, &four).fw_s, gather_s);
    assert_near(between(&one, &four).bw_s, gather_s);
    assert_near(between(&four, &one).fw_s, gather_s);
    calc_exec both = of(2, 2);
    ck_assert_int_eq(calc_reshard_ranks(&both, &four), 1); /* the same ranks share a sequence */
    assert_near(between(&both, &four).fw_s + between(&both, &four).bw_s, 0);
    calc_exec context = of(1, 4);
    assert_near(between(&context, &four).fw_s, 0);
    assert_near(between(&one, &context).fw_s, gather_s);
}

CALC_TEST(without_it_fewer_ranks_slice_forward_and_gather_backward)
{
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    calc_exec one = of(1, 1), four = of(4, 1), context = of(1, 4);
    double gather_s = 4 * HELD * (1 - 1.0 / 4) / two_to(36);
    assert_near(between(&four, &one).fw_s, 0);
    assert_near(between(&four, &one).bw_s, gather_s);
    assert_near(between(&one, &four).fw_s, gather_s);
    assert_near(between(&one, &four).bw_s, 0);
    /* Of four whole sequences a quarter of each is kept; back, the quarters are gathered. */
    assert_near(between(&four, &context).fw_s, 0);
    ck_assert_int_eq(calc_reshard_ranks(&context, &four), 4);
    assert_near(between(&context, &four).fw_s, gather_s);
}

CALC_TEST(forward_alone_has_no_gradients)
{
    exec.training = false;
    calc_exec one = of(1, 1), four = of(4, 1);
    ck_assert(between(&one, &four).fw_s > 0);
    assert_near(between(&one, &four).bw_s, 0);
}

CALC_TEST(degrees_that_do_not_divide_meet_at_their_common_multiple)
{
    exec = small_exec(1, 1, 12);
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    calc_exec two = of(2, 1), three = of(3, 1);
    ck_assert_int_eq(calc_reshard_ranks(&two, &three), 6);
    ck_assert_int_eq(calc_reshard_ranks(&three, &two), 6);
}

CALC_TEST(in_order_of_ranks_a_group_goes_over_the_networks_that_it_spans)
{
    exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    calc_exec two = of(2, 1), eight = of(8, 1), all = of(16, 1);
    /* Within a node of eight: every second rank. */
    assert_near(between(&two, &eight).fw_s, 4 * HELD * (1 - 1.0 / 4) / two_to(36));
    /* Eight ranks, four of them in a node: the slower of both tiers. */
    double inside_s = 8 * HELD * (1 - 1.0 / 4) / two_to(36);
    double outside_s = 8 * HELD / 4 * (1 - 1.0 / 2) / two_to(33);
    assert_near(between(&two, &all).fw_s, fmax(inside_s, outside_s));
    ck_assert(outside_s > inside_s);
}

CALC_TEST(on_named_networks_it_is_that_of_the_larger_group)
{
    exec.strategy.context_par_net = 1;
    calc_exec four = of(4, 1), both = of(4, 4);
    assert_near(between(&four, &both).fw_s, 4 * HELD * (1 - 1.0 / 4) / two_to(33));
    exec.strategy.context_par_net = -1;
    four = of(4, 1);
    both = of(4, 4);
    assert_near(between(&four, &both).fw_s, 4 * HELD * (1 - 1.0 / 4) / two_to(36));
}
