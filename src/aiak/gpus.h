/** @file gpus.h  A cluster of several kinds of chips, as AIAK's planner is told of it:
 *  "a800:120,h800:256". */
#ifndef CALC_AIAK_GPUS_H
#define CALC_AIAK_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aiak/names.h"

enum { CALC_AIAK_UNLIMITED = -1 };

typedef struct calc_aiak_gpu {
    const calc_aiak_name *chip;
    int64_t most; /**< of them in the cluster, or CALC_AIAK_UNLIMITED */
} calc_aiak_gpu;

typedef struct calc_aiak_gpus {
    calc_aiak_gpu of[CALC_AIAK_CHIPS]; /**< in the order in which they are named */
    int count;
} calc_aiak_gpus;

/** Read TYPE[:MAX][,TYPE[:MAX]...]; a MAX of -1 is none.
 *  @param complaint  filled if that is wrong, one line
 *  @return false if it is */
bool calc_aiak_gpus_parse(const char *text, calc_aiak_gpus *out, char *complaint, size_t size);

/** Whether there are so many of them, whatever the kind.
 *  @param complaint  filled if there are not */
bool calc_aiak_gpus_suffice(const calc_aiak_gpus *gpus, int64_t count, char *complaint,
                            size_t size);

#endif
