/** @file tile.h  A panel in a cell: its lanes with every chunking and every pair of networks. */
#ifndef CALC_SWEEP_TILE_H
#define CALC_SWEEP_TILE_H

#include "worker.h"

/** The unit of evaluation: a chunking and a pair of networks. */
typedef struct calc_tile_place {
    size_t chunking, pair;
} calc_tile_place;

/** Links of a lane of the current panel. */
const calc_stage_links *calc_tile_links(calc_worker *worker, size_t lane, size_t pair);

/** Where the time of a flag is in a step: whether gradients, or weights, overlap. */
bool calc_tile_reduces(const calc_cell *cell, size_t flag);
bool calc_tile_gathers(const calc_cell *cell, size_t flag);

/** Evaluate the panel of worker->job, count its points and enter those that matter. */
void calc_tile_run(calc_worker *worker);

#endif
