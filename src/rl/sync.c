#include "rl/sync.h"

#include <math.h>

calc_rl_sync_row calc_rl_sync_row_of(calc_job_sync_method method)
{
    static const calc_rl_sync_row rows[CALC_JOB_SYNC_METHOD_COUNT] = {
        [CALC_JOB_SYNC_IPC_BUCKETS] = {0, 0, INFINITY, false},
        [CALC_JOB_SYNC_BUCKETS] = {0, 0, INFINITY, false},
        [CALC_JOB_SYNC_PER_TENSOR] = {0, 0, INFINITY, false},
        [CALC_JOB_SYNC_SHARDS] = {0, 0, INFINITY, true},
        [CALC_JOB_SYNC_HOST] = {0, 0, INFINITY, false}};
    return rows[method];
}

double calc_rl_sync_s(calc_job_sync_method method, double tensors, double bytes, double ranks,
                      double network_byte_per_s)
{
    const calc_rl_sync_row row = calc_rl_sync_row_of(method);
    double sent = row.sharded ? bytes / ranks : bytes;
    return row.fixed_s + row.tensor_s * tensors +
           sent / fmin(row.rate_byte_per_s, network_byte_per_s);
}

calc_job_sync_method calc_rl_sync_method(const calc_job *job, bool same_pool)
{
    return job->sync.method != CALC_JOB_SYNC_AUTO ? job->sync.method
           : same_pool                            ? CALC_JOB_SYNC_IPC_BUCKETS
                                                  : CALC_JOB_SYNC_BUCKETS;
}
