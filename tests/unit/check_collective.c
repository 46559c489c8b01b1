#include "model/operators/collective.h"

#include "frame.h"
#include "modern_case.h"

/* Two tiers without latency: 8 ranks a node at 2^36 bytes/s, 1,024 beyond at 2^33. */
static const double fast = 0x1p36, slow = 0x1p33, mib = 0x1p20;

static calc_group on_network(double ranks, int64_t network)
{
    return (calc_group){ranks, 0, network};
}

static calc_group placed(double ranks, double stride)
{
    return (calc_group){.ranks = ranks, .stride = stride};
}

static double time_of(const calc_system *s, calc_collective_op op, calc_group group)
{
    return calc_collective_s(s, op, &group, mib);
}

/* ---- One network ----------------------------------------------------------------------------- */

CALC_TEST(a_ring_moves_all_but_its_own_share)
{
    calc_system s = small_system();
    calc_group four = on_network(4, 0);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_GATHER, four), 0.75 * mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_REDUCE_SCATTER, four), 0.75 * mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_REDUCE, four), 1.5 * mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_TO_ALL, four), 0.75 * mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_P2P, four), mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_GATHER, on_network(2, 1)), 0.5 * mib / slow);
}

CALC_TEST(nothing_takes_no_time)
{
    calc_system s = small_system();
    s.networks[0].latency_s = 1;
    calc_group one = on_network(1, 0), two = on_network(2, 0);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_REDUCE, one), 0);
    ck_assert_double_eq(time_of(&s, CALC_OP_P2P, one), 0);
    ck_assert_double_eq(time_of(&s, CALC_OP_NONE, two), 0);
    ck_assert_double_eq(calc_collective_s(&s, CALC_OP_ALL_REDUCE, &two, 0), 0);
    ck_assert_double_eq(calc_collective_all_to_all_s(&s, &one, mib, 1), 0);
    ck_assert_double_eq(calc_collective_all_to_all_s(&s, &two, 0, 1), 0);
}

CALC_TEST(a_network_may_say_what_its_all_to_all_moves)
{
    calc_system s = small_system();
    s.networks[0].ops.all_to_all = (calc_network_op){1.5, -1};
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_TO_ALL, on_network(2, 0)), 0.75 * mib / fast);
}

CALC_TEST(latency_is_added_once_and_grows_by_doublings)
{
    calc_system s = small_system();
    s.networks[0].latency_s = 3;
    assert_near(time_of(&s, CALC_OP_ALL_REDUCE, on_network(8, 0)), 3 + 1.75 * mib / fast);
    s.networks[0].latency_log2_s = 5;
    assert_near(time_of(&s, CALC_OP_ALL_REDUCE, on_network(8, 0)), 18 + 1.75 * mib / fast);
    /* a message is between two, whatever the group */
    assert_near(time_of(&s, CALC_OP_P2P, on_network(8, 0)), 8 + mib / fast);
}

CALC_TEST(an_operation_may_have_its_own_latency_and_efficiency)
{
    calc_system s = small_system();
    calc_network *n = &s.networks[0];
    n->latency_s = 100;
    n->efficiency = 0.5;
    n->op_parameters.all_gather = (calc_op_rate){0.25, 7, 2};
    n->op_parameters.all_reduce.latency_step_s = 2;
    n->op_parameters.reduce_scatter.latency_fixed_s = 7;
    n->op_parameters.p2p.latency_step_s = 2;
    n->op_parameters.all_to_all.efficiency = 1;
    calc_group four = on_network(4, 0);
    n->latency_log2_s = 11;
    assert_near(time_of(&s, CALC_OP_ALL_GATHER, four),
                7 + 3 * 2 + 2 * 11 + 0.75 * mib / (0.25 * fast));
    n->latency_log2_s = 0;
    assert_near(time_of(&s, CALC_OP_ALL_GATHER, four), 7 + 3 * 2 + 0.75 * mib / (0.25 * fast));
    assert_near(time_of(&s, CALC_OP_ALL_REDUCE, four), 6 * 2 + 1.5 * mib / (0.5 * fast));
    assert_near(time_of(&s, CALC_OP_REDUCE_SCATTER, four), 7 + 0.75 * mib / (0.5 * fast));
    assert_near(time_of(&s, CALC_OP_P2P, four), 2 + mib / (0.5 * fast));
    assert_near(time_of(&s, CALC_OP_ALL_TO_ALL, four), 100 + 0.75 * mib / fast);
}

CALC_TEST(switches_that_add_up_move_a_buffer_once_in_one_step)
{
    calc_system s = small_system();
    calc_network *n = &s.networks[0];
    n->reduction_in_network = true;
    assert_near(time_of(&s, CALC_OP_ALL_REDUCE, on_network(4, 0)), 0.75 * mib / fast);
    assert_near(time_of(&s, CALC_OP_ALL_GATHER, on_network(4, 0)), 0.75 * mib / fast);
    n->op_parameters.all_reduce = (calc_op_rate){0, 7, 2};
    assert_near(time_of(&s, CALC_OP_ALL_REDUCE, on_network(4, 0)), 9 + 0.75 * mib / fast);
}

CALC_TEST(oversubscription_and_message_size_lower_the_bandwidth)
{
    calc_system s = small_system();
    calc_network *n = &s.networks[0];
    n->oversubscription = 1;
    ck_assert_double_eq(time_of(&s, CALC_OP_P2P, on_network(2, 0)), mib / fast);
    n->oversubscription = 2;
    ck_assert_double_eq(time_of(&s, CALC_OP_P2P, on_network(2, 0)), 2 * mib / fast);
    n->bandwidth_curve = (calc_curve){2, {mib, 0}, {1, 0.25}};
    ck_assert_double_eq(time_of(&s, CALC_OP_P2P, on_network(2, 0)), 2 * mib / fast);
    calc_group two = on_network(2, 0);
    ck_assert_double_eq(calc_collective_s(&s, CALC_OP_P2P, &two, mib - 1), 8 * (mib - 1) / fast);
}

/* ---- Tiers ----------------------------------------------------------------------------------- */

CALC_TEST(a_group_inside_a_node_is_on_the_first_tier)
{
    calc_system s = small_system();
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_REDUCE, placed(8, 1)), 1.75 * mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_GATHER, placed(2, 4)), 0.5 * mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_P2P, placed(2, 4)), mib / fast);
}

CALC_TEST(a_group_with_one_rank_a_node_is_on_the_second_tier)
{
    calc_system s = small_system();
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_REDUCE, placed(4, 8)), 1.5 * mib / slow);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_GATHER, placed(4, 64)), 0.75 * mib / slow);
    ck_assert_double_eq(time_of(&s, CALC_OP_P2P, placed(4, 8)), mib / slow);
}

/* 16 ranks on two nodes: the node moves all but an eighth, every rank's port its eighth, once over
   for two nodes. At 8 times the bandwidth inside, the wires inside are slower; at 64 times not. */
CALC_TEST(a_group_over_nodes_uses_both_tiers)
{
    calc_system s = small_system();
    calc_group group = placed(16, 1);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_GATHER, group), 0.875 * mib / fast);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_REDUCE, group), 1.75 * mib / fast);
    s.networks[0].bytes_per_s = 64 * slow;
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_GATHER, group), 0.5 * mib / 8 / slow);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_REDUCE, group), 1.0 * mib / 8 / slow);
    s.networks[0].latency_s = 3;
    s.networks[1].latency_s = 5;
    assert_near(time_of(&s, CALC_OP_ALL_GATHER, group), 8 + 0.5 * mib / 8 / slow);
    assert_near(time_of(&s, CALC_OP_P2P, group), 5 + mib / slow);
}

/* 4 ranks at distance 4: two in a node, on two nodes. */
CALC_TEST(a_spread_group_has_fewer_ranks_inside)
{
    calc_system s = small_system();
    calc_group group = placed(4, 4);
    ck_assert_double_eq(calc_collective_inner_ranks(&s, &group), 2);
    ck_assert_double_eq(time_of(&s, CALC_OP_ALL_GATHER, group), 0.5 * mib / 2 / slow);
}

CALC_TEST(inner_ranks_are_those_of_the_node)
{
    calc_system s = small_system();
    static const double rows[][3] = {{4, 1, 4},   {8, 1, 8},  {16, 1, 8}, {16, 8, 1},
                                     {16, 64, 1}, {16, 2, 4}, {1, 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        calc_group group = placed(rows[i][0], rows[i][1]);
        ck_assert_double_eq(calc_collective_inner_ranks(&s, &group), rows[i][2]);
    }
    calc_group inside = on_network(4, 0), outside = on_network(4, 1);
    ck_assert_double_eq(calc_collective_inner_ranks(&s, &inside), 4);
    ck_assert_double_eq(calc_collective_inner_ranks(&s, &outside), 1);
}

CALC_TEST(the_top_network_is_the_last_one_needed)
{
    calc_system s = small_system();
    calc_group group = placed(8, 1);
    ck_assert_int_eq(calc_collective_top_network(&s, &group), 0);
    group = placed(9, 1);
    ck_assert_int_eq(calc_collective_top_network(&s, &group), 1);
    group = placed(2, 8);
    ck_assert_int_eq(calc_collective_top_network(&s, &group), 1);
    group = placed(4096, 1); /* more than there are: the last */
    ck_assert_int_eq(calc_collective_top_network(&s, &group), 1);
    group = on_network(2, 1);
    ck_assert_int_eq(calc_collective_top_network(&s, &group), 1);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void line_is(const calc_system *s, calc_collective_op op, calc_group group, double latency_s,
                    double s_per_byte)
{
    calc_collective_line line = calc_collective_line_of(s, op, &group, mib);
    assert_near(line.latency_s, latency_s);
    assert_near(line.s_per_byte, s_per_byte);
    /* the operation is on its line, and nothing takes no time */
    assert_near(calc_collective_line_s(&line, mib), calc_collective_s(s, op, &group, mib));
    assert_near(calc_collective_line_s(&line, 3 * mib), latency_s + 3 * mib * s_per_byte);
    ck_assert_double_eq(calc_collective_line_s(&line, 0), 0);
}

CALC_TEST(a_line_has_the_latency_and_the_bytes_of_its_operation)
{
    calc_system s = small_system();
    s.networks[0].latency_s = 3;
    s.networks[1].latency_s = 5;
    line_is(&s, CALC_OP_ALL_GATHER, on_network(4, 0), 3, 0.75 / fast);
    line_is(&s, CALC_OP_ALL_REDUCE, on_network(4, 1), 5, 1.5 / slow);
    line_is(&s, CALC_OP_P2P, on_network(4, 1), 5, 1 / slow);
    line_is(&s, CALC_OP_ALL_REDUCE, on_network(1, 1), 0, 0);
    line_is(&s, CALC_OP_NONE, on_network(4, 1), 0, 0);
    s.networks[0].op_parameters.all_gather = (calc_op_rate){0.5, 7, 2};
    line_is(&s, CALC_OP_ALL_GATHER, on_network(4, 0), 7 + 3 * 2, 0.75 / (0.5 * fast));
}

/* Latencies of the tiers add up; of their bytes, the slower decides. */
CALC_TEST(a_line_over_nodes_is_that_of_the_slower_tier)
{
    calc_system s = small_system();
    s.networks[0].latency_s = 3;
    s.networks[1].latency_s = 5;
    line_is(&s, CALC_OP_ALL_GATHER, placed(8, 1), 3, 0.875 / fast);
    line_is(&s, CALC_OP_ALL_GATHER, placed(16, 1), 8, 0.875 / fast);
    line_is(&s, CALC_OP_ALL_GATHER, placed(4, 8), 5, 0.75 / slow);
    line_is(&s, CALC_OP_P2P, placed(16, 1), 5, 1 / slow);
    s.networks[0].bytes_per_s = 64 * slow;
    line_is(&s, CALC_OP_ALL_GATHER, placed(16, 1), 8, 0.5 / 8 / slow);
    line_is(&s, CALC_OP_ALL_REDUCE, placed(16, 1), 8, 1.0 / 8 / slow);
}

/* Bandwidth that depends on the size is that of the messages the line is for; beyond a node they
   are an eighth. */
CALC_TEST(a_line_is_drawn_where_its_messages_are)
{
    calc_system s = small_system();
    calc_curve halved = {2, {mib, 0}, {1, 0.5}};
    calc_group four = on_network(4, 0), sixteen = placed(16, 1);
    s.networks[0].bandwidth_curve = halved;
    calc_collective_line large = calc_collective_line_of(&s, CALC_OP_ALL_GATHER, &four, mib);
    calc_collective_line small = calc_collective_line_of(&s, CALC_OP_ALL_GATHER, &four, mib - 1);
    assert_near(large.s_per_byte, 0.75 / fast);
    assert_near(small.s_per_byte, 0.75 / (0.5 * fast));
    s.networks[0].bandwidth_curve = (calc_curve){0};
    s.networks[0].bytes_per_s = 1e30;
    s.networks[1].bandwidth_curve = halved;
    large = calc_collective_line_of(&s, CALC_OP_ALL_GATHER, &sixteen, 8 * mib);
    small = calc_collective_line_of(&s, CALC_OP_ALL_GATHER, &sixteen, 8 * mib - 8);
    assert_near(large.s_per_byte, 0.5 / 8 / slow);
    assert_near(small.s_per_byte, 0.5 / 8 / (0.5 * slow));
}

/* To 16 experts on two nodes: half of what is sent leaves, over a port of the rank's own. */
/* Stages at distance 2 on nodes of 8: three of four messages stay inside. */
CALC_TEST(a_message_to_the_next_rank_leaves_a_node_from_its_last_one)
{
    calc_system s = small_system();
    s.networks[0].latency_s = 3;
    s.networks[1].latency_s = 5;
    calc_group eight = placed(8, 2), close = placed(4, 2), far = placed(4, 8), one = placed(1, 2);
    calc_collective_line line = calc_collective_next_line_of(&s, &eight, mib);
    assert_near(line.s_per_byte, 0.75 / fast + 0.25 / slow);
    assert_near(line.latency_s, 3.5);
    assert_near(calc_collective_next_line_of(&s, &close, mib).s_per_byte, 1 / fast);
    assert_near(calc_collective_next_line_of(&s, &far, mib).s_per_byte, 1 / slow);
    assert_near(calc_collective_next_line_of(&s, &far, mib).latency_s, 5);
    ck_assert_double_eq(calc_collective_next_line_of(&s, &one, mib).latency_s, 0);
    calc_group named = on_network(4, 1);
    assert_near(calc_collective_next_line_of(&s, &named, mib).s_per_byte, 1 / slow);
}

CALC_TEST(an_all_to_all_over_nodes_sends_what_leaves_through_each_port)
{
    calc_system s = small_system();
    calc_group group = placed(16, 1);
    ck_assert_double_eq(calc_collective_all_to_all_s(&s, &group, mib, 1), 0.5 * mib / slow);
    ck_assert_double_eq(calc_collective_all_to_all_s(&s, &group, mib, 0.25), 0.125 * mib / slow);
    /* with few copies between nodes the wires inside decide: they forward them */
    ck_assert_double_eq(calc_collective_all_to_all_s(&s, &group, mib, 0.125), 0.875 * mib / fast);
    s.networks[0].latency_s = 3;
    s.networks[1].latency_s = 5;
    assert_near(calc_collective_all_to_all_s(&s, &group, mib, 1), 8 + 0.5 * mib / slow);
    group = placed(8, 1);
    assert_near(calc_collective_all_to_all_s(&s, &group, mib, 0.25), 3 + 0.875 * mib / fast);
    group = placed(4, 8);
    assert_near(calc_collective_all_to_all_s(&s, &group, mib, 0.25), 5 + 0.75 * 0.25 * mib / slow);
}

CALC_TEST(copies_are_saved_on_the_second_network_only)
{
    calc_system s = small_system();
    calc_group inside = on_network(4, 0), outside = on_network(4, 1);
    ck_assert_double_eq(calc_collective_all_to_all_s(&s, &inside, mib, 0.5), 0.75 * mib / fast);
    ck_assert_double_eq(calc_collective_all_to_all_s(&s, &outside, mib, 0.5), 0.375 * mib / slow);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void group_is(const calc_group *group, double ranks, double stride, int64_t network)
{
    ck_assert_double_eq(group->ranks, ranks);
    ck_assert_double_eq(group->stride, stride);
    if (stride == 0) {
        ck_assert_int_eq(group->network, network);
    }
}

/* 2 * 4 * 8 ranks and 2 of context: 128. Experts on 4 * 2 of the 32 of a stage: 4 replicas. */
static calc_exec folded(void)
{
    calc_exec e = modern_exec(2, 4, 8);
    e.strategy.context_par = 2;
    e.num_procs = 128;
    e.strategy.expert_par = 4;
    e.strategy.expert_tensor_par = 2;
    return e;
}

CALC_TEST(groups_are_on_the_networks_that_the_execution_names)
{
    calc_exec e = folded();
    e.strategy.tensor_par_net = 0;
    e.pipeline_par_net = 2;
    e.strategy.data_par_net = 1;
    calc_groups g = calc_groups_of(&e, &e.strategy);
    group_is(&g.tensor, 2, 0, 0);
    group_is(&g.context, 2, 0, 0);
    group_is(&g.expert, 4, 0, 1);
    group_is(&g.expert_tensor, 2, 0, 0);
    group_is(&g.pipeline, 4, 0, 2);
    group_is(&g.dense_data, 16, 0, 1);
    group_is(&g.expert_data, 4, 0, 1);
    e.strategy.context_par_net = 3;
    e.strategy.expert_par_net = 4;
    e.strategy.expert_tensor_par_net = 5;
    e.strategy.expert_data_par_net = 6;
    g = calc_groups_of(&e, &e.strategy);
    group_is(&g.context, 2, 0, 3);
    group_is(&g.expert, 4, 0, 4);
    group_is(&g.expert_tensor, 2, 0, 5);
    group_is(&g.expert_data, 4, 0, 6);
    e.strategy.expert_data_par_net = 0;
    g = calc_groups_of(&e, &e.strategy);
    group_is(&g.expert_data, 4, 0, 0);
}

CALC_TEST(experts_without_parallelism_have_a_replica_on_every_rank_of_a_stage)
{
    calc_exec e = folded();
    e.strategy.expert_par = e.strategy.expert_tensor_par = 0;
    calc_groups g = calc_groups_of(&e, &e.strategy);
    ck_assert_double_eq(g.expert.ranks, 1);
    ck_assert_double_eq(g.expert_tensor.ranks, 1);
    ck_assert_double_eq(g.expert_data.ranks, 32);
    e.strategy.expert_par = 32;
    ck_assert_double_eq(calc_groups_of(&e, &e.strategy).expert_data.ranks, 1);
}

CALC_TEST(ranks_are_laid_out_fastest_first)
{
    calc_exec e = folded();
    e.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    calc_groups g = calc_groups_of(&e, &e.strategy);
    group_is(&g.tensor, 2, 1, 0);
    group_is(&g.context, 2, 2, 0);
    group_is(&g.expert_tensor, 2, 1, 0);
    group_is(&g.expert, 4, 2, 0);
    group_is(&g.dense_data, 16, 2, 0);
    group_is(&g.expert_data, 4, 8, 0);
    group_is(&g.pipeline, 4, 32, 0);
}

CALC_TEST(stages_may_be_nearer_than_replicas)
{
    calc_exec e = folded();
    e.rank_order = CALC_RANK_ORDER_TP_CP_EP_PP_DP;
    calc_groups g = calc_groups_of(&e, &e.strategy);
    group_is(&g.tensor, 2, 1, 0);
    group_is(&g.context, 2, 2, 0);
    group_is(&g.pipeline, 4, 4, 0);
    group_is(&g.dense_data, 16, 8, 0);
    group_is(&g.expert_data, 4, 32, 0);
    e.strategy.data_par = 1;
    e.num_procs = 16;
    g = calc_groups_of(&e, &e.strategy);
    group_is(&g.dense_data, 2, 2, 0); /* the context ranks: side by side */
}
