/** @file tensor_par.h  Communication of tensor and sequence parallelism in one layer, and how much
 *  of it a tiled matrix multiplication hides. */
#ifndef CALC_MODEL_TENSOR_PAR_H
#define CALC_MODEL_TENSOR_PAR_H

#include "calc.h"
#include "model/layer.h"
#include "model/processor.h"

/** Blocks of a chunk differ in their communication: all but the last are base blocks; the last,
 *  the edge block, also hands its output to the next pipeline stage. */
typedef enum calc_block_place {
    CALC_BASE_BLOCK,
    CALC_EDGE_BLOCK,
    CALC_BLOCK_PLACES
} calc_block_place;

/** What the functions below need to know of the layout and the machine. Borrows. */
typedef struct calc_tensor_par {
    double ranks; /**< tensor parallelism */
    double element_bytes;
    calc_tensor_par_comm_type type;
    calc_tensor_par_overlap overlap;
    calc_processing_mode mode;
    const calc_network *network;
    const calc_memory_tier *memory;     /**< tier 1 */
    const calc_engine *matrix, *vector; /**< in the datatype */
} calc_tensor_par;

/** Fill the context of a layout. */
calc_tensor_par calc_tensor_par_of(const calc_system *system, const calc_exec *exec);

/** Arithmetic and memory time of one pass over a layer [s]. */
static inline double calc_tensor_par_flop_s(const calc_tensor_par *tp, const calc_layer *layer,
                                            calc_stage stage)
{
    return calc_engine_s(layer->matrix ? tp->matrix : tp->vector, layer->flop[stage]);
}

static inline double calc_tensor_par_mem_s(const calc_tensor_par *tp, const calc_layer *layer,
                                           calc_stage stage)
{
    return calc_memory_tier_s(tp->memory, layer->bytes[stage]);
}

/** Message of a layer in one pass [bytes]; in the weight-gradient pass it is the forward message
 *  again, where the layer repeats it. 0 where the pass communicates nothing. */
double calc_tensor_par_bytes(const calc_tensor_par *tp, const calc_layer *layer, calc_stage stage,
                             calc_block_place place);

/** The part of that message one tile of an overlapped layer sends [bytes]. */
double calc_tensor_par_tile_bytes(const calc_tensor_par *tp, const calc_layer *layer,
                                  calc_stage stage, calc_block_place place);

/** Time the message takes, hidden or not, with the arithmetic of its reduction [s]. */
double calc_tensor_par_link_s(const calc_tensor_par *tp, const calc_layer *layer, calc_stage stage,
                              calc_block_place place);

/** One pass over a layer: its processing time and the communication it leaves exposed [s]. */
typedef struct calc_tensor_par_times {
    double processing_s, exposed_s;
} calc_tensor_par_times;

/** Overlap of a pass with its communication, in as many tiles as ranks. With more network than
 *  compute per tile the excess is exposed; with less, driving the network still takes its
 *  `processor_usage`. `pipe` exposes one tile more than `ring`. A layer that is not overlapped
 *  exposes all; a communication step alone has no processing time.
 *  @param flop_s, mem_s  time of the pass's arithmetic and traffic alone
 *  @param base_link_s    calc_tensor_par_link_s of a base block
 *  @return for an overlapped layer, the same for base and edge blocks (as Calculon has it) */
calc_tensor_par_times calc_tensor_par_overlapped(const calc_tensor_par *tp, const calc_layer *layer,
                                                 double flop_s, double mem_s, double base_link_s);

/** Bandwidth at which a tile's message takes as long as its arithmetic [bytes/s]; 0 for layers
 *  that overlap nothing. */
double calc_tensor_par_required_bytes_per_s(const calc_tensor_par *tp, const calc_layer *layer,
                                            double flop_s, calc_stage stage,
                                            calc_block_place place);

#endif
