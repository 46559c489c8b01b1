/** @file shard.h  One of n equal shares of a sweep: chunks i-1, i-1+n, i-1+2n ... for shard i/n. */
#ifndef CALC_SWEEP_SHARD_H
#define CALC_SWEEP_SHARD_H

#include "calc.h"

/** No chunk is left. */
#define CALC_SHARD_DONE UINT64_MAX

/** A share, and how far it is. */
typedef struct calc_shard {
    uint64_t index; /**< from 1 */
    uint64_t count;
    uint64_t next; /**< chunk to do next, or CALC_SHARD_DONE */
} calc_shard;

/** Parse "2/4": the second of four, nothing done. "1/1" is the whole sweep. At most a million.
 *  @return CALC_OK or CALC_ERR_RANGE with an error */
CALC_MUST_USE calc_status calc_shard_parse(calc_shard *out, const char *text, calc_errors *errors);

/** The first chunk of the shard behind `chunk`. */
uint64_t calc_shard_after(const calc_shard *shard, uint64_t chunk);

/** calc_sweep_options.take: hand out shard->next and go on.
 *  @param shard  a calc_shard */
uint64_t calc_shard_take(void *shard);

#endif
