/** @file ranks.h  One sweep by many processes that mpirun started (MPI: one process is a rank).
 *  ranks_mpi.c and ranks_host.c are built with CALC_WITH_MPI, ranks_none.c without; MPI is used
 * nowhere else. */
#ifndef CALC_SWEEP_RANKS_H
#define CALC_SWEEP_RANKS_H

#include "checkpoint.h"
#include "sweep.h"

/** This process among the others. */
typedef struct calc_ranks {
    int rank;     /**< from 0; only rank 0 prints and writes */
    int count;    /**< 1 if nothing started us together */
    int local;    /**< ranks on this machine */
    bool broken;  /**< MPI failed: others may wait for us forever */
    bool parted;  /**< a rank is lost: leave without it */
    bool *lost;   /**< of rank 0: which; NULL without MPI */
    int *process; /**< of rank 0: handles of the ranks on its machine, -1 for others */
} calc_ranks;

/** Join the others. A process that mpirun did not start is alone and does not touch MPI.
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED if mpirun started several and calc was built without MPI;
 *  CALC_ERR_IO if MPI fails; with an error */
CALC_MUST_USE calc_status calc_ranks_join(calc_ranks *out, calc_errors *errors);

/** Whether all ranks are fine: all must call this.
 *  @param status  of this rank, with its errors
 *  @return CALC_OK if it is that on all ranks. Otherwise the errors stay on the first rank that
 *  failed only, so that they are printed once */
CALC_MUST_USE calc_status calc_ranks_agree(calc_ranks *ranks, calc_status status,
                                           calc_errors *errors);

/** calc_saved_sweep() by all ranks: all must call this, with the same arguments. Without a
 *  checkpoint, ranks take the next chunk whenever they are free; others redo the chunks of a rank
 *  that died or does not answer (ledger.h). With one, rank i of n does shard i+1/n and saves it as
 *  `path`.i+1: for --resume with as many ranks, for as many shards, or for calc sweep --merge; a
 * rank that is lost ends the sweep.
 *  @return as calc_saved_sweep(); CALC_ERR_IO on rank 0 if another failed. Rank 0 gets the result
 * of all, the others an empty one */
CALC_MUST_USE calc_status calc_ranks_sweep(calc_ranks *ranks, const calc_space *space,
                                           const calc_designs *designs,
                                           const calc_sweep_options *options,
                                           const calc_saving *saving, calc_sweep_result *result,
                                           calc_errors *errors);

/** End MPI, and ranks on this machine that are lost; if it is broken, end all ranks, and do not
 *  return. */
void calc_ranks_leave(calc_ranks *ranks);

#endif
