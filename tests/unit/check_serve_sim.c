#include "model/serve/sim_step.h"

#include <math.h>

#include "base/rng.h"
#include "engines.h"
#include "frame.h"
#include "queue_case.h"
#include "sampled.h"

const calc_test_frame calc_tests = {.timeout_s = 120};

#define DISAGGREGATED CALC_INFERENCE_PHASE_DISAGGREGATED

/* Within a share of what is wanted. */
#define assert_within(got, want, share) within(#got, got, want, share)

static void within(const char *what, double got, double want, double share)
{
    ck_assert_msg(fabs(got - want) <= share * fabs(want), "%s is %g, not %g", what, got, want);
}

/* ---- What must hold -------------------------------------------------------------------------- */

CALC_TEST(every_request_of_a_run_is_served_once)
{
    for (int k = 0; k < 8; k++) {
        calc_exec e = queue_exec(12, 500, 60);
        e.inference.requests = 60 + k;
        e.inference.prompt_spread = k % 2 * 0.5;
        e.inference.generate_spread = k % 3 * 0.3;
        e.inference.chunk_size = k % 4 < 2 ? 700 : 0;
        e.inference.max_sequences = k < 4 ? 0 : 5;
        if (k > 5) {
            e.inference.phase = DISAGGREGATED;
            e.inference.prefill_procs = 8;
        }
        calc_serve_sim_result sim = queue_simulate(&e);
        ck_assert_double_eq(sim.requests, 60 + k);
        ck_assert(sim.ttft_s > 0 && sim.tpot_s > 0 && sim.queue_s >= 0);
        ck_assert_double_le(sim.ttft_p50_s, sim.ttft_p99_s);
        ck_assert_double_lt(sim.ttft_s, sim.request_s);
        ck_assert_double_eq(sim.preempted, 0);
    }
}

/* Little's law: of a client that is alone the time in the system is all the time; of N clients N
   times the time between two ends. */
CALC_TEST(as_many_are_in_flight_as_there_are_clients)
{
    calc_exec e = queue_exec(1, 500, 40);
    e.inference.requests = 100;
    e.inference.prompt_spread = 0.5;
    e.inference.generate_spread = 0.5;
    calc_serve_sim_result alone = queue_simulate(&e);
    ck_assert_double_eq_tol(alone.requests_per_s * alone.request_s, 1, 1e-9);
    ck_assert_double_eq(alone.queue_s, 0);
    e.inference.requests = 0;
    for (int64_t batch = 2; batch <= 128; batch *= 4) {
        e.batch_size = batch;
        calc_serve_sim_result sim = queue_simulate(&e);
        assert_within(sim.requests_per_s * sim.request_s, (double)batch, 0.01);
        e.inference.max_sequences = batch / 2;
        sim = queue_simulate(&e);
        assert_within(sim.requests_per_s * sim.request_s, (double)batch, 0.01);
        ck_assert_double_le(sim.sequences, (double)batch / 2);
        e.inference.max_sequences = 0;
    }
}

/* Nothing of a request that is alone is left to chance: what is simulated is the closed form, but
   for lengths of batches that are rounded. */
CALC_TEST(one_request_takes_its_prefill_and_its_steps)
{
    const int64_t chunks[] = {0, 2048, 300, 0, 2048};
    for (int i = 0; i < 5; i++) {
        calc_exec e = queue_exec(1, 1000, 100);
        e.inference.chunk_size = chunks[i];
        e.inference.engine = i < 3 ? shipped_engine("none") : shipped_engine("tensorrt_llm-1.0");
        const calc_engine_traits *t = &e.inference.engine.traits;
        double server_s = t->request_s + t->request_sequence_s + 1000 * t->request_token_s;
        queue_answers a = queue_run(&e);
        assert_within(a.exact.ttft, a.closed.ttft, 0.01);
        assert_within(a.exact.tpot, a.closed.tpot, 0.001);
        assert_within(a.exact.request_time, a.closed.request_time, 0.001);
        assert_within(a.exact.ttft_p99, a.exact.ttft, 1e-9);
        ck_assert_double_eq_tol(a.exact.queue_time, server_s, 1e-12);
    }
}

/* Two batches in a pipeline of 60 and 20 blocks: a step is twice what the first stage takes, not
   what both stages take. */
CALC_TEST(the_slowest_stage_serves_one_batch_at_a_time)
{
    calc_exec e = queue_exec(64, 16, 1000);
    e.strategy.tensor_par = 4;
    e.pipeline_par = 2;
    e.inference.chunk_size = 0;
    for (int64_t first = 40; first <= 70; first += 10) {
        e.first_stage_blocks = first;
        queue_answers a = queue_run(&e);
        assert_within(a.exact.tpot, a.closed.tpot, 0.02);
    }
}

CALC_TEST(the_same_bytes_every_time)
{
    calc_exec e = queue_exec(32, 1000, 100);
    e.inference.prompt_spread = 0.3;
    for (int i = 0; i < 2; i++) {
        e.inference.arrival_rate = i;
        calc_serve_sim_result a = queue_simulate(&e);
        calc_serve_sim_result b = queue_simulate(&e);
        calc_stats exact = queue_run(&e).exact;
        ck_assert_mem_eq(&a, &b, sizeof a);
        ck_assert_double_eq(exact.ttft, a.ttft_s);
        ck_assert_double_eq(exact.tpot, a.tpot_s);
    }
}

CALC_TEST(more_clients_wait_longer_and_are_served_faster)
{
    calc_exec e = queue_exec(1, 1000, 100);
    e.inference.prompt_spread = 0.2;
    e.inference.generate_spread = 0.2;
    calc_serve_sim_result before = queue_simulate(&e);
    for (int64_t batch = 4; batch <= 256; batch *= 4) {
        e.batch_size = batch;
        calc_serve_sim_result sim = queue_simulate(&e);
        ck_assert_double_gt(sim.ttft_s, before.ttft_s);
        ck_assert_double_gt(sim.tpot_s, before.tpot_s);
        ck_assert_double_gt(sim.requests_per_s, before.requests_per_s);
        before = sim;
    }
}

/* ---- Beside other theory --------------------------------------------------------------------- */

/* Prompts alone, of which each gives one token more: M/D/1 with the time of a prefill, and half of
   them wait for the single step of another. */
CALC_TEST(arrivals_at_random_wait_as_in_m_d_1)
{
    calc_exec e = queue_exec(1, 4000, 2);
    e.inference.chunk_size = 0;
    double service_s = queue_simulate(&e).ttft_s;
    for (double used = 0.2; used < 0.75; used += 0.25) {
        e.inference.arrival_rate = used / service_s;
        calc_serve_sim_result sim = queue_simulate(&e);
        double wait_s = used * service_s / (2 * (1 - used));
        assert_within(sim.requests_per_s, e.inference.arrival_rate, 0.02);
        ck_assert_msg(fabs(sim.ttft_s - service_s - wait_s) <= 0.1 * wait_s + 0.07 * service_s,
                      "%g: %g, not %g", used, sim.ttft_s - service_s, wait_s);
    }
}

/* Two of three prefill replicas for each that decodes, or one for all: what comes out is what the
   slower pool takes. */
CALC_TEST(pools_take_what_the_slower_one_does)
{
    calc_exec e = serving_exec(DISAGGREGATED, 4, 1, 2, 64);
    e.inference.prefill_tensor_par = 4;
    for (int64_t procs = 4; procs <= 12; procs += 4) {
        e.inference.prefill_procs = procs;
        queue_answers a = queue_run(&e);
        ck_assert_double_le(a.exact.requests_per_s, 1.01 * a.exact.prefill_requests_per_s);
        ck_assert_double_le(a.exact.requests_per_s, 1.01 * a.exact.decode_requests_per_s);
        assert_within(a.exact.requests_per_s, a.closed.requests_per_s, 0.03);
        assert_within(a.exact.requests_per_s * a.exact.request_time, 64, 0.01);
    }
}

/* A model that drafts with its own prediction block drafts nothing in passes of prompts alone. */
CALC_TEST(a_step_without_sequences_drafts_nothing)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 1, 1, 16, 64);
    e.strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
    e.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    e.strategy.expert_par = 16;
    e.strategy.dispatch_type = CALC_DISPATCH_TYPE_NODE_LIMITED;
    e.inference.chunk_size = 2048;
    e.inference.speculative_tokens = 3;
    e.inference.speculative_accept = 0.7;
    queue_answers a = queue_run_of("deepseek-v3-671B", &e);
    assert_within(a.exact.tpot, a.closed.tpot, 0.1);
    assert_within(a.exact.ttft, a.closed.ttft, 0.3);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* On two processors there is room for 120 sequences of 4,000 tokens at their end, and more of them
   while they grow. */
CALC_TEST(what_does_not_fit_waits_or_is_preempted)
{
    calc_exec e = queue_exec(128, 2000, 2000);
    e.num_procs = 2;
    e.strategy.tensor_par = 2;
    e.inference.page_size = 16;
    e.inference.generate_spread = 0.05;
    e.inference.requests = 400;
    queue_answers a = queue_run(&e);
    calc_serve_sim_result sim = queue_simulate(&e);
    ck_assert_int_eq(a.closed.verdict, CALC_VERDICT_OK);
    ck_assert_double_lt(a.closed.max_batch, 128);
    ck_assert_double_gt(a.closed.decode_sequences, a.closed.max_batch);
    ck_assert_double_lt(a.closed.decode_sequences, 128);
    ck_assert_double_gt(sim.preempted, 0);
    ck_assert_double_eq(sim.requests, 400);
    assert_within(a.exact.tpot, a.closed.tpot, 0.15);
    assert_within(a.exact.ttft, a.closed.ttft, 0.3);
}

CALC_TEST(nothing_is_preempted_where_room_is_reserved)
{
    calc_exec e = queue_exec(256, 2000, 2000);
    e.num_procs = 2;
    e.strategy.tensor_par = 2;
    e.inference.page_size = 16;
    e.inference.generate_spread = 0.5;
    e.inference.requests = 1000;
    queue_answers grows = queue_run(&e);
    e.inference.engine.reserves = true;
    queue_answers a = queue_run(&e);
    ck_assert_double_eq(queue_simulate(&e).preempted, 0);
    ck_assert_double_lt(a.exact.decode_sequences, 0.9 * grows.exact.decode_sequences);
    assert_within(a.exact.decode_sequences, a.closed.decode_sequences, 0.1);
    assert_within(a.exact.tpot, a.closed.tpot, 0.15);
    assert_within(a.exact.requests_per_s, a.closed.requests_per_s, 0.1);
}

/* ---- The closed forms ------------------------------------------------------------------------ */

#define ONE_OF(rng, ...)                                                                           \
    ((const double[]){__VA_ARGS__}[calc_rng_below(                                                 \
        rng, (uint32_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))])

/* Requests as benchmarks send them: lengths, and how many at once. */
static calc_exec random_requests(calc_rng *rng)
{
    bool staged = calc_rng_below(rng, 4) == 0;
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, staged ? 4 : 8, staged ? 2 : 1, 1, 1);
    calc_inference *i = &e.inference;
    i->prompt_size = (int64_t)ONE_OF(rng, 100, 500, 1000, 4000, 10000);
    i->generate_size = (int64_t)ONE_OF(rng, 100, 300, 900);
    i->chunk_size = (int64_t)ONE_OF(rng, 0, 512, 2048, 8192);
    i->prompt_spread = ONE_OF(rng, 0, 0.111, 0.5);
    i->generate_spread = ONE_OF(rng, 0, 0.111, 0.5);
    if (calc_rng_below(rng, 3) == 0) {
        i->phase = DISAGGREGATED;
        i->prefill_procs = (int64_t)ONE_OF(rng, 8, 16, 32);
    }
    return e;
}

/* Errors of a closed form over many cases. */
typedef struct errors {
    double sum[2], most[2]; /* of TPOT, of TTFT */
    int count;
} errors;

static void compare(const calc_exec *e, errors *all)
{
    queue_answers a = queue_run(e);
    if (a.closed.verdict != CALC_VERDICT_OK || isnan(a.closed.ttft)) {
        return;
    }
    double error[] = {fabs(a.closed.tpot / a.exact.tpot - 1),
                      fabs(a.closed.ttft / a.exact.ttft - 1)};
    for (int i = 0; i < 2; i++) {
        all->sum[i] += error[i];
        all->most[i] = fmax(all->most[i], error[i]);
    }
    all->count++;
    assert_within(a.closed.requests_per_s, a.exact.requests_per_s, 0.25); /* with its tail */
    assert_within(a.closed.ttft,
                  a.closed.queue_time + a.closed.prefill_time +
                      (isnan(a.closed.kv_transfer_time) ? 0 : a.closed.kv_transfer_time),
                  1e-9);
}

CALC_TEST(closed_loops_are_those_that_are_simulated)
{
    calc_rng rng;
    errors all = {0};
    calc_rng_init(&rng, 5, 1);
    const int step = sample_step() > 4 ? 4 : sample_step(); /* a mean of fewer says little */
    for (int k = 0; k < 120; k++) {
        calc_exec e = random_requests(&rng);
        e.batch_size = (int64_t)ONE_OF(&rng, 1, 2, 4, 8, 16, 32, 64, 128);
        e.inference.requests = calc_rng_below(&rng, 2) ? 10 * e.batch_size : 0;
        e.inference.max_sequences =
            calc_rng_below(&rng, 4) ? 0 : (e.batch_size + 1) / (1 + calc_rng_below(&rng, 3));
        if (k % step == 0) {
            compare(&e, &all);
        }
    }
    ck_assert_int_gt(all.count, 115 / step);
    printf("closed loops: TPOT %.2f %% in the mean, %.1f %% at most; TTFT %.2f %%, %.1f %%\n",
           100 * all.sum[0] / all.count, 100 * all.most[0], 100 * all.sum[1] / all.count,
           100 * all.most[1]);
    ck_assert_double_lt(all.sum[0] / all.count, 0.01);
    ck_assert_double_lt(all.most[0], 0.1);
    ck_assert_double_lt(all.sum[1] / all.count, 0.05);
    ck_assert_double_lt(all.most[1], 0.5);
}

CALC_TEST(open_loops_are_those_that_are_simulated)
{
    calc_rng rng;
    errors all = {0};
    calc_rng_init(&rng, 6, 1);
    for (int k = 0; k < 60; k++) {
        calc_exec e = random_requests(&rng);
        e.inference.max_sequences = calc_rng_below(&rng, 4) ? 0 : 64;
        double share = ONE_OF(&rng, 0.05, 0.3, 0.6, 0.8);
        if (k % sample_step() > 0) {
            continue;
        }
        e.inference.arrival_rate = 1e6;
        double most = queue_run(&e).closed.requests_per_s;
        e.inference.arrival_rate = most * share;
        compare(&e, &all);
    }
    ck_assert_int_gt(all.count, sample_of(60) * 57 / 60);
    printf("open loops: TPOT %.2f %% in the mean, %.1f %% at most; TTFT %.2f %%, %.1f %%\n",
           100 * all.sum[0] / all.count, 100 * all.most[0], 100 * all.sum[1] / all.count,
           100 * all.most[1]);
    ck_assert_double_lt(all.sum[0] / all.count, 0.04);
    ck_assert_double_lt(all.most[0], 0.4);
    ck_assert_double_lt(all.sum[1] / all.count, 0.05);
    ck_assert_double_lt(all.most[1], 0.3);
}
