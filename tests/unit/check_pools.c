#include "model/serve/inference.h"

#include <math.h>

#include "frame.h"
#include "queue_case.h"

static calc_exec pools(int64_t batch, int64_t procs)
{
    calc_exec e = queue_exec(batch, 4000, 200);
    e.inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
    e.inference.prefill_procs = procs;
    return e;
}

CALC_TEST(rounds_hold_all_requests)
{
    for (int64_t batch = 1; batch < 1000; batch *= 3) {
        calc_exec e = pools(batch, 8);
        calc_stats s = queue_run(&e).closed;
        ck_assert_double_eq_tol(s.requests_per_s * s.request_time, (double)batch,
                                1e-6 * (double)batch);
        assert_near(s.ttft, s.queue_time + s.prefill_time + s.kv_transfer_time);
        ck_assert_double_le(s.requests_per_s, (1 + 1e-9) * s.prefill_requests_per_s);
        ck_assert_double_le(s.requests_per_s, (1 + 1e-9) * s.decode_requests_per_s);
    }
}

CALC_TEST(one_request_does_not_wait)
{
    calc_exec e = pools(1, 8);
    calc_stats s = queue_run(&e).closed;
    ck_assert_double_eq_tol(s.queue_time, 0, 1e-9);
    ck_assert_double_lt(s.decode_sequences, 1);
}

/* One prefill replica cannot keep up with 64: they are prefilled one after the other, and what is
   not decoded waits there. With eight of them hardly any waits. */
CALC_TEST(requests_are_where_the_slower_pool_is)
{
    calc_exec e = pools(64, 8);
    calc_stats slow = queue_run(&e).closed;
    ck_assert_double_eq_tol(slow.requests_per_s, slow.prefill_requests_per_s,
                            0.02 * slow.prefill_requests_per_s);
    ck_assert_double_lt(slow.decode_sequences, 32);
    ck_assert_double_gt(slow.queue_time, 5 * slow.prefill_time);
    e.inference.prefill_procs = 64;
    calc_stats fast = queue_run(&e).closed;
    ck_assert_double_gt(fast.decode_sequences, 55);
    ck_assert_double_lt(fast.queue_time, slow.prefill_time);
    assert_near(fast.prefill_requests_per_s, 8 * slow.prefill_requests_per_s);
}

CALC_TEST(slots_of_the_decoding_pool_are_waited_for)
{
    calc_exec e = pools(64, 64);
    e.inference.max_sequences = 8;
    calc_stats s = queue_run(&e).closed;
    ck_assert_double_eq(s.decode_sequences, 8);
    assert_near(s.requests_per_s, s.decode_requests_per_s);
    assert_near(s.requests_per_s, 8 / (199 * s.tpot));
    assert_near(s.requests_per_s * s.request_time, 64);
}

/* A tenth more requests than slots. In a run most wait for slots that become free one after the
 * other, and some for all of a round. */
CALC_TEST(a_run_waits_for_slots_as_simulated_requests_do)
{
    for (int64_t generate = 200; generate <= 1600; generate *= 2) {
        calc_exec e = pools(35, 64);
        e.inference.generate_size = generate;
        e.inference.max_sequences = 32;
        e.inference.requests = 350;
        e.inference.prompt_spread = e.inference.generate_spread = 0.1;
        queue_answers a = queue_run(&e);
        ck_assert_double_eq(a.closed.decode_sequences, 32);
        ck_assert_double_eq_tol(a.closed.ttft, a.exact.ttft, 0.25 * a.exact.ttft);
        ck_assert_double_eq_tol(a.closed.ttft_p50, a.exact.ttft_p50, 0.4 * a.exact.ttft_p50);
        ck_assert_double_eq_tol(a.closed.requests_per_s, a.exact.requests_per_s,
                                0.05 * a.exact.requests_per_s);
        ck_assert_double_gt(a.closed.ttft, a.closed.ttft_p50);
    }
}

/* A pass takes the prompts that came during the last one: few where few come. */
CALC_TEST(passes_hold_what_has_come)
{
    calc_exec e = pools(2, 64);
    double alone_s = queue_run(&e).closed.prefill_time;
    e.inference.prefill_batch = 8;
    queue_answers few = queue_run(&e);
    assert_near(few.closed.prefill_time, alone_s);
    e.inference.batch = e.batch_size = 512;
    double full_s = queue_run(&e).closed.prefill_time;
    ck_assert_double_gt(full_s, 4 * alone_s);
    double before_s = alone_s;
    for (int64_t batch = 64; batch < 512; batch *= 2) {
        e.inference.batch = e.batch_size = batch;
        double now_s = queue_run(&e).closed.prefill_time;
        ck_assert_double_ge(now_s, before_s * (1 - 1e-9));
        ck_assert_double_le(now_s, full_s * (1 + 1e-9));
        before_s = now_s;
    }
}

CALC_TEST(replicas_that_share_experts_run_in_step)
{
    const struct {
        int64_t tensor, expert, split;
        double together;
    } cases[] = {{1, 0, 0, 1}, {8, 0, 0, 1}, {1, 8, 1, 8}, {1, 1, 4, 4},
                 {8, 8, 1, 1}, {8, 1, 8, 1}, {2, 8, 2, 8}, {4, 2, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_exec e = {.strategy = {.tensor_par = cases[i].tensor,
                                    .expert_par = cases[i].expert,
                                    .expert_tensor_par = cases[i].split}};
        ck_assert_double_eq(calc_pools_together(&e), cases[i].together);
    }
}

/* DeepSeek-V3 on 8 processors that prefill, each a replica, and 8 that decode, all one. */
static calc_exec shared_experts(int64_t batch)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_DISAGGREGATED, 8, 1, 1, batch);
    e.strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
    e.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    e.strategy.expert_par = 8;
    e.strategy.dispatch_type = CALC_DISPATCH_TYPE_REPLICATED;
    e.inference.prefill_procs = 8;
    e.inference.prefill_tensor_par = 1;
    e.inference.prefill_expert_par = 8;
    return e;
}

/* Of replicas that run in step those that have no prompt send no tokens to the experts. */
CALC_TEST(a_prompt_that_is_alone_has_the_experts_for_itself)
{
    calc_exec e = shared_experts(1);
    queue_answers one = queue_run_of("deepseek-v3-671B", &e);
    ck_assert_double_eq_tol(one.closed.prefill_time, one.exact.prefill_time,
                            1e-6 * one.exact.prefill_time);
    double before_s = one.closed.prefill_time;
    for (int64_t batch = 32; batch <= 2048; batch *= 4) {
        e.batch_size = batch;
        double now_s = queue_run_of("deepseek-v3-671B", &e).closed.prefill_time;
        ck_assert_double_ge(now_s, before_s * (1 - 1e-9));
        before_s = now_s;
    }
    ck_assert_double_gt(before_s, 1.05 * one.closed.prefill_time);
}

/* A pool that prefills nearly all the time: what requests do between pools is no time in its queue.
 */
CALC_TEST(a_full_prefill_pool_is_waited_for_as_simulated)
{
    for (int64_t batch = 64; batch <= 256; batch *= 2) {
        calc_exec e = pools(batch, 16);
        e.inference.traits.handover_steps = 40;
        e.inference.requests = 10 * batch;
        e.inference.prompt_spread = e.inference.generate_spread = 0.111;
        queue_answers a = queue_run(&e);
        ck_assert_double_gt(a.exact.requests_per_s, 0.8 * a.exact.prefill_requests_per_s);
        ck_assert_double_eq_tol(a.closed.ttft, a.exact.ttft, 0.1 * a.exact.ttft);
        ck_assert_double_eq_tol(a.closed.requests_per_s, a.exact.requests_per_s,
                                0.03 * a.exact.requests_per_s);
    }
}

/* A request is handed over between steps of others, simulated or not; one that is alone waits for
 * none. */
CALC_TEST(requests_are_handed_over_between_steps)
{
    for (int64_t batch = 1; batch <= 64; batch *= 8) {
        calc_exec e = pools(batch, 64);
        e.inference.requests = 10 * batch;
        e.inference.prompt_spread = e.inference.generate_spread = 0.1;
        queue_answers at_once = queue_run(&e);
        e.inference.traits.handover_steps = 20;
        queue_answers a = queue_run(&e);
        double more_s = a.closed.ttft - at_once.closed.ttft;
        ck_assert_double_eq_tol(a.closed.ttft_p50, a.exact.ttft_p50, 0.2 * a.exact.ttft_p50);
        ck_assert_double_eq_tol(a.closed.tpot, at_once.closed.tpot, 0.1 * a.closed.tpot);
        ck_assert_double_ge(more_s, batch > 1 ? 10 * a.closed.tpot : 0);
        ck_assert_double_le(more_s, batch > 1 ? 21 * a.closed.tpot : 0);
    }
}

CALC_TEST(as_many_are_served_as_arrive)
{
    calc_exec e = pools(1, 8);
    double most = queue_run(&e).closed.prefill_requests_per_s;
    double before_s = 0;
    for (double used = 0.05; used < 1; used += 0.1) {
        e.inference.arrival_rate = used * most;
        calc_stats s = queue_run(&e).closed;
        assert_near(s.requests_per_s, used * most);
        ck_assert_double_eq_tol(s.decode_sequences, used * most * 199 * s.tpot,
                                1e-6 * s.decode_sequences);
        /* M/D/1, and half of a decoding step */
        double wait_s = used / (2 * (1 - used)) / most;
        ck_assert_double_ge(s.queue_time, wait_s * (1 - 1e-9));
        ck_assert_double_le(s.queue_time, wait_s * (1 + 1e-9) + s.decode_step_time / 2);
        ck_assert_double_gt(s.ttft, before_s);
        before_s = s.ttft;
    }
    e.inference.arrival_rate = 1.01 * most;
    calc_stats s = queue_run(&e).closed;
    ck_assert(isnan(s.ttft));
    assert_near(s.requests_per_s, most);
}

/* ---- Two machines ---------------------------------------------------------------------------- */

/* Prompts are read on a machine of half the speed, memory and price. */
static calc_system slower(void)
{
    calc_system s = queue_system();
    for (int type = 0; type < CALC_DATATYPE_COUNT; type++) {
        s.chip.matrix[type].flop_per_s /= 2;
        s.chip.vector[type].flop_per_s /= 2;
    }
    s.chip.mem1.bytes_per_s /= 2;
    s.chip.mem1.capacity_bytes /= 2;
    s.chip.watts = 400;
    s.chip.usd_per_hour = 1;
    return s;
}

static calc_stats on(const calc_system *system, const calc_exec *e)
{
    calc_app app = shipped_app("llama3-70B");
    calc_stats stats;
    ck_assert_int_eq(calc_check(&app, system, e, NULL), CALC_OK);
    calc_run(&app, system, e, CALC_COMPAT_NONE, &stats);
    return stats;
}

/* Passes over prompts take what they take there, steps what they take here. */
CALC_TEST(each_machine_has_its_own_speed)
{
    calc_system fast = queue_system(), slow = slower();
    calc_exec e = pools(1, 8);
    calc_stats here = on(&fast, &e);
    calc_stats there = on(&slow, &e);
    e.inference.prefill_system = (calc_other_system){"slow", &slow};
    calc_stats both = on(&fast, &e);
    ck_assert_double_gt(there.prefill_time, 1.5 * here.prefill_time);
    ck_assert_double_eq(both.prefill_time, there.prefill_time);
    ck_assert_double_eq(both.prefill_requests_per_s, there.prefill_requests_per_s);
    ck_assert_double_eq(both.decode_requests_per_s, here.decode_requests_per_s);
    ck_assert_double_eq(both.kv_capacity_tokens, here.kv_capacity_tokens);
    calc_system copy = fast;
    e.inference.prefill_system.system = &copy;
    ck_assert_double_eq(on(&fast, &e).ttft, here.ttft);
    queue_answers a = queue_run(&e);
    e.inference.prefill_system.system = &slow;
    queue_answers b = queue_run(&e);
    double ratio = there.prefill_time / here.prefill_time;
    ck_assert_double_eq_tol(b.exact.prefill_time / a.exact.prefill_time, ratio, 1e-9);
}

/* One rank's part of the cache of a prompt, 512 bytes a token and block, by the slower of the last
 * networks. */
CALC_TEST(the_cache_goes_over_the_last_networks)
{
    calc_system fast = queue_system(), slow = slower();
    calc_exec e = pools(1, 8);
    e.strategy.data_par_net = 0;
    e.inference.prefill_system = (calc_other_system){"slow", &slow};
    calc_network *last = &slow.networks[slow.networks_count - 1];
    last->bytes_per_s = 1e9;
    last->efficiency = 0.5;
    double sent_s = 80 * 512 * 4000.0 / 0.5e9;
    double latency_s = last->latency_s + 2 * last->latency_log2_s;
    ck_assert_double_ge(on(&fast, &e).kv_transfer_time, sent_s);
    ck_assert_double_le(on(&fast, &e).kv_transfer_time, sent_s + latency_s);
    e.inference.prefill_system.system = &fast; /* the other way round */
    ck_assert_double_ge(on(&slow, &e).kv_transfer_time, sent_s);
    ck_assert_double_le(on(&slow, &e).kv_transfer_time, sent_s + latency_s);
}

CALC_TEST(both_machines_are_paid)
{
    calc_system fast = queue_system(), slow = slower();
    calc_exec e = pools(64, 16);
    fast.chip.usd_per_hour = 4;
    fast.chip.watts = 700;
    e.inference.prefill_system = (calc_other_system){"slow", &slow};
    calc_stats s = on(&fast, &e);
    double per_hour = 8 * 4 + 16 * 1;
    assert_near(s.usd_per_million_output_tokens, per_hour / 3600 / s.output_tokens_per_s * 1e6);
    assert_near(s.energy_per_token, (8 * 700 + 16 * 400) / s.output_tokens_per_s);
    slow.chip.usd_per_hour = 0; /* not known */
    ck_assert(isnan(on(&fast, &e).usd_per_million_output_tokens));
    ck_assert(!isnan(on(&fast, &e).energy_per_token));
}

/* The pool that fills its memory more is shown, and either may not fit. */
CALC_TEST(each_machine_has_its_own_memory)
{
    calc_system fast = queue_system(), slow = slower();
    calc_exec e = pools(4, 8);
    e.inference.prefill_system = (calc_other_system){"slow", &slow};
    calc_stats s = on(&fast, &e);
    ck_assert_double_eq(s.mem_tier1_capacity, slow.chip.mem1.capacity_bytes);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_OK);
    slow.chip.mem1.capacity_bytes = 10e9;
    s = on(&fast, &e);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert_double_eq(s.mem_tier1_capacity, 10e9);
    e.inference.prefill_system.system = &fast;
    s = on(&slow, &e);
    ck_assert_int_eq(s.verdict, CALC_VERDICT_MEM1_CAPACITY);
    ck_assert_double_eq(s.mem_tier1_capacity, 10e9);
    slow.chip.mem1.capacity_bytes = 1e13;
    slow.networks[0].size = 4; /* too few */
    e.inference.prefill_system.system = &slow;
    ck_assert_int_eq(on(&fast, &e).verdict, CALC_VERDICT_NETWORK_SIZE);
    calc_app app = shipped_app("llama3-70B");
    calc_reason reason[CALC_MAX_REASONS];
    s = on(&fast, &e);
    ck_assert_uint_ge(calc_reasons(&app, &fast, &e, CALC_COMPAT_NONE, &s, reason), 1);
    ck_assert_int_eq(reason[0].verdict, CALC_VERDICT_NETWORK_SIZE);
}
