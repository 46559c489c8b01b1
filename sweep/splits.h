/** @file splits.h  How cells split the blocks over stages and chunks, kept: units of one tensor
 *  parallelism and micro-batch have the same cells again and again. */
#ifndef CALC_SWEEP_SPLITS_H
#define CALC_SWEEP_SPLITS_H

#include "cell.h"

enum {
    CALC_SPLITS = 64,         /**< a power of two */
    CALC_SPLIT_CHUNKINGS = 12 /**< cells with more are not kept */
};

/** The inputs of a split, for one model and one space. */
typedef struct calc_split_key {
    int64_t stages, microbatches, first_blocks, last_blocks;
    int64_t balance, schedule, phase;
    bool training, rounds;
} calc_split_key;

/** The results of calc_cell_split() and calc_cell_settle(). */
typedef struct calc_split {
    bool known;
    calc_split_key key;
    size_t fitting, unfit;
    calc_cell_chunking chunking[CALC_SPLIT_CHUNKINGS], unfit_chunking[CALC_SPLIT_CHUNKINGS];
    calc_kernel_chunking shape[CALC_SPLIT_CHUNKINGS];
    calc_stages plain;
    int64_t plain_of;
    double fewest_blocks;
    bool offloads;
    calc_floor floor;
} calc_split;

/** Those that are kept, each at one place. Start with {0}. */
typedef struct calc_splits {
    calc_split item[CALC_SPLITS];
} calc_splits;

/** Discard all, when the model changes. */
void calc_splits_forget(calc_splits *splits);

/** Fill the data that a cell shares with an earlier one, if it is kept. @return whether it is */
bool calc_splits_find(const calc_splits *splits, calc_cell *cell);

/** Keep that of a cell. */
void calc_splits_keep(calc_splits *splits, const calc_cell *cell);

#endif
