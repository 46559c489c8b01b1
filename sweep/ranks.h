/** @file ranks.h  One sweep by many processes that mpirun started (MPI: one process is a rank).
 *  ranks_mpi.c is built with CALC_WITH_MPI, ranks_none.c without; MPI is used nowhere else. */
#ifndef CALC_SWEEP_RANKS_H
#define CALC_SWEEP_RANKS_H

#include "checkpoint.h"
#include "sweep.h"

/** This process among the others. */
typedef struct calc_ranks {
    int rank;    /**< from 0; only rank 0 prints and writes */
    int count;   /**< 1 if nothing started us together */
    int local;   /**< ranks on this machine */
    bool broken; /**< MPI failed, or we did: others may wait for us forever */
} calc_ranks;

/** Join the others. A process that mpirun did not start is alone and does not touch MPI. From here
 *  to calc_ranks_agree(), and in calc_ranks_sweep(), ranks that do not come together for two
 * minutes end with status 4 and say so: one has died or stands still.
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED if mpirun started several and calc was built without MPI;
 *  CALC_ERR_IO if MPI fails; with an error */
CALC_MUST_USE calc_status calc_ranks_join(calc_ranks *out, calc_errors *errors);

/** Whether all ranks are fine: all must call this.
 *  @param status  of this rank, with its errors
 *  @return CALC_OK if it is that on all ranks. Otherwise the errors stay on the first rank that
 *  failed only, so that they are printed once */
CALC_MUST_USE calc_status calc_ranks_agree(calc_ranks *ranks, calc_status status,
                                           calc_errors *errors);

/** calc_saved_sweep() by all ranks: all must call this, with the same arguments. Rank i of n, from
 *  0, does shard i+1/n, and rank 0 merges them. A checkpoint is saved as `path`.i+1: for --resume
 *  with as many ranks, for as many shards, or for calc sweep --merge. A rank that ends early or
 *  fails ends all.
 *  @return as calc_saved_sweep(); CALC_ERR_IO without an error if another rank has one. Rank 0 gets
 *  the result of all, the others an empty one */
CALC_MUST_USE calc_status calc_ranks_sweep(calc_ranks *ranks, const calc_space *space,
                                           const calc_designs *designs,
                                           const calc_sweep_options *options,
                                           const calc_saving *saving, calc_sweep_result *result,
                                           calc_errors *errors);

/** End MPI; if it is broken, end all ranks, and do not return. */
void calc_ranks_leave(calc_ranks *ranks);

#endif
