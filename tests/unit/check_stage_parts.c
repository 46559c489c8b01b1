/* Cost of the parts of a layout, with unit/check_stage_parts.txt; their sums are those of
 * check_cost.c. */
#include "model/stages/stage_parts.h"
#include "model_formulas.h"
#include "spec/stack.h"

const calc_test_frame calc_tests = {.cases = "unit/check_stage_parts.txt",
                                    .answer = formula_answer};

/* ---- Parts ----------------------------------------------------------------------------------- */

CALC_TEST(parts_that_a_model_does_not_have_cost_nothing)
{
    static const calc_cost nothing = {0};
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 2, 2));
    settle(&s);
    ck_assert_double_eq(s.parts.block[CALC_DENSE_BLOCK].dense_weights, block_weights);
    ck_assert_mem_eq(&s.parts.block[CALC_MOE_BLOCK], &nothing, sizeof nothing);
    ck_assert_mem_eq(&s.parts.embedding, &nothing, sizeof nothing);
    ck_assert_mem_eq(&s.parts.head, &nothing, sizeof nothing);
    ck_assert_mem_eq(&s.parts.mtp, &nothing, sizeof nothing);
    s.c.system.chip.host.block_s = 1;
    s.c.app = experts_only();
    s.c.app.vocab_size = 512;
    s.c.app.mtp_blocks = 1;
    settle(&s);
    ck_assert_mem_eq(&s.parts.block[CALC_DENSE_BLOCK], &nothing, sizeof nothing);
    ck_assert_double_eq(s.parts.host_s[CALC_DENSE_BLOCK], 0);
    ck_assert_double_eq(s.parts.block[CALC_MOE_BLOCK].expert_weights, 8 * 3 * 64 * 32);
    ck_assert_double_eq(s.parts.embedding.dense_weights, 512 * 64);
    ck_assert_double_eq(s.parts.head.dense_weights, 512 * 64 + 64);
    ck_assert_double_eq(s.parts.mtp.dense_weights, 2 * 64 * 64 + 3 * 64);
}

/* ---- Host ------------------------------------------------------------------------------------ */

static double host_s(stage_case *s, calc_block_kind kind)
{
    settle(s);
    return s->parts.host_s[kind];
}

CALC_TEST(graphs_of_parts_launch_the_layers_that_have_them)
{
    static const struct {
        const char *layers; /* four */
        double graph, dense, moe;
        double kernels; /* of a layer with experts */
    } cases[] = {
        {"2x(attention moe)", 0.7, 1, 0.2, 26},
        {"2x(attention moe)", 0.2, 0, 0.2, 26},
        {"2x(attention moe)", 0.1, 0, 0.1, 26},
        {"2x(attention moe)", 1, 1, 1, 26},
        {"2x(attention moe)", 0, 0, 0, 26},
        {"attention mlp attention moe", 0.7, 2.0 / 3, 0.2, 26},
        {"2x(attention+mlp attention+moe)", 0.7, 0.7, 0.7, 32},
        {"attention+moe attention+mlp moe attention+mlp", 0.7, 0.7, 0.45, 29},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stage_case s;
        calc_stack_fault fault;
        build(&s, moe_app(), modern_exec(1, 1, 4));
        ck_assert_msg(calc_stack_read(&s.c.app, cases[i].layers, false, &fault), "%s", fault.text);
        s.c.app.num_blocks = 4;
        s.c.system.chip.host = (calc_host){.block_s = 16, .moe_block_s = 32};
        s.c.exec.strategy.cuda_graph = cases[i].graph;
        assert_near(host_s(&s, CALC_DENSE_BLOCK), 16 * (1 - 0.9 * cases[i].dense));
        assert_near(host_s(&s, CALC_MOE_BLOCK),
                    48 * (1 - 0.9 * cases[i].moe) * fmax(1, cases[i].kernels / 30));
    }
}

/* ---- By rule --------------------------------------------------------------------------------- */

static calc_stage_parts parts_by_rule(calc_exec exec, calc_compat compat)
{
    modern_case c = case_of(small_app(), exec);
    calc_stage_parts parts;
    resolve(&c);
    c.context.compat = compat;
    calc_stage_parts_of(&c.context, &parts);
    return parts;
}

/* Section 5 of Korthikanti et al. 2022: 2sbh, the input of a block; with sequence parallelism a
 * rank's share of it, and by rule all of it. */
CALC_TEST(checkpoints_are_a_ranks_share_and_whole_by_rule)
{
    calc_compat whole = 1 << CALC_COMPAT_WHOLE_CHECKPOINTS;
    calc_exec e = small_exec(4, 1, 1);
    e.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    for (int type = 0; type < CALC_TENSOR_PAR_COMM_TYPE_COUNT; type++) {
        e.strategy.tensor_par_comm_type = (calc_tensor_par_comm_type)type;
        double ranks = type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG ? 4 : 1;
        double input = 32 * 64 * 2;
        ck_assert_double_eq(parts_by_rule(e, CALC_COMPAT_NONE).block[0].kept_bytes, input / ranks);
        ck_assert_double_eq(parts_by_rule(e, whole).block[0].kept_bytes, input);
        ck_assert_double_eq(parts_by_rule(e, CALC_COMPAT_CALCULON & ~whole).block[0].kept_bytes,
                            input / ranks);
    }
    e.training = false; /* keeps nothing, and so recomputes nothing */
    ck_assert_double_eq(parts_by_rule(e, whole).block[0].kept_bytes,
                        parts_by_rule(e, CALC_COMPAT_NONE).block[0].kept_bytes);
}

/* Layers with weights: two norms of 2h, four projections of h * h, two of h * 4h. */
CALC_TEST(the_optimizer_is_told_each_layer_by_rule)
{
    calc_exec e = small_exec(1, 1, 1);
    calc_stage_parts p =
        parts_by_rule(e, 1 << CALC_COMPAT_LAYERS | 1 << CALC_COMPAT_OPTIMIZER_ROOFLINE);
    const double want[] = {2 * 64, 64 * 64, 64 * 64, 64 * 64, 64 * 64, 2 * 64, 64 * 256, 64 * 256};
    ck_assert_uint_eq(p.layers[0], 8);
    ck_assert_uint_eq(p.layers[1], 0);
    for (int i = 0; i < 8; i++) {
        ck_assert_double_eq(p.weights[0][i], want[i]);
    }
    calc_compat others = CALC_COMPAT_CALCULON & ~((calc_compat)1 << CALC_COMPAT_OPTIMIZER_ROOFLINE);
    ck_assert_uint_eq(parts_by_rule(e, others).layers[0], 0);
}

/* None of them is launched, so that none is launched again. */
CALC_TEST(calculons_layers_are_not_launched_again)
{
    modern_case c = case_of(small_app(), small_exec(1, 1, 1));
    c.system.chip.host.block_s = 1e-3;
    calc_stage_parts parts;
    resolve(&c);
    c.context.compat = 1 << CALC_COMPAT_LAYERS;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_stage_parts_of(&c.context, &parts);
    ck_assert_double_eq(parts.host_s[0], parts.host_once_s[0]);
    ck_assert_double_eq(parts.embedding.fw_s + parts.head.fw_s, 0);
}

/* ---- Layers of their own chip and strategy --------------------------------------------------- */

/* A system and an execution that say nothing of the chip and the strategy, which are handed beside
 * them: all that layers cost is as if they were the layout's own. */
static void costs_as_its_own(const stage_case *whole)
{
    const modern_case *w = &whole->c;
    const calc_strategy *strategy = &w->exec.strategy;
    calc_system system = w->system;
    calc_exec exec = w->exec;
    memset(&system.chip, 0, sizeof system.chip);
    memset(&exec.strategy, 0, sizeof exec.strategy);
    calc_shape shape = calc_shape_of(&w->app, strategy, exec.microbatch_size, exec.seq_size);
    calc_cost_context context =
        calc_cost_context_for(&system, &w->system.chip, &exec, strategy, &shape, w->context.compat);
    calc_stage_parts parts;
    calc_stage_parts_of(&context, &parts);
    ck_assert_mem_eq(&parts, &whole->parts, sizeof parts);
    calc_stage_lines lines = calc_stage_lines_of(&system, &exec, strategy, &context.groups,
                                                 calc_stage_message_bytes(&shape));
    ck_assert_mem_eq(&lines, &whole->lines, sizeof lines);
    const calc_cost *block = &parts.block[CALC_MOE_BLOCK];
    calc_stage_sharded got = calc_stage_sharded_of(&context, strategy, block, &lines);
    calc_stage_sharded want = calc_stage_sharded_of(&w->context, strategy, block, &whole->lines);
    ck_assert_double_gt(want.link_s, 0);
    ck_assert_mem_eq(&got, &want, sizeof got);
}

CALC_TEST(layers_may_have_a_chip_and_a_strategy_of_their_own)
{
    static const calc_rank_order orders[] = {
        CALC_RANK_ORDER_NETWORKS, CALC_RANK_ORDER_TP_CP_EP_DP_PP, CALC_RANK_ORDER_TP_CP_EP_PP_DP};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        stage_case s;
        build(&s, moe_app(), modern_exec(2, 2, 4));
        s.c.app.mtp_blocks = 1;
        s.c.exec.rank_order = orders[i];
        s.c.exec.num_procs *= 2;
        s.c.exec.strategy.context_par = 2;
        s.c.exec.strategy.context_par_type = CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
        s.c.exec.strategy.expert_par = 4;
        s.c.exec.strategy.zero_stage = 3;
        s.c.exec.strategy.fsdp_par = 2;
        s.c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
        s.c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        s.c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_GEMM_WORKSPACE;
        s.c.system.chip.host.block_s = 1e-3;
        s.c.system.chip.launch.matrix_s = 1e-6;
        s.c.system.chip.sustained = 0.75;
        s.c.system.networks[0].processor_usage = 0.125;
        settle(&s);
        costs_as_its_own(&s);
    }
}

/* ---- Layouts with most operators in common --------------------------------------------------- */

/* Ranks of experts, recomputation and overlap of a layout. */
static void vary(stage_case *s, int i)
{
    static const calc_tensor_par_overlap overlaps[] = {CALC_TENSOR_PAR_OVERLAP_NONE,
                                                       CALC_TENSOR_PAR_OVERLAP_ASYNC};
    static const calc_activation_recompute recomputes[] = {CALC_ACTIVATION_RECOMPUTE_NONE,
                                                           CALC_ACTIVATION_RECOMPUTE_FULL,
                                                           CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY};
    calc_strategy *x = &s->c.exec.strategy;
    x->expert_par = 1 << i % 4;
    x->expert_tensor_par = 1 + i / 4 % 2;
    x->tensor_par_overlap = overlaps[i / 8 % 2];
    x->activation_recompute = recomputes[i / 16 % 3];
    settle(s);
}

static calc_stage_timed timed;

/* All of them from the operators of the first, in any order. */
static void assert_shared(stage_case *s)
{
    vary(s, 0);
    calc_stage_operators_of(&s->c.context, &timed);
    for (int i = 0; i < 48; i++) {
        calc_stage_parts got;
        vary(s, i * 29 % 48);
        ck_assert_ptr_eq(calc_stage_timed_find(&s->c.context, &timed, 1), &timed);
        calc_stage_timed_put_experts(&s->c.context, &timed);
        calc_stage_parts_sum(&s->c.context, &timed, &got);
        ck_assert_mem_eq(&got, &s->parts, sizeof got);
    }
}

CALC_TEST(layouts_that_differ_in_experts_share_the_rest)
{
    static const calc_dispatch_type dispatches[] = {
        CALC_DISPATCH_TYPE_ALL_TO_ALL, CALC_DISPATCH_TYPE_NODE_LIMITED,
        CALC_DISPATCH_TYPE_REPLICATED, CALC_DISPATCH_TYPE_ALL_GATHER};
    for (int i = 0; i < 16; i++) {
        stage_case s;
        build(&s, moe_app(), modern_exec(2, 2, 16));
        s.c.app.dense_blocks = i / 4 % 2;
        s.c.app.mtp_blocks = i / 8;
        s.c.exec.strategy.dispatch_type = dispatches[i % 4];
        assert_shared(&s);
    }
}

CALC_TEST(what_changes_other_operators_is_not_shared)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(2, 2, 4));
    settle(&s);
    calc_stage_operators_of(&s.c.context, &timed);
    ck_assert_ptr_eq(calc_stage_timed_find(&s.c.context, &timed, 1), &timed);
    ck_assert_ptr_null(calc_stage_timed_find(&s.c.context, &timed, 0));
    for (int i = 0; i < 6; i++) {
        stage_case other = s;
        calc_strategy *x = &other.c.exec.strategy;
        other.c.exec.microbatch_size += i == 0;
        x->fused_activation = x->fused_activation != (i == 1);
        x->seq_par_ag_redo = x->seq_par_ag_redo != (i == 2);
        x->tensor_par_overlap = i == 3 ? CALC_TENSOR_PAR_OVERLAP_RING : x->tensor_par_overlap;
        x->tensor_par_net = i == 4 ? !x->tensor_par_net : x->tensor_par_net;
        x->dispatch_type = i == 5 ? CALC_DISPATCH_TYPE_ALL_GATHER : x->dispatch_type;
        settle(&other);
        ck_assert_ptr_null(calc_stage_timed_find(&other.c.context, &timed, 1));
    }
    build(&s, small_app(), modern_exec(2, 2, 4)); /* no experts */
    settle(&s);
    calc_stage_operators_of(&s.c.context, &timed);
    ck_assert_ptr_null(calc_stage_timed_find(&s.c.context, &timed, 1));
}
