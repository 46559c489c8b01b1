/* Why modern layouts are infeasible: src/model/verdict.c. */
#include "shipped_case.h"
#include "small_case.h"

#include "frame.h"

/* The reasons; the first must be the verdict of calc_run(). */
static size_t reasons_of(const shipped_case *c, calc_reason out[CALC_MAX_REASONS])
{
    calc_stats stats;
    calc_verdict verdict = calc_run(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &stats);
    size_t count = calc_reasons(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &stats, out);
    ck_assert_int_eq(count == 0 ? CALC_VERDICT_OK : out[0].verdict, verdict);
    return count;
}

static void assert_only(const shipped_case *c, calc_verdict verdict, const char *text,
                        const char *hint)
{
    calc_reason reason[CALC_MAX_REASONS];
    ck_assert_uint_eq(reasons_of(c, reason), 1);
    ck_assert_int_eq(reason[0].verdict, verdict);
    ck_assert_str_eq(reason[0].text, text);
    ck_assert_str_eq(reason[0].hint, hint);
}

/* Llama 3 405B with room for everything. */
static shipped_case roomy(void)
{
    shipped_case c = modern_layout(0);
    c.system.chip.mem1.capacity_bytes = 1e15;
    return c;
}

CALC_TEST(a_layout_that_runs_has_no_reasons)
{
    calc_reason reason[CALC_MAX_REASONS];
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        ck_assert_uint_eq(reasons_of(&c, reason), 0);
    }
}

CALC_TEST(ranks_laid_out_over_nodes_must_fit_the_last_network)
{
    shipped_case c = roomy();
    calc_reason reason[CALC_MAX_REASONS];
    c.system.networks[1].size = 16384;
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    c.system.networks[1].size = 16383;
    assert_only(&c, CALC_VERDICT_NETWORK_SIZE,
                "network 1, the last, connects 16383 processors, rank_order lays out 16384",
                "use 16383 processors or fewer; if the machine has more, set networks[1].size to "
                "16384 or more");
}

CALC_TEST(without_a_rank_order_every_network_is_checked)
{
    shipped_case c = roomy();
    c.exec.rank_order = CALC_RANK_ORDER_NETWORKS;
    c.system.networks[1].size = 2047;
    assert_only(&c, CALC_VERDICT_NETWORK_SIZE,
                "network 1 connects 2047 processors, the layout puts 2048 on it",
                "lower the parallel sizes on it or assign one to another network; if the "
                "machine has more, set networks[1].size to 2048 or more");
}

CALC_TEST(chunks_that_do_not_divide_name_the_blocks_of_every_class)
{
    shipped_case c = roomy();
    c.exec.pipeline_interleaving = 3;
    assert_only(&c, CALC_VERDICT_INTERLEAVING,
                "pipeline_interleaving = 3 does not divide the blocks per stage: 8 on stages 0 to "
                "15 (embedding and head count as one each)",
                "use 1, 2, 4 or 8");
    c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    c.exec.pipeline_interleaving = 2;
    assert_only(&c, CALC_VERDICT_INTERLEAVING,
                "pipeline_interleaving = 2 does not divide the blocks per stage: 8 on stages 0 to "
                "13, 7 on stages 14 to 15",
                "use 1");
}

/* 126 - 7 - 7 = 112 = 14 x 8; with 8 on the last 111 are left over, with 9 blocks less 98 = 14 x 7.
 */
CALC_TEST(given_ends_that_leave_a_rest_name_the_nearest_that_do_not)
{
    shipped_case c = roomy();
    c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    c.exec.pipeline_interleaving = 1;
    c.exec.first_stage_blocks = 7;
    c.exec.last_stage_blocks = 7;
    calc_reason reason[CALC_MAX_REASONS];
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    c.exec.last_stage_blocks = 8;
    assert_only(&c, CALC_VERDICT_INTERLEAVING,
                "the 111 blocks beside first_stage_blocks = 7 and last_stage_blocks = 8 do not "
                "split over 14 other stages",
                "use first_stage_blocks 6");
    c.exec.first_stage_blocks = 0;
    c.exec.last_stage_blocks = 10; /* 116 on 15 stages: 105 or 120 */
    assert_only(&c, CALC_VERDICT_INTERLEAVING,
                "the 116 blocks beside first_stage_blocks = 0 and last_stage_blocks = 10 do not "
                "split over 15 other stages",
                "use last_stage_blocks 6");
    c.exec.last_stage_blocks = 17; /* 109 on 15: 105 is nearer */
    assert_only(&c, CALC_VERDICT_INTERLEAVING,
                "the 109 blocks beside first_stage_blocks = 0 and last_stage_blocks = 17 do not "
                "split over 15 other stages",
                "use last_stage_blocks 21");
    c.exec.num_procs = 2048;
    c.exec.pipeline_par = 2;
    c.exec.first_stage_blocks = 60;
    c.exec.last_stage_blocks = 60;
    assert_only(&c, CALC_VERDICT_INTERLEAVING,
                "the 6 blocks beside first_stage_blocks = 60 and last_stage_blocks = 60 do not "
                "split over 0 other stages",
                "use first_stage_blocks 66");
}

CALC_TEST(every_stage_needs_a_block)
{
    shipped_case c = roomy();
    c.exec.pipeline_interleaving = 1;
    c.exec.num_procs = 8 * 128;
    c.exec.strategy.data_par = 1;
    c.exec.strategy.zero_stage = 0;
    c.exec.strategy.optimizer_sharding = false;
    c.exec.pipeline_par = 128;
    assert_only(&c, CALC_VERDICT_INTERLEAVING,
                "126 blocks do not give each of 128 stages one beside the embedding and the head",
                "use pipeline_par 64 or less");
    calc_reason reason[CALC_MAX_REASONS];
    c.exec.pipeline_par = 65;
    ck_assert_uint_eq(reasons_of(&c, reason), 1);
    c.exec.pipeline_par = 64; /* two each, or one beside the embedding or the head */
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    c.exec.pipeline_par = 128;
    c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    assert_only(&c, CALC_VERDICT_INTERLEAVING, "126 blocks do not give each of 128 stages one",
                "use pipeline_par 126 or less");
}

/* Llama 3 8B on 16 stages of two blocks, with a second tier for what is offloaded. */
static shipped_case offloading(int64_t stages)
{
    shipped_case c = load_case("llama3-8B", "h100_sxm", "llama3-8B_128_fsdp");
    c.exec.pipeline_par = stages;
    c.exec.strategy.data_par = c.exec.num_procs / stages;
    c.exec.strategy.zero_stage = 1;
    c.exec.strategy.weight_offload = true;
    c.system.chip.mem1.capacity_bytes = 1e15;
    c.system.chip.mem2 = (calc_memory_tier){
        .capacity_bytes = 1e15, .bytes_per_s = 1e11, .efficiency = {.count = 1, .efficiency = {1}}};
    return c;
}

/* One is computed, one comes and one goes. */
CALC_TEST(offload_needs_three_blocks_on_every_stage)
{
    calc_reason reason[CALC_MAX_REASONS];
    shipped_case c = offloading(16);
    assert_only(&c, CALC_VERDICT_OFFLOAD_BLOCKS,
                "offload needs at least 3 blocks on every stage, the layout has stages with 2",
                "lower pipeline_par, or keep everything in tier 1");
    c.exec.strategy.weight_offload = false;
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    for (int i = 0; i < 2; i++) {
        *(i == 0 ? &c.exec.strategy.activations_offload : &c.exec.strategy.optimizer_offload) =
            true;
        ck_assert_uint_eq(reasons_of(&c, reason), 1);
        *(i == 0 ? &c.exec.strategy.activations_offload : &c.exec.strategy.optimizer_offload) =
            false;
    }
    c = offloading(8); /* 4 each; with 2 on the first stage 30 do not split over 7 */
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    c.exec.first_stage_blocks = 4;
    c.exec.last_stage_blocks = 4;
    c.app.num_blocks = 26; /* 3 on the others */
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    c.app.num_blocks = 20; /* 2 */
    ck_assert_uint_eq(reasons_of(&c, reason), 1);
    c.exec.first_stage_blocks = 2;
    c.app.num_blocks = 24; /* 3, but 2 on the first */
    assert_only(&c, CALC_VERDICT_OFFLOAD_BLOCKS,
                "offload needs at least 3 blocks on every stage, the layout has stages with 2",
                "lower pipeline_par, or keep everything in tier 1");
    c = offloading(1);
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    c.app.num_blocks = 2;
    assert_only(&c, CALC_VERDICT_OFFLOAD_BLOCKS,
                "offload needs at least 3 blocks on every stage, the layout has stages with 2",
                "keep everything in tier 1");
    c.exec.pipeline_interleaving = 2; /* chunks that do not divide come first */
    c.exec.pipeline_par = 16;
    c.exec.strategy.data_par = 8;
    c.app.num_blocks = 16;
    ck_assert_uint_eq(reasons_of(&c, reason), 1);
    ck_assert_int_eq(reason[0].verdict, CALC_VERDICT_INTERLEAVING);
}

/* 32 blocks of 32 + 8 heads and two norms, embedding, head and its norm, in 2 bytes: 14.96 GiB. */
CALC_TEST(a_second_tier_that_is_too_small_is_named)
{
    calc_reason reason[CALC_MAX_REASONS];
    shipped_case c = offloading(1);
    double block = 4096 * (2 * 4096.0 + 2 * 1024) + 3 * 4096.0 * 14336 + 2 * 4096;
    double weights = 32 * block + 2 * 128256 * 4096.0 + 4096;
    c.system.chip.mem2.capacity_bytes = 2 * weights;
    ck_assert_uint_eq(reasons_of(&c, reason), 0);
    c.system.chip.mem2.capacity_bytes = 0x1p33;
    char text[256];
    snprintf(text, sizeof text,
             "tier 2 needs %.2f GiB and has 8.00 GiB: %.2f GiB too little; 8 processors of a node "
             "need %.0f GiB of its 64",
             2 * weights / 0x1p30, 2 * weights / 0x1p30 - 8, 8 * 2 * weights / 0x1p30);
    assert_only(&c, CALC_VERDICT_MEM2_CAPACITY, text, "offload less, or to a larger second tier");
    c.system.chip.mem1.capacity_bytes = 0x1p30; /* and after the first */
    ck_assert_uint_eq(reasons_of(&c, reason), 2);
    ck_assert_int_eq(reason[1].verdict, CALC_VERDICT_MEM2_CAPACITY);
}

/* ---- Memory: the statistics say what is largest ---------------------------------------------- */

static double or_null(double value)
{
    return value > 0 ? value : NAN;
}

/* With these parts; what is not given of the shares of offload is null, as without offload. */
static calc_reason capacity(const shipped_case *c, const calc_stats *parts)
{
    calc_reason reason[CALC_MAX_REASONS];
    calc_stats s = *parts;
    s.weight_space_with_offload = or_null(s.weight_space_with_offload);
    s.weight_grad_space_with_offload = or_null(s.weight_grad_space_with_offload);
    s.optimizer_space_with_offload = or_null(s.optimizer_space_with_offload);
    s.act_space_with_offload = or_null(s.act_space_with_offload);
    s.act_checkpoint_size_with_offload = or_null(s.act_checkpoint_size_with_offload);
    s.act_grad_space_with_offload = or_null(s.act_grad_space_with_offload);
    s.mem_tier1_capacity = 80 * 0x1p30;
    s.proc_mem_tier1_cap_req = 81 * 0x1p30;
    ck_assert_uint_eq(calc_reasons(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &s, reason), 1);
    ck_assert_int_eq(reason[0].verdict, CALC_VERDICT_MEM1_CAPACITY);
    return reason[0];
}

/* Of what is offloaded, only what stays in tier 1 counts. */
CALC_TEST(the_largest_part_is_that_of_tier_1)
{
    shipped_case c = roomy();
    calc_reason r = capacity(&c, &(calc_stats){.optimizer_space = 60 * 0x1p30,
                                               .optimizer_space_with_offload = 2 * 0x1p30,
                                               .act_space = 10 * 0x1p30,
                                               .act_checkpoint_size = 20 * 0x1p30});
    ck_assert_ptr_nonnull(strstr(r.text, "largest: checkpoints, 20.00 GiB"));
    ck_assert_str_eq(r.hint, "raise tensor_par or context_par");
    r = capacity(&c, &(calc_stats){.optimizer_space = 60 * 0x1p30,
                                   .optimizer_space_with_offload = 21 * 0x1p30,
                                   .act_checkpoint_size = 20 * 0x1p30});
    ck_assert_ptr_nonnull(strstr(r.text, "largest: the optimizer, 21.00 GiB"));
}

CALC_TEST(the_largest_part_is_named_with_its_stage)
{
    shipped_case c = roomy();
    calc_reason r = capacity(
        &c, &(calc_stats){.act_space = 60 * 0x1p30, .weight_space = 20 * 0x1p30, .peak_stage = 3});
    ck_assert_str_eq(r.text, "tier 1 needs 81.00 GiB and has 80.00 GiB: 1.00 GiB too little; "
                             "largest: activations, 60.00 GiB, on stage 3");
    ck_assert_str_eq(r.hint, "recompute more (activation_recompute, recompute_modules), raise "
                             "context_par or tensor_par");
    c.exec.pipeline_par = 1;
    c.exec.pipeline_interleaving = 1;
    r = capacity(&c, &(calc_stats){.head_space = 60 * 0x1p30});
    ck_assert_str_eq(r.text, "tier 1 needs 81.00 GiB and has 80.00 GiB: 1.00 GiB too little; "
                             "largest: the head, 60.00 GiB");
    ck_assert_str_eq(r.hint, "set fused_cross_entropy, raise tensor_par or context_par");
}

CALC_TEST(activations_are_advised_what_is_not_done_yet)
{
    shipped_case c = roomy();
    const calc_stats most = {.act_space = 1};
    c.exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    ck_assert_str_eq(capacity(&c, &most).hint, "raise context_par or tensor_par");
    c.exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    c.exec.strategy.seq_par_ag_redo = false;
    c.exec.strategy.flash_attention = false;
    c.exec.microbatch_size = 2;
    c.exec.batch_size *= 2;
    c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_GPIPE;
    ck_assert_str_eq(capacity(&c, &most).hint,
                     "set flash_attention, use sequence parallelism (tensor_par_comm_type "
                     "\"rs_ag\"), use pipeline_schedule \"1f1b\", lower microbatch_size, raise "
                     "context_par or tensor_par");
    c = roomy();
    c.exec.strategy.seq_par_ag_redo = false;
    ck_assert_str_eq(capacity(&c, &most).hint,
                     "recompute more (activation_recompute, recompute_modules), set "
                     "seq_par_ag_redo, raise context_par or tensor_par");
}

CALC_TEST(state_is_advised_to_be_sharded_as_far_as_it_is_not)
{
    shipped_case c = roomy();
    const calc_stats weights = {.weight_space = 1};
    const calc_stats grads = {.weight_grad_space = 1};
    const calc_stats optimizer = {.optimizer_space = 1};
    const char *raise = "raise tensor_par or pipeline_par";
    c.exec.strategy.zero_stage = 0;
    c.exec.strategy.optimizer_sharding = false;
    ck_assert_str_eq(capacity(&c, &optimizer).hint,
                     "shard it (zero_stage 1), narrow it (optimizer_moment_datatype "
                     "\"bfloat16\"), raise tensor_par or pipeline_par");
    c.exec.strategy.zero_stage = 1;
    c.exec.strategy.optimizer_moment_datatype = CALC_FORMAT_BFLOAT16;
    ck_assert_str_eq(capacity(&c, &optimizer).hint, raise);
    ck_assert_str_eq(capacity(&c, &grads).hint,
                     "shard them (zero_stage 2), narrow them (grad_datatype \"bfloat16\"), raise "
                     "tensor_par or pipeline_par");
    c.exec.strategy.zero_stage = 2;
    c.exec.strategy.grad_datatype = CALC_FORMAT_BFLOAT16;
    ck_assert_str_eq(capacity(&c, &grads).hint, raise);
    ck_assert_str_eq(capacity(&c, &weights).hint,
                     "shard them (zero_stage 3), raise tensor_par or pipeline_par");
    c.exec.strategy.zero_stage = 3;
    ck_assert_str_eq(capacity(&c, &weights).hint, raise);
    c = modern_layout(4);
    c.exec.strategy.expert_par = 1;
    c.exec.strategy.zero_stage = 3;
    ck_assert_str_eq(capacity(&c, &weights).hint,
                     "raise expert_par, raise expert_tensor_par or pipeline_par");
    c.exec.strategy.expert_par = 8; /* of 8 experts: their pieces are still larger */
    ck_assert_str_eq(capacity(&c, &weights).hint, "raise expert_tensor_par or pipeline_par");
    c.exec.strategy.tensor_par = 1;
    c.exec.strategy.expert_tensor_par = 64;
    ck_assert_str_eq(capacity(&c, &weights).hint, raise); /* now the rest is */
    c.exec.training = false;
    c.exec.strategy.zero_stage = 0;
    ck_assert_str_eq(capacity(&c, &weights).hint, raise); /* nothing shards what is served */
    c.exec.strategy.data_par = 1;
    c.exec.strategy.zero_stage = 0;
    ck_assert_str_eq(capacity(&c, &weights).hint, raise);
}
