/* calc_run_exact(): the step with a simulated pipeline. */
#include <stdlib.h>
#include <string.h>

#include "calc.h"
#include "cli/draw/breakdown.h"
#include "frame.h"
#include "shipped_case.h"
#include "small_case.h"

static calc_stats exact_of(const shipped_case *c)
{
    calc_stats s;
    calc_errors errors = {0};
    size_t bytes = 0;
    ck_assert_msg(calc_exact_bytes(&c->exec, &bytes, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    /* Exactly as much as is asked for: a sanitizer sees what is beyond. */
    void *workspace = malloc(bytes);
    ck_assert_ptr_nonnull(workspace);
    calc_run_exact(&c->app, &c->system, &c->exec, workspace, &s);
    free(workspace);
    return s;
}

static calc_stats closed_of(const shipped_case *c)
{
    calc_stats s;
    calc_run(&c->app, &c->system, &c->exec, CALC_COMPAT_NONE, &s);
    return s;
}

CALC_TEST(the_closed_form_alone_knows_no_error)
{
    shipped_case modern = modern_layout(0);
    shipped_case classic = {small_app(), small_system(), small_exec(1, 2, 1)};
    ck_assert_double_nan(closed_of(&modern).pipeline_closed_form_error);
    ck_assert_double_nan(closed_of(&classic).pipeline_closed_form_error);
}

/* The closed form of 1F1B with one chunk is exact, and so is all else then. */
CALC_TEST(without_chunks_nothing_changes)
{
    for (int i = 0; i < MODERN_LAYOUTS; i++) {
        shipped_case c = modern_layout(i);
        c.exec.pipeline_interleaving = 1;
        c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
        calc_stats closed = closed_of(&c);
        calc_stats exact = exact_of(&c);
        ck_assert_double_eq_tol(exact.pipeline_closed_form_error, 0, 1e-12);
        ck_assert_double_eq_tol(exact.total_time, closed.total_time, 1e-12 * closed.total_time);
        ck_assert_double_eq_tol(exact.sample_rate, closed.sample_rate, 1e-12 * closed.sample_rate);
    }
}

/* calc_run() simulates what has no closed form: stages that differ, under most schedules. */
CALC_TEST(unequal_stages_are_simulated_already)
{
    for (int i = 0; i < CALC_PIPELINE_SCHEDULE_COUNT; i++) {
        shipped_case c = modern_layout(0);
        c.exec.pipeline_interleaving = 1;
        c.exec.pipeline_schedule = (calc_pipeline_schedule)i;
        c.exec.batch_size = c.exec.strategy.data_par * c.exec.microbatch_size * 150;
        calc_stats closed = closed_of(&c);
        calc_stats exact = exact_of(&c);
        ck_assert_double_eq_tol(exact.pipeline_closed_form_error, 0, 1e-12);
        assert_near(exact.total_time, closed.total_time);
        ck_assert_double_gt(exact.bubble_time, 0);
        ck_assert_double_eq_tol(exact.bubble_time, closed.bubble_time, 1e-12 * closed.total_time);
    }
}

/* 8 chunks of a block, but for the embedding's and the head's, and 3 of 7 or 8 blocks recompute. */
CALC_TEST(interleaved_stages_that_differ_have_a_closed_form)
{
    shipped_case c = modern_layout(0);
    c.exec.recompute_blocks = 3;
    c.exec.batch_size = c.exec.strategy.data_par * c.exec.microbatch_size * 32;
    ck_assert_int_eq(c.exec.pipeline_interleaving, 8);
    ck_assert_double_eq_tol(exact_of(&c).pipeline_closed_form_error, 0, 1e-12);
}

/* Equal stages have a closed form, which is a bound in a V between p and 2p micro-batches. */
CALC_TEST(the_parts_of_the_time_still_add_up)
{
    shipped_case c = modern_layout(0);
    c.exec.pipeline_interleaving = 1;
    c.exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_ZB_V;
    c.exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    c.exec.batch_size = c.exec.strategy.data_par * c.exec.microbatch_size * 18;
    calc_stats closed = closed_of(&c);
    calc_stats s = exact_of(&c);
    double part_s[CALC_BREAKDOWN_TIMES];
    double all_s = 0;
    calc_breakdown_times(&s, part_s);
    for (int i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        all_s += part_s[i];
    }
    ck_assert_double_eq_tol(all_s, s.total_time, 1e-12 * all_s);
    ck_assert_double_ne(s.bubble_time, closed.bubble_time);
    ck_assert(s.straggler_time > 0 && s.straggler_time != closed.straggler_time);
    assert_near(s.sample_rate * s.total_time, (double)c.exec.batch_size);
    assert_near(s.system_efficiency * s.total_time, closed.system_efficiency * closed.total_time);
    assert_near(s.total_efficiency * s.total_time, closed.total_efficiency * closed.total_time);
    assert_near(s.model_flops_utilization * s.total_time,
                closed.model_flops_utilization * closed.total_time);
    ck_assert_double_eq(s.proc_mem_tier1_cap_req, closed.proc_mem_tier1_cap_req);
    /* Error and times belong together: stragglers are in proportion to the pipeline. */
    assert_near(closed.straggler_time / s.straggler_time, 1 + s.pipeline_closed_form_error);
}

/* 3 micro-batches on 2 stages of 2 chunks, of (f + b): even stages count 6 + 1 + 1 times that. */
CALC_TEST(a_round_that_is_not_full_goes_by_rule_only)
{
    shipped_case c = {small_app(), small_system(), small_exec(1, 2, 1)};
    calc_stage_stats stage;
    calc_stats closed;
    c.exec.batch_size = 3;
    c.exec.pipeline_interleaving = 2;
    calc_compat even = 1 << CALC_COMPAT_EVEN_STAGES;
    ck_assert_int_eq(closed_of(&c).verdict, CALC_VERDICT_INTERLEAVING);
    calc_each_stage(&c.app, &c.system, &c.exec, even, &stage, 1);
    calc_run(&c.app, &c.system, &c.exec, even, &closed);
    ck_assert_int_eq(closed.verdict, CALC_VERDICT_OK);
    assert_near(closed.bubble_time, 2 * (stage.fw_time + stage.bw_time) / 2);
}

/* One micro-batch goes through 3, 3 and 2 blocks, there and back. */
CALC_TEST(missing_blocks_are_missing)
{
    shipped_case c = {small_app(), small_system(), small_exec(1, 3, 1)};
    calc_stage_stats stage;
    c.exec.batch_size = 1;
    for (int net = 0; net < 2; net++) {
        c.system.networks[net].bytes_per_s = INFINITY;
    }
    calc_stats s = exact_of(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stage, 1);
    double stage_s = stage.fw_time + stage.bw_time;
    assert_near(stage_s + s.bubble_time, stage_s * 8 / 3);
}

CALC_TEST(inference_has_forward_passes_only)
{
    shipped_case c = {small_app(), small_system(), small_exec(1, 4, 1)};
    calc_stage_stats stage;
    c.exec.training = false;
    calc_stats s = exact_of(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stage, 1);
    assert_near(s.bubble_time, 3 * stage.fw_time);
    c.exec.pipeline_interleaving = 2;
    s = exact_of(&c);
    calc_each_stage(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &stage, 1);
    assert_near(s.bubble_time, 3 * stage.fw_time / 2);
}

CALC_TEST(chunks_that_do_not_divide_have_no_step)
{
    shipped_case classic = {small_app(), small_system(), small_exec(1, 2, 1)};
    shipped_case modern = modern_layout(0);
    classic.exec.pipeline_interleaving = 3;
    modern.exec.pipeline_interleaving = 3;
    const shipped_case *both[] = {&classic, &modern};
    for (int i = 0; i < 2; i++) {
        calc_stats s = exact_of(both[i]);
        ck_assert_int_eq(s.verdict, CALC_VERDICT_INTERLEAVING);
        ck_assert_double_nan(s.total_time);
        ck_assert_double_nan(s.pipeline_closed_form_error);
    }
}

static const char *refused(const calc_exec *exec, calc_status status)
{
    static calc_errors errors;
    size_t bytes = 77;
    errors = (calc_errors){0};
    ck_assert_int_eq(calc_exact_bytes(exec, &bytes, &errors), status);
    ck_assert_uint_eq(bytes, 77);
    ck_assert_int_eq(errors.count, 1);
    return errors.item[0].text;
}

CALC_TEST(a_schedule_that_does_not_run_is_refused)
{
    calc_exec e = small_exec(1, 4, 1);
    e.pipeline_schedule = CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    ck_assert_str_eq(refused(&e, CALC_ERR_UNSUPPORTED),
                     "the schedule dualpipe_v needs at least two micro-batches per stage, not 4 "
                     "stages and 4 micro-batches");
    e.batch_size = 8;
    size_t bytes;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_exact_bytes(&e, &bytes, &errors), CALC_OK);
}

CALC_TEST(a_step_beyond_the_limit_is_refused)
{
    calc_exec e = small_exec(1, 4, 1);
    calc_errors errors = {0};
    size_t bytes;
    e.pipeline_interleaving = 2;
    e.batch_size = CALC_MAX_EXACT_PASSES / 8;
    ck_assert_int_eq(calc_exact_bytes(&e, &bytes, &errors), CALC_OK);
    e.batch_size++;
    ck_assert_str_eq(refused(&e, CALC_ERR_RANGE),
                     "4 stages x 2 chunks x 524289 micro-batches are 4.19e+06 passes: at most "
                     "4194304 are simulated");
    e.batch_size = INT64_MAX / 2; /* no product overflows */
    refused(&e, CALC_ERR_RANGE);
}

CALC_TEST(requests_beyond_the_limit_are_refused)
{
    calc_exec e = small_exec(1, 1, 1);
    calc_errors errors = {0};
    size_t bytes;
    e.training = false;
    e.inference = (calc_inference){.phase = CALC_INFERENCE_PHASE_SERVE,
                                   .generate_size = 2,
                                   .requests = CALC_MAX_EXACT_REQUESTS};
    ck_assert_int_eq(calc_exact_bytes(&e, &bytes, &errors), CALC_OK);
    e.inference.requests++;
    ck_assert_str_eq(refused(&e, CALC_ERR_RANGE),
                     "1.05e+06 requests: at most 1048576 are simulated");
    e.inference.requests = 0;
    e.batch_size = INT64_MAX / 2;
    refused(&e, CALC_ERR_RANGE);
    e.batch_size = 1;
    e.inference.generate_size = CALC_MAX_EXACT_STEPS;
    ck_assert_str_eq(refused(&e, CALC_ERR_RANGE),
                     "5e+03 requests of 67108864 tokens may take 3.36e+11 steps: at most 67108864 "
                     "are simulated");
    /* Prompts or tokens alone wait for nothing. */
    e.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    ck_assert_int_eq(calc_exact_bytes(&e, &bytes, &errors), CALC_OK);
    ck_assert_uint_gt(bytes, 0);
}

CALC_TEST(one_phase_alone_is_not_simulated)
{
    const calc_inference_phase phases[] = {CALC_INFERENCE_PHASE_PREFILL,
                                           CALC_INFERENCE_PHASE_DECODE};
    for (int i = 0; i < 2; i++) {
        shipped_case c = load_case("llama3-70B", "h200", "llama3-70B_serving_8");
        calc_stats closed;
        c.exec.inference.phase = phases[i];
        calc_run(&c.app, &c.system, &c.exec, CALC_COMPAT_NONE, &closed);
        calc_stats s = exact_of(&c);
        ck_assert_double_eq(s.total_time, closed.total_time);
        ck_assert_double_eq(s.requests_per_s, closed.requests_per_s);
        ck_assert(isnan(s.queue_time) && isnan(s.ttft_p99));
    }
}

/* What a step's time is spent on adds up to what was simulated of it. */
CALC_TEST(parts_of_a_simulated_step_add_up)
{
    shipped_case c = load_case("llama3-70B", "h200", "llama3-70B_serving_8");
    for (int i = 0; i < 2; i++) {
        c.exec.inference.chunk_size = i * 2048;
        calc_stats s = exact_of(&c);
        double parts_s = s.fw_time + s.tp_comm_exposed_time + s.head_time + s.bubble_time;
        ck_assert_double_eq_tol(parts_s, s.total_time, 1e-12 * s.total_time);
        ck_assert_double_eq(s.total_time, s.decode_step_time);
        ck_assert_double_eq_tol(s.ttft, s.queue_time + s.prefill_time, 1e-12 * s.ttft);
        ck_assert_double_eq_tol(s.output_tokens_per_s, 500 * s.requests_per_s,
                                1e-9 * s.output_tokens_per_s);
    }
}
