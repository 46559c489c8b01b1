#include "model/cost/cost.h"
#include "model/cost/cost_kernel.h"
#include "model/cost/cost_times.h"

#include "frame.h"
#include "model/cost/block.h"
#include "modern_case.h"

/* Rates of small_system(): matrices, vectors, memory, the two networks. */
static const double matrix = 0x1p40, vector = 0x1p36, memory = 0x1p38, fast = 0x1p36, slow = 0x1p33;

/* A kernel that takes 4 s of matrix arithmetic and 1 s of memory, twice that backward. */
static calc_operator kernel(calc_operator_kind kind)
{
    calc_operator o = {.name = "kernel", .kind = kind};
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        double times = pass == CALC_PASS_FW ? 1 : 2;
        o.flop[pass] = times * 4 * matrix;
        o.work[pass] = times * 8 * matrix;
        o.bytes[pass] = times * memory;
        o.launches[pass] = 3;
    }
    return o;
}

/* One that takes only so long in all passes. */
static calc_operator seconds(calc_operator_kind kind, double time_s)
{
    calc_operator o = {.name = "kernel", .kind = kind};
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        o.flop[pass] = o.work[pass] = time_s * matrix;
    }
    return o;
}

static modern_case start(void)
{
    return case_of(modern_app(), modern_exec(2, 1, 2));
}

static double kernel_s(modern_case *c, calc_operator_kind kind)
{
    calc_operator o = kernel(kind);
    resolve(c);
    return calc_cost_kernel_s(&c->context, &o, CALC_PASS_FW);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

CALC_TEST(a_matrix_is_bound_by_the_systems_mode)
{
    modern_case c = start();
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 4);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_HEAD), 4);
    c.system.chip.processing_mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 5);
    c.system.chip.launch.matrix_s = 7;
    c.system.chip.launch.vector_s = 1000;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 5 + 3 * 7);
    calc_operator o = kernel(CALC_OPERATOR_MATRIX);
    ck_assert_double_eq(calc_cost_kernel_s(&c.context, &o, CALC_PASS_AGRAD), 10 + 3 * 7);
}

CALC_TEST(the_clock_slows_arithmetic_only)
{
    modern_case c = start();
    c.system.chip.sustained = 0.5;
    c.system.chip.processing_mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 9);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_HEAD), 9);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 9);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_SCORES), 9);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_ATTENTION), 8);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_PERMUTE), 1);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_VECTOR), 4 * matrix / vector / 0.5);
}

CALC_TEST(narrow_matrices_run_on_their_own_engine_and_the_head_does_not)
{
    modern_case c = start();
    c.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    c.system.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 2 * matrix;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 2);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 3);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_HEAD), 4);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_ATTENTION), 4);
    c.system.chip.block_scaled_efficiency = 0.5;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 2);
    c.exec.strategy.scaling = CALC_SCALING_BLOCK;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 4);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_HEAD), 4);
    c.exec.strategy.scaling = CALC_SCALING_ROW;
    ck_assert_double_eq_tol(kernel_s(&c, CALC_OPERATOR_MATRIX), 2 / 0.7, 1e-12);
    c.system.chip.row_scaled_efficiency = 0.8;
    ck_assert_double_eq_tol(kernel_s(&c, CALC_OPERATOR_MATRIX), 2.5, 1e-12);
    c.exec.strategy.matrix_datatype = CALC_FORMAT_AUTO; /* nothing is scaled */
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_MATRIX), 4);
}

CALC_TEST(grouped_matrices_read_their_weights_before_they_compute)
{
    modern_case c = start();
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 5);
    c.system.chip.grouped.efficiency = 0.5;
    c.system.chip.launch.matrix_s = 7;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 9 + 3 * 7);
}

CALC_TEST(grouped_matrices_may_be_bound_by_the_slower)
{
    modern_case c = start();
    c.system.chip.grouped.processing_mode = CALC_GROUPED_MODE_NO_OVERLAP;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 5);
    c.system.chip.grouped.processing_mode = CALC_GROUPED_MODE_ROOFLINE;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 4);
    c.system.chip.mem1.bytes_per_s /= 16;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 16);
    c.system.chip.processing_mode = CALC_PROCESSING_MODE_NO_OVERLAP; /* that of other matrices */
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_GROUPED), 16);
}

CALC_TEST(attention_runs_at_its_own_share_of_the_peak)
{
    modern_case c = start();
    calc_operator o = kernel(CALC_OPERATOR_ATTENTION);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_ATTENTION), 4);
    c.system.chip.attention.fw_efficiency = 0.5;
    c.system.chip.attention.bw_efficiency = 0.25;
    c.system.chip.attention.launch_s = 7;
    c.system.chip.launch.matrix_s = c.system.chip.launch.vector_s = 1000;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_ATTENTION), 16 + 3 * 7); /* its work */
    ck_assert_double_eq(calc_cost_kernel_s(&c.context, &o, CALC_PASS_AGRAD), 64 + 3 * 7);
    c.system.chip.attention.generic_efficiency = 0.5;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_ATTENTION), 16 + 3 * 7);
    c.exec.strategy.attention_kernel = CALC_ATTENTION_KERNEL_GENERIC;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_ATTENTION), 32 + 3 * 7);
    o.flop[CALC_PASS_FW] = 0;
    ck_assert_double_eq(calc_cost_kernel_s(&c.context, &o, CALC_PASS_FW), 0);
}

CALC_TEST(short_attention_is_bound_by_memory)
{
    modern_case c = start();
    calc_operator o = kernel(CALC_OPERATOR_ATTENTION);
    o.bytes[CALC_PASS_FW] = 9 * memory;
    resolve(&c);
    ck_assert_double_eq(calc_cost_kernel_s(&c.context, &o, CALC_PASS_FW), 9);
}

CALC_TEST(stored_scores_take_arithmetic_and_memory)
{
    modern_case c = start();
    c.system.chip.launch.vector_s = 7;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_SCORES), 5 + 3 * 7);
    c.system.chip.attention.unfused_efficiency = 0.5;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_SCORES), 9 + 3 * 7);
}

/* 16-bit heads: of 16, 12, 10 and 9 elements, their rows are multiples of 16, 8, 4 and 2 bytes. */
CALC_TEST(heads_that_are_not_aligned_starve_the_matrix_engine)
{
    static const struct {
        int64_t size;
        double slower;
    } heads[] = {{16, 1}, {12, 2}, {10, 4}, {9, 8}, {24, 1}};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        modern_case c = start();
        c.exec.strategy.datatype = CALC_DATATYPE_BFLOAT16;
        c.system.chip.matrix[CALC_DATATYPE_BFLOAT16] = c.system.chip.matrix[CALC_DATATYPE_FLOAT16];
        c.app.attn_size = heads[i].size;
        ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_SCORES), 1 + 4 * heads[i].slower);
        double flash_s = kernel_s(&c, CALC_OPERATOR_ATTENTION);
        c.app.attn_size = 16;
        ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_ATTENTION), flash_s);
    }
}

CALC_TEST(elementwise_kernels_are_bound_by_memory)
{
    modern_case c = start();
    calc_operator o = kernel(CALC_OPERATOR_VECTOR);
    o.flop[CALC_PASS_FW] = vector / 2;
    c.system.chip.launch.vector_s = 7;
    resolve(&c);
    ck_assert_double_eq(calc_cost_kernel_s(&c.context, &o, CALC_PASS_FW), 1 + 3 * 7);
    o.flop[CALC_PASS_FW] = vector * 2;
    c.system.chip.processing_mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    ck_assert_double_eq(calc_cost_kernel_s(&c.context, &o, CALC_PASS_FW), 2 + 3 * 7);
}

CALC_TEST(sorting_reaches_its_own_share_of_the_bandwidth)
{
    modern_case c = start();
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_PERMUTE), 1);
    c.system.chip.permute_efficiency = 0.25;
    c.system.chip.launch.vector_s = 7;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_PERMUTE), 4 + 3 * 7);
}

/* Its arithmetic and copies obey the mode and are not launched: 4 matrices are 64 vectors. */
CALC_TEST(what_processors_add_up_for_a_collective_is_a_kernel)
{
    modern_case c = start();
    c.system.chip.launch.vector_s = c.system.chip.launch.matrix_s = 7;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_COLLECTIVE), 64);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_LAYER), 64);
    c.system.chip.processing_mode = CALC_PROCESSING_MODE_NO_OVERLAP;
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_COLLECTIVE), 65);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_LAYER), 65);
    ck_assert_double_eq(kernel_s(&c, CALC_OPERATOR_VECTOR), 64 + 3 * 7);
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* One that takes so long on two ranks of network 0: an all-gather sends half of its buffer. */
static calc_operator link_of(calc_operator_group group, double time_s)
{
    calc_operator o = {.name = "link",
                       .kind = CALC_OPERATOR_COLLECTIVE,
                       .group = group,
                       .message_bytes = 2 * time_s * fast,
                       .op = {CALC_OP_ALL_GATHER, CALC_OP_REDUCE_SCATTER, CALC_OP_NONE},
                       .times = {1, 1, 1}};
    return o;
}

CALC_TEST(a_link_takes_what_its_group_takes)
{
    modern_case c = start();
    resolve(&c);
    calc_operator o = link_of(CALC_IN_TENSOR, 1);
    o.times[CALC_PASS_AGRAD] = 3;
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 1);
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_AGRAD, false), 3);
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_WGRAD, false), 0);
    o.kind = CALC_OPERATOR_MATRIX;
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 0);
}

/* Of blocks that no backward pass runs through, a quarter here, nothing is done again; a pass of
 * its own for what is done again leaves them out by itself. */
CALC_TEST(what_is_sent_again_is_sent_in_blocks_with_a_backward_pass)
{
    modern_case c = start();
    resolve(&c);
    for (int repeats = 0; repeats < 2; repeats++) {
        calc_operator o = link_of(CALC_IN_TENSOR, 1);
        o.untouched = 0.25;
        o.repeated_by = CALC_RECOMPUTE_ALL;
        o.repeats = repeats;
        o.op[CALC_PASS_WGRAD] = CALC_OP_ALL_GATHER;
        calc_cost_comm x = calc_cost_passes_of(&c.context, &o, CALC_RECOMPUTE_ALL, false);
        ck_assert_double_eq(x.fw_bytes, 2 * fast);
        ck_assert_double_eq(x.fw_link_s, 1);
        ck_assert_double_eq(x.bw_bytes, (repeats ? 1 : 2) * 0.75 * 2 * fast);
        ck_assert_double_eq(x.re_bytes, 0.75 * 2 * fast);
        ck_assert_double_eq(x.re_link_s, 0.75);
        ck_assert_double_eq(x.re_exposed_s, 0.75);
        x = calc_cost_passes_of(&c.context, &o, 0, false);
        ck_assert_double_eq(x.re_bytes, 0);
        ck_assert_double_eq(x.re_link_s, 0);
    }
}

/* Of 16 context ranks in a row, 4 neighbours, or 4 that are 4 apart. */
CALC_TEST(a_part_of_a_group_communicates_at_its_own_distance)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.context_par = c.exec.num_procs = 16;
    c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    resolve(&c);
    calc_operator o = link_of(CALC_IN_CONTEXT, 1);
    o.sub_ranks = 4;
    o.sub_stride = 1;
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 1.5);
    o.op[CALC_PASS_FW] = CALC_OP_P2P;
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 2);
    o.sub_stride = 4;
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 2 * fast / slow);
}

/* Two of eight experts are on one of two nodes with a chance of 3 in 7: 11/7 nodes a token, not 2
   copies. */
CALC_TEST(one_copy_per_node_is_sent_between_nodes)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 16));
    calc_operator o = link_of(CALC_IN_EXPERT, 1);
    double bytes = o.message_bytes;
    o.op[CALC_PASS_FW] = CALC_OP_ALL_TO_ALL;
    c.exec.strategy.expert_par = 16;
    c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    resolve(&c);
    ck_assert_double_eq(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 0.5 * bytes / slow);
    c.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false),
                11.0 / 14 * 0.5 * bytes / slow);
    c.exec.strategy.expert_tensor_par = 2; /* 2 experts a node: on 4 nodes, 13/7 of 2 copies */
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false),
                13.0 / 14 * 0.75 * bytes / slow);
    c.exec.strategy.expert_tensor_par = 0;
    c.exec.rank_order = CALC_RANK_ORDER_NETWORKS;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false),
                11.0 / 14 * 15 / 16 * bytes / slow);
    c.exec.strategy.expert_par = 8; /* one node, an expert a rank: two copies */
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 7.0 / 8 * bytes / slow);
    c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 7.0 / 8 * bytes / fast);
    c.exec.rank_order = CALC_RANK_ORDER_NETWORKS;
    c.exec.strategy.expert_par = 16;
    c.app.experts_per_token = 1;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), 15.0 / 16 * bytes / slow);
}

/* 8 of 64 experts are on 5.43 of 8 nodes, unless they may be on fewer only. */
CALC_TEST(limited_routing_limits_the_copies)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 64));
    calc_operator o = link_of(CALC_IN_EXPERT, 1);
    o.op[CALC_PASS_FW] = CALC_OP_ALL_TO_ALL;
    c.app.num_experts = 64;
    c.app.experts_per_token = 8;
    c.app.expert_groups = 8;
    c.exec.strategy.expert_par = 64;
    c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    c.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
    double leaves_s = 7.0 / 8 * o.message_bytes / slow;
    double reached = 8 * (1 - 1420494075 / 4426165368.0); /* C(56, 8) / C(64, 8) */
    /* Of C(64, 8) choices so many are on h nodes: C(8, h) times those that leave none of h out; a
       limited token is on the smaller of h and its limit, as a node is a group. */
    static const double limited[][2] = {{4, 17664916456}, {5, 21515942888}, {6, 23600774120}};
    c.app.groups_per_token = 0;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), reached / 8 * leaves_s);
    c.app.groups_per_token = 8;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), reached / 8 * leaves_s);
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
        c.app.groups_per_token = (int64_t)limited[i][0];
        resolve(&c);
        assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false),
                    limited[i][1] / 4426165368.0 / 8 * leaves_s);
    }
    c.app.expert_groups = 1; /* one group is no limit */
    c.app.groups_per_token = 1;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false), reached / 8 * leaves_s);
}

/* Of 16 ranks on two nodes each sends half of its buffer through its own port, as experts do; all
   copies, however experts are dispatched. */
CALC_TEST(an_exchange_of_heads_leaves_the_node_as_any_all_to_all)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 1));
    calc_operator o = link_of(CALC_IN_CONTEXT, 1);
    o.op[CALC_PASS_FW] = CALC_OP_ALL_TO_ALL;
    c.exec.strategy.context_par = c.exec.num_procs = 16;
    c.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
    c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    resolve(&c);
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false),
                0.5 * o.message_bytes / slow);
    o.sub_ranks = 8; /* those in a node */
    o.sub_stride = 1;
    assert_near(calc_cost_link_s(&c.context, &o, CALC_PASS_FW, false),
                0.875 * o.message_bytes / fast);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void sum(modern_case *c, const calc_operator *operators, size_t count, unsigned recompute)
{
    resolve(c);
    calc_cost_sum(&c->context, operators, count, recompute, &c->cost);
}

CALC_TEST(kernels_add_up_by_pass)
{
    modern_case c = start();
    calc_operator o[3] = {kernel(CALC_OPERATOR_MATRIX), kernel(CALC_OPERATOR_VECTOR),
                          kernel(CALC_OPERATOR_ATTENTION)};
    o[0].weights = 5;
    o[1].weights = 7;
    o[1].flop[CALC_PASS_FW] = vector;
    o[2].flop[CALC_PASS_WGRAD] = 0;
    o[0].expert = true;
    o[0].repeated_by = o[1].repeated_by = 1;
    o[2].repeated_by = 2;
    sum(&c, o, 3, 1);
    ck_assert_double_eq(c.cost.fw_s, 4 + 1 + 4);
    ck_assert_double_eq(c.cost.agrad_s, 8 + 8 * matrix / vector + 8);
    ck_assert_double_eq(c.cost.wgrad_s, 8); /* only matrices have such a pass of their own */
    ck_assert_double_eq(c.cost.re_s, 4 + 1);
    ck_assert_double_eq(c.cost.work[CALC_PASS_FW].flop, 8 * matrix);
    ck_assert_double_eq(c.cost.re.flop, 4 * matrix);
    ck_assert_double_eq(c.cost.work[CALC_PASS_FW].bytes, 3 * memory);
    ck_assert_double_eq(c.cost.attention_fw_s, 4);
    ck_assert_double_eq(c.cost.attention_bw_s, 8);
    ck_assert_double_eq(c.cost.re.bytes, 2 * memory);
    ck_assert_double_eq(c.cost.dense_weights, 7);
    ck_assert_double_eq(c.cost.expert_weights, 5);
    c.exec.training = false;
    sum(&c, o, 3, 1);
    ck_assert_double_eq(c.cost.fw_s, 9);
    ck_assert_double_eq(c.cost.agrad_s + c.cost.wgrad_s + c.cost.re_s, 0);
    ck_assert_double_eq(c.cost.work[CALC_PASS_AGRAD].flop, 0);
}

/* Backward from the last to the first: what was kept for an operator is gone before the next. */
CALC_TEST(a_pass_needs_most_room_where_least_is_done_with)
{
    modern_case c = start();
    calc_operator o[3] = {kernel(CALC_OPERATOR_MATRIX), kernel(CALC_OPERATOR_MATRIX),
                          kernel(CALC_OPERATOR_MATRIX)};
    const double kept[] = {1000, 40, 250}, passing[] = {500, 60, 150};
    for (int i = 0; i < 3; i++) {
        o[i].kept_bytes = kept[i];
        o[i].passing_bytes = passing[i];
    }
    sum(&c, o, 3, 0);
    ck_assert_double_eq(c.cost.passing_bytes, 500 - 250 - 40);
    o[1].passing_bytes = 500;
    sum(&c, o, 3, 0);
    ck_assert_double_eq(c.cost.passing_bytes, 500 - 250);
    o[2].passing_bytes = 300;
    sum(&c, o, 3, 0);
    ck_assert_double_eq(c.cost.passing_bytes, 300);
    o[2].passing_bytes = o[1].passing_bytes = o[0].passing_bytes = 1;
    sum(&c, o, 3, 0);
    ck_assert_double_eq(c.cost.passing_bytes, 1);
}

CALC_TEST(what_is_kept_is_what_no_recomputation_drops)
{
    modern_case c = start();
    calc_operator o[3] = {kernel(CALC_OPERATOR_MATRIX), kernel(CALC_OPERATOR_MATRIX),
                          kernel(CALC_OPERATOR_MATRIX)};
    for (int i = 0; i < 3; i++) {
        o[i].kept_bytes = o[i].dropped_bytes = 1 << i;
        o[i].dropped_by = 1U << i;
    }
    sum(&c, o, 3, 0);
    ck_assert_double_eq(c.cost.kept_bytes, 7);
    sum(&c, o, 3, 5);
    ck_assert_double_eq(c.cost.kept_bytes, 2);
    ck_assert_double_eq(c.cost.kept_whole_bytes, 7);
    o[2].dropped_bytes = 1; /* the other 3 stay */
    sum(&c, o, 3, 5);
    ck_assert_double_eq(c.cost.kept_bytes, 2 + 3);
    ck_assert_double_eq(c.cost.kept_whole_bytes, 7);
}

/* 4 s of matrices beside 8 s of communication each way, repeated where bit 0 says so. */
static void sum_tensor(modern_case *c, calc_tensor_par_overlap overlap, double matrix_s)
{
    calc_operator o[2] = {seconds(CALC_OPERATOR_MATRIX, matrix_s), link_of(CALC_IN_TENSOR, 8)};
    o[0].repeated_by = o[1].repeated_by = 1;
    c->exec.strategy.tensor_par_overlap = overlap;
    sum(c, o, 2, 1);
    ck_assert_double_eq(c->cost.tensor.fw_link_s, 8);
    ck_assert_double_eq(c->cost.tensor.bw_link_s, 8);
    ck_assert_double_eq(c->cost.tensor.re_link_s, 8);
}

static void exposed_is(const calc_cost_comm *comm, double fw, double bw, double re)
{
    assert_near(comm->fw_exposed_s, fw);
    assert_near(comm->bw_exposed_s, bw);
    assert_near(comm->re_exposed_s, re);
}

CALC_TEST(tensor_parallel_communication_hides_by_shares)
{
    modern_case c = start();
    sum_tensor(&c, CALC_TENSOR_PAR_OVERLAP_NONE, 4);
    exposed_is(&c.cost.tensor, 8, 8, 8);
    sum_tensor(&c, CALC_TENSOR_PAR_OVERLAP_FUSED, 4);
    exposed_is(&c.cost.tensor, 8, 4, 8); /* no matrix is beside it */
    sum_tensor(&c, CALC_TENSOR_PAR_OVERLAP_ASYNC, 4);
    exposed_is(&c.cost.tensor, 8, 4, 8);
    c.system.chip.overlap.tensor_par_async = 0.75;
    sum_tensor(&c, CALC_TENSOR_PAR_OVERLAP_FUSED, 4);
    exposed_is(&c.cost.tensor, 8, 2, 8);
    sum_tensor(&c, CALC_TENSOR_PAR_OVERLAP_ASYNC, 4);
    exposed_is(&c.cost.tensor, 8, 2, 8);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* A matrix of 4 s a pass beside so much communication each way, in 4 tiles. */
static void start_tiles(modern_case *c, calc_operator o[2], double link_s)
{
    *c = case_of(modern_app(), modern_exec(4, 1, 2));
    c->exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    o[0] = seconds(CALC_OPERATOR_MATRIX, 4);
    o[1] = link_of(CALC_IN_TENSOR, 1);
    o[1].name = NULL;
    o[1].message_bytes = link_s * fast * 4 / 3; /* 4 ranks send three quarters */
    o[1].beside = -1;
    o[1].repeats = true;
    o[1].op[CALC_PASS_WGRAD] = CALC_OP_ALL_GATHER;
    o[0].repeated_by = o[1].repeated_by = 1;
}

/* Tiles of 1 s, and 2 s to send one: 8 s to send behind the first tile of the arithmetic. */
CALC_TEST(tiles_hide_behind_those_before_them)
{
    modern_case c;
    calc_operator o[2];
    start_tiles(&c, o, 8);
    sum(&c, o, 2, 1);
    exposed_is(&c.cost.tensor, 5, 5, 5);
    ck_assert_double_eq(c.cost.tensor.fw_link_s, 8);
    ck_assert_double_eq(c.cost.fw_s, 4);
    ck_assert_double_eq(c.cost.agrad_s, 4);
    ck_assert_double_eq(c.cost.re_s, 4);
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_PIPE; /* and waits for one more */
    sum(&c, o, 2, 1);
    exposed_is(&c.cost.tensor, 7, 7, 7);
    ck_assert_double_eq(c.cost.fw_s, 4);
    c.context.compat = 1 << CALC_COMPAT_TILES; /* which the rule counts in the matrix, too */
    calc_cost_sum(&c.context, o, 2, 1, &c.cost);
    exposed_is(&c.cost.tensor, 5, 5, 5);
    ck_assert_double_eq(c.cost.fw_s, 6);
}

/* Where tiles are long enough one of them is exposed all the same, by a pipe two; by rule nothing.
 * Fused kernels are such tiles; a machine that hides less says so. */
CALC_TEST(a_tile_has_nothing_to_hide_behind)
{
    modern_case c;
    calc_operator o[2];
    start_tiles(&c, o, 2);
    sum(&c, o, 2, 1);
    exposed_is(&c.cost.tensor, 0.5, 0.5, 0.5);
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_FUSED;
    sum(&c, o, 2, 1);
    exposed_is(&c.cost.tensor, 0.5, 0.5, 0.5);
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_PIPE;
    sum(&c, o, 2, 1);
    exposed_is(&c.cost.tensor, 1, 1, 1);
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    c.system.chip.overlap.tensor_par_fused = 0.5;
    sum(&c, o, 2, 1);
    exposed_is(&c.cost.tensor, 1, 1, 1);
    c.context.compat = 1 << CALC_COMPAT_TILES;
    calc_cost_sum(&c.context, o, 2, 1, &c.cost);
    exposed_is(&c.cost.tensor, 0, 0, 0);
}

/* A quarter of the processor drives the network: tiles beside it take 4/3 s, three of the four. */
CALC_TEST(driving_the_network_slows_the_tiles_beside_it)
{
    modern_case c;
    calc_operator o[2];
    start_tiles(&c, o, 8);
    c.system.networks[0].processor_usage = 0.25;
    sum(&c, o, 2, 1);
    assert_near(c.cost.fw_s, 1 + 3 * 4.0 / 3);
    double exposed_s = 2 + 3 * (2 - 4.0 / 3);
    exposed_is(&c.cost.tensor, exposed_s, exposed_s, exposed_s);
    /* Behind longer tiles it takes its share while it runs: three tiles of half a second. */
    o[1].message_bytes /= 4;
    sum(&c, o, 2, 1);
    assert_near(c.cost.fw_s, 4 + 3 * 0.5 * 0.25);
    /* A bandwidth that sends a tile in 4/3 s hides them all. */
    assert_near(c.cost.required_bytes_per_s, o[1].message_bytes / 4 / (4.0 / 3));
}

/* 4 s of arithmetic in 4 tiles that take 4/3 s each: 16/3 s on the link are just hidden. */
CALC_TEST(time_is_continuous_where_tiles_are_just_hidden)
{
    modern_case c;
    calc_operator o[2];
    start_tiles(&c, o, 8);
    c.system.networks[0].processor_usage = 0.25;
    resolve(&c);
    for (int rule = 0; rule < 2; rule++) {
        c.context.compat = rule << CALC_COMPAT_TILES;
        calc_cost_tiles less =
            calc_cost_tiles_of(&c.context, &o[0], CALC_PASS_FW, 16.0 / 3 * (1 - 1e-12));
        calc_cost_tiles more =
            calc_cost_tiles_of(&c.context, &o[0], CALC_PASS_FW, 16.0 / 3 * (1 + 1e-12));
        ck_assert_double_eq_tol(less.time_s, more.time_s, 1e-10);
        double tile_s = rule ? 0 : 4.0 / 3;
        ck_assert_double_eq_tol(less.exposed_s, tile_s, 1e-10);
        ck_assert_double_eq_tol(more.exposed_s, tile_s, 1e-10);
        assert_near(more.time_s, 1 + 3 * 4.0 / 3);
    }
}

/* 8 s of memory and 4 s of arithmetic: the rule hides 8 s of link behind 4 s of tiles. */
CALC_TEST(by_rule_tiles_hide_behind_arithmetic_alone)
{
    modern_case c;
    calc_operator o[2];
    start_tiles(&c, o, 8);
    o[0].bytes[CALC_PASS_FW] = 8 * memory;
    resolve(&c);
    calc_cost_tiles ours = calc_cost_tiles_of(&c.context, &o[0], CALC_PASS_FW, 8);
    ck_assert_double_eq(ours.exposed_s, 2);
    ck_assert_double_eq(ours.time_s, 8);
    c.context.compat = 1 << CALC_COMPAT_TILES;
    calc_cost_tiles theirs = calc_cost_tiles_of(&c.context, &o[0], CALC_PASS_FW, 8);
    ck_assert_double_eq(theirs.exposed_s, 3);
    ck_assert_double_eq(theirs.time_s, 8);
    /* Slower arithmetic is still faster than memory; the rule counts it all the same. */
    c.context.usage = 0.25;
    c.context.compat = CALC_COMPAT_NONE;
    ck_assert_double_eq(calc_cost_tiles_of(&c.context, &o[0], CALC_PASS_FW, 4).time_s, 8);
    c.context.compat = 1 << CALC_COMPAT_TILES;
    ck_assert_double_eq(calc_cost_tiles_of(&c.context, &o[0], CALC_PASS_FW, 4).time_s, 8.75);
}

CALC_TEST(tiles_need_ranks_an_overlap_and_a_matrix)
{
    modern_case c;
    calc_operator o[2];
    start_tiles(&c, o, 8);
    resolve(&c);
    ck_assert_ptr_eq(calc_cost_tiles_beside(&c.context, o, 2, 0), &o[1]);
    ck_assert_ptr_null(calc_cost_tiles_beside(&c.context, o, 1, 0));
    calc_operator swapped[2] = {o[1], o[0]};
    swapped[0].beside = 1;
    ck_assert_ptr_eq(calc_cost_tiles_beside(&c.context, swapped, 2, 1), &swapped[0]);
    o[1].beside = 0;
    ck_assert_ptr_null(calc_cost_tiles_beside(&c.context, o, 2, 0));
    o[1].beside = -1;
    o[0].kind = CALC_OPERATOR_VECTOR;
    ck_assert_ptr_null(calc_cost_tiles_beside(&c.context, o, 2, 0));
    o[0].kind = CALC_OPERATOR_MATRIX;
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_ASYNC;
    ck_assert_ptr_null(calc_cost_tiles_beside(&c.context, o, 2, 0));
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_FUSED;
    ck_assert_ptr_nonnull(calc_cost_tiles_beside(&c.context, o, 2, 0));
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_PIPE;
    ck_assert_ptr_nonnull(calc_cost_tiles_beside(&c.context, o, 2, 0));
    c.shape.tensor_par = 1;
    ck_assert_ptr_null(calc_cost_tiles_beside(&c.context, o, 2, 0));
}

/* ---- Rules ----------------------------------------------------------------------------------- */

/* Of three layers the second and third are recomputed: 1 + 2, and 1 + 2 + 4, are counted. */
CALC_TEST(recomputed_layers_count_all_before_them_by_rule)
{
    modern_case c = start();
    calc_operator o[3];
    for (int i = 0; i < 3; i++) {
        o[i] = seconds(CALC_OPERATOR_MATRIX, 1 << i);
        o[i].bytes[CALC_PASS_FW] = (1 << i) * memory;
        o[i].repeated_by = i > 0;
    }
    sum(&c, o, 3, 1);
    ck_assert_double_eq(c.cost.re.flop, 6 * matrix);
    ck_assert_double_eq(c.cost.re_s, 6);
    c.context.compat = 1 << CALC_COMPAT_RECOMPUTE_SUMS;
    calc_cost_sum(&c.context, o, 3, 1, &c.cost);
    ck_assert_double_eq(c.cost.re.flop, (3 + 7) * matrix);
    ck_assert_double_eq(c.cost.re.flop_s, 3 + 7);
    ck_assert_double_eq(c.cost.re.bytes, (3 + 7) * memory);
    ck_assert_double_eq(c.cost.re.mem_s, 3 + 7);
    ck_assert_double_eq(c.cost.re_s, 6); /* the time is right */
}

/* Two ranks add up half of what is reduced, where the network does not. */
CALC_TEST(reductions_count_where_processors_add_them_up)
{
    modern_case c = start();
    c.app = small_app();
    calc_compat layers = 1 << CALC_COMPAT_LAYERS;
    for (int i = 0; i < 3; i++) {
        calc_compat compat = layers | (i == 1 ? 1 << CALC_COMPAT_REDUCTION_FLOP : 0);
        c.system.networks[0].processor_usage = i == 2 ? 0.125 : 0;
        resolve(&c);
        c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
        c.context.compat = compat;
        c.count = calc_block_operators(&c.context, CALC_DENSE_BLOCK, c.operators);
        double added = 0;
        for (size_t k = 0; k < c.count; k++) {
            bool link = c.operators[k].kind == CALC_OPERATOR_COLLECTIVE;
            added += link ? c.operators[k].flop[CALC_PASS_FW] : 0;
        }
        ck_assert_double_eq(added, i == 0 ? 0 : 2 * 32 * 64 / 2);
    }
}

static void sum_expert(modern_case *c, calc_expert_par_overlap overlap)
{
    calc_operator o[2] = {seconds(CALC_OPERATOR_MATRIX, 3), link_of(CALC_IN_EXPERT, 8)};
    o[0].shared_expert = true;
    o[0].weights = 1;
    o[0].repeated_by = o[1].repeated_by = 1;
    c->exec.strategy.expert_par_overlap = overlap;
    sum(c, o, 2, 1);
}

CALC_TEST(expert_exchange_hides_behind_shared_experts_or_another_batch)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 2));
    c.exec.strategy.expert_par = 2;
    c.exec.strategy.expert_par_net = 0;
    sum_expert(&c, CALC_EXPERT_PAR_OVERLAP_NONE);
    exposed_is(&c.cost.expert, 8, 8, 8);
    sum_expert(&c, CALC_EXPERT_PAR_OVERLAP_SHARED);
    exposed_is(&c.cost.expert, 5, 2, 5);
    sum_expert(&c, CALC_EXPERT_PAR_OVERLAP_BATCH);
    exposed_is(&c.cost.expert, 8 * 0.4, 8 * 0.4, 8); /* what is repeated hides nowhere */
    c.system.chip.overlap.expert_par = 0.25;
    sum_expert(&c, CALC_EXPERT_PAR_OVERLAP_BATCH);
    exposed_is(&c.cost.expert, 6, 6, 8);
}

/* Weight gradients of experts, which take 3 s, hide what is exposed backward with another batch. */
CALC_TEST(delayed_weight_gradients_hide_what_is_left)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 2));
    c.exec.strategy.expert_par = 2;
    c.exec.strategy.expert_par_net = 0;
    c.exec.strategy.delayed_wgrad = true;
    calc_operator o[2] = {seconds(CALC_OPERATOR_MATRIX, 3), link_of(CALC_IN_EXPERT, 8)};
    o[0].weights = 1;
    c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_BATCH;
    c.system.chip.overlap.expert_par = 0.25;
    sum(&c, o, 2, 0);
    exposed_is(&c.cost.expert, 6, 6, 0);
    o[0].expert = true;
    sum(&c, o, 2, 0);
    exposed_is(&c.cost.expert, 6, 3, 0);
    c.system.chip.overlap.expert_par = 0.75;
    sum(&c, o, 2, 0);
    exposed_is(&c.cost.expert, 2, 0, 0);
    c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_NONE;
    sum(&c, o, 2, 0);
    exposed_is(&c.cost.expert, 8, 8, 0);
}

CALC_TEST(ranks_that_split_an_expert_count_as_expert_communication)
{
    modern_case c = case_of(moe_app(), modern_exec(2, 1, 2));
    c.exec.strategy.expert_tensor_par = 2;
    calc_operator o = link_of(CALC_IN_EXPERT_TENSOR, 8);
    sum(&c, &o, 1, 0);
    ck_assert_double_eq(c.cost.expert.fw_link_s, 8);
    ck_assert_double_eq(c.cost.tensor.fw_link_s, 0);
}

/* A ring of 8 s runs beside attention, an exchange of 2 s before it. Attention takes as long as
   given, each way. */
static void sum_context(modern_case *c, double attention_s)
{
    calc_operator o[3] = {seconds(CALC_OPERATOR_ATTENTION, attention_s),
                          link_of(CALC_IN_CONTEXT, 8), link_of(CALC_IN_CONTEXT, 2)};
    o[1].hidden_by_attention = true;
    o[0].repeated_by = o[1].repeated_by = o[2].repeated_by = 1;
    sum(c, o, 3, 1);
}

CALC_TEST(a_ring_hides_behind_attention_and_the_rest_does_not)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.exec.strategy.context_par = c.exec.num_procs = 2;
    sum_context(&c, 3);
    exposed_is(&c.cost.context, 7, 7, 7);
    sum_context(&c, 8);
    exposed_is(&c.cost.context, 2, 2, 2);
    sum_context(&c, 100);
    exposed_is(&c.cost.context, 2, 2, 2);
    ck_assert_double_eq(c.cost.context.fw_link_s, 10);
    ck_assert_double_eq(c.cost.ring_fw_s, 8);
}

/* Kernels: a matrix with its tiles, another of shared experts, attention; and communication of
 * experts and context. */
static void sum_all_groups(modern_case *c, unsigned kernels_repeated)
{
    calc_operator o[7] = {seconds(CALC_OPERATOR_MATRIX, 2),    link_of(CALC_IN_TENSOR, 8),
                          seconds(CALC_OPERATOR_MATRIX, 1),    link_of(CALC_IN_TENSOR, 4),
                          seconds(CALC_OPERATOR_ATTENTION, 3), link_of(CALC_IN_EXPERT, 8),
                          link_of(CALC_IN_CONTEXT, 8)};
    o[2].shared_expert = o[3].shared_expert = o[6].hidden_by_attention = true;
    o[1].beside = o[3].beside = -1;
    for (int i = 0; i < 7; i++) {
        o[i].repeated_by = o[i].kind == CALC_OPERATOR_COLLECTIVE ? 1 : kernels_repeated;
    }
    c->exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    c->exec.strategy.expert_par = c->exec.strategy.context_par = 2;
    sum(c, o, 7, 1);
}

/* Two tiles: of 8 s to send all but a tile of 1 s is exposed, of 4 s all but one of half a second.
 */
CALC_TEST(repeated_communication_hides_behind_kernels_that_are_repeated)
{
    modern_case c = start();
    for (unsigned kernels = 0; kernels < 2; kernels++) {
        c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_NONE;
        sum_all_groups(&c, kernels);
        assert_near(c.cost.tensor.fw_exposed_s, (8 - 1) + (4 - 0.5));
        assert_near(c.cost.tensor.re_exposed_s, kernels ? (8 - 1) + (4 - 0.5) : 8 + 4);
        c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_SHARED;
        sum_all_groups(&c, kernels);
        assert_near(c.cost.expert.re_link_s - c.cost.expert.re_exposed_s, kernels * 1);
        assert_near(c.cost.context.re_link_s - c.cost.context.re_exposed_s, kernels * 3);
    }
}

CALC_TEST(shared_experts_hide_tiles_or_the_exchange_of_experts)
{
    modern_case c = start();
    sum_all_groups(&c, 1);
    ck_assert_double_eq(c.cost.expert.fw_exposed_s, c.cost.expert.fw_link_s);
    c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_SHARED;
    sum_all_groups(&c, 1);
    assert_near(c.cost.tensor.fw_exposed_s, (8 - 1) + 4);
    assert_near(c.cost.expert.fw_link_s - c.cost.expert.fw_exposed_s, 1);
}

CALC_TEST(a_pass_is_its_kernels_and_what_is_exposed)
{
    calc_cost c = {.fw_s = 1,
                   .agrad_s = 2,
                   .wgrad_s = 1000,
                   .re_s = 4,
                   .tensor = {.fw_exposed_s = 10, .bw_exposed_s = 20, .re_exposed_s = 40},
                   .context = {.fw_exposed_s = 100, .bw_exposed_s = 200, .re_exposed_s = 400},
                   .expert = {9, 9, 9, 9, 9, 9, 1000, 2000, 4000}};
    ck_assert_double_eq(calc_cost_fw_s(&c), 1111);
    ck_assert_double_eq(calc_cost_agrad_s(&c), 6 + 60 + 600 + 6000);
    ck_assert_double_eq(calc_share_or(0, 0.5), 0.5);
    ck_assert_double_eq(calc_share_or(0.25, 0.5), 0.25);
}
