/* What a micro-batch on a stage spends its time on; it adds up to the pass. */
#include "stage_case.h"

#include "frame.h"

static double sum_s(const stage_spent *t)
{
    return t->fw_s + t->bw_s + t->re_s + t->tensor_s + t->context_s + t->expert_s + t->repeated_s +
           t->sharded_s + t->fw_offload_s + t->bw_offload_s + t->message_s + t->host_s + t->ends_s;
}

/* The parts add up, and to the pass. */
static stage_spent checked(stage_case *s, size_t index)
{
    stage_spent t = spent_of(s, index);
    ck_assert_double_eq_tol(sum_s(&t), t.all_s, 1e-9 * t.all_s);
    return t;
}

CALC_TEST(a_stage_takes_its_blocks_ends_and_messages)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    stage_spent first = checked(&s, 0), middle = checked(&s, 1), last = checked(&s, 2);
    const calc_cost *b = &s.parts.block[CALC_DENSE_BLOCK];
    calc_stage_pass pass = pass_of(&s, 1);
    double message_s = 2 * 32 * 64 / slow;
    assert_near(pass.fw_s, 2 * b->fw_s + message_s);
    assert_near(pass.agrad_s, 2 * b->agrad_s + message_s);
    assert_near(pass.wgrad_s, 2 * b->wgrad_s);
    assert_near(middle.fw_s, 2 * b->fw_s);
    assert_near(middle.bw_s, 2 * (b->agrad_s + b->wgrad_s));
    assert_near(middle.message_s, 2 * message_s);
    ck_assert_double_eq(middle.ends_s, 0);
    ck_assert_double_eq(middle.host_s, 0);
    assert_near(first.ends_s, s.parts.embedding.fw_s + s.parts.embedding.agrad_s);
    assert_near(last.ends_s, s.parts.head.fw_s + s.parts.head.agrad_s + s.parts.head.wgrad_s);
}

/* Full recomputation of a block with experts repeats its exchange too. */
CALC_TEST(a_stage_with_experts_takes_what_it_spends)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(2, 2, 2));
    s.c.exec.strategy.expert_par = 2;
    s.c.exec.strategy.context_par = 2;
    s.c.exec.num_procs = 16;
    recompute_all(&s);
    stage_spent t = checked(&s, 0);
    const calc_cost *dense = &s.parts.block[CALC_DENSE_BLOCK];
    const calc_cost *moe = &s.parts.block[CALC_MOE_BLOCK];
    ck_assert_double_gt(moe->expert.re_exposed_s, 0);
    assert_near(t.expert_s, 2 * (moe->expert.fw_exposed_s + moe->expert.bw_exposed_s));
    assert_near(t.repeated_s, 2 * (dense->tensor.re_exposed_s + dense->context.re_exposed_s +
                                   moe->tensor.re_exposed_s + moe->context.re_exposed_s +
                                   moe->expert.re_exposed_s));
    assert_near(t.context_s, 2 * (dense->context.fw_exposed_s + dense->context.bw_exposed_s +
                                  moe->context.fw_exposed_s + moe->context.bw_exposed_s));
}

CALC_TEST(free_stages_are_all_alike)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    s.c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    stage_spent each = checked(&s, 0);
    ck_assert_uint_eq(s.stages.count, 1);
    ck_assert_double_eq(s.stages.item[0].stages, 4);
    const calc_cost *e = &s.parts.embedding, *h = &s.parts.head;
    assert_near(each.ends_s, (e->fw_s + e->agrad_s + h->fw_s + h->agrad_s + h->wgrad_s) / 4);
}

CALC_TEST(messages_are_scattered_sent_per_chunk_and_may_hide)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(2, 2, 1));
    double whole_s = 2 * 32 * 64 / slow;
    assert_near(checked(&s, 0).message_s, 2 * whole_s / 2);
    s.c.exec.pipeline_interleaving = 4;
    assert_near(checked(&s, 0).message_s, 4 * 2 * whole_s / 2);
    s.c.exec.strategy.pipeline_par_overlap = true;
    assert_near(checked(&s, 0).message_s, 4 * 2 * whole_s / 2 * 0.15);
    s.c.system.chip.overlap.pipeline_par = 0.5;
    assert_near(checked(&s, 0).message_s, 4 * 2 * whole_s / 2 * 0.5);
    s.c.exec.strategy.pipeline_par_overlap = false;
    s.c.exec.pipeline_interleaving = 1;
    s.c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG;
    s.c.exec.strategy.seq_par_ag_redo = false;
    assert_near(checked(&s, 0).message_s, 2 * whole_s / 2);
    s.c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    assert_near(checked(&s, 0).message_s, 2 * whole_s);
    s.c.exec.training = false;
    assert_near(checked(&s, 0).message_s, whole_s);
    s.c.exec = modern_exec(2, 1, 1);
    ck_assert_double_eq(checked(&s, 0).message_s, 0);
}

CALC_TEST(some_blocks_recompute_and_others_do_not)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    recompute_all(&s);
    stage_spent t = checked(&s, 0);
    const double forward_s = s.parts.block[CALC_DENSE_BLOCK].fw_s;
    assert_near(t.re_s, 8 * forward_s);
    double all = t.all_s;
    s.c.exec.recompute_blocks = 2;
    t = checked(&s, 0);
    assert_near(t.re_s, 2 * forward_s);
    assert_near(t.all_s, all - 6 * forward_s);
    s.c.exec = modern_exec(2, 1, 1); /* with communication */
    recompute_all(&s);
    s.c.exec.recompute_blocks = 2;
    t = checked(&s, 0);
    assert_near(t.repeated_s, 2 * s.parts.block[CALC_DENSE_BLOCK].tensor.re_link_s);
}

/* A block takes a few microseconds: the host's second decides. */
CALC_TEST(a_block_takes_no_less_than_the_host)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    s.c.system.chip.host.block_s = 1;
    stage_spent t = checked(&s, 0);
    assert_near(t.all_s, 8);
    assert_near(sum_s(&t), 8);
    s.c.system.chip.host.block_s = 1e-9; /* and not where it is quicker */
    t = checked(&s, 0);
    ck_assert_double_eq(t.host_s, 0);
}

/* By a fifth where both need the same: they take turns in being behind (docs/validation.md). */
CALC_TEST(a_block_takes_longest_where_the_host_is_as_slow)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    double alone_s = checked(&s, 0).all_s;
    static const double host[] = {0.25, 0.5, 1, 2, 4};
    for (int i = 0; i < 5; i++) {
        s.c.system.chip.host.block_s = host[i] * alone_s / 8;
        stage_spent t = checked(&s, 0);
        assert_near(t.all_s, alone_s * pow(1 + pow(host[i], 4), 0.25));
        ck_assert_double_eq_tol(t.host_s, t.all_s - alone_s, 1e-9 * alone_s);
    }
}

/* A host that waits for every kernel adds its time to the processor's, block by block. */
CALC_TEST(a_host_that_waits_for_kernels_adds_its_time)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    double alone_s = checked(&s, 0).all_s;
    s.c.system.chip.host.block_s = alone_s / 16;
    s.c.exec.strategy.launch_blocking = true;
    assert_near(checked(&s, 0).all_s, 1.5 * alone_s);
    ck_assert_double_eq_tol(checked(&s, 0).host_s, alone_s / 2, 1e-9 * alone_s);
    s.c.exec.strategy.cuda_graph = 1; /* launches nine tenths without it */
    assert_near(checked(&s, 0).all_s, 1.05 * alone_s);
}

/* Those that recompute launch one of 11 kernels again, at half a forward and backward pass for all.
 */
CALC_TEST(blocks_that_do_not_recompute_wait_for_the_host_as_well)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    s.c.system.chip.host.block_s = 1;
    s.c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    s.c.exec.strategy.recompute_modules = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    for (int64_t blocks = 0; blocks <= 8; blocks += 2) {
        s.c.exec.recompute_blocks = blocks;
        assert_near(checked(&s, 0).all_s, 8 + (blocks > 0 ? (double)blocks : 8) * 0.5 / 11);
    }
}

CALC_TEST(slower_software_takes_longer_but_for_messages)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    stage_spent t = checked(&s, 1);
    s.c.exec.software_efficiency = 0.5;
    stage_spent u = checked(&s, 1);
    ck_assert_double_eq(u.message_s, t.message_s);
    assert_near(u.all_s - u.message_s, 2 * (t.all_s - t.message_s));
    assert_near(u.fw_s, 2 * t.fw_s);
}

CALC_TEST(predicted_tokens_repeat_a_block_and_the_head)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 1, 1));
    double without = checked(&s, 0).ends_s;
    s.c.app.mtp_blocks = 2;
    stage_spent t = checked(&s, 0);
    const calc_cost *b = &s.parts.block[CALC_DENSE_BLOCK], *h = &s.parts.head, *m = &s.parts.mtp;
    double each = b->fw_s + b->agrad_s + b->wgrad_s + h->fw_s + h->agrad_s + h->wgrad_s + m->fw_s +
                  m->agrad_s + m->wgrad_s;
    assert_near(t.ends_s, without + 2 * each);
}

/* Every pass gathers the block's weights, the backward pass scatters its gradients; 7 tenths of the
   pass hide them. */
CALC_TEST(sharded_weights_are_gathered_in_every_pass)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    calc_stage_pass without = pass_of(&s, 0);
    double without_s = calc_stage_pass_s(&without), P = 8 * block_weights;
    s.c.exec.strategy.zero_stage = 3;
    s.c.exec.strategy.data_par_overlap = true;
    calc_stage_pass pass = pass_of(&s, 0);
    double gather_s = 0.75 * 2 * P / slow, scatter_s = 0.75 * 4 * P / slow;
    assert_near(pass.fw_s, without.fw_s + gather_s - 0.7 * without.fw_s);
    double backward_s = without.agrad_s + without.wgrad_s;
    assert_near(pass.agrad_s + pass.wgrad_s, backward_s + gather_s + scatter_s - 0.7 * backward_s);
    assert_near(checked(&s, 0).sharded_s, 2 * gather_s + scatter_s - 0.7 * without_s);
    s.c.exec.strategy.fsdp_par = 2; /* pairs gather a half; replicas of a shard reduce its half */
    gather_s = 0.5 * 2 * P / slow;
    scatter_s = (0.5 * 4 + 4 * 0.5) * P / slow;
    assert_near(checked(&s, 0).sharded_s, 2 * gather_s + scatter_s - 0.7 * without_s);
    s.c.exec.training = false;
    assert_near(checked(&s, 0).sharded_s, gather_s - 0.7 * without.fw_s);
    s.c.exec = modern_exec(1, 1, 1); /* nothing to share with */
    s.c.exec.strategy.zero_stage = 3;
    ck_assert_double_eq(checked(&s, 0).sharded_s, 0);
}

/* 16 replicas of two ranks each, sharded over 4 of them in a node of 8: 4 replicas of a shard, one
   in each of 4 nodes. */
CALC_TEST(shards_are_inside_nodes_and_their_replicas_across)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(2, 1, 16));
    s.c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    s.c.exec.strategy.zero_stage = 3;
    s.c.exec.strategy.fsdp_par = 4;
    hide_nothing(&s);
    stage_spent t = checked(&s, 0);
    double weights = s.parts.block[CALC_DENSE_BLOCK].dense_weights;
    double inside_s = 0.75 * (2 * 2 + 4) * weights / fast;
    assert_near(t.sharded_s, 8 * (inside_s + 1.5 * 4 * weights / 4 / slow));
}

/* 4 replicas of the rest and 2 of an expert, each in pairs: experts have no replica of a shard. */
CALC_TEST(sharded_experts_are_gathered_over_their_own_replicas)
{
    stage_case s;
    build(&s, experts_only(), modern_exec(1, 1, 8));
    s.c.exec.strategy.expert_par = 2;
    s.c.exec.strategy.zero_stage = 3;
    s.c.exec.strategy.fsdp_par = 2;
    s.c.exec.strategy.grad_reduce_datatype = CALC_FORMAT_BFLOAT16;
    hide_nothing(&s);
    stage_spent t = checked(&s, 0);
    const calc_cost *b = &s.parts.block[CALC_MOE_BLOCK];
    double dense = b->dense_weights, expert = b->expert_weights;
    double gather_s = 0.5 * 2 * (dense + expert) / slow;
    double scatter_s = 0.5 * 2 * (dense + expert) / slow;
    double replicas_s = 2 * (1.5 * dense + 1.0 * expert) / 2 / slow; /* 4 and 2 of a shard */
    assert_near(t.sharded_s, 8 * (2 * gather_s + scatter_s + replicas_s));
}

/* All of it is on the link, whatever is hidden: two gathers and a scatter. */
CALC_TEST(the_link_carries_what_is_hidden_too)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.zero_stage = 3;
    s.c.exec.strategy.data_par_overlap = true;
    for (int i = 0; i < 2; i++) {
        settle(&s);
        calc_stage_sharded x = calc_stage_sharded_of(&s.c.context, &s.c.exec.strategy,
                                                     &s.parts.block[CALC_DENSE_BLOCK], &s.lines);
        assert_near(x.link_s, 0.75 * (2 * 2 + 4) * block_weights / slow);
        s.c.system.networks[0].bytes_per_s = 0x1p50;
        s.c.system.chip.matrix[CALC_DATATYPE_FLOAT16].flop_per_s = 0x1p30; /* hides all */
    }
    ck_assert_double_eq(checked(&s, 0).sharded_s, 0);
}

/* What may not overlap is exposed, all of it: updated weights say how gathered ones do. */
CALC_TEST(sharded_weights_hide_only_where_overlap_is_asked_for)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    calc_stage_pass without = pass_of(&s, 0);
    double backward_s = without.agrad_s + without.wgrad_s;
    double gather_s = 0.75 * 2 * 8 * block_weights / slow, scatter_s = 2 * gather_s;
    s.c.exec.strategy.zero_stage = 3;
    assert_near(checked(&s, 0).sharded_s, 2 * gather_s + scatter_s);
    s.c.exec.strategy.param_gather_overlap = CALC_CHOICE_TRUE;
    assert_near(checked(&s, 0).sharded_s, fmax(0, gather_s - 0.7 * without.fw_s) +
                                              fmax(0, gather_s - 0.7 * backward_s) + scatter_s);
    s.c.exec.strategy.param_gather_overlap = CALC_CHOICE_FALSE;
    s.c.exec.strategy.data_par_overlap = true;
    assert_near(checked(&s, 0).sharded_s, 2 * gather_s + fmax(0, scatter_s - 0.7 * backward_s));
    s.c.exec.strategy.param_gather_overlap = CALC_CHOICE_AUTO; /* both, beside the same pass */
    assert_near(checked(&s, 0).sharded_s, fmax(0, gather_s - 0.7 * without.fw_s) +
                                              fmax(0, gather_s + scatter_s - 0.7 * backward_s));
}

/* A backward pass waits for a slow link as long whether its block recomputes or not: what it does
   not spend on recomputation it waits more. */
CALC_TEST(blocks_that_do_not_recompute_hide_less)
{
    for (int sharded = 0; sharded < 2; sharded++) {
        stage_case s;
        build(&s, without_ends(), modern_exec(1, 1, 4));
        recompute_all(&s);
        s.c.exec.strategy.zero_stage = sharded ? 3 : 0;
        s.c.exec.strategy.data_par_overlap = true;
        s.c.exec.strategy.weight_offload = !sharded;
        s.c.system.chip.overlap.data_par = 1;
        s.c.system.chip.mem2.bytes_per_s = 0x1p30;   /* slower than any kernel, */
        s.c.system.networks[0].bytes_per_s = 0x1p30; /* both of them */
        stage_spent all = checked(&s, 0);
        s.c.exec.recompute_blocks = 2; /* of 8 */
        stage_spent some = checked(&s, 0);
        ck_assert_double_gt(all.re_s, 0);
        assert_near(some.re_s, all.re_s / 4);
        assert_near(some.all_s, all.all_s);
        double waits_s = all.sharded_s + all.bw_offload_s;
        assert_near(some.sharded_s + some.bw_offload_s, waits_s + 0.75 * all.re_s);
        ck_assert_double_eq(some.host_s, 0);
    }
}

/* Embedding and head are gathered and scattered as blocks are: every weight of the stage three
   times. They stay what they are, and take as long as without. */
CALC_TEST(sharded_ends_are_gathered_in_every_pass_too)
{
    stage_case s;
    for (int64_t stages = 1; stages <= 4; stages *= 4) {
        for (int tied = 0; tied < 2; tied++) {
            build(&s, modern_app(), modern_exec(1, stages, 4));
            s.c.app.tied_embeddings = tied ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
            s.c.app.mtp_blocks = 1;
            size_t last = stages > 1 ? 2 : 0;
            double ends_s = checked(&s, 0).ends_s, last_ends_s = checked(&s, last).ends_s;
            s.c.exec.strategy.zero_stage = 3;
            for (size_t i = 0; i <= last; i++) {
                calc_stage_weights w = weights_of(&s, i);
                assert_near(checked(&s, i).sharded_s, 0.75 * (2 * 2 + 4) * w.dense / slow);
            }
            assert_near(checked(&s, 0).ends_s, ends_s);
            assert_near(checked(&s, last).ends_s, last_ends_s);
            s.c.exec.software_efficiency = 0.5;
            assert_near(checked(&s, last).sharded_s,
                        2 * 0.75 * (2 * 2 + 4) * weights_of(&s, last).dense / slow);
            s.c.exec.software_efficiency = 0;
            s.c.exec.strategy.data_par_overlap = true; /* beside their own passes */
            settle(&s);
            double link_s = 0.75 * 2 * s.terms.embedding.weights.dense / slow;
            calc_stage_sharded_ends e =
                calc_stage_sharded_ends_of(&s.c.context, &s.c.exec, &s.parts, &s.lines);
            assert_near(e.embedding.link_s, 4 * link_s);
            assert_near(e.embedding.fw_s, link_s - 0.7 * calc_cost_fw_s(&s.parts.embedding));
        }
    }
}

CALC_TEST(traffic_of_the_second_tier_is_of_every_block)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 2, 1));
    s.c.exec.strategy.weight_offload = s.c.exec.strategy.activations_offload = true;
    s.c.exec.software_efficiency = 0.5;
    s.c.system.chip.mem2.bytes_per_s = 0x1p30;
    stage_spent t = checked(&s, 0);
    const calc_cost *b = &s.parts.block[CALC_DENSE_BLOCK];
    double weight_s = 2 * block_weights / 0x1p30, activation_s = block_bytes / 0x1p30;
    assert_near(t.fw_offload_s, 2 * 4 * (fmax(weight_s, activation_s) - b->fw_s));
    assert_near(t.bw_offload_s, 2 * 4 * (weight_s + activation_s - b->agrad_s - b->wgrad_s));
    ck_assert_double_eq(t.host_s, 0);
}
