/** @file tile.h  A panel in a cell: its lanes with every chunking and every pair of networks. */
#ifndef CALC_SWEEP_TILE_H
#define CALC_SWEEP_TILE_H

#include "worker.h"

/** Where the time of a flag is in a step: whether gradients, or weights, overlap. */
bool calc_tile_reduces(const calc_cell *cell, size_t flag);
bool calc_tile_gathers(const calc_cell *cell, size_t flag);

/** Evaluate the panel of worker->job, count its points and enter those that matter. */
void calc_tile_run(calc_worker *worker);

#endif
