/* Prompts that an engine lets wait. */
#include "model/serve/inference.h"

#include "engines.h"
#include "frame.h"
#include "queue_case.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

static calc_hold hold_of(calc_serving_engine engine, const calc_exec *e, double rate)
{
    calc_engine_traits traits = engine.traits;
    return calc_hold_of(e, &traits, rate, 1024.0 / 900);
}

/* Attention in data parallelism on 8 processors, experts over all. */
static calc_exec spread(void)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 1, 1, 8, 64);
    e.strategy.expert_par = 8;
    e.strategy.expert_tensor_par = 1;
    e.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
    e.strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
    e.strategy.weight_datatype = e.strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
    e.inference.kv_datatype = CALC_FORMAT_FLOAT8;
    e.inference.chunk_size = 1024;
    e.inference.prompt_size = 900;
    e.inference.generate_size = 900;
    e.inference.prompt_spread = e.inference.generate_spread = 0.111;
    e.inference.requests = 640;
    return e;
}

CALC_TEST(none_and_one_step_hold_nothing)
{
    calc_exec e = queue_exec(16, 1000, 500);
    calc_stats without = queue_run(&e).closed;
    calc_stats without_exact = queue_run(&e).exact;
    e.inference.hold_steps = 1;
    queue_answers one = queue_run(&e);
    ck_assert_mem_eq(&without.ttft, &one.closed.ttft, sizeof without.ttft);
    ck_assert_mem_eq(&without.tpot, &one.closed.tpot, sizeof without.tpot);
    ck_assert_mem_eq(&without_exact.ttft_p99, &one.exact.ttft_p99, sizeof one.exact.ttft_p99);
}

CALC_TEST(an_engine_looks_at_times_or_gathers)
{
    calc_exec e = spread();
    e.inference.hold_steps = 30;
    calc_hold looks = hold_of(shipped_engine("sglang-0.5"), &e, 0.01);
    ck_assert_double_eq(looks.least, 0);
    ck_assert_double_eq(looks.most, 29);
    ck_assert_double_eq(looks.looks, 30);
    calc_hold gathers = hold_of(shipped_engine("tensorrt_llm-1.1"), &e, 1e-6);
    ck_assert_double_eq_tol(gathers.least, 30, 0.01);
    ck_assert_double_eq_tol(gathers.most, 30, 0.01);
    ck_assert_double_eq(gathers.looks, 1);
    gathers = hold_of(shipped_engine("tensorrt_llm-1.1"), &e, 0.1);
    ck_assert(gathers.least < gathers.most && gathers.most < 30);
}

/* One replica waits for no other, nor do several that share nothing; its step is soon full. */
CALC_TEST(replicas_gather_if_they_share_experts)
{
    calc_engine_traits traits = shipped_engine("tensorrt_llm-1.1").traits;
    calc_exec e = spread();
    ck_assert_double_eq(calc_hold_replicas(&e, &traits), 8);
    e.strategy.expert_par = 2;
    e.strategy.expert_tensor_par = 2;
    ck_assert_double_eq(calc_hold_replicas(&e, &traits), 4);
    e.strategy.expert_par = e.strategy.expert_tensor_par = 0;
    ck_assert_double_eq(calc_hold_replicas(&e, &traits), 1);
    e.inference.hold_steps = 60;
    calc_hold alone = calc_hold_of(&e, &traits, 0.01, 1);
    ck_assert_double_eq(alone.most, 0);
    alone = calc_hold_of(&e, &traits, 0.1, 4); /* three more come in 30 steps */
    ck_assert_double_eq_tol(alone.most, 30, 1e-9);
    ck_assert_double_eq_tol(alone.least, 30.0 / 4, 1e-9);
    alone = calc_hold_of(&e, &traits, 0.01, 4);
    ck_assert_double_eq_tol(alone.most, 60, 1e-9);
    traits = shipped_engine("sglang-0.5").traits;
    e.strategy.expert_par = 8;
    ck_assert_double_eq(calc_hold_replicas(&e, &traits), 1);
}

/* A wait of half the steps more, and what is prefilled together. */
CALC_TEST(looking_at_times_is_what_is_simulated)
{
    double before_s = 0;
    for (int64_t steps = 1; steps <= 60; steps += steps < 10 ? 9 : 20) {
        calc_exec e = queue_exec(32, 1000, 1000);
        e.inference.engine = shipped_engine("sglang-0.5");
        e.inference.chunk_size = 0;
        e.inference.prefill_batch = 16;
        e.inference.requests = 320;
        e.inference.prompt_spread = e.inference.generate_spread = 0.111;
        e.inference.hold_steps = steps;
        queue_answers a = queue_run(&e);
        ck_assert_double_eq_tol(a.closed.ttft_p50, a.exact.ttft_p50, 0.12 * a.exact.ttft_p50);
        ck_assert_double_eq_tol(a.closed.tpot, a.exact.tpot, 0.03 * a.exact.tpot);
        ck_assert_double_gt(a.exact.ttft_p50, before_s + 0.2 * (double)steps * a.exact.tpot);
        before_s = steps == 1 ? a.exact.ttft_p50 : before_s;
    }
}

CALC_TEST(gathering_is_what_is_simulated)
{
    calc_app app = shipped_app("deepseek-v3-671B");
    calc_system system = queue_system();
    calc_stats plain, closed, exact;
    for (int64_t batch = 64; batch <= 256; batch *= 2) {
        calc_exec e = spread();
        e.inference.engine = shipped_engine("tensorrt_llm-1.1");
        /* Of the size that engines have, whatever is fitted to them. */
        e.inference.traits = (calc_engine_traits){.host_s = 3.9e-3,
                                                  .host_sequence_s = 180e-6,
                                                  .host_growth = 1e-6,
                                                  .issue_s = 9e-6,
                                                  .request_s = 37e-3,
                                                  .gap_s = 2.1e-3,
                                                  .matrix_share = 1,
                                                  .cache_share = 1,
                                                  .experts_undivided = 0.01};
        e.batch_size = batch;
        e.inference.requests = 10 * batch;
        calc_run(&app, &system, &e, CALC_COMPAT_NONE, &plain);
        e.inference.hold_steps = 60;
        void *workspace = queue_workspace(&app, &system, &e);
        calc_run(&app, &system, &e, CALC_COMPAT_NONE, &closed);
        calc_run_exact(&app, &system, &e, workspace, &exact);
        free(workspace);
        ck_assert_int_eq(exact.verdict, CALC_VERDICT_OK);
        ck_assert_double_gt(closed.ttft_p50, plain.ttft_p50 + 5 * closed.tpot);
        ck_assert_double_eq_tol(closed.ttft_p50, exact.ttft_p50, 0.3 * exact.ttft_p50);
        ck_assert_double_eq_tol(closed.ttft, exact.ttft, 0.35 * exact.ttft);
        ck_assert_double_eq_tol(closed.tpot, exact.tpot, 0.05 * exact.tpot);
    }
}

/* One replica alone: the first prompt waits for all of the time, those that come meanwhile for the
 * rest of it, and no longer than until a step is full. */
CALC_TEST(one_alone_holds_until_a_step_is_full)
{
    for (int64_t chunk = 2048; chunk <= 16384; chunk *= 8) {
        for (int64_t batch = 8; batch <= 128; batch *= 4) {
            calc_exec e = queue_exec(batch, 1000, 1000);
            e.inference.engine = shipped_engine("tensorrt_llm-1.0");
            e.inference.chunk_size = chunk;
            e.inference.requests = 10 * batch;
            e.inference.prompt_spread = e.inference.generate_spread = 0.111;
            calc_stats plain = queue_run(&e).closed;
            e.inference.hold_steps = 20;
            queue_answers a = queue_run(&e);
            bool soon = chunk == 2048 && batch == 128; /* full after eight steps */
            double within = (soon ? 0.3 : 0.12) * a.exact.ttft_p50;
            ck_assert_double_eq_tol(a.closed.ttft_p50, a.exact.ttft_p50, within);
            ck_assert_double_eq_tol(a.closed.tpot, a.exact.tpot, 0.03 * a.exact.tpot);
            double held = (a.exact.ttft_p50 - plain.ttft_p50) / a.exact.tpot;
            ck_assert_double_gt(held, soon ? 0 : 8);
            ck_assert_double_lt(held, 23);
        }
    }
}

/* Where the host has put the next step together already, a request waits for one more. */
CALC_TEST(an_engine_ahead_of_its_steps_misses_one_more)
{
    for (int64_t batch = 4; batch <= 64; batch *= 4) {
        calc_exec e = queue_exec(batch, 1000, 500);
        e.inference.requests = 10 * batch;
        e.inference.engine = shipped_engine("tensorrt_llm-1.0");
        queue_answers a = queue_run(&e);
        ck_assert_double_eq_tol(a.closed.ttft_p50, a.exact.ttft_p50, 0.15 * a.exact.ttft_p50);
        const calc_engine_traits *t = &e.inference.engine.traits;
        double server_s = t->request_s + (double)batch * t->request_sequence_s +
                          (double)e.inference.prompt_size * t->request_token_s;
        double waits = (a.exact.ttft_p50 - server_s - a.closed.prefill_time) / a.exact.tpot;
        ck_assert_double_gt(waits, 1.5);
    }
}
