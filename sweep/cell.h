/** @file cell.h  Cells: the processor counts, pipeline and data parallelism and batch sizes that go
 *  with one tensor parallelism and micro-batch size; and what the lanes of a cell have in common.
 */
#ifndef CALC_SWEEP_CELL_H
#define CALC_SWEEP_CELL_H

#include "calc.h"
#include "kernel.h"
#include "space.h"

/** Flags of offload and sharding of a tile, and data_par_overlap of its points. */
typedef struct calc_cell_combo {
    bool sharding, weight, activations, optimizer;
} calc_cell_combo;

/** One cell, expanded into lanes (interleavings times pipeline networks). Large: one per thread. */
typedef struct calc_cell {
    calc_exec exec;     /**< num_procs, parallel sizes, batch and micro-batch */
    size_t procs_index; /**< position of num_procs in its axis */
    double blocks_per_proc, missing_blocks, stages, last_round, microbatches;
    double least_in_flight; /**< over the interleavings */

    size_t interleavings;       /**< that divide the blocks per processor */
    size_t unfit_interleavings; /**< that do not: */
    int64_t unfit_interleaving[CALC_KERNEL_LANES];
    size_t pipeline_networks, data_networks;
    int64_t pipeline_network[CALC_MAX_NETWORKS], data_network[CALC_MAX_NETWORKS];
    size_t combos; /**< those without activation offload come first */
    size_t combos_without_activations;
    calc_cell_combo combo[16];
    bool plain, overlapped; /**< values of data_par_overlap */

    size_t lanes;
    _Alignas(CALC_KERNEL_ALIGN) double base_blocks[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double chunks[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double rounds[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double in_flight[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double collides[CALC_MAX_NETWORKS][CALC_KERNEL_LANES];
    unsigned char network[CALC_KERNEL_LANES]; /**< position of the lane's pipeline network */
} calc_cell;

/** How the networks take a cell with one tensor-parallel network: verdicts by pipeline and data
 *  network, and the masks of the kernel. */
typedef struct calc_cell_networks {
    calc_verdict verdict[CALC_MAX_NETWORKS][CALC_MAX_NETWORKS]; /**< [pipeline][data] */
    size_t allowed[CALC_MAX_NETWORKS]; /**< data networks allowed with a pipeline network */
    size_t allowed_pairs;
    size_t rejected[CALC_VERDICT_COUNT]; /**< pairs, by reason */
    _Alignas(CALC_KERNEL_ALIGN) double mask_s[CALC_MAX_NETWORKS][CALC_KERNEL_LANES];
} calc_cell_networks;

/** Whether the cell has any point: sizes that multiply to num_procs, a batch that divides. Fills
 *  exec and nothing else.
 *  @param base   tensor_par, microbatch_size and the rest
 *  @param batch  the batch size, or the largest allowed if the space says so */
bool calc_cell_at(calc_cell *cell, const calc_space *space, const calc_app *app,
                  const calc_exec *base, int64_t num_procs, int64_t batch, int64_t pipeline_par);

/** Whether the interleavings of a space, times the networks of a system, fit in one tile: with
 *  listed values they may not. */
bool calc_cell_lanes_fit(const calc_space *space, const calc_app *app, const calc_system *system);

/** Expand a cell: its lanes and combinations. */
void calc_cell_fill(calc_cell *cell, const calc_space *space, const calc_app *app,
                    const calc_system *system);

/** Fill the verdicts and masks for one tensor-parallel network. */
void calc_cell_networks_fill(calc_cell_networks *out, const calc_cell *cell,
                             const calc_system *system, int64_t tensor_network);

#endif
