/** @file stage_cell.h  What the rows of a unit have in common in one cell (processors, pipeline and
 *  data parallelism, batch): its interleavings, its pairs of networks, the flags of its points, and
 *  the lanes that are made of them. */
#ifndef CALC_SWEEP_STAGE_CELL_H
#define CALC_SWEEP_STAGE_CELL_H

#include "stage_kernel.h"
#include "stage_rows.h"

enum {
    /** Networks of the pipeline and of data parallelism. */
    CALC_STAGE_PAIRS = CALC_MAX_NETWORKS * CALC_MAX_NETWORKS,
    /** Links of a cell: messages whole and scattered, with every zero_stage. */
    CALC_STAGE_LINKS = 8
};

/** One choice of networks. */
typedef struct calc_stage_pair {
    int64_t pipeline, data;
    bool known;             /**< lines are */
    calc_stage_lines lines; /**< calc_stage_cell_lines() */
} calc_stage_pair;

/** An interleaving, with or without overlap of messages. */
typedef struct calc_stage_chunking {
    int64_t interleaving;
    bool overlapped;
} calc_stage_chunking;

/** Links of the lanes at hand for rows that send messages of this size, and a zero_stage. */
typedef struct calc_stage_known_links {
    bool known;
    double message_bytes;
    int64_t zero;
    calc_stage_lane_links links;
} calc_stage_known_links;

/** One cell. Large: one per thread. */
typedef struct calc_stage_cell {
    calc_exec exec; /**< of the unit, with the sizes of the cell */
    bool alone;     /**< no replicas: nothing to shard or to overlap */

    size_t pipelines, datas;                /**< networks */
    calc_stage_pair pair[CALC_STAGE_PAIRS]; /**< networks of data parallelism fastest */
    calc_verdict verdict[CALC_MAX_NETWORKS][CALC_STAGE_PAIRS]; /**< [tensor-parallel network] */

    size_t fitting, unfit; /**< chunkings that divide the blocks, and that do not */
    calc_stage_chunking chunking[CALC_STAGE_LANES], unfit_chunking[CALC_STAGE_LANES];
    calc_stages stages[CALC_STAGE_LANES]; /**< of those that fit */
    bool same_first;                      /**< the first class is the same in all of them */

    size_t reduces, gathers; /**< values of data_par_overlap and param_gather_overlap */
    int64_t reduce[2], gather[3];

    size_t choices;  /**< of the rows, that are legal here */
    size_t resident; /**< of them, without offload of activations: these come first */
    unsigned char choice[CALC_STAGE_CHOICES];

    /** The lanes at hand: pairs that the networks of a row allow, chunkings fastest. */
    calc_stage_lanes lanes;
    size_t lane_pairs;
    unsigned char lane_pair[CALC_STAGE_PAIRS];
    calc_stage_known_links known[CALC_STAGE_LINKS];
} calc_stage_cell;

/** Fill all but the lanes.
 *  @param exec  the unit's base, with the sizes of the cell */
void calc_stage_cell_fill(calc_stage_cell *cell, const calc_space *space, const calc_system *system,
                          const calc_stage_rows *rows, const calc_exec *exec);

/** Choices of a row that are legal in the cell: the first so many of cell->choice. */
size_t calc_stage_cell_choices(const calc_stage_cell *cell, const calc_stage_rows *rows,
                               const calc_stage_row *row);

/** Whether a row was made for the networks of a pair. */
static inline bool calc_stage_pairs_with(const calc_stage_cell *cell, const calc_stage_row *row,
                                         size_t pair)
{
    return row->data_network < 0 || row->data_network == cell->pair[pair].data;
}

/** Make lanes for the rows of a tensor-parallel network and a network of data parallelism (-1:
 *  any): of as many pairs from *next on as there is room for.
 *  @param next  moves to the first pair that is left
 *  @return whether there are any lanes */
bool calc_stage_cell_lanes(calc_stage_cell *cell, size_t network, int64_t data_network,
                           size_t *next);

/** Lines of a pair. */
const calc_stage_lines *calc_stage_cell_lines(calc_stage_cell *cell, const calc_system *system,
                                              const calc_stage_rows *rows, size_t pair);

/** Links of the lanes for a row.
 *  @param exec  of the row in the cell, with the state of a choice */
const calc_stage_lane_links *calc_stage_cell_links(calc_stage_cell *cell,
                                                   const calc_stage_rows *rows,
                                                   const calc_stage_row *row,
                                                   const calc_exec *exec);

/** Pair and chunking of a lane. */
static inline size_t calc_stage_cell_pair(const calc_stage_cell *cell, size_t lane)
{
    return cell->lane_pair[lane / cell->fitting];
}

static inline const calc_stage_chunking *calc_stage_cell_chunking(const calc_stage_cell *cell,
                                                                  size_t lane)
{
    return &cell->chunking[lane % cell->fitting];
}

/** Whether a value of param_gather_overlap lets weights overlap beside one of data_par_overlap. */
static inline bool calc_stage_cell_gathers(const calc_stage_cell *cell, size_t reduce,
                                           size_t gather)
{
    return cell->gather[gather] == CALC_CHOICE_AUTO ? cell->reduce[reduce] != 0
                                                    : cell->gather[gather] == CALC_CHOICE_TRUE;
}

#endif
