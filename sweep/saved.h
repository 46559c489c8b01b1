/** @file saved.h  Sweeps that survive: one shard, with checkpoints, and going on from one. */
#ifndef CALC_SWEEP_SAVED_H
#define CALC_SWEEP_SAVED_H

#include "shard.h"
#include "sweep.h"

/** Where a sweep is saved; how often, options.checkpoint_s says. */
typedef struct calc_saving {
    const char *path; /**< the checkpoint (checkpoint.h); NULL: none */
    bool resume;      /**< go on from it; from the start if there is no file */
    calc_shard shard; /**< part to sweep; calc_shard_parse("1/1") is all */
    char *words;      /**< the command line, as in calc_checkpoint; borrowed */
    size_t words_size;
} calc_saving;

/** calc_sweep() of one shard; sets take, checkpoint and resumed of `options`. The checkpoint is
 *  written once before the sweep starts, so that a path that cannot be written costs no work, and
 *  when it ends. One that cannot be written in between is no failure: the next may succeed.
 *  @return as calc_sweep() and calc_checkpoint_read(); CALC_ERR_IO too if the first or the last
 *  checkpoint cannot be written: after the last, *result is whole (partial is false). Errors are
 *  added. *result must be freed in any case. */
CALC_MUST_USE calc_status calc_saved_sweep(const calc_space *space, const calc_designs *designs,
                                           const calc_sweep_options *options,
                                           const calc_saving *saving, calc_sweep_result *result,
                                           calc_errors *errors);

#endif
