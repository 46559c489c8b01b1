/** @file parts.h  The parts of a sweep (checkpoint.h), put together. */
#ifndef CALC_SWEEP_PARTS_H
#define CALC_SWEEP_PARTS_H

#include "sweep.h"

/** Merge the shards of a sweep, which must all be there, once, and finished.
 *  @param path         their files, in any order
 *  @param fingerprint  calc_fingerprint() of the sweep
 *  @param options      of the sweep
 *  @param result       filled with the result of one sweep of everything; must be freed in any case
 *  @return CALC_OK; what calc_checkpoint_read() and _belongs() return; CALC_ERR_RANGE if shards are
 *  missing, repeated, not finished or of another division; CALC_ERR_NOMEM; with an error */
CALC_MUST_USE calc_status calc_parts_merge(const char *const *path, size_t count,
                                           uint64_t fingerprint, const calc_sweep_options *options,
                                           calc_sweep_result *result, calc_errors *errors);

#endif
