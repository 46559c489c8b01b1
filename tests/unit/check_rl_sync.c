/* Times of weight syncs. */
#include "rl/step.h"

#include "frame.h"

CALC_TEST(shards_are_sent_once_and_buckets_to_every_rank)
{
    double whole = calc_rl_sync_s(CALC_JOB_SYNC_BUCKETS, 300, 640e9, 8, 50e9);
    double part = calc_rl_sync_s(CALC_JOB_SYNC_SHARDS, 300, 640e9, 8, 50e9);
    ck_assert_double_eq_tol(whole, 3 + 640 / 32.0, 1e-9);
    ck_assert_double_eq_tol(part, 640e9 / 8 / 50e9, 1e-9); /* the wire */
}

CALC_TEST_LOOP(no_sync_is_faster_than_the_wire, CALC_JOB_SYNC_IPC_BUCKETS,
               CALC_JOB_SYNC_METHOD_COUNT)
{
    calc_job_sync_method method = (calc_job_sync_method)_i;
    double part = calc_rl_sync_row_of(method).sharded ? 4 : 1;
    ck_assert_double_ge(calc_rl_sync_s(method, 1, 1e12, 4, 10e9), 1e12 / part / 10e9);
    ck_assert_double_ge(calc_rl_sync_s(method, 1e5, 1e9, 4, 10e9),
                        calc_rl_sync_s(method, 1e3, 1e9, 4, 10e9));
}

CALC_TEST(the_method_follows_from_the_pools)
{
    calc_job job;
    calc_job_init(&job);
    ck_assert_int_eq(calc_rl_sync_method(&job, true), CALC_JOB_SYNC_IPC_BUCKETS);
    ck_assert_int_eq(calc_rl_sync_method(&job, false), CALC_JOB_SYNC_BUCKETS);
    job.sync.method = CALC_JOB_SYNC_HOST;
    ck_assert_int_eq(calc_rl_sync_method(&job, true), CALC_JOB_SYNC_HOST);
}

/* Qwen3-235B-A22B by host memory and checkpoint-engine on H800: 6.22 s
 * (MoonshotAI/checkpoint-engine, README), of 36,757 tensors. */
CALC_TEST(a_published_sync_is_near)
{
    double time_s = calc_rl_sync_s(CALC_JOB_SYNC_HOST, 36757, 470e9, 8, 200e9);
    ck_assert_double_eq_tol(time_s / 6.22, 1, 0.3);
}
