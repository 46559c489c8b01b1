/** @file splits.h  How cells split the blocks over stages and chunks, kept: few differ. */
#ifndef CALC_SWEEP_SPLITS_H
#define CALC_SWEEP_SPLITS_H

#include "cell.h"

enum {
    CALC_SPLITS = 512,         /**< that are kept; with more all are discarded */
    CALC_SPLIT_ROOM = 1024,    /**< their chunkings, likewise */
    CALC_SPLIT_CHUNKINGS = 12, /**< cells with more are not kept */
    CALC_SPLIT_PLACES = 2048   /**< a power of two */
};

/** The inputs of a split, for one model and one space. */
typedef struct calc_split_key {
    int64_t stages, first_blocks, last_blocks;
    int64_t balance, schedule, phase;
    bool whole; /**< micro-batches are so many for each stage */
    bool training, rounds;
} calc_split_key;

/** The results of calc_cell_split(), but for their chunkings. */
typedef struct calc_split {
    calc_split_key key;
    size_t first, fitting, unfit; /**< calc_split_chunking: those that fit come first */
    double fewest_blocks;
    bool offloads;
} calc_split;

typedef struct calc_split_chunking {
    calc_cell_chunking chunking;
    calc_kernel_chunking shape; /**< if it fits */
} calc_split_chunking;

/** Those that are kept. Owns its arrays, which are made for the first of them. Start with {0}. */
typedef struct calc_splits {
    size_t count, chunkings;
    calc_split *item;              /**< CALC_SPLITS */
    calc_split_chunking *chunking; /**< CALC_SPLIT_ROOM */
    /** Open addressing: 0, or one more than the position of an item. */
    unsigned short place[CALC_SPLIT_PLACES];
} calc_splits;

/** Discard all, when the model changes. */
void calc_splits_forget(calc_splits *splits);

/** Free what it owns. */
void calc_splits_free(calc_splits *splits);

/** Fill the data that a cell shares with an earlier one, if it is kept: all but its plain stages.
 *  @return whether it is */
bool calc_splits_find(const calc_splits *splits, calc_cell *cell);

/** Keep that of a cell. Without memory nothing is kept. */
void calc_splits_keep(calc_splits *splits, const calc_cell *cell);

#endif
