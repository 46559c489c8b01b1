
#include <math.h>

#include "frame.h"
#include "queue_case.h"

/* ---- Closed loops ---------------------------------------------------------------------------- */

/* All times of a request are those of its round: N in flight, by Little's law. */
CALC_TEST(rounds_hold_all_requests)
{
    const int64_t chunks[] = {0, 500, 8192};
    for (int i = 0; i < 3; i++) {
        for (int64_t batch = 1; batch < 2000; batch *= 3) {
            calc_exec e = queue_exec(batch, 1000, 100);
            e.inference.chunk_size = chunks[i];
            e.inference.generate_spread = 0.2;
            calc_stats s = queue_run(&e).closed;
            ck_assert_double_eq_tol(s.requests_per_s * s.request_time, (double)batch,
                                    1e-9 * (double)batch);
            assert_near(s.ttft, s.queue_time + s.prefill_time);
            ck_assert_double_le(s.ttft_p50, s.ttft_p99);
        }
    }
}

/* A prompt of 1,000 tokens takes the time of its tokens, whatever the chunk has room for. */
CALC_TEST(a_prompt_takes_its_own_tokens)
{
    calc_exec e = queue_exec(4, 1000, 200);
    e.inference.chunk_size = 1000;
    calc_stats s = queue_run(&e).closed;
    e.inference.chunk_size = 16384;
    calc_stats large = queue_run(&e).closed;
    ck_assert_double_eq_tol(large.prefill_time, s.prefill_time, 0.02 * s.prefill_time);
    ck_assert_double_eq_tol(large.ttft, s.ttft, 0.02 * s.ttft);
}

/* Of 64 clients 16 are served at once: the others wait for their turn, three rounds. */
CALC_TEST(those_without_a_slot_wait_for_one)
{
    calc_exec e = queue_exec(16, 1000, 100);
    calc_stats alone = queue_run(&e).closed;
    e.batch_size = 64;
    e.inference.max_sequences = 16;
    calc_stats s = queue_run(&e).closed;
    ck_assert_double_eq_tol(s.tpot, alone.tpot, 0.01 * alone.tpot);
    ck_assert_double_le(s.decode_sequences, 16);
    assert_near(s.requests_per_s * s.request_time, 64);
    double slot_s = 48 / s.requests_per_s;
    ck_assert_double_eq_tol(s.queue_time, slot_s, 0.01 * slot_s);
    /* More than there are is no limit. */
    e.inference.max_sequences = 64;
    calc_stats all = queue_run(&e).closed;
    e.inference.max_sequences = 0;
    ck_assert_double_eq(queue_run(&e).closed.ttft, all.ttft);
}

/* All 64 prompts at once are 16 chunks of 4 prompts: the last one waits for all, the mean for half.
 */
CALC_TEST(the_first_requests_of_a_run_come_at_once)
{
    calc_exec e = queue_exec(64, 512, 900);
    e.inference.requests = 64;
    calc_stats once = queue_run(&e).closed;
    e.inference.requests = 0;
    calc_stats ever = queue_run(&e).closed;
    double step_s = ever.prefill_time + 1536 * (ever.prefill_time - ever.tpot) / 512;
    ck_assert_double_gt(once.ttft, 7 * step_s);
    ck_assert_double_lt(once.ttft, 10 * step_s);
    ck_assert_double_lt(once.ttft_p99, 18 * step_s);
    ck_assert_double_lt(ever.ttft, 3 * step_s);
    /* Ten rounds have a tenth of it. Requests of one length stay together: the step that each
     * misses is full of the prompts of others. */
    e.inference.requests = 640;
    queue_answers run = queue_run(&e);
    ck_assert_double_gt(run.closed.ttft, once.ttft / 10 + step_s);
    ck_assert_double_eq_tol(run.closed.ttft, run.exact.ttft, 0.05 * run.exact.ttft);
    ck_assert_double_eq_tol(run.closed.ttft_p50, run.exact.ttft_p50, 0.1 * run.exact.ttft_p50);
    ck_assert_double_gt(run.closed.ttft_p99, 5 * run.closed.ttft_p50);
}

/* ---- Open loops ------------------------------------------------------------------------------ */

CALC_TEST(as_many_are_served_as_arrive)
{
    calc_exec e = queue_exec(1, 1000, 100);
    double before_s = queue_run(&e).closed.ttft;
    e.inference.arrival_rate = 1e9;
    double most = queue_run(&e).closed.requests_per_s;
    for (double rate = 0.01 * most; rate < 0.99 * most; rate += 0.07 * most) {
        e.inference.arrival_rate = rate;
        calc_stats s = queue_run(&e).closed;
        assert_near(s.requests_per_s, rate);
        ck_assert_double_gt(s.ttft, before_s);
        ck_assert_double_eq_tol(s.decode_sequences, rate * 99 * s.tpot, 1e-6 * s.decode_sequences);
        before_s = s.ttft;
    }
    /* More than that is not served, and whoever waits does so for ever. */
    e.inference.arrival_rate = 1.01 * most;
    queue_answers a = queue_run(&e);
    ck_assert_int_eq(a.closed.verdict, CALC_VERDICT_OVERLOADED);
    ck_assert(isnan(a.closed.ttft) && isnan(a.closed.ttft_p99) && isnan(a.closed.queue_time));
    ck_assert(isnan(a.exact.ttft) && isnan(a.closed.request_time));
    ck_assert_double_eq_tol(a.closed.requests_per_s, most, 1e-9 * most);
    ck_assert(a.closed.tpot > 0);
    /* Of 100 steps one prefills. The cache is there in all. */
    double cached = a.closed.decode_sequences * 100 / 99 * 1100;
    assert_near(a.closed.kv_cache_space, cached * a.closed.kv_bytes_per_token / 8);
}

/* Prompts alone: the last percent has an exponential tail of those that wait at all, which is
 * longer than that of equal services. */
CALC_TEST(the_slowest_arrivals_are_a_little_slower_than_those_that_are_simulated)
{
    calc_exec e = queue_exec(1, 4000, 2);
    e.inference.chunk_size = 0;
    double service_s = queue_run(&e).closed.ttft;
    for (double used = 0.3; used < 0.8; used += 0.4) {
        e.inference.arrival_rate = used / service_s;
        queue_answers a = queue_run(&e);
        ck_assert_double_ge(a.closed.ttft_p99, 1.1 * a.exact.ttft_p99);
        ck_assert_double_le(a.closed.ttft_p99, 1.35 * a.exact.ttft_p99);
    }
}

/* batch has no meaning then: it may be anything. */
CALC_TEST(arrivals_do_not_ask_for_a_batch)
{
    calc_exec e = queue_exec(1, 1000, 100);
    e.inference.arrival_rate = 2;
    calc_stats s = queue_run(&e).closed;
    e.batch_size = 4000;
    calc_stats other = queue_run(&e).closed;
    ck_assert_double_eq(s.ttft, other.ttft);
    ck_assert_double_eq(s.tpot, other.tpot);
    ck_assert_double_eq(s.proc_mem_tier1_cap_req, other.proc_mem_tier1_cap_req);
}

/* Slots that are nearly always taken are waited for. */
CALC_TEST(arrivals_wait_for_slots)
{
    calc_exec e = queue_exec(1, 1000, 100);
    e.inference.max_sequences = 4;
    e.inference.arrival_rate = 1e9;
    double most = queue_run(&e).closed.requests_per_s;
    e.inference.arrival_rate = 0.9 * most;
    calc_stats few = queue_run(&e).closed;
    e.inference.max_sequences = 0;
    calc_stats all = queue_run(&e).closed;
    ck_assert_double_gt(few.ttft, 2 * all.ttft);
    ck_assert_double_lt(few.decode_sequences, 4);
}
