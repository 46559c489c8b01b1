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
    tcase_add_test(cases, as_many_are_served_as_arrive);
    return run_cases(cases);
}
