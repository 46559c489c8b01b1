/** @file data_par.h  Data parallelism: reduction of gradients over the replicas, and how much of
 *  it hides behind the backward pass. */
#ifndef CALC_MODEL_DATA_PAR_H
#define CALC_MODEL_DATA_PAR_H

#include "calc.h"

/** Whether a layout reduces gradients at all: training with data_par > 1. */
static inline bool calc_data_par_reduces(const calc_exec *exec)
{
    return exec->training && exec->data_par > 1;
}

/** Time to reduce the gradients of one block [s]: an all-reduce, or with a sharded optimizer a
 *  reduce-scatter of gradients and an all-gather of weights. 0 if nothing is reduced.
 *  @param bytes  of the block's weights, in the datatype */
double calc_data_par_block_s(const calc_system *system, const calc_exec *exec, double bytes);

/** Whole number of times b > 0 fits in a >= 0, at most `limit` (a whole number below 2^20).
 *  Exact where a / b would round up to a whole number. */
static inline double calc_data_par_whole(double a, double b, double limit)
{
    double ratio = a / b;
    ratio = ratio < limit ? ratio : limit;
    /* Rounding by addition: not every CPU level has a vector instruction for floor. */
    double n = (ratio + 0x1p52) - 0x1p52;
    /* If that was too much, n * b exceeds a. b in two halves of 26 bits (Veltkamp), so that n *
     * high and n * low are exact. */
    double t = 134217729.0 * b;
    double high = t - (t - b);
    double low = b - high;
    return n * low > a - n * high ? n - 1 : n;
}

/** Backward pass of a chunk that gradients can hide behind [s]: not its memory traffic, not
 *  tensor-parallel communication on the same network; but the optimizer step of its blocks, if
 *  that is not sharded and so may start block by block.
 *  @param busy_s            memory time of a block's backward
 *  @param link_base_s, link_edge_s  tensor-parallel communication, 0 on another network
 *  @param optimizer_window_s        of a block, without its memory time; 0 if sharded */
static inline double calc_data_par_window_s(double chunk_bw_s, double base_blocks, double busy_s,
                                            double link_base_s, double link_edge_s,
                                            double optimizer_window_s)
{
    double taken_s = (base_blocks + 1) * (busy_s - optimizer_window_s) +
                     (base_blocks * link_base_s + link_edge_s);
    return chunk_bw_s - taken_s;
}

/** What the overlap of the reduction depends on. Times of the layout's backward pass [s]. */
typedef struct calc_data_par_overlap {
    double block_s;  /**< reduction of one block */
    double usage;    /**< processor_usage of its network */
    double collides; /**< 1 if pipeline messages use the same network, else 0 */
    double base_bw_s, edge_bw_s, chunk_bw_s; /**< a base block, an edge block, a chunk */
    double window_s;                         /**< calc_data_par_window_s */
    double compute_s;          /**< arithmetic of a block, with its optimizer step if not sharded */
    double message_s;          /**< pipeline message of a chunk */
    double optimizer_window_s; /**< as for calc_data_par_window_s */
    double stages, chunks, base_blocks, last_round; /**< calc_pipeline */
} calc_data_par_overlap;

/** Exposed time of the reduction in a step, and the windows it hides in [s]. */
typedef struct calc_data_par_times {
    double exposed_s;
    double chunks_window_s; /**< of all chunks but the last */
    double tail_window_s;   /**< of the last chunk */
} calc_data_par_times;

/** Overlap of the reduction: that of each chunk but the last hides behind the backward pass of
 *  `stages` micro-batches through the next; in the last chunk that of a block hides behind the
 *  next block; the very last block's is exposed. Where the reduction is longer the excess is
 *  exposed; where it is shorter, driving the network still takes its share of the processor. */
static inline calc_data_par_times calc_data_par_overlapped(const calc_data_par_overlap *o)
{
    calc_data_par_times out;
    double chunk_s = (o->base_blocks + 1) * o->block_s;
    double window_s = o->stages * o->window_s;
    double slowed_s = o->stages * ((o->base_blocks + 1) * o->compute_s) * o->usage;
    double collisions = calc_data_par_whole(chunk_s, o->chunk_bw_s, o->last_round) * o->collides;
    double excess_s = chunk_s - (window_s - collisions * o->message_s) + slowed_s;
    double chunk_exposed_s = excess_s > 0 ? excess_s : chunk_s * o->usage;
    out.chunks_window_s = (window_s + slowed_s - o->message_s * o->collides) * (o->chunks - 1);

    double tail_s = o->base_blocks * o->block_s;
    double tail_window_s =
        o->window_s - o->message_s - (o->base_bw_s + o->edge_bw_s) / 2 + o->optimizer_window_s;
    tail_window_s = o->base_blocks > 0 ? tail_window_s : 0;
    double tail_excess_s = tail_s + (o->compute_s * o->usage - tail_window_s);
    double tail_exposed_s = tail_excess_s > 0 ? tail_excess_s : tail_s * o->usage;
    out.tail_window_s = tail_window_s + tail_s * o->usage;
    out.exposed_s = o->block_s + ((o->chunks - 1) * chunk_exposed_s + tail_exposed_s);
    return out;
}

/** Bandwidth at which the reduction of a chunk just fits in a window [bytes/s]; 0 if there is no
 *  window. */
double calc_data_par_required_bytes_per_s(const calc_system *system, const calc_exec *exec,
                                          double chunk_bytes, double window_s);

#endif
