#include "model/run.h"

#include "frame.h"
#include "modern_case.h"

static calc_stats run(const modern_case *c)
{
    calc_stats s;
    memset(&s, 0x55, sizeof s);
    calc_verdict verdict = calc_run(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &s);
    ck_assert_int_eq(verdict, s.verdict);
    return s;
}

static double sum_of_times(const calc_stats *s)
{
    return s->fw_time + s->bw_time + s->recompute_time + s->recomm_exposed_time +
           s->tp_comm_exposed_time + s->cp_comm_exposed_time + s->ep_comm_exposed_time +
           s->pp_comm_exposed_time + s->dp_comm_exposed_time + s->fw_offload_exposed_time +
           s->bw_offload_exposed_time + s->head_time + s->host_time + s->bubble_time +
           s->optim_step_time + s->straggler_time + s->overhead_time;
}

/* 2 tensor-parallel ranks, 4 stages, 2 replicas; 4 micro-batches. */
static modern_case start(void)
{
    return case_of(modern_app(), modern_exec(2, 4, 2));
}

/* ---- Time ------------------------------------------------------------------------------------ */

CALC_TEST(a_step_is_the_sum_of_its_parts)
{
    modern_case c = start();
    c.system.straggler_growth = 0.25;
    c.system.step_overhead_s = 1e-3;
    c.system.chip.host.block_s = 1e-5;
    calc_stats s = run(&c);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_OK);
    assert_near(sum_of_times(&s), s.total_time);
    ck_assert_double_eq(s.overhead_time, 1e-3);
    ck_assert_double_gt(s.host_time, 0);
    ck_assert_double_gt(s.tp_comm_exposed_time, 0);
    ck_assert_double_gt(s.pp_comm_exposed_time, 0);
    ck_assert_double_gt(s.dp_comm_exposed_time, 0);
    ck_assert_double_gt(s.head_time, 0);
    ck_assert_double_gt(s.bubble_time, 0);
}

/* 8 equal blocks on 4 stages without ends: 3 stages' passes are idle. */
CALC_TEST(the_bubble_of_equal_stages_is_three_passes)
{
    modern_case c = start();
    c.app.vocab_size = 0;
    calc_stats s = run(&c);
    double stage_s = (s.fw_time + s.bw_time + s.tp_comm_exposed_time + s.pp_comm_exposed_time) / 4;
    assert_near(s.bubble_time, 3 * stage_s);
    ck_assert_double_eq(s.num_microbatches, 4);
    ck_assert_double_eq(s.blocks_per_proc, 2);
    c.exec.pipeline_interleaving = 2;
    s = run(&c);
    stage_s = (s.fw_time + s.bw_time + s.tp_comm_exposed_time + s.pp_comm_exposed_time) / 4;
    assert_near(s.bubble_time, 3 * stage_s / 2);
    ck_assert_double_eq(s.blocks_per_chunk, 1);
}

CALC_TEST(the_slowest_stage_is_the_one_with_the_head)
{
    modern_case c = start();
    ck_assert_double_eq(run(&c).slowest_stage, 3);
    c.app.vocab_size = 0;
    ck_assert_double_eq(run(&c).slowest_stage, 0);
    c.app.num_blocks = 10;
    c.exec.first_stage_blocks = 1;
    ck_assert_double_eq(run(&c).slowest_stage, 1);
}

/* 16 processors: two nodes of 8, or eight of 2, or one of 16. */
CALC_TEST(stragglers_grow_by_doublings_of_nodes)
{
    modern_case c = start();
    calc_stats s = run(&c);
    ck_assert_double_eq(s.straggler_time, 0);
    c.system.straggler_growth = 0.25;
    double pipeline_s = s.total_time - s.dp_comm_exposed_time - s.optim_step_time;
    assert_near(run(&c).straggler_time, 0.25 * pipeline_s);
    c.system.ranks_per_node = 2;
    assert_near(run(&c).straggler_time, 0.75 * pipeline_s);
    c.system.ranks_per_node = 16;
    ck_assert_double_eq(run(&c).straggler_time, 0);
}

/* 6 blocks on the first stage, 2 on the last. */
CALC_TEST(the_largest_reduction_is_the_one_waited_for)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 2, 2));
    c.app.vocab_size = 0;
    for (int i = 0; i < 2; i++) {
        c.exec.first_stage_blocks = i == 0 ? 6 : 2;
        c.exec.last_stage_blocks = i == 0 ? 2 : 6;
        double weights = 6 * (64 * 128 + 64 * 64 + 3 * 64 * 256 + 2 * 64);
        assert_near(run(&c).dp_comm_exposed_time, 4 * weights / 0x1p33);
    }
}

CALC_TEST(inference_is_forward_only)
{
    modern_case c = start();
    c.exec.training = false;
    calc_stats s = run(&c);
    ck_assert_double_eq(s.bw_time + s.recompute_time + s.optim_step_time, 0);
    ck_assert_double_eq(s.dp_comm_exposed_time + s.dp_comm_link_time, 0);
    ck_assert_double_eq(s.weight_grad_space + s.optimizer_space + s.block_bw_pp_size, 0);
    assert_near(sum_of_times(&s), s.total_time);
}

CALC_TEST(communication_on_the_link_is_all_of_it)
{
    modern_case c = start();
    calc_stats s = run(&c);
    /* two blocks: 2 all-gathers and 2 reduce-scatters forward, 6 backward, of 32 * 64 * 2 bytes */
    assert_near(s.tp_comm_link_time, 4 * 2 * 10 * 0.5 * 32 * 64 * 2 / 0x1p36);
    ck_assert_double_eq(s.tp_comm_exposed_time, s.tp_comm_link_time);
    assert_near(s.pp_comm_link_time, 4 * 2 * 32 * 64 * 2 / 2 / 0x1p33);
    ck_assert_double_eq(s.pp_comm_exposed_time, s.pp_comm_link_time);
    c.exec.pipeline_interleaving = 2;
    assert_near(run(&c).pp_comm_link_time, 2 * s.pp_comm_link_time);
    c.exec.pipeline_interleaving = 1;
    c.exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_FUSED;
    calc_stats hidden = run(&c);
    ck_assert_double_eq(hidden.tp_comm_link_time, s.tp_comm_link_time);
    assert_near(hidden.tp_comm_exposed_time, 0.2 * s.tp_comm_link_time);
}

/* One stage of 2 dense and 6 blocks with experts, 4 micro-batches of 16 tokens. */
CALC_TEST(links_of_all_groups_add_up)
{
    modern_case c = case_of(moe_app(), modern_exec(2, 1, 2));
    c.exec.strategy.context_par = 2;
    c.exec.num_procs = 8;
    c.exec.strategy.expert_par = 2;
    c.exec.software_efficiency = 0.5;
    c.exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_BATCH;
    c.exec.strategy.seq_par_ag_redo = false;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_stats s = run(&c);
    double gather_s = 0.5 * 16 * 64 * 2 / 0x1p36;      /* of two tensor-parallel ranks */
    double keys_s = 16 * 2 * 16 * 2 / 0x1p36;          /* one key head, from one to the other */
    double exchange_s = 0.5 * 2 * 8 * 64 * 2 / 0x1p33; /* 8 tokens to 2 experts */
    double twice = 4 * 2;
    assert_near(s.tp_comm_link_time, twice * 8 * 8 * gather_s);
    assert_near(s.cp_comm_link_time, twice * 8 * (1 + 2) * keys_s);
    assert_near(s.ep_comm_link_time, twice * 6 * 4 * exchange_s);
    assert_near(s.ep_comm_exposed_time, 0.4 * s.ep_comm_link_time);
    assert_near(s.recomm_link_time, twice * (8 * 4 * gather_s + 8 * keys_s + 6 * 2 * exchange_s));
    assert_near(sum_of_times(&s), s.total_time);
}

/* Every one of 4 micro-batches gathers weights twice and scatters gradients, in 8 blocks. */
CALC_TEST(sharded_weights_are_on_the_link_in_every_micro_batch)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 4));
    c.app.vocab_size = 0;
    c.exec.strategy.zero_stage = 3;
    c.exec.strategy.data_par_overlap = true;
    double weights = 8 * (64 * 128 + 64 * 64 + 3 * 64 * 256 + 2 * 64);
    calc_stats s = run(&c);
    assert_near(s.dp_comm_link_time, 4 * 0.75 * (2 + 2 + 4) * weights / 0x1p33);
    ck_assert_double_lt(s.dp_comm_exposed_time, s.dp_comm_link_time);
    c.exec.software_efficiency = 0.5;
    assert_near(run(&c).dp_comm_link_time, 2 * s.dp_comm_link_time);
    c.exec.training = false;
    c.exec.software_efficiency = 0;
    assert_near(run(&c).dp_comm_link_time, 4 * 0.75 * 2 * weights / 0x1p33);
}

/* Llama 3 8B on 64 ranks that gather and reduce in 16 bits: 3 times 2 bytes of 63/64 of its
   8,030,261,248 parameters, embedding and head included, once for every micro-batch. */
CALC_TEST(all_parameters_are_gathered_twice_and_reduced)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 64));
    c.app.hidden = 4096;
    c.app.feedforward = 14336;
    c.app.attn_heads = 32;
    c.app.kv_heads = 8;
    c.app.attn_size = 128;
    c.app.num_blocks = 32;
    c.app.vocab_size = 128256;
    c.exec.strategy.zero_stage = 3;
    c.exec.strategy.grad_reduce_datatype = CALC_FORMAT_BFLOAT16;
    for (int64_t i = 0; i < c.system.networks_count; i++) {
        c.system.networks[i].size = 64;
    }
    calc_stats s = run(&c);
    double bytes = 3 * 2 * 63.0 / 64 * 8030261248;
    ck_assert_double_eq(s.num_microbatches, 4);
    assert_near(s.dp_comm_link_time, 4 * bytes / 0x1p33);
    assert_near(s.dp_comm_exposed_time, s.dp_comm_link_time);
    assert_near(sum_of_times(&s), s.total_time);
    c.exec.strategy.data_par_overlap = true;
    calc_stats beside = run(&c);
    ck_assert_double_eq(beside.dp_comm_link_time, s.dp_comm_link_time);
    ck_assert_double_lt(beside.total_time, s.total_time);
    assert_near(sum_of_times(&beside), beside.total_time);
}

CALC_TEST(recomputation_repeats_the_forward_pass)
{
    modern_case c = start();
    c.exec.strategy.seq_par_ag_redo = false;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_stats s = run(&c);
    ck_assert_double_eq(s.recompute_time, s.fw_time);
    ck_assert_double_eq(s.recomm_link_time, 4 * 2 * 4 * 0.5 * 32 * 64 * 2 / 0x1p36);
    ck_assert_double_eq(s.recomm_exposed_time, s.recomm_link_time);
    ck_assert_double_eq(s.block_re_flops, s.block_fw_flops);
    assert_near(sum_of_times(&s), s.total_time);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

CALC_TEST(what_is_allocated_is_the_sum_of_its_parts)
{
    modern_case c = start();
    c.exec.strategy.framework_mem = 1 << CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD;
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    c.exec.strategy.seq_par_ag_redo = false;
    calc_stats s = run(&c);
    ck_assert_double_gt(s.act_grad_space, 0);
    ck_assert_double_gt(s.framework_space, 0);
    /* full recomputation keeps inputs of blocks: checkpoints */
    ck_assert_double_eq(s.act_space, 0);
    ck_assert_double_gt(s.act_checkpoint_size, 0);
    double parts = s.weight_space + s.weight_grad_space + s.optimizer_space +
                   s.act_checkpoint_size + s.act_grad_space + s.head_space + s.framework_space;
    assert_near(s.mem_allocated, parts);
    ck_assert_double_eq(s.mem_overhead, 0);
    ck_assert_double_eq(s.proc_mem_tier1_cap_req, s.mem_allocated);
    ck_assert_double_eq(s.proc_mem_tier2_cap_req, 0);
    c.system.chip.mem_fragmentation = 0.25;
    c.system.chip.mem_reserved_bytes = 100;
    calc_stats more = run(&c);
    ck_assert_double_eq(more.mem_allocated, s.mem_allocated);
    assert_near(more.mem_overhead, 0.25 * parts + 100);
    assert_near(more.proc_mem_tier1_cap_req, 1.25 * parts + 100);
}

/* The first stage has the most micro-batches in flight; a large vocabulary moves the peak. */
CALC_TEST(the_peak_is_on_the_fullest_stage)
{
    modern_case c = start();
    c.app.vocab_size = 0;
    ck_assert_double_eq(run(&c).peak_stage, 0);
    c.app.vocab_size = 1 << 20;
    ck_assert_double_eq(run(&c).peak_stage, 3);
}

/* The head weighs more than the embedding by its norm: the last stage has most in the second tier,
   the first the most in the first. */
CALC_TEST(both_tiers_are_the_sum_of_their_parts)
{
    static const double shares[] = {0, 0.25, 1};
    for (int i = 0; i < 3; i++) {
        for (int flags = 1; flags < 8; flags++) {
            modern_case c = case_of(modern_app(), modern_exec(1, 2, 2));
            c.exec.strategy.weight_offload = flags & 1;
            c.exec.strategy.activations_offload = flags & 2;
            c.exec.strategy.optimizer_offload = flags & 4;
            c.exec.strategy.offload_share = shares[i];
            calc_stats s = run(&c);
            double away = shares[i] > 0 ? shares[i] : 1;
            double here = s.act_grad_space + s.weight_grad_space + s.head_space;
            here += flags & 1 ? s.weight_space_with_offload : s.weight_space;
            here += flags & 2 ? s.act_space_with_offload : s.act_space;
            here += flags & 4 ? s.optimizer_space_with_offload : s.optimizer_space;
            double there = (flags & 1 ? s.weight_space : 0) + (flags & 2 ? s.act_space : 0) +
                           (flags & 4 ? s.optimizer_space : 0);
            assert_near(here, s.proc_mem_tier1_cap_req);
            assert_near(away * there, s.proc_mem_tier2_cap_req);
            ck_assert_double_gt(s.proc_mem_tier2_cap_req, 0);
            double last = 4 * (64 * 128 + 64 * 64 + 3 * 64 * 256 + 2 * 64) + 512 * 64 + 64;
            if (flags == 4) {
                assert_near(s.proc_mem_tier2_cap_req, away * 12 * last);
                assert_near(s.optimizer_space, 12 * last);
            }
        }
    }
}

CALC_TEST(the_second_tier_fits_to_the_byte)
{
    modern_case c = start();
    c.exec.strategy.optimizer_offload = true;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_OFFLOAD_BLOCKS); /* 2 a stage */
    c.app.num_blocks = 12;
    c.system.chip.mem2.capacity_bytes = run(&c).proc_mem_tier2_cap_req;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_OK);
    c.system.chip.mem2.capacity_bytes -= 1;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_MEM2_CAPACITY);
    c.system.chip.mem1.capacity_bytes = 1; /* reported first */
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_MEM1_CAPACITY);
}

/* What hides the traffic of a block: forward the larger of both, backward both. */
CALC_TEST(the_bandwidth_that_hides_offload_is_that_of_a_block)
{
    modern_case c = case_of(modern_app(), modern_exec(1, 1, 1));
    c.app.vocab_size = 0;
    c.exec.strategy.weight_offload = c.exec.strategy.activations_offload = true;
    calc_stats s = run(&c);
    c.system.chip.mem2.bytes_per_s = s.offload_mem_bw_req * (1 + 1e-12);
    calc_stats hidden = run(&c);
    ck_assert_double_eq(hidden.fw_offload_exposed_time + hidden.bw_offload_exposed_time, 0);
    c.system.chip.mem2.bytes_per_s = s.offload_mem_bw_req * 0.99;
    hidden = run(&c);
    ck_assert_double_gt(hidden.fw_offload_exposed_time + hidden.bw_offload_exposed_time, 0);
    assert_near(sum_of_times(&hidden), hidden.total_time);
    assert_near(s.weight_offload_bw_req, s.block_weight_space / s.block_fw_time);
    assert_near(s.act_offload_bw_req, s.block_act_storage_space / s.block_fw_time);
}

/* ---- Feasibility ----------------------------------------------------------------------------- */

CALC_TEST(memory_fits_to_the_byte)
{
    modern_case c = start();
    c.system.chip.mem1.capacity_bytes = run(&c).proc_mem_tier1_cap_req;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_OK);
    c.system.chip.mem1.capacity_bytes -= 1;
    calc_stats s = run(&c);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert(s.total_time > 0);
}

CALC_TEST(ranks_fit_their_network)
{
    modern_case c = start();
    c.system.networks[1].size = 8; /* 4 stages * 2 replicas */
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_OK);
    c.system.networks[1].size = 7;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_NETWORK_SIZE);
    c.system.networks[1].size = 12;
    c.system.networks[1].must_be_filled = true;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_NETWORK_FILL);
    c.exec.strategy.context_par = 2; /* beside the tensor-parallel ranks on network 0 */
    c.exec.num_procs = 32;
    c.system.networks[1].must_be_filled = false;
    c.system.networks[0].size = 4;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_OK);
    c.system.networks[0].size = 3;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_NETWORK_SIZE);
}

CALC_TEST(experts_fit_their_network)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 16));
    c.app.num_experts = 16;
    c.exec.strategy.expert_par = 16;
    c.exec.strategy.expert_par_net = 0;
    c.system.networks[0].size = 16;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_OK);
    c.system.networks[0].size = 15;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_NETWORK_SIZE);
    c.system.networks[0].size = 24;
    c.system.networks[0].must_be_filled = true;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_NETWORK_FILL);
}

CALC_TEST(ranks_in_order_fit_the_largest_network)
{
    modern_case c = start();
    c.exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    c.system.networks[0].size = 4;
    c.system.networks[1].size = 16;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_OK);
    c.system.networks[1].size = 15;
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_NETWORK_SIZE);
}

CALC_TEST(a_step_whose_blocks_do_not_fit_is_unknown)
{
    modern_case c = start();
    c.app.num_blocks = 3;
    calc_stats s = run(&c);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_INTERLEAVING);
    ck_assert(isnan(s.total_time));
    ck_assert(isnan(s.sample_rate));
    c.system.networks[1].size = 2; /* reported first */
    ck_assert_int_eq(run(&c).verdict, CALC_VERDICT_NETWORK_SIZE);
}

/* ---- Rates ----------------------------------------------------------------------------------- */

/* Two for each weight a token meets, and 33/64 of the scores, three times over. */
CALC_TEST(utilization_counts_what_the_model_needs)
{
    modern_case c = start();
    calc_stats s = run(&c);
    double weights = 8.0 * (64 * 128 + 64 * 64 + 3 * 64 * 256) + 64 * 512;
    double square = 8.0 * 2 * 4 * 32 * 32 * 2 * 16;
    ck_assert_double_eq(s.model_flops, 3 * 8 * (2 * 32 * weights + square * 33 / 64));
    ck_assert_double_eq(s.model_flops_square, 3 * 8 * (2 * 32 * weights + square));
    double could = s.total_time * 16 * 0x1p40;
    assert_near(s.model_flops_utilization, s.model_flops / could);
    assert_near(s.model_flops_utilization_square, s.model_flops_square / could);
    /* flash attention computes the scores once more: five products backward */
    ck_assert_double_eq(s.hardware_flops, s.model_flops + 8 * 0.5 * square * 33 / 64);
    assert_near(s.hardware_flops_utilization, s.hardware_flops / could);
    assert_near(s.total_efficiency, s.model_flops_utilization);
    assert_near(s.compute_efficiency * s.system_efficiency, s.total_efficiency);
    assert_near(s.system_efficiency,
                (s.fw_time + s.bw_time + s.head_time + s.optim_step_time) / s.total_time);
    ck_assert(s.head_time > 0 && s.compute_efficiency < 1);
    c.exec.strategy.context_par = 2; /* the same work on twice the processors */
    c.exec.num_procs = 32;
    assert_near(run(&c).hardware_flops, s.hardware_flops);
}

CALC_TEST(a_token_meets_its_experts_only)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 2));
    calc_stats s = run(&c);
    double attention = 64 * 128 + 64 * 64;
    double weights = 2 * (attention + 3 * 64 * 256) +
                     6 * (attention + 3 * 64 * (2 * 32 + 64) + 64 * 8) + 64 * 512;
    double scores = 8.0 * 2 * 4 * 32 * 32 * 2 * 16 * 33 / 64;
    ck_assert_double_eq(s.model_flops, 3 * 8 * (2 * 32 * weights + scores));
}

CALC_TEST(time_becomes_days_dollars_and_joules)
{
    modern_case c = start();
    calc_stats s = run(&c);
    double tokens = 8 * 32;
    assert_near(s.sample_rate, 8 / s.total_time);
    assert_near(s.tokens_per_s, tokens / s.total_time);
    assert_near(s.tokens_per_s_per_proc, tokens / s.total_time / 16);
    assert_near(s.days_per_trillion_tokens, 1e12 / tokens * s.total_time / 86400);
    assert_near(s.proc_hours_per_trillion_tokens, 1e12 / tokens * s.total_time / 3600 * 16);
    ck_assert(isnan(s.usd_per_trillion_tokens));
    ck_assert(isnan(s.job_usd_per_hour));
    ck_assert(isnan(s.energy_per_token));
    c.system.chip.usd_per_hour = 2.5;
    c.system.chip.watts = 700;
    s = run(&c);
    assert_near(s.job_usd_per_hour, 2.5 * 16);
    assert_near(s.usd_per_trillion_tokens, 2.5 * s.proc_hours_per_trillion_tokens);
    assert_near(s.energy_per_token, 700.0 * 16 * s.total_time / tokens);
}

CALC_TEST(a_sequence_of_the_execution_counts_in_its_tokens)
{
    modern_case c = start();
    c.exec.seq_size = 64;
    calc_stats s = run(&c);
    assert_near(s.tokens_per_s, 8 * 64 / s.total_time);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

CALC_TEST(block_statistics_are_of_the_kind_most_blocks_are_of)
{
    modern_case c = case_of(moe_app(), modern_exec(1, 1, 2));
    calc_stats s = run(&c);
    make_block(&c, CALC_MOE_BLOCK);
    ck_assert_double_eq(s.block_fw_flops, c.cost.work[CALC_PASS_FW].flop);
    ck_assert_double_eq(s.block_weight_space, 2 * (c.cost.dense_weights + c.cost.expert_weights));
    ck_assert_double_eq(s.block_act_storage_space, c.cost.kept_bytes);
    ck_assert_double_eq(s.block_act_working_space, c.cost.kept_whole_bytes);
    ck_assert_double_eq(s.block_fw_mem_accessed, c.cost.work[CALC_PASS_FW].bytes);
    ck_assert_double_eq(s.block_agrad_mem_accessed, c.cost.work[CALC_PASS_AGRAD].bytes);
    ck_assert_double_eq(s.block_wgrad_mem_accessed, c.cost.work[CALC_PASS_WGRAD].bytes);
    ck_assert_double_eq(s.block_agrad_flops, c.cost.work[CALC_PASS_AGRAD].flop);
    ck_assert_double_eq(s.block_wgrad_flops, c.cost.work[CALC_PASS_WGRAD].flop);
    ck_assert_double_eq(s.block_fw_time, c.cost.fw_s);
    ck_assert_double_eq(s.block_agrad_time, c.cost.agrad_s);
    ck_assert_double_eq(s.block_wgrad_time, c.cost.wgrad_s);
    ck_assert_double_eq(s.useful_flops,
                        s.block_fw_flops + s.block_agrad_flops + s.block_wgrad_flops);
    c.app.dense_blocks = 5;
    s = run(&c);
    make_block(&c, CALC_DENSE_BLOCK);
    ck_assert_double_eq(s.block_fw_flops, c.cost.work[CALC_PASS_FW].flop);
}
