/* Terms of a step: state, groups, what is sharded and what is kept in the second memory tier. */
#include "stage_case.h"

#include "frame.h"

/* ---- State ----------------------------------------------------------------------------------- */

/* Of the first stage; the memory of a stage counts the same bytes. */
static calc_stage_state state_of(stage_case *s)
{
    calc_stage_memory m = memory_of(s, 0);
    calc_stage_state state =
        calc_stage_state_of(&s->c.context, &s->c.exec, &s->terms, &s->stages.item[0]);
    assert_near(m.state, state.weight + state.grad + state.optimizer);
    return state;
}

/* Bytes of a parameter: weights, gradients, optimizer, of 8 blocks on one stage. */
static void state_is(stage_case *s, double weight, double grad, double optimizer)
{
    calc_stage_state m = state_of(s);
    double all = 8 * block_weights;
    assert_near(m.weight / all, weight);
    assert_near(m.grad / all, grad);
    assert_near(m.optimizer / all, optimizer);
}

/* One block of eight is whole while it is worked on: 4 bytes of its gradients; of weights two. */
CALC_TEST(a_parameter_takes_eighteen_bytes_less_what_is_sharded)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    state_is(&s, 2, 4, 12);
    s.c.exec.strategy.optimizer_sharding = true;
    state_is(&s, 2, 4, 3);
    s.c.exec.strategy.optimizer_sharding = false;
    s.c.exec.strategy.zero_stage = 1;
    state_is(&s, 2, 4, 3);
    s.c.exec.strategy.zero_stage = 2;
    state_is(&s, 2, 1 + 4.0 / 8, 3);
    s.c.exec.strategy.zero_stage = 3;
    state_is(&s, 0.5 + 2 * 2.0 / 8, 1 + 4.0 / 8, 3);
    s.c.exec.strategy.fsdp_par = 2;
    state_is(&s, 1 + 2 * 2.0 / 8, 2 + 4.0 / 8, 6);
    s.c.exec.strategy.fsdp_par = 8; /* more than there are */
    state_is(&s, 0.5 + 2 * 2.0 / 8, 1 + 4.0 / 8, 3);
}

CALC_TEST(context_ranks_share_the_state_too)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 2));
    s.c.exec.strategy.context_par = 4;
    s.c.exec.num_procs = 8;
    s.c.exec.strategy.zero_stage = 1;
    state_is(&s, 2, 4, 12.0 / 8);
}

CALC_TEST(formats_set_the_bytes_of_the_state)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.zero_stage = 1;
    s.c.exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    state_is(&s, 2, 4, 3); /* twice, by rows and by columns */
    s.c.exec.strategy.optimizer_moment_datatype = CALC_FORMAT_BFLOAT16;
    state_is(&s, 2, 4, 8.0 / 4);
    s.c.exec.strategy.master_datatype = CALC_FORMAT_BFLOAT16;
    state_is(&s, 2, 4, 6.0 / 4);
    s.c.exec.strategy.grad_datatype = CALC_FORMAT_BFLOAT16;
    state_is(&s, 2, 2, 6.0 / 4);
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.datatype = CALC_DATATYPE_FLOAT32; /* its own master */
    state_is(&s, 4, 4, 8);
}

CALC_TEST(calculon_shards_gradients_with_the_optimizer)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.memory_model = CALC_MEMORY_MODEL_CALCULON;
    state_is(&s, 2, 2, 12);
    s.c.exec.strategy.optimizer_sharding = true;
    state_is(&s, 2, 2.0 / 4 + 4.0 / 8, 3);
}

CALC_TEST(dualpipe_has_two_copies_of_weights_and_gradients)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.zero_stage = 1;
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE;
    state_is(&s, 4, 8, 3);
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    state_is(&s, 2, 4, 3);
}

CALC_TEST(inference_has_weights_only)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.training = false;
    state_is(&s, 2, 0, 0);
    calc_stage_memory m = memory_of(&s, 0);
    ck_assert_double_eq(m.activation, 0);
    ck_assert_double_eq(m.working, s.parts.block[CALC_DENSE_BLOCK].kept_whole_bytes);
}

/* 8 experts on 4 ranks of 8: two replicas of an expert, eight of the rest. */
CALC_TEST(experts_are_sharded_over_their_own_replicas)
{
    stage_case s;
    build(&s, experts_only(), modern_exec(1, 1, 8));
    s.c.exec.strategy.expert_par = 4;
    s.c.exec.strategy.zero_stage = 1;
    calc_stage_weights w = weights_of(&s, 0);
    double dense = 64 * 128 + 64 * 64 + 3 * 64 * 64 + 64 * 8 + 2 * 64;
    ck_assert_double_eq(w.dense, 8 * dense);
    ck_assert_double_eq(w.expert, 8 * 3 * 64 * 32 * 8 / 4);
    calc_stage_state m = state_of(&s);
    assert_near(m.optimizer, 12 * (w.dense / 8 + w.expert / 2));
    assert_near(m.weight, 2 * (w.dense + w.expert));
}

CALC_TEST(ends_weigh_on_the_first_and_last_stage)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    double table = 512 * 64;
    ck_assert_double_eq(weights_of(&s, 0).dense, 2 * block_weights + table);
    ck_assert_double_eq(weights_of(&s, 1).dense, 2 * block_weights);
    ck_assert_double_eq(weights_of(&s, 2).dense, 2 * block_weights + table + 64);
    s.c.exec = modern_exec(1, 1, 1);
    ck_assert_double_eq(weights_of(&s, 0).dense, 8 * block_weights + 2 * table + 64);
    s.c.app.tied_embeddings = CALC_CHOICE_TRUE; /* one table, if the ends are on one stage */
    ck_assert_double_eq(weights_of(&s, 0).dense, 8 * block_weights + table + 64);
    s.c.exec = modern_exec(1, 4, 1);
    ck_assert_double_eq(weights_of(&s, 2).dense, 2 * block_weights + table + 64);
    s.c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    ck_assert_double_eq(weights_of(&s, 0).dense, 2 * block_weights + (2 * table + 64) / 4);
    ck_assert_double_eq(s.stages.item[0].stages, 4);
}

/* They are the first stage's, whoever shares the table of words. */
CALC_TEST(learned_positions_weigh_on_the_first_stage)
{
    stage_case s;
    double table = 512 * 64, positions = 32 * 64;
    for (int tied = 0; tied < 2; tied++) {
        build(&s, modern_app(), modern_exec(1, 4, 1));
        s.c.app.position_type = CALC_POSITION_TYPE_LEARNED;
        s.c.app.tied_embeddings = tied ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
        ck_assert_double_eq(weights_of(&s, 0).dense, 2 * block_weights + table + positions);
        ck_assert_double_eq(weights_of(&s, 2).dense, 2 * block_weights + table + 64);
        assert_near(s.links.tied_s, tied ? 4 * table / slow : 0);
        s.c.exec = modern_exec(1, 1, 1);
        ck_assert_double_eq(weights_of(&s, 0).dense,
                            8 * block_weights + (2 - tied) * table + positions + 64);
    }
}

CALC_TEST(predicted_tokens_weigh_on_the_last_stage)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    double without = weights_of(&s, 2).dense;
    s.c.app.mtp_blocks = 2;
    double extra = block_weights + 2 * 64 * 64 + 3 * 64;
    ck_assert_double_eq(weights_of(&s, 2).dense, without + 2 * extra);
    ck_assert_double_eq(weights_of(&s, 1).dense, 2 * block_weights);
}

/* Two bytes of each weight of a matrix of blocks, those of multi-token prediction included: not of
 * tables, nor of the 2 norms of a block. */
CALC_TEST(copies_of_narrow_matrices_weigh_on_the_stage_that_has_them)
{
    stage_case s;
    double matrices = block_weights - 2 * 64;
    build(&s, modern_app(), modern_exec(1, 4, 1));
    s.c.exec.strategy.zero_stage = 1;
    for (int copies = 1; copies <= 2; copies++) {
        s.c.exec.pipeline_schedule =
            copies > 1 ? CALC_PIPELINE_SCHEDULE_DUALPIPE : CALC_PIPELINE_SCHEDULE_1F1B;
        s.c.exec.strategy.matrix_datatype = CALC_FORMAT_AUTO;
        double without = state_of(&s).weight;
        s.c.exec.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
        assert_near(state_of(&s).weight - without, copies * 2 * 2 * matrices);
        s.c.exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8; /* in their place */
        assert_near(state_of(&s).weight, without);
        s.c.exec.strategy.weight_datatype = CALC_FORMAT_AUTO;
    }
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    double last = memory_of(&s, 2).state;
    s.c.app.mtp_blocks = 2;
    double extra = block_weights + 2 * 64 * 64 + 3 * 64;
    double more = memory_of(&s, 2).state - last;
    assert_near(more, 2 * (extra * (2 + 4 + 12) + (matrices + 2 * 64 * 64) * 2));
}

CALC_TEST(zero_stage_overrules_optimizer_sharding)
{
    calc_exec e = modern_exec(1, 1, 4);
    ck_assert_int_eq(calc_zero_stage(&e.strategy), 0);
    e.strategy.optimizer_sharding = true;
    ck_assert_int_eq(calc_zero_stage(&e.strategy), 1);
    e.strategy.zero_stage = 3;
    ck_assert_int_eq(calc_zero_stage(&e.strategy), 3);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static void line_is(const calc_collective_line *line, double latency_s, double s_per_byte)
{
    assert_near(line->latency_s, latency_s);
    assert_near(line->s_per_byte, s_per_byte);
}

/* 8 replicas of the rest on the slow network, 2 of an expert on the fast one. */
CALC_TEST(lines_are_those_of_their_groups)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 2, 8));
    s.c.exec.strategy.expert_par = 4;
    s.c.exec.strategy.expert_data_par_net = 0;
    s.c.system.networks[0].latency_s = 3;
    s.c.system.networks[1].latency_s = 5;
    s.c.exec.strategy.zero_stage = 1;
    s.c.exec.strategy.optimizer_shards = CALC_OPTIMIZER_SHARDS_TENSORS; /* asks for all lines */
    settle(&s);
    const calc_stage_lines *l = &s.lines;
    line_is(&l->dense.reduce, 5, 0.875 / slow);
    line_is(&l->dense.gather, 5, 0.875 / slow);
    line_is(&l->dense.sum, 5, 1.75 / slow);
    line_is(&l->expert.reduce, 3, 0.5 / fast);
    line_is(&l->expert.gather, 3, 0.5 / fast);
    line_is(&l->expert.sum, 3, 1 / fast);
    line_is(&l->message, 5, 1 / slow);
    line_is(&l->ends, 5, 1 / slow); /* an all-reduce of two */
    ck_assert_double_eq(l->dense_ranks, 8);
    ck_assert_double_eq(l->expert_ranks, 2);
    ck_assert_double_eq(l->dense_shards, 8);
    ck_assert_double_eq(l->expert_shards, 2);
}

/* Sharded over 4 of 8: three quarters among them; the two replicas of each quarter add it up. Of
   an expert there are 2 replicas: none beyond. */
CALC_TEST(shards_are_scattered_inside_and_summed_beyond)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 8));
    s.c.exec.strategy.expert_par = 4;
    s.c.exec.strategy.zero_stage = 1;
    s.c.exec.strategy.fsdp_par = 4;
    s.c.system.networks[1].latency_s = 5;
    settle(&s);
    const calc_stage_lines *l = &s.lines;
    line_is(&l->dense.reduce, 10, 0.75 / slow + 1.0 / 4 / slow);
    line_is(&l->dense.gather, 5, 0.75 / slow);
    line_is(&l->expert.reduce, 5, 0.5 / slow);
    line_is(&l->expert.gather, 5, 0.5 / slow);
    ck_assert_double_eq(l->dense_shards, 4);
    ck_assert_double_eq(l->expert_shards, 2);
}

/* Of 4 stages of 4 ranks, in nodes of 8, the ends are 12 ranks apart, and every other message
   leaves a node, that of the last stage to the first one counted; of 2 stages neither does. */
CALC_TEST(the_ends_are_as_far_apart_as_the_pipeline_is_long)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(4, 4, 1));
    s.c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    settle(&s);
    line_is(&s.lines.message, 0, 0.5 / slow + 0.5 / fast);
    line_is(&s.lines.ends, 0, 1 / slow);
    s.c.exec = modern_exec(4, 2, 1);
    s.c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    settle(&s);
    line_is(&s.lines.message, 0, 1 / fast);
    line_is(&s.lines.ends, 0, 1 / fast);
}

CALC_TEST(nodes_are_counted_in_doublings)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(2, 4, 2));
    settle(&s);
    ck_assert_double_eq(s.lines.nodes_log2, 1); /* of network 0, 8 ranks each */
    s.c.system.ranks_per_node = 2;
    settle(&s);
    ck_assert_double_eq(s.lines.nodes_log2, 3);
    s.c.system.ranks_per_node = 32;
    s.c.system.straggler_growth = 0.25;
    settle(&s);
    ck_assert_double_eq(s.lines.nodes_log2, 0);
    ck_assert_double_eq(s.terms.growth, 0);
    s.c.system.ranks_per_node = 4;
    settle(&s);
    ck_assert_double_eq(s.terms.growth, 0.5);
}

/* A sweep makes the row once, and a cell of it for each size of the groups. */
CALC_TEST(a_row_and_its_cells_are_the_terms)
{
    for (int64_t zero = 0; zero <= 3; zero++) {
        stage_case s;
        build(&s, moe_app(), modern_exec(1, 1, 2));
        s.c.app.tied_embeddings = CALC_CHOICE_TRUE;
        s.c.exec.strategy.zero_stage = zero;
        settle(&s);
        calc_stage_terms row;
        calc_stage_terms_row(&s.c.context, &s.c.exec, &s.parts, NULL, NULL, &row);
        for (int64_t p = 1; p <= 2; p++) {
            s.c.exec.pipeline_par = p;
            s.c.exec.strategy.data_par = 8 / p;
            s.c.exec.num_procs = 8;
            s.c.exec.batch_size = 48;
            settle(&s);
            calc_stage_terms cell = row;
            calc_stage_terms_cell(&s.c.context, &s.c.exec, &s.parts, &s.lines, NULL, &cell);
            calc_stage_links links =
                calc_stage_links_of(&s.c.context, &s.c.exec, s.parts.message_bytes, &s.lines);
            int n = calc_stages_classes(&s.stages);
            calc_stage_step a = calc_stage_step_of(&cell, &links, CALC_PIPELINE_SCHEDULE_1F1B, n,
                                                   s.stages.item, 1, 1);
            calc_stage_step b = calc_stage_step_of(&s.terms, &s.links, CALC_PIPELINE_SCHEDULE_1F1B,
                                                   n, s.stages.item, 1, 1);
            ck_assert_double_eq(a.partial_s, b.partial_s);
            ck_assert_double_eq(a.total_s[0][0], b.total_s[0][0]);
            ck_assert_double_eq(a.total_s[1][1], b.total_s[1][1]);
            ck_assert_double_eq(a.tier1_bytes, b.tier1_bytes);
            ck_assert_double_eq(cell.microbatches, 48.0 / (8.0 / (double)p));
        }
    }
}

/* ---- Data parallelism ------------------------------------------------------------------------ */

/* 4 replicas on the slow network: three quarters of the bytes, twice for an all-reduce. */
CALC_TEST(gradients_are_reduced_and_weights_gathered)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    double P = 8 * block_weights;
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.reduce_s, 1.5 * 4 * P / slow);
    ck_assert_double_eq(r.gather_s, 0);
    s.c.exec.strategy.zero_stage = 1;
    r = reduction_of(&s, 0);
    assert_near(r.reduce_s, 0.75 * 4 * P / slow);
    assert_near(r.gather_s, 0.75 * 2 * P / slow);
    s.c.exec.strategy.grad_reduce_datatype = CALC_FORMAT_BFLOAT16;
    assert_near(reduction_of(&s, 0).reduce_s, 0.75 * 2 * P / slow);
    s.c.exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    assert_near(reduction_of(&s, 0).gather_s, 0.75 * P / slow);
    s.c.exec.training = false;
    r = reduction_of(&s, 0);
    ck_assert_double_eq(r.reduce_s + r.gather_s + r.reduce_beside_s + r.gather_beside_s, 0);
}

/* As above, but whole tensors: gradients are summed, and each of the 4 ranks sends its weights by
   itself, along a ring of 4 hops of 4 us. Of 56 tensors of 8 blocks all ranks hold some; of those
   of one of 28 stages, only two ranks do. */
CALC_TEST(whole_tensors_are_summed_and_sent_by_their_owners)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    double P = 8 * block_weights;
    s.c.system.networks[1].latency_s = 5;
    s.c.exec.strategy.zero_stage = 1;
    s.c.exec.strategy.optimizer_shards = CALC_OPTIMIZER_SHARDS_TENSORS;
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.reduce_s, 5 + 1.5 * 4 * P / slow);
    assert_near(r.gather_s, 4 * (5 + 4 * 4e-6) + 0.75 * 2 * P / slow);
    s.c.exec.strategy.optimizer_shards = CALC_OPTIMIZER_SHARDS_SUMMED; /* gathered at once */
    assert_near(reduction_of(&s, 0).reduce_s, 5 + 1.5 * 4 * P / slow);
    assert_near(reduction_of(&s, 0).gather_s, 5 + 0.75 * 2 * P / slow);
    s.c.exec.strategy.optimizer_shards = CALC_OPTIMIZER_SHARDS_TENSORS;
    calc_exec many = s.c.exec;
    many.pipeline_par = 28;
    calc_stage_links l = calc_stage_links_of(&s.c.context, &many, s.parts.message_bytes, &s.lines);
    assert_near(l.gather_dense_latency_s, 2 * (5 + 4 * 4e-6));
    s.c.exec.strategy.param_gather_datatype = CALC_FORMAT_FLOAT8;
    assert_near(reduction_of(&s, 0).gather_s, 4 * (5 + 4 * 4e-6) + 0.75 * P / slow);
    s.c.exec.strategy.param_gather_datatype = CALC_FORMAT_AUTO;
    s.c.exec.strategy.data_par_net = 0; /* a node's links all see the first rank */
    assert_near(reduction_of(&s, 0).gather_s,
                4 * s.c.system.networks[0].latency_s + 0.75 * 2 * P / fast);
    s.c.system.networks[0].hop_s = 1e-6;
    assert_near(reduction_of(&s, 0).gather_s,
                4 * (s.c.system.networks[0].latency_s + 4 * 1e-6) + 0.75 * 2 * P / fast);
    s.c.exec.strategy.zero_stage = 2; /* gradients are sharded, too: as without */
    s.c.exec.strategy.data_par_net = 1;
    assert_near(reduction_of(&s, 0).gather_s, 5 + 0.75 * 2 * P / slow);
}

/* Sharded gradients: after every one of 4 micro-batches, with and without a pipeline, and each
   chunk's once (Megatron-FSDP reduces with every backward pass of optim_grads). A sum over the
   micro-batches would be whole, as the distributed optimizer's. */
CALC_TEST(sharded_gradients_are_reduced_after_every_micro_batch)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    double P = 8 * block_weights;
    s.c.exec.strategy.zero_stage = 2;
    assert_near(reduction_of(&s, 0).reduce_s, 4 * 0.75 * 4 * P / slow);
    assert_near(reduction_of(&s, 0).gather_s, 0.75 * 2 * P / slow);
    s.c.exec.strategy.zero_stage = 3; /* in the blocks, not here */
    calc_stage_reduction r = reduction_of(&s, 0);
    ck_assert_double_eq(r.reduce_s + r.gather_s + r.reduce_beside_s + r.gather_beside_s, 0);
    for (int64_t chunks = 1; chunks <= 4; chunks *= 2) {
        s.c.exec = modern_exec(1, 2, 4);
        s.c.exec.pipeline_interleaving = chunks;
        s.c.exec.strategy.zero_stage = 1;
        assert_near(reduction_of(&s, 0).reduce_s, 0.75 * 4 * P / 2 / slow);
        double whole = memory_of(&s, 0).state;
        s.c.exec.strategy.zero_stage = 2;
        assert_near(reduction_of(&s, 0).reduce_s, 4 * 0.75 * 4 * P / 2 / slow);
        assert_near(reduction_of(&s, 0).gather_s, 0.75 * 2 * P / 2 / slow);
        /* a quarter instead of all, but for the block at hand of 4 */
        assert_near(whole - memory_of(&s, 0).state, 4 * P / 2 * (0.75 - 1.0 / 4));
    }
}

CALC_TEST(experts_are_reduced_over_their_own_replicas)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 4));
    s.c.exec.strategy.expert_par = 2;
    s.c.exec.strategy.expert_data_par_net = 0;
    s.c.exec.strategy.zero_stage = 1;
    calc_stage_weights w = weights_of(&s, 0);
    calc_stage_reduction r = reduction_of(&s, 0);
    assert_near(r.reduce_s, 4 * (0.75 * w.dense / slow + 0.5 * w.expert / fast));
    assert_near(r.gather_s, 2 * (0.75 * w.dense / slow + 0.5 * w.expert / fast));
}

/* One all-reduce of two ranks: all bytes once. */
CALC_TEST(tied_tables_are_added_up_between_the_ends)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    settle(&s);
    ck_assert_double_eq(s.links.tied_s, 0);
    s.c.app.tied_embeddings = CALC_CHOICE_TRUE;
    settle(&s);
    assert_near(s.links.tied_s, 4.0 * 512 * 64 / slow);
    s.c.exec.training = false;
    settle(&s);
    ck_assert_double_eq(s.links.tied_s, 0);
    s.c.exec = modern_exec(1, 1, 1);
    settle(&s);
    ck_assert_double_eq(s.links.tied_s, 0);
}

CALC_TEST(weights_are_gathered_beside_the_pass_as_gradients_unless_said)
{
    calc_exec e = modern_exec(1, 1, 4);
    ck_assert(!calc_stage_gathers_beside(&e.strategy));
    e.strategy.data_par_overlap = true;
    ck_assert(calc_stage_gathers_beside(&e.strategy));
    e.strategy.param_gather_overlap = CALC_CHOICE_FALSE;
    ck_assert(!calc_stage_gathers_beside(&e.strategy));
    e.strategy.data_par_overlap = false;
    e.strategy.param_gather_overlap = CALC_CHOICE_TRUE;
    ck_assert(calc_stage_gathers_beside(&e.strategy));
}

static double optimizer_of(stage_case *s)
{
    calc_stage_weights w = weights_of(s, 0);
    return calc_stage_optimizer_sum(&s->terms, &s->stages.item[0], &w);
}

CALC_TEST(the_optimizer_reads_and_writes_its_state)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    double P = 8 * block_weights;
    assert_near(optimizer_of(&s), (2 * 4 + 3 * 4 + 2 * 12) * P / memory);
    s.c.exec.strategy.zero_stage = 1;
    assert_near(optimizer_of(&s), (4 + (4 * 4 + 2 * 12) / 4.0) * P / memory);
    s.c.exec.strategy.zero_stage = 2;
    s.c.system.chip.optimizer_efficiency = 0.25;
    assert_near(optimizer_of(&s), 44 / 4.0 * P / memory / 0.25);
    /* 16 bits are scaled with every micro-batch, 4 bytes a weight, where whole gradients read 2. */
    s.c.exec.strategy.grad_datatype = CALC_FORMAT_BFLOAT16;
    double buckets = 2 * s.terms.microbatches;
    assert_near(optimizer_of(&s), (buckets + (5 * 2 + 2 * 12) / 4.0) * P / memory / 0.25);
    s.c.exec.training = false;
    ck_assert_double_eq(optimizer_of(&s), 0);
}

CALC_TEST(the_optimizer_of_experts_is_sharded_over_their_replicas)
{
    stage_case s;
    build(&s, moe_app(), modern_exec(1, 1, 8));
    s.c.exec.strategy.expert_par = 4;
    s.c.exec.strategy.zero_stage = 1;
    calc_stage_weights w = weights_of(&s, 0);
    assert_near(optimizer_of(&s),
                (4 * (w.dense + w.expert) + 40 * (w.dense / 8 + w.expert / 2)) / memory);
}

/* ---- Second tier ----------------------------------------------------------------------------- */

static calc_stage_tier2 tier2_of(stage_case *s)
{
    calc_stage_weights w = weights_of(s, 0);
    return calc_stage_tier2_sum(&s->terms, &s->stages.item[0], &w, s->c.exec.pipeline_schedule,
                                s->stages.chunks);
}

/* Bytes of a parameter in the second tier: weights, optimizer; activations in all. */
static void away_is(stage_case *s, double weight, double optimizer, double activation)
{
    calc_stage_tier2 t = tier2_of(s);
    assert_near(t.weight / (8 * block_weights), weight);
    assert_near(t.optimizer / (8 * block_weights), optimizer);
    assert_near(t.activation, activation);
}

CALC_TEST(nothing_is_away_unless_asked)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.offload_share = 0.5;
    away_is(&s, 0, 0, 0);
    state_is(&s, 2, 4, 12);
}

/* What is away is not here, but for the weights of two blocks of 8: one at work, one coming. */
CALC_TEST(weights_and_optimizer_are_in_one_tier_or_the_other)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.weight_offload = s.c.exec.strategy.optimizer_offload = true;
    away_is(&s, 2, 12, 0);
    state_is(&s, 2 * 2.0 / 8, 4, 0);
    s.c.exec.strategy.offload_share = 0.25;
    away_is(&s, 0.5, 3, 0);
    state_is(&s, 1.5 + 2 * 0.5 / 8, 4, 9);
    s.c.exec.strategy.zero_stage = 1;
    away_is(&s, 0.5, 3.0 / 4, 0);
    state_is(&s, 1.5 + 2 * 0.5 / 8, 4, 9.0 / 4);
    s.c.exec.strategy.zero_stage = 2;
    away_is(&s, 0.5, 3.0 / 4, 0);
    state_is(&s, 1.5 + 2 * 0.5 / 8, 1 + 4.0 / 8, 9.0 / 4);
    s.c.exec.strategy.zero_stage = 3; /* gathered whole */
    away_is(&s, 0.5 / 4, 3.0 / 4, 0);
    state_is(&s, 1.5 / 4 + 2 * 2.0 / 8, 1 + 4.0 / 8, 9.0 / 4);
    s.c.exec.training = false;
    s.c.exec.strategy.zero_stage = 0;
    away_is(&s, 0.5, 0, 0);
}

CALC_TEST(both_copies_of_dualpipe_are_in_one_tier_or_the_other)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE;
    s.c.exec.strategy.weight_offload = s.c.exec.strategy.optimizer_offload = true;
    s.c.exec.strategy.offload_share = 0.25;
    away_is(&s, 2 * 0.5, 3, 0);
    state_is(&s, 2 * (1.5 + 2 * 0.5 / 8), 8, 9);
}

/* 4 blocks on the first of 2 stages, 2 micro-batches in flight. */
CALC_TEST(activations_are_in_one_tier_or_the_other)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 2, 1));
    double all = 2 * 4 * block_bytes;
    s.c.exec.strategy.activations_offload = true;
    ck_assert_double_eq(tier2_of(&s).activation, all);
    calc_stage_memory m = memory_of(&s, 0);
    ck_assert_double_eq(m.activation, 0);
    /* one going, one coming */
    ck_assert_double_eq(m.working, 2 * block_bytes + block_passing);
    s.c.exec.strategy.offload_share = 0.25;
    ck_assert_double_eq(tier2_of(&s).activation, all / 4);
    m = memory_of(&s, 0);
    ck_assert_double_eq(m.activation, 0.75 * all);
    ck_assert_double_eq(m.working, 2 * block_bytes / 4 + block_passing);
    recompute_all(&s); /* inputs of blocks only */
    double input = 2 * 32 * 64;
    ck_assert_double_eq(tier2_of(&s).activation, 2 * 4 * input / 4);
    m = memory_of(&s, 0);
    ck_assert_double_eq(m.activation, 2 * 4 * input * 0.75);
    ck_assert_double_eq(m.working, block_bytes - input + 2 * input / 4 + block_passing);
    s.c.exec.training = false;
    ck_assert_double_eq(tier2_of(&s).activation, 0);
}

static calc_stage_offload offload_of(stage_case *s)
{
    settle(s);
    const calc_cost *block = &s->parts.block[CALC_DENSE_BLOCK];
    calc_stage_sharded sharded =
        calc_stage_sharded_of(&s->c.context, &s->c.exec.strategy, block, &s->lines);
    return calc_stage_offload_of(&s->c.context, &s->c.exec.strategy, block, &sharded);
}

/* Forward, weights come while activations go; backward, both come. */
CALC_TEST(what_a_pass_does_not_hide_is_exposed)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 1));
    s.c.system.chip.mem2.bytes_per_s = 0x1p30; /* slower than any kernel */
    double weight_s = 2 * block_weights / 0x1p30, activation_s = block_bytes / 0x1p30;
    calc_stage_offload o = offload_of(&s);
    ck_assert_double_eq(o.fw_s + o.bw_s, 0);
    s.c.exec.strategy.weight_offload = true;
    o = offload_of(&s);
    const calc_cost *b = &s.parts.block[CALC_DENSE_BLOCK];
    double fw_s = b->fw_s, bw_s = b->agrad_s + b->wgrad_s;
    assert_near(o.fw_s, weight_s - fw_s);
    assert_near(o.bw_s, weight_s - bw_s);
    s.c.exec.strategy.activations_offload = true;
    o = offload_of(&s);
    assert_near(o.fw_s, fmax(weight_s, activation_s) - fw_s);
    assert_near(o.bw_s, weight_s + activation_s - bw_s);
    s.c.exec.strategy.offload_share = 0.5;
    o = offload_of(&s);
    assert_near(o.fw_s, fmax(weight_s, activation_s) / 2 - fw_s);
    assert_near(o.bw_s, (weight_s + activation_s) / 2 - bw_s);
    s.c.system.chip.mem2.efficiency = flat_curve(0.5);
    o = offload_of(&s);
    assert_near(o.bw_s, weight_s + activation_s - bw_s);
    s.c.exec.training = false; /* activations stay */
    o = offload_of(&s);
    assert_near(o.fw_s, weight_s - fw_s);
    ck_assert_double_eq(o.bw_s, 0);
    s.c.system.chip.mem2.bytes_per_s = 0x1p60;
    ck_assert_double_eq(offload_of(&s).fw_s, 0);
}

/* Both hide behind the same kernels, on links of their own: a pass takes as long as the slower. */
CALC_TEST(sharded_weights_and_the_second_tier_hold_a_block_up_once)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    s.c.exec.strategy.zero_stage = 3;
    s.c.system.chip.mem2.bytes_per_s = 0x1p30;
    s.c.exec.strategy.weight_offload = true;
    double weight_s = 2 * block_weights / 0x1p30;
    for (int i = 0; i < 2; i++) {
        settle(&s);
        const calc_cost *b = &s.parts.block[CALC_DENSE_BLOCK];
        calc_stage_sharded x = calc_stage_sharded_of(&s.c.context, &s.c.exec.strategy, b, &s.lines);
        ck_assert(x.fw_s > 0 && x.bw_s > 0);
        double fw_s = b->fw_s + x.fw_s, bw_s = b->agrad_s + b->wgrad_s + x.bw_s;
        calc_stage_offload o = offload_of(&s);
        assert_near(fw_s + o.fw_s, fmax(fw_s, weight_s));
        assert_near(bw_s + o.bw_s, fmax(bw_s, weight_s));
        assert_near(s.terms.block[CALC_DENSE_BLOCK].fw_s, fmax(fw_s, weight_s));
        weight_s /= 0x1p30;
        s.c.system.chip.mem2.bytes_per_s *= 0x1p30; /* the network is the slower one */
    }
}

/* 24 of the 44 bytes a parameter moves are of state that is away; the link is slower than memory
   by 16 and hides what is below the 36 that the update moves. */
CALC_TEST(an_optimizer_kept_away_is_as_fast_as_its_link)
{
    stage_case s;
    build(&s, without_ends(), modern_exec(1, 1, 4));
    double P = 8 * block_weights;
    s.c.exec.strategy.optimizer_offload = true;
    assert_near(optimizer_of(&s), 8 * P / memory + 24 * P / far_memory);
    s.c.exec.strategy.offload_share = 0.25;
    assert_near(optimizer_of(&s), 8 * P / memory + 6 * P / far_memory);
    s.c.exec.strategy.offload_share = 0.0625;
    assert_near(optimizer_of(&s), 44 * P / memory);
    s.c.exec.strategy.offload_share = 0.25;
    s.c.exec.strategy.zero_stage = 1;
    assert_near(optimizer_of(&s), (4 + 4 / 4.0) * P / memory + 6 * P / 4 / far_memory);
}

/* ---- Messages by rule ------------------------------------------------------------------------ */

static calc_stage_links links_of(calc_exec exec, calc_compat compat)
{
    stage_case s;
    build(&s, without_ends(), exec);
    s.c.system.networks[0].latency_s = 0x1p-20;
    s.c.system.networks[1].latency_s = 0x1p-18;
    s.c.system.networks[1].processor_usage = 0.125;
    settle(&s);
    s.c.context.compat = compat;
    return calc_stage_links_of(&s.c.context, &s.c.exec, 0x1p12, &s.lines);
}

/* 2^12 bytes at 2^33 bytes/s. */
CALC_TEST(messages_go_both_ways_where_there_is_a_pipeline_that_trains)
{
    const double message_s = 0x1p-18 + 0x1p-21;
    calc_exec e = modern_exec(1, 4, 1);
    for (int rules = 0; rules < 2; rules++) {
        calc_stage_links l = links_of(e, rules ? CALC_COMPAT_CALCULON : CALC_COMPAT_NONE);
        assert_near(l.message_s, message_s);
        assert_near(l.back_message_s, message_s);
    }
    e.training = false;
    calc_stage_links l = links_of(e, CALC_COMPAT_NONE);
    assert_near(l.message_s, message_s);
    ck_assert_double_eq(l.back_message_s, 0);
    /* By rule there is one backward, without bytes. */
    l = links_of(e, 1 << CALC_COMPAT_INFERENCE_MESSAGE);
    assert_near(l.message_s, message_s);
    ck_assert_double_eq(l.back_message_s, 0x1p-18);
}

CALC_TEST(without_a_pipeline_a_message_takes_a_latency_by_rule)
{
    calc_compat idle = 1 << CALC_COMPAT_IDLE_MESSAGE;
    calc_compat inference = 1 << CALC_COMPAT_INFERENCE_MESSAGE;
    calc_exec e = modern_exec(1, 1, 1);
    calc_stage_links l = links_of(e, CALC_COMPAT_CALCULON & ~idle);
    ck_assert_double_eq(l.message_s, 0);
    ck_assert_double_eq(l.back_message_s, 0);
    l = links_of(e, idle);
    ck_assert_double_eq(l.message_s, 0x1p-18);
    ck_assert_double_eq(l.back_message_s, 0x1p-18);
    e.pipeline_par_net = 0;
    ck_assert_double_eq(links_of(e, idle).message_s, 0x1p-20);
    e.training = false;
    l = links_of(e, idle);
    ck_assert_double_eq(l.message_s, 0x1p-20);
    ck_assert_double_eq(l.back_message_s, 0);
    ck_assert_double_eq(links_of(e, idle | inference).back_message_s, 0x1p-20);
    ck_assert_double_eq(links_of(e, inference).back_message_s, 0);
}

/* Data parallelism is on network 1, whose driving takes an eighth. */
CALC_TEST(reductions_know_what_else_is_on_their_network)
{
    calc_exec e = modern_exec(2, 2, 2);
    calc_stage_links l = links_of(e, CALC_COMPAT_NONE);
    ck_assert_double_eq(l.usage, 0.125);
    ck_assert_double_eq(l.collides, 1);
    ck_assert_double_eq(l.same_link, 0);
    e.pipeline_par_net = 0;
    e.strategy.tensor_par_net = 1;
    l = links_of(e, CALC_COMPAT_NONE);
    ck_assert_double_eq(l.collides, 0);
    ck_assert_double_eq(l.same_link, 1);
    e.strategy.data_par_net = 0;
    l = links_of(e, CALC_COMPAT_NONE);
    ck_assert_double_eq(l.usage, 0);
    ck_assert_double_eq(l.collides, 1);
    ck_assert_double_eq(l.same_link, 0);
}

/* Calculon has no table of words. */
CALC_TEST(calculons_list_ties_no_tables)
{
    stage_case s;
    build(&s, modern_app(), modern_exec(1, 2, 1));
    s.c.app.tied_embeddings = CALC_CHOICE_TRUE;
    settle(&s);
    ck_assert_double_gt(s.links.tied_s, 0);
    s.c.context.compat = 1 << CALC_COMPAT_LAYERS;
    ck_assert_double_eq(calc_stage_links_of(&s.c.context, &s.c.exec, 0x1p12, &s.lines).tied_s, 0);
}
