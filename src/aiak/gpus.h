/** @file gpus.h  Reads a cluster of several kinds of chips in the notation of AIAK's planner:
 *  "a800:120,h800:256". */
#ifndef CALC_AIAK_GPUS_H
#define CALC_AIAK_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct calc_aiak_name {
    const char *name; /**< AIAK's name; NULL ends a list */
    const char *file; /**< calc's file in models/ or systems/ */
} calc_aiak_name;

enum { CALC_AIAK_CHIPS = 5 };

/** AIAK's models and chips. */
extern const calc_aiak_name calc_aiak_models[];
extern const calc_aiak_name calc_aiak_chips[CALC_AIAK_CHIPS + 1];

/** The row of a name; NULL if there is none. */
const calc_aiak_name *calc_aiak_find(const calc_aiak_name *list, const char *name);

enum { CALC_AIAK_UNLIMITED = -1 };

typedef struct calc_aiak_gpu {
    const calc_aiak_name *chip;
    int64_t most; /**< number of them in the cluster, or CALC_AIAK_UNLIMITED */
} calc_aiak_gpu;

typedef struct calc_aiak_gpus {
    calc_aiak_gpu of[CALC_AIAK_CHIPS]; /**< in the order given */
    int count;
} calc_aiak_gpus;

/** Reads TYPE[:MAX][,TYPE[:MAX]...]; a MAX of -1 means no limit.
 *  @param complaint  filled with one line if the text is wrong
 *  @return false if it is wrong */
bool calc_aiak_gpus_parse(const char *text, calc_aiak_gpus *out, char *complaint, size_t size);

/** Whether the cluster has this number of processors, of all kinds together.
 *  @param complaint  filled if it does not */
bool calc_aiak_gpus_suffice(const calc_aiak_gpus *gpus, int64_t count, char *complaint,
                            size_t size);

#endif
