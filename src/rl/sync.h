/** @file sync.h  How long new weights take to the engines: fixed + a tensors + bytes / rate, but no
 *  less than the bytes take on the wire, with the constants of each method fitted to published
 * times (docs/post-training.md). */
#ifndef CALC_RL_SYNC_H
#define CALC_RL_SYNC_H

#include "spec/job.h"

/** What a method takes. */
typedef struct calc_rl_sync_row {
    double fixed_s, tensor_s;
    double rate_byte_per_s; /**< at which a rank of the engines receives; INFINITY: bytes do not
                                 tell */
    bool sharded;           /**< a rank receives its part of the weights, not all of them */
} calc_rl_sync_row;

calc_rl_sync_row calc_rl_sync_row_of(calc_job_sync_method method);

/** Time of a sync [s].
 *  @param bytes      of a copy of the model, in the format that is sent
 *  @param ranks      that a copy is divided over in an engine
 *  @param network_byte_per_s  of the network between trainer and engines, for one rank */
double calc_rl_sync_s(calc_job_sync_method method, double tensors, double bytes, double ranks,
                      double network_byte_per_s);

/** The method that "auto" is. */
calc_job_sync_method calc_rl_sync_method(const calc_job *job, bool same_pool);

#endif
