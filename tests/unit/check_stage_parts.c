/* Cost of the parts of a layout; their sums are those of check_cost.c. */
#include "model/stages/stage_parts.h"
#include "spec/stack.h"
#include "stage_case.h"

#include "frame.h"

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

/* Full recomputation is of blocks, not of the ends. */
CALC_TEST(the_ends_keep_all_they_need)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 2));
    settle(&s);
    double kept = s.parts.head.kept_bytes;
    ck_assert_double_eq(kept, 32 * (4 * 64 + 2 * 512) + 32 * 64 * 2);
    recompute_all(&s);
    settle(&s);
    ck_assert_double_eq(s.parts.block[CALC_DENSE_BLOCK].kept_bytes, 2 * 32 * 64);
    ck_assert_double_eq(s.parts.block[CALC_DENSE_BLOCK].kept_whole_bytes, block_bytes);
    ck_assert_double_eq(s.parts.head.kept_bytes, kept);
    ck_assert_double_eq(s.parts.head.re_s, 0);
}

/* Megatron-LM's uniform recomputation: a group stores one input, and exists whole when it is
 * computed again. Distributed over tensor-parallel ranks, it is gathered once for a group. */
CALC_TEST(a_group_of_blocks_shares_its_input)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(2, 2, 2));
    recompute_all(&s);
    s.c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    settle(&s);
    const calc_cost *block = &s.parts.block[CALC_DENSE_BLOCK];
    double whole = block->kept_whole_bytes, passing = block->passing_bytes;
    double repeated_bytes = block->tensor.re_bytes;
    ck_assert_double_eq(block->kept_bytes, 2 * 32 * 64);
    s.c.exec.strategy.recompute_group = 4;
    settle(&s);
    ck_assert_double_eq(block->kept_bytes, 2 * 32 * 64 / 4.0);
    /* Beside what is stored: four blocks, less the input they share. */
    double at_hand = block->kept_whole_bytes - block->kept_bytes + block->passing_bytes;
    ck_assert_double_eq(at_hand, 4 * whole - 2 * 32 * 64 + passing);
    ck_assert_double_eq(block->tensor.re_bytes, repeated_bytes);
    s.c.exec.strategy.distribute_saved_activations = true;
    settle(&s);
    ck_assert_double_eq(block->kept_bytes, 2 * 32 * 64 / 4.0 / 2);
    ck_assert_double_eq(block->tensor.re_bytes, repeated_bytes + 2 * 32 * 64 / 4.0);
    ck_assert_double_eq(block->tensor.bw_bytes, repeated_bytes);
    s.c.exec.strategy.activation_recompute =
        CALC_ACTIVATION_RECOMPUTE_NONE; /* then neither counts */
    settle(&s);
    ck_assert_double_eq(block->kept_bytes, whole);
    ck_assert_double_eq(block->passing_bytes, passing);
    ck_assert_double_eq(block->tensor.re_bytes, 0);
}

/* A micro-batch's residual stream; with sequence parallelism or scattered, a rank's part of it. */
CALC_TEST(messages_are_the_residual_stream)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(2, 2, 1));
    s.c.exec.microbatch_size = 3;
    settle(&s);
    ck_assert_double_eq(calc_stage_message_bytes(&s.c.shape), 3 * 32 * 64 * 2);
    ck_assert_double_eq(s.parts.message_bytes, 3 * 32 * 64 * 2 / 2);
    s.c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    s.c.exec.strategy.seq_par_ag_redo = false;
    settle(&s);
    ck_assert_double_eq(s.parts.message_bytes, 3 * 32 * 64 * 2 / 2);
    s.c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    settle(&s);
    ck_assert_double_eq(s.parts.message_bytes, 3 * 32 * 64 * 2);
    s.c.exec.strategy.context_par = 4;
    s.c.exec.num_procs = 16;
    settle(&s);
    ck_assert_double_eq(s.parts.message_bytes, 3 * 8 * 64 * 2);
    ck_assert_double_eq(calc_stage_message_bytes(&s.c.shape), 3 * 8 * 64 * 2);
}

/* ---- Framework ------------------------------------------------------------------------------- */

/* One copy of each shape of a matrix: four in a block, and the head. */
CALC_TEST(dummy_gradients_are_one_of_each_shape)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    ck_assert_double_eq(memory_of(&s, 0).framework, 0);
    s.c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD;
    double shapes = 64 * 128 + 64 * 64 + 64 * 512 + 256 * 64;
    ck_assert_double_eq(memory_of(&s, 0).framework, 2 * shapes);
    ck_assert_double_eq(memory_of(&s, 1).framework, 2 * (shapes + 512 * 64));
    s.c.exec.strategy.tensor_par = 2;
    ck_assert_double_eq(memory_of(&s, 1).framework, 2 * (shapes + 512 * 64) / 2);
    s.c.exec.strategy.tensor_par = 1;
    /* as many weights as another: shared experts, and the first matrix of experts */
    s.c.app = moe_app();
    s.c.app.dense_blocks = 0;
    shapes = 64 * 128 + 64 * 64 + 64 * 32;
    ck_assert_double_eq(memory_of(&s, 0).framework, 2 * shapes);
    s.c.exec = modern_exec(1, 2, 2); /* of one expert, however many are here */
    s.c.exec.strategy.expert_par = 2;
    s.c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD;
    ck_assert_double_eq(memory_of(&s, 0).framework, 2 * shapes);
}

/* 32 MiB each: PyTorch's and TransformerEngine's, and four for grouped multiplications. */
CALC_TEST(workspaces_are_of_the_library_not_of_the_model)
{
    const double mib = 1024 * 1024;
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    s.c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_GEMM_WORKSPACE;
    ck_assert_double_eq(memory_of(&s, 0).framework, 64 * mib);
    ck_assert_double_eq(memory_of(&s, 1).framework, 64 * mib);
    s.c.app = moe_app(); /* its first block is dense */
    ck_assert_double_eq(memory_of(&s, 0).framework, 192 * mib);
    s.c.app.dense_blocks = 0;
    ck_assert_double_eq(memory_of(&s, 0).framework, 192 * mib);
    s.c.exec.training = false;
    ck_assert_double_eq(memory_of(&s, 0).framework, 0);
}

/* A head has freed its logits when the block before it recomputes and passes back. */
CALC_TEST(logits_and_the_block_at_hand_take_turns)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    calc_stage_memory plain = memory_of(&s, 1);
    ck_assert_double_eq(plain.working, block_passing);
    ck_assert_double_eq(plain.working + plain.ends, s.terms.head.kept_bytes);
    s.c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_stage_memory full = memory_of(&s, 1);
    ck_assert_double_gt(full.working, block_passing);
    double larger = fmax(full.working, s.terms.head.kept_bytes);
    ck_assert_double_eq_tol(full.working + full.ends, larger, 1e-9 * larger);
    ck_assert_double_eq(memory_of(&s, 0).ends, 0);
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    ck_assert_double_eq(memory_of(&s, 1).ends, s.terms.head.kept_bytes);
}

/* Shapes that both kinds of blocks have count once where a stage has both. */
CALC_TEST(dummy_gradients_of_both_kinds_share_shapes)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 2, 1));
    s.c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD;
    settle(&s);
    double attention = 64 * 128 + 64 * 64;
    double dense = attention + 64 * 512 + 256 * 64;
    double experts = 64 * 32; /* the other shapes are as large as those of attention */
    ck_assert_double_eq(s.parts.framework_bytes[1][0], 2 * dense);
    ck_assert_double_eq(s.parts.framework_bytes[0][1], 2 * (attention + experts));
    ck_assert_double_eq(s.parts.framework_bytes[1][1], 2 * (dense + experts));
    ck_assert_double_eq(memory_of(&s, 0).framework, s.parts.framework_bytes[1][1]);
    ck_assert_double_eq(memory_of(&s, 1).framework, s.parts.framework_bytes[0][1] + 2 * 512 * 64);
    s.c.exec.training = false;
    ck_assert_double_eq(memory_of(&s, 1).framework, 0);
}

/* ---- Host ------------------------------------------------------------------------------------ */

static double host_s(stage_case *s, calc_block_kind kind)
{
    settle(s);
    return s->parts.host_s[kind];
}

CALC_TEST(the_host_needs_more_for_experts_ranks_and_repetition)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 4));
    s.c.system.chip.host = (calc_host){.block_s = 16, .moe_block_s = 32, .expert_s = 3};
    s.c.exec.strategy.expert_par = 4;
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 16);
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 48);
    s.c.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8; /* 2 local experts are converted */
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 16);
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 54);
    s.c.exec.strategy.fused_experts = true; /* all at once */
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 51);
    s.c.exec.strategy.fused_experts = false;
    s.c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_BATCH; /* in pieces */
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 16);
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 78);
    s.c.system.chip.host.overlap_growth = 1;
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 102);
    s.c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_NONE;
    s.c.exec.strategy.cuda_graph = 1; /* a tenth of issuing is left, conversion included */
    assert_near(host_s(&s, CALC_MOE_BLOCK), 5.4);
    s.c.exec.strategy.cuda_graph = 0.5;
    assert_near(host_s(&s, CALC_MOE_BLOCK), 48 * 0.55 + 6); /* of parts: experts are in none */
    s.c.exec.strategy.cuda_graph = 0;
    s.c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s.c.exec.strategy.seq_par_ag_redo = false;
    assert_near(host_s(&s, CALC_DENSE_BLOCK), 24);
    s.c.system.chip.host.recompute_growth = 0.25;
    assert_near(host_s(&s, CALC_DENSE_BLOCK), 20);
    s.c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s.c.exec.training = false;
    assert_near(host_s(&s, CALC_DENSE_BLOCK), 16.0 / 3);
}

CALC_TEST(graphs_of_parts_launch_the_layers_that_have_them)
{
    static const struct {
        const char *layers; /* four */
        double graph, dense, moe;
    } cases[] = {
        {"2x(attention moe)", 0.7, 1, 0.2},
        {"2x(attention moe)", 0.2, 0, 0.2},
        {"2x(attention moe)", 0.1, 0, 0.1},
        {"2x(attention moe)", 1, 1, 1},
        {"2x(attention moe)", 0, 0, 0},
        {"attention mlp attention moe", 0.7, 2.0 / 3, 0.2},
        {"2x(attention+mlp attention+moe)", 0.7, 0.7, 0.7},
        {"attention+moe attention+mlp moe attention+mlp", 0.7, 0.7, 0.45},
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
        assert_near(host_s(&s, CALC_MOE_BLOCK), 48 * (1 - 0.9 * cases[i].moe));
    }
}

/* Forward, a dense block launches 11 kernels (norm, query key value, rotary embedding, attention,
   output, residual; norm, up, activation, down, residual), a block with experts 8 of them and 24 of
   its own: router, routing, 3 of the shared experts, 3 of the others, sorting twice in 8. */
CALC_TEST(the_host_launches_again_what_is_recomputed)
{
    static const struct {
        unsigned modules;
        double dense, moe; /* launches */
    } rows[] = {{0, 0, 0},
                {1 << CALC_RECOMPUTE_MODULES_CORE_ATTN, 1, 1},
                {1 << CALC_RECOMPUTE_MODULES_LAYERNORM, 2, 2},
                {1 << CALC_RECOMPUTE_MODULES_MLP, 3, 0},
                {1 << CALC_RECOMPUTE_MODULES_MOE_ACT, 0, 1},
                {1 << CALC_RECOMPUTE_MODULES_SHARED_EXPERTS, 0, 3},
                {1 << CALC_RECOMPUTE_MODULES_MOE | 1 << CALC_RECOMPUTE_MODULES_MLP, 3, 24}};
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 1));
    s.c.system.chip.host = (calc_host){.block_s = 16, .recompute_growth = 0.25};
    s.c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s.c.exec.strategy.recompute_modules = rows[i].modules;
        assert_near(host_s(&s, CALC_DENSE_BLOCK), 16 * (1 + 0.25 * rows[i].dense / 11));
        assert_near(host_s(&s, CALC_MOE_BLOCK), 16 * (1 + 0.25 * rows[i].moe / 32));
    }
    s.c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    assert_near(host_s(&s, CALC_DENSE_BLOCK), 16 * (1 + 0.25 / 11));
    recompute_all(&s);
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 20);
    ck_assert_double_eq(host_s(&s, CALC_MOE_BLOCK), 20);
}

CALC_TEST(many_tensor_parallel_ranks_wait_for_the_slowest_host)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(4, 1, 1));
    s.c.app.attn_heads = 16;
    s.c.system.chip.host = (calc_host){.block_s = 16, .tensor_par_growth = 0.25};
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 16);
    s.c.exec.strategy.tensor_par = s.c.exec.num_procs = 8;
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 20);
    s.c.exec.strategy.tensor_par = s.c.exec.num_procs = 16;
    ck_assert_double_eq(host_s(&s, CALC_DENSE_BLOCK), 24);
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
