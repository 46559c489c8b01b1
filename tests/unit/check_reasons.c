/* Reasons of memory, with the shares that statistics say; others are in check_rules.txt. */
#include "shipped_case.h"
#include "small_case.h"

#include <math.h>
#include <string.h>

#include "frame.h"

static const double gib = 0x1p30;

static void assert_reason(const calc_reason *reason, calc_verdict verdict, const char *text,
                          const char *hint)
{
    ck_assert_int_eq(reason->verdict, verdict);
    ck_assert_str_eq(reason->text, text);
    ck_assert_str_eq(reason->hint, hint);
}

/* Needs and capacities are taken from the statistics, so these can be round. */
static calc_reason capacity_reason(const calc_exec *exec, double tier1_bytes, double tier2_bytes)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_stats stats = {.weight_grad_space = 60.25 * gib,
                        .optimizer_space = 60 * gib,
                        .weight_space_with_offload = NAN,
                        .weight_grad_space_with_offload = NAN,
                        .optimizer_space_with_offload = NAN,
                        .proc_mem_tier1_cap_req = tier1_bytes,
                        .mem_tier1_capacity = 80 * gib,
                        .proc_mem_tier2_cap_req = tier2_bytes,
                        .mem_tier2_capacity = 512 * gib};
    calc_reason reason[CALC_MAX_REASONS];
    ck_assert_uint_eq(calc_reasons(&app, &system, exec, CALC_COMPAT_NONE, &stats, reason), 1);
    return reason[0];
}

CALC_TEST(tier_1_says_what_it_lacks_and_what_is_largest)
{
    calc_exec exec = small_exec(1, 1, 4);
    calc_reason reason = capacity_reason(&exec, 100.5 * gib, 0);
    assert_reason(&reason, CALC_VERDICT_MEM1_CAPACITY,
                  "tier 1 needs 100.50 GiB and has 80.00 GiB: 20.50 GiB too little; largest: "
                  "weight gradients, 60.25 GiB",
                  "shard them (zero_stage 2), raise tensor_par or pipeline_par");
}

CALC_TEST(tier_2_says_what_it_lacks)
{
    calc_exec exec = small_exec(1, 1, 1);
    calc_reason reason = capacity_reason(&exec, 80 * gib, 513 * gib);
    assert_reason(&reason, CALC_VERDICT_MEM2_CAPACITY,
                  "tier 2 needs 513.00 GiB and has 512.00 GiB: 1.00 GiB too little",
                  "offload less, or to a larger second tier");
}

/* Llama 3 405B with room for everything. */
static shipped_case roomy(void)
{
    shipped_case c = modern_layout(0);
    c.system.chip.mem1.capacity_bytes = 1e15;
    return c;
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
