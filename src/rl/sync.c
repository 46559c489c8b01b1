#include "rl/sync.h"

#include <math.h>

calc_rl_sync_row calc_rl_sync_row_of(calc_job_sync_method method)
{
    /* scripts/fit_rl_sync.py, least squares of logarithms over 32 published times; a tensor is what
     * calc_parameters_tensors() counts. */
    static const calc_rl_sync_row rows[CALC_JOB_SYNC_METHOD_COUNT] = {
        [CALC_JOB_SYNC_IPC_BUCKETS] = {1.4, 470e-6, 25e9, false},
        [CALC_JOB_SYNC_BUCKETS] = {3.0, 0, 32e9, false},
        [CALC_JOB_SYNC_PER_TENSOR] = {0, 1.1e-3, INFINITY, false},
        [CALC_JOB_SYNC_SHARDS] = {0.31, 37e-6, INFINITY, true},
        [CALC_JOB_SYNC_TRANSFER] = {0.05, 72e-6, INFINITY, true},
        [CALC_JOB_SYNC_HOST] = {0, 210e-6, INFINITY, false}};
    return rows[method];
}

double calc_rl_sync_s(calc_job_sync_method method, double tensors, double bytes, double ranks,
                      double network_byte_per_s)
{
    const calc_rl_sync_row row = calc_rl_sync_row_of(method);
    double sent = row.sharded ? bytes / ranks : bytes;
    double time_s = row.fixed_s + row.tensor_s * tensors + sent / row.rate_byte_per_s;
    return fmax(time_s, sent / network_byte_per_s);
}

calc_job_sync_method calc_rl_sync_method(const calc_job *job, bool same_pool)
{
    return job->sync.method != CALC_JOB_SYNC_AUTO ? job->sync.method
           : same_pool                            ? CALC_JOB_SYNC_IPC_BUCKETS
                                                  : CALC_JOB_SYNC_BUCKETS;
}
