#include <math.h>
#include <string.h>

#include "frame.h"
#include "model/run.h"
#include "small_case.h"
#include "spec/field.h"

static const double latency_s = 0x1p-20;

/* A difference of nearly equal sums. */
#define assert_difference(got, want) ck_assert_double_eq_tol(got, want, 1e-9 * fabs(want))

static calc_stats run(const calc_system *system, const calc_exec *exec, calc_compat compat)
{
    calc_app app = small_app();
    calc_stats stats;
    calc_verdict verdict = calc_run(&app, system, exec, compat, &stats);
    ck_assert_int_eq(verdict, stats.verdict);
    return stats;
}

static double number(const calc_stats *stats, size_t row)
{
    const calc_field *field = &calc_table_of(CALC_KIND_STATS)->rows[row];
    calc_field_ref ref = {CALC_KIND_STATS, field, field->offset};
    return calc_field_number(&ref, stats);
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void assert_same(const calc_stats *a, const calc_stats *b)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    ck_assert_int_eq(a->verdict, b->verdict);
    for (size_t row = 0; row < table->count; row++) {
        ck_assert_msg(same_bits(number(a, row), number(b, row)), "%s: %.17g and %.17g",
                      table->rows[row].key, number(a, row), number(b, row));
    }
}

static double sum_of_terms(const calc_stats *s)
{
    return s->fw_time + s->bw_time + s->optim_step_time + s->recompute_time +
           s->recomm_exposed_time + s->bubble_time + s->tp_comm_exposed_time +
           s->pp_comm_exposed_time + s->dp_comm_exposed_time + s->fw_offload_exposed_time +
           s->bw_offload_exposed_time;
}

/* All kinds of parallelism, with every option that prolongs a step. */
static calc_exec busy_exec(void)
{
    calc_exec exec = small_exec(2, 2, 2);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    exec.strategy.weight_offload = true;
    exec.strategy.optimizer_offload = true;
    return exec;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

CALC_TEST(the_terms_sum_to_the_total_and_none_is_missing)
{
    calc_system system = small_system();
    calc_exec exec = busy_exec();
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_OK);
    ck_assert_double_gt(s.recompute_time, 0);
    ck_assert_double_gt(s.recomm_exposed_time, 0);
    ck_assert_double_gt(s.bubble_time, 0);
    ck_assert_double_gt(s.tp_comm_exposed_time, 0);
    ck_assert_double_gt(s.pp_comm_exposed_time, 0);
    ck_assert_double_gt(s.dp_comm_exposed_time, 0);
    ck_assert_double_gt(s.fw_offload_exposed_time, 0);
    ck_assert_double_gt(s.bw_offload_exposed_time, 0);
    assert_near(s.total_time, sum_of_terms(&s));
}

/* 8 blocks on 2 stages, 4 micro-batches: 16 blocks forward, 4 optimizer steps. */
CALC_TEST(a_step_repeats_a_block_for_each_block_and_micro_batch)
{
    calc_system system = small_system();
    calc_exec exec = busy_exec();
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    ck_assert_double_eq(s.num_microbatches, 4);
    ck_assert_double_eq(s.blocks_per_proc, 4);
    ck_assert_double_eq(s.blocks_per_chunk, 4);
    ck_assert_double_eq(s.missing_blocks, 0);
    assert_near(s.fw_time, 16 * s.block_fw_time);
    assert_near(s.bw_time, 16 * (s.block_agrad_time + s.block_wgrad_time));
    assert_near(s.recompute_time, 16 * s.block_re_time);
    assert_near(s.optim_step_time, 4 * s.block_optim_time);
    /* 3 base blocks and 1 edge block per micro-batch. */
    assert_near(s.tp_comm_link_time, 4 * (3 * (s.baseblock_fw_tp_time + s.baseblock_agrad_tp_time) +
                                          (s.edgeblock_fw_tp_time + s.edgeblock_agrad_tp_time)));
}

/* 2 messages per micro-batch of 32 * 64 elements of 2 bytes at 2^33 bytes/s; gradients of 4 blocks
 * in a ring of 2: once their weights. */
CALC_TEST(messages_and_gradients_take_the_time_of_their_bytes)
{
    calc_system system = small_system();
    calc_exec exec = busy_exec();
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    ck_assert_double_eq(s.block_fw_pp_size, 4096);
    ck_assert_double_eq(s.block_bw_pp_size, 4096);
    assert_near(s.pp_comm_link_time, 4 * 2 * 4096 / two_to(33));
    ck_assert_double_eq(s.block_dp_size, s.block_weight_space);
    assert_near(s.dp_comm_link_time, 4 * s.block_weight_space / two_to(33));
    ck_assert_double_eq(s.dp_comm_exposed_time, s.dp_comm_link_time);
}

CALC_TEST(the_same_inputs_give_the_same_bits_in_every_statistic)
{
    calc_app app = small_app();
    calc_system system = small_system();
    calc_exec exec = busy_exec();
    calc_stats a;
    calc_stats b;
    /* What was there before must not show: every statistic is written. */
    memset(&a, 0x00, sizeof a);
    memset(&b, 0xff, sizeof b);
    calc_run(&app, &system, &exec, CALC_COMPAT_REPAIRED, &a);
    calc_run(&app, &system, &exec, CALC_COMPAT_REPAIRED, &b);
    assert_same(&a, &b);
}

/* ---- Efficiency ------------------------------------------------------------------------------ */

/* A machine on which only matrix arithmetic takes time. */
static calc_system ideal_system(void)
{
    calc_system system = small_system();
    for (int type = 0; type < CLASSIC_DATATYPES; type++) {
        system.chip.vector[type].flop_per_s = 1e100;
    }
    system.chip.mem1.bytes_per_s = 1e100;
    system.networks[0].bytes_per_s = 1e100;
    system.networks[1].bytes_per_s = 1e100;
    return system;
}

CALC_TEST(utilization_is_one_where_nothing_but_the_model_takes_time)
{
    calc_system system = ideal_system();
    calc_exec exec = small_exec(2, 1, 2);
    assert_near(run(&system, &exec, CALC_COMPAT_REPAIRED).model_flops_utilization, 1);
    exec.training = false;
    assert_near(run(&system, &exec, CALC_COMPAT_REPAIRED).model_flops_utilization, 1);
}

/* Forward once more: 4 thirds of the time. The scores alone are 2bs^2h of 24bsh^2 + 4bs^2h. */
CALC_TEST(recomputation_lowers_utilization)
{
    calc_system system = ideal_system();
    calc_exec exec = small_exec(1, 1, 1);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    assert_near(run(&system, &exec, CALC_COMPAT_REPAIRED).model_flops_utilization, 0.75);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    double forward = 24 * 64 + 4 * 32;
    assert_near(run(&system, &exec, CALC_COMPAT_REPAIRED).model_flops_utilization,
                3 * forward / (3 * forward + 2 * 32));
}

/* 4 micro-batches on 4 stages: 3 of 7 rounds idle; with 2 chunks 3 of 11. */
CALC_TEST(the_bubble_lowers_utilization)
{
    calc_system system = ideal_system();
    calc_exec exec = small_exec(1, 4, 1);
    assert_near(run(&system, &exec, CALC_COMPAT_REPAIRED).model_flops_utilization, 4.0 / 7);
    exec.pipeline_interleaving = 2;
    assert_near(run(&system, &exec, CALC_COMPAT_REPAIRED).model_flops_utilization, 8.0 / 11);
}

/* 8 blocks on 3 stages: 3, 3 and 2, as if there were 9; the bubble of 2 rounds of 3 blocks is one
 * block shorter. So 12 blocks and 5 of bubble, of which 4 micro-batches need 8 thirds each. */
CALC_TEST(missing_blocks_lower_utilization)
{
    calc_system system = ideal_system();
    calc_exec exec = small_exec(1, 3, 1);
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    ck_assert_double_eq(s.missing_blocks, 1);
    assert_near(s.model_flops_utilization, 4 * 8.0 / 3 / (12 + 5));
}

CALC_TEST(rates_follow_from_the_total)
{
    calc_system system = small_system();
    calc_exec exec = busy_exec();
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    /* 8 sequences of 32 tokens on 8 processors. */
    assert_near(s.sample_rate * s.total_time, 8);
    assert_near(s.tokens_per_s * s.total_time, 8 * 32);
    assert_near(s.tokens_per_s_per_proc * s.total_time, 32);
    assert_near(s.model_flops_utilization * s.total_time * 8 * two_to(40), s.model_flops);
    assert_near(s.compute_efficiency * s.system_efficiency, s.total_efficiency);
    assert_near(s.system_efficiency * s.total_time, s.fw_time + s.bw_time + s.optim_step_time);
    assert_near(s.useful_flops,
                s.block_fw_flops + s.block_agrad_flops + s.block_wgrad_flops + s.block_optim_flops);
    assert_near(s.total_efficiency * s.total_time * two_to(40), 16 * s.useful_flops);
}

/* ---- Defects of Calculon, one at a time ------------------------------------------------------ */

CALC_TEST(without_any_defect_both_modes_give_the_same_bits)
{
    calc_system system = small_system();
    system.networks[1].latency_s = latency_s;
    calc_exec exec = small_exec(2, 2, 2);
    exec.strategy.data_par_overlap = true;
    exec.strategy.weight_offload = true;
    calc_stats ours = run(&system, &exec, CALC_COMPAT_REPAIRED);
    calc_stats theirs = run(&system, &exec, CALC_COMPAT_CALCULON);
    assert_same(&ours, &theirs);
}

/* Four blocks per processor, all in one chunk, whose gradients take longer than their window. The
 * recomputation that Calculon counts too much is memory time that they cannot hide behind. */
CALC_TEST(defect_1_recomputes_the_blocks_beginning_again_and_again)
{
    calc_system system = small_system();
    system.networks[1].bytes_per_s = two_to(28);
    calc_exec exec = small_exec(1, 2, 2);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    exec.strategy.data_par_overlap = true;
    calc_stats ours = run(&system, &exec, CALC_COMPAT_REPAIRED);
    calc_stats theirs = run(&system, &exec, CALC_COMPAT_CALCULON);
    ck_assert_double_eq(ours.block_re_flops, ours.block_fw_flops);
    ck_assert_double_gt(theirs.block_re_flops, ours.block_re_flops);
    ck_assert_double_eq(theirs.block_re_time, ours.block_re_time);
    ck_assert_double_eq(theirs.bubble_time, ours.bubble_time);
    double more_s = 4 * (theirs.block_re_mem_time - ours.block_re_mem_time);
    ck_assert_double_gt(more_s, 0);
    assert_difference(theirs.dp_comm_exposed_time - ours.dp_comm_exposed_time, more_s);
    assert_difference(theirs.total_time - ours.total_time, more_s);
}

/* Once per micro-batch, Calculon's last block hides a latency of offload that is not there. */
CALC_TEST(defect_2_sends_a_message_without_a_pipeline)
{
    calc_system system = small_system();
    system.networks[1].latency_s = latency_s;
    calc_exec exec = small_exec(1, 1, 1);
    exec.strategy.weight_offload = true;
    system.chip.mem2.bytes_per_s = two_to(30);
    calc_stats ours = run(&system, &exec, CALC_COMPAT_REPAIRED);
    calc_stats theirs = run(&system, &exec, CALC_COMPAT_CALCULON);
    double hidden_s = 4 * latency_s;
    assert_difference(ours.fw_offload_exposed_time - theirs.fw_offload_exposed_time, hidden_s);
    assert_difference(ours.bw_offload_exposed_time - theirs.bw_offload_exposed_time, hidden_s);
    assert_difference(ours.total_time - theirs.total_time, 2 * hidden_s);
    ck_assert_double_eq(ours.pp_comm_link_time, 0);
    ck_assert_double_eq(theirs.pp_comm_link_time, 0);
}

/* The bubble of 4 stages has 3 chunks, each a latency too long. */
CALC_TEST(defect_3_sends_a_backward_message_in_inference)
{
    calc_system system = small_system();
    system.networks[1].latency_s = latency_s;
    calc_exec exec = small_exec(1, 4, 1);
    exec.training = false;
    calc_stats ours = run(&system, &exec, CALC_COMPAT_REPAIRED);
    calc_stats theirs = run(&system, &exec, CALC_COMPAT_CALCULON);
    assert_difference(theirs.bubble_time - ours.bubble_time, 3 * latency_s);
    assert_difference(theirs.total_time - ours.total_time, 3 * latency_s);
    ck_assert_double_eq(theirs.pp_comm_link_time, ours.pp_comm_link_time);
    assert_near(theirs.total_time, sum_of_terms(&theirs));
}

/* ---- Inference ------------------------------------------------------------------------------- */

CALC_TEST(inference_is_the_forward_pass)
{
    calc_system system = small_system();
    calc_exec exec = small_exec(2, 2, 2);
    exec.training = false;
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    ck_assert_double_eq(s.bw_time, 0);
    ck_assert_double_eq(s.optim_step_time, 0);
    ck_assert_double_eq(s.dp_comm_link_time, 0);
    ck_assert_double_eq(s.dp_comm_exposed_time, 0);
    ck_assert_double_eq(s.block_dp_size, 0);
    ck_assert_double_eq(s.block_bw_pp_size, 0);
    ck_assert_double_eq(s.optimizer_space, 0);
    ck_assert(isnan(s.act_checkpoint_size_with_offload));
    assert_near(s.pp_comm_link_time, 4 * 4096 / two_to(33));
    assert_near(s.total_time, sum_of_terms(&s));
}

/* ---- Layouts that do not fit ----------------------------------------------------------------- */

CALC_TEST(a_layout_without_memory_still_has_all_its_numbers)
{
    calc_system system = small_system();
    calc_exec exec = busy_exec();
    calc_stats fits = run(&system, &exec, CALC_COMPAT_REPAIRED);
    system.chip.mem1.capacity_bytes = fits.proc_mem_tier1_cap_req - 1;
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert_double_eq(s.mem_tier1_capacity, fits.proc_mem_tier1_cap_req - 1);
    s.verdict = fits.verdict;
    s.mem_tier1_capacity = fits.mem_tier1_capacity;
    assert_same(&s, &fits);
}

/* 4 blocks per stage in 3 chunks: what needs the chunks is unknown, blocks and memory are not. */
CALC_TEST(chunks_that_do_not_fit_leave_the_step_unknown)
{
    calc_system system = small_system();
    calc_exec exec = small_exec(2, 2, 2);
    exec.pipeline_interleaving = 3;
    calc_stats s = run(&system, &exec, CALC_COMPAT_REPAIRED);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_INTERLEAVING);
    ck_assert(isnan(s.blocks_per_chunk));
    ck_assert(isnan(s.total_time));
    ck_assert(isnan(s.bubble_time));
    ck_assert(isnan(s.sample_rate));
    ck_assert(isnan(s.tokens_per_s));
    ck_assert(isnan(s.total_efficiency));
    ck_assert(isnan(s.model_flops_utilization));
    ck_assert_double_eq(s.blocks_per_proc, 4);
    ck_assert_double_gt(s.block_fw_time, 0);
    ck_assert_double_gt(s.fw_time, 0);
    ck_assert_double_gt(s.pp_comm_link_time, 0);
    ck_assert_double_gt(s.proc_mem_tier1_cap_req, 0);
    ck_assert_double_gt(s.model_flops, 0);
}

/* ---- What is known --------------------------------------------------------------------------- */

static double named_number(const calc_stats *s, const char *key)
{
    const calc_field *row = calc_table_find(calc_table_of(CALC_KIND_STATS), key);
    ck_assert_ptr_nonnull(row);
    calc_field_ref ref = {CALC_KIND_STATS, row, row->offset};
    return calc_field_number(&ref, s);
}

static bool among(const char *key, const char *const *list)
{
    while (*list && strcmp(*list, key) != 0) {
        list++;
    }
    return *list != NULL;
}

/* Statistics that only a rule defines. */
static const struct {
    const char *key;
    int rule;
} defined[] = {
    {"block_optim_flops", CALC_COMPAT_OPTIMIZER_ROOFLINE},
    {"block_optim_flops_time", CALC_COMPAT_OPTIMIZER_ROOFLINE},
    {"block_optim_mem_accessed", CALC_COMPAT_OPTIMIZER_ROOFLINE},
    {"dp_bw_overlap_req_chunk", CALC_COMPAT_REDUCE_BY_BLOCK},
    {"dp_bw_overlap_req_tail", CALC_COMPAT_REDUCE_BY_BLOCK},
    {"block_act_grad_space", CALC_COMPAT_LAYERS},
    {"act_grad_space_with_offload", CALC_COMPAT_BLOCK_MEMORY},
    {"optim_offload_bw_req", CALC_COMPAT_OFFLOAD_EACH},
};
enum { DEFINED = sizeof defined / sizeof *defined };

CALC_TEST_LOOP(what_a_rule_defines_is_null_without_it, 0, DEFINED)
{
    calc_system system = small_system();
    calc_exec exec = busy_exec();
    calc_compat one = (calc_compat)1 << defined[_i].rule;
    calc_stats s = run(&system, &exec, CALC_COMPAT_NONE);
    ck_assert(isnan(named_number(&s, defined[_i].key)));
    s = run(&system, &exec, CALC_COMPAT_CALCULON & ~one);
    ck_assert(isnan(named_number(&s, defined[_i].key)));
    s = run(&system, &exec, one);
    ck_assert(isfinite(named_number(&s, defined[_i].key)));
}

/* Of prices, power, simulated pipelines and serving nothing is known here, by any rule. */
static const char *const elsewhere[] = {"usd_per_trillion_tokens",
                                        "job_usd_per_hour",
                                        "energy_per_token",
                                        "pipeline_closed_form_error",
                                        "ttft",
                                        "ttft_p50",
                                        "ttft_p99",
                                        "queue_time",
                                        "tpot",
                                        "request_time",
                                        "prefill_time",
                                        "decode_step_time",
                                        "kv_transfer_time",
                                        "tokens_per_step",
                                        "tokens_per_s_per_user",
                                        "output_tokens_per_s",
                                        "output_tokens_per_s_per_proc",
                                        "requests_per_s",
                                        "prefill_requests_per_s",
                                        "decode_requests_per_s",
                                        "decode_sequences",
                                        "prefill_share",
                                        "kv_bytes_per_token",
                                        "kv_capacity_tokens",
                                        "state_bytes_per_sequence",
                                        "max_batch",
                                        "usd_per_million_output_tokens",
                                        "trained_parameters", /* where not all are */
                                        NULL};

/* Parts that stay where a kind is offloaded; not to be asked where it is not. */
static const char *const offloaded[] = {"weight_space_with_offload",
                                        "act_space_with_offload",
                                        "act_checkpoint_size_with_offload",
                                        "act_grad_space_with_offload",
                                        "weight_grad_space_with_offload",
                                        "optimizer_space_with_offload",
                                        NULL};

static bool only_by_rule(const char *key)
{
    for (int i = 0; i < DEFINED; i++) {
        if (strcmp(defined[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

CALC_TEST(all_other_statistics_of_training_are_known)
{
    calc_system system = small_system();
    calc_exec exec = small_exec(2, 2, 2);
    exec.strategy.data_par_overlap = true;
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (int rules = 0; rules < 2; rules++) {
        calc_stats s = run(&system, &exec, rules ? CALC_COMPAT_REPAIRED : CALC_COMPAT_NONE);
        for (size_t row = 0; row < table->count; row++) {
            const char *key = table->rows[row].key;
            bool unknown =
                among(key, elsewhere) || (!rules && (only_by_rule(key) || among(key, offloaded)));
            ck_assert_msg(isnan(number(&s, row)) == unknown, "%s is %g with%s rules", key,
                          number(&s, row), rules ? "" : "out");
        }
    }
}

CALC_TEST(offloaded_parts_say_what_stays)
{
    calc_system system = small_system();
    calc_exec exec = small_exec(1, 1, 2);
    exec.strategy.weight_offload = true;
    calc_stats s = run(&system, &exec, CALC_COMPAT_NONE);
    ck_assert(isfinite(s.weight_space_with_offload));
    ck_assert(isnan(s.act_space_with_offload));
    ck_assert(isnan(s.optimizer_space_with_offload));
    exec.strategy.weight_offload = false;
    exec.strategy.activations_offload = true;
    s = run(&system, &exec, CALC_COMPAT_NONE);
    ck_assert(isnan(s.weight_space_with_offload));
    ck_assert_double_gt(s.act_space, 0);
    ck_assert_double_eq(s.act_space_with_offload, 0);
    ck_assert_double_eq(s.act_checkpoint_size, 0);
    ck_assert_double_eq(s.act_checkpoint_size_with_offload, 0);
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    s = run(&system, &exec, CALC_COMPAT_NONE);
    ck_assert_double_eq(s.act_space, 0);
    ck_assert_double_eq(s.act_space_with_offload, 0);
    ck_assert_double_gt(s.act_checkpoint_size, 0);
    ck_assert_double_eq(s.act_checkpoint_size_with_offload, 0);
}

CALC_TEST(a_layout_that_does_not_exist_has_no_statistics)
{
    calc_stats s;
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    memset(&s, 0, sizeof s);
    calc_stats_none(&s);
    for (size_t row = 0; row < table->count; row++) {
        ck_assert(isnan(number(&s, row)));
    }
}

/* ---- Both ways ------------------------------------------------------------------------------- */

/* Bits: recomputation, training, three kinds of offload. */
static calc_exec varied(int i)
{
    calc_exec exec = small_exec(2, 2, 2);
    exec.training = i / CLASSIC_RECOMPUTES & 1;
    if (exec.training) {
        exec.strategy.activation_recompute = (calc_activation_recompute)(i % CLASSIC_RECOMPUTES);
    }
    exec.strategy.weight_offload = i / CLASSIC_RECOMPUTES & 2;
    exec.strategy.activations_offload = i / CLASSIC_RECOMPUTES & 4;
    exec.strategy.optimizer_offload = exec.training && i / CLASSIC_RECOMPUTES & 8;
    return exec;
}
enum { VARIED = CLASSIC_RECOMPUTES * 16 };

CALC_TEST_LOOP(times_add_up_with_and_without_rules, 0, VARIED)
{
    calc_system system = small_system();
    system.networks[1].latency_s = latency_s;
    system.chip.mem2.bytes_per_s = two_to(30);
    calc_exec exec = varied(_i);
    const calc_compat sets[] = {CALC_COMPAT_NONE, CALC_COMPAT_REPAIRED, CALC_COMPAT_CALCULON};
    for (int i = 0; i < 3; i++) {
        calc_stats s = run(&system, &exec, sets[i]);
        ck_assert_double_eq(s.head_time + s.host_time + s.straggler_time + s.overhead_time, 0);
        ck_assert_double_eq_tol(sum_of_terms(&s) / s.total_time, 1, 1e-12);
    }
}

CALC_TEST_LOOP(memory_adds_up_with_and_without_rules, 0, VARIED)
{
    calc_system system = small_system();
    calc_exec e = varied(_i);
    bool full = e.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    for (int rules = 0; rules < 2; rules++) {
        calc_stats s = run(&system, &e, rules ? CALC_COMPAT_REPAIRED : CALC_COMPAT_NONE);
        double here = s.act_grad_space + s.head_space + s.framework_space;
        double there = 0;
        here += e.strategy.weight_offload ? s.weight_space_with_offload : s.weight_space;
        there += e.strategy.weight_offload ? s.weight_space : 0;
        if (e.strategy.optimizer_offload) {
            here += s.weight_grad_space_with_offload + s.optimizer_space_with_offload;
            /* By rule gradients travel with the state. */
            there += s.optimizer_space + rules * s.block_weight_grad_space * s.blocks_per_proc;
        } else {
            here += s.weight_grad_space + s.optimizer_space;
        }
        if (!e.strategy.activations_offload) {
            here += s.act_space + s.act_checkpoint_size;
        } else if (full) {
            here += s.act_checkpoint_size_with_offload;
            here += rules ? s.act_space_with_offload : s.act_space;
            there += s.act_checkpoint_size;
        } else {
            here += s.act_space_with_offload;
            there += s.act_space;
        }
        assert_near(here, s.proc_mem_tier1_cap_req);
        assert_near(there, s.proc_mem_tier2_cap_req);
        assert_near(s.mem_allocated + s.mem_overhead, s.proc_mem_tier1_cap_req);
    }
}

/* At the bandwidth it says a layout waits for nothing, below it does. */
CALC_TEST(the_bandwidth_that_hides_offload_does_by_both_definitions)
{
    for (int rules = 0; rules < 2; rules++) {
        calc_compat compat = rules ? CALC_COMPAT_REPAIRED : CALC_COMPAT_NONE;
        calc_system system = small_system();
        calc_exec exec = small_exec(1, 1, 1);
        exec.strategy.weight_offload = exec.strategy.activations_offload = true;
        system.chip.mem2.bytes_per_s = run(&system, &exec, compat).offload_mem_bw_req;
        double needed = system.chip.mem2.bytes_per_s;
        system.chip.mem2.bytes_per_s = needed * (1 + 1e-9);
        calc_stats s = run(&system, &exec, compat);
        ck_assert_double_eq_tol(
            (s.fw_offload_exposed_time + s.bw_offload_exposed_time) / s.total_time, 0, 1e-12);
        system.chip.mem2.bytes_per_s = needed * 0.99;
        s = run(&system, &exec, compat);
        ck_assert_double_gt((s.fw_offload_exposed_time + s.bw_offload_exposed_time) / s.total_time,
                            1e-6);
    }
}
