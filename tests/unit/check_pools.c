#include "model/serve/pools.h"

#include <math.h>

#include "queue_case.h"

static calc_exec pools(int64_t batch, int64_t procs)
{
    calc_exec e = queue_exec(batch, 4000, 200);
    e.inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
    e.inference.prefill_procs = procs;
    return e;
}

START_TEST(rounds_hold_all_requests)
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
END_TEST

START_TEST(one_request_does_not_wait)
{
    calc_exec e = pools(1, 8);
    calc_stats s = queue_run(&e).closed;
    ck_assert_double_eq_tol(s.queue_time, 0, 1e-9);
    ck_assert_double_lt(s.decode_sequences, 1);
}
END_TEST

/* One prefill replica cannot keep up with 64: they are prefilled one after the other, and what is
   not decoded waits there. With eight of them hardly any waits. */
START_TEST(requests_are_where_the_slower_pool_is)
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
END_TEST

START_TEST(slots_of_the_decoding_pool_are_waited_for)
{
    calc_exec e = pools(64, 64);
    e.inference.max_sequences = 8;
    calc_stats s = queue_run(&e).closed;
    ck_assert_double_eq(s.decode_sequences, 8);
    assert_near(s.requests_per_s, s.decode_requests_per_s);
    assert_near(s.requests_per_s, 8 / (199 * s.tpot));
    assert_near(s.requests_per_s * s.request_time, 64);
}
END_TEST

/* A tenth more requests than slots. In a run most wait for slots that become free one after the
 * other, and some for all of a round. */
START_TEST(a_run_waits_for_slots_as_simulated_requests_do)
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
END_TEST

/* A pass takes the prompts that came during the last one: few where few come. */
START_TEST(passes_hold_what_has_come)
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
END_TEST

START_TEST(replicas_that_share_experts_run_in_step)
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
END_TEST

/* A request is handed over between steps of others, simulated or not; one that is alone waits for
 * none. */
START_TEST(requests_are_handed_over_between_steps)
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
END_TEST

START_TEST(as_many_are_served_as_arrive)
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
END_TEST

int main(void)
{
    TCase *cases = tcase_create("pools");
    tcase_add_test(cases, rounds_hold_all_requests);
    tcase_add_test(cases, one_request_does_not_wait);
    tcase_add_test(cases, requests_are_where_the_slower_pool_is);
    tcase_add_test(cases, slots_of_the_decoding_pool_are_waited_for);
    tcase_add_test(cases, a_run_waits_for_slots_as_simulated_requests_do);
    tcase_add_test(cases, passes_hold_what_has_come);
    tcase_add_test(cases, replicas_that_share_experts_run_in_step);
    tcase_add_test(cases, requests_are_handed_over_between_steps);
    tcase_add_test(cases, as_many_are_served_as_arrive);
    return run_cases(cases);
}
