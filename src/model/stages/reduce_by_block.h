/** @file reduce_by_block.h  Rule `reduce-by-block`: gradients are reduced block by block while the
 *  backward pass of the next block runs. Source: Isaev et al. (Calculon), SC'23. */
#ifndef CALC_MODEL_REDUCE_BY_BLOCK_H
#define CALC_MODEL_REDUCE_BY_BLOCK_H

/** Whole number of times b > 0 fits in a >= 0, at most `limit` (a whole number below 2^20).
 *  Exact where a / b would round up to a whole number. */
static inline double calc_reduce_fits(double a, double b, double limit)
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

/** Inputs of the overlap: times of the layout's backward pass [s]. */
typedef struct calc_reduce_overlap {
    double block_s;  /**< reduction of one block */
    double usage;    /**< processor_usage of its network */
    double collides; /**< 1 if pipeline messages use the same network, else 0 */
    double base_bw_s, edge_bw_s, chunk_bw_s; /**< a base block, the last of a chunk, a chunk */
    double busy_s;                           /**< memory time of a block */
    double link_s, edge_link_s; /**< tensor-parallel communication on the same network */
    double compute_s;           /**< arithmetic of a block that driving the network slows down */
    double message_s;           /**< pipeline message of a chunk */
    double optimizer_window_s;  /**< of a block: gradients hide behind it; 0 if sharded */
    double stages, chunks, base_blocks; /**< base blocks: all of a chunk but its last */
    double last_round;                  /**< micro-batches of the last round, 1..stages */
} calc_reduce_overlap;

/** Exposed time of the reduction in a step, and the windows it hides in [s]. */
typedef struct calc_reduce_times {
    double exposed_s;
    double chunks_window_s; /**< of all chunks but the last */
    double tail_window_s;   /**< of the last chunk */
} calc_reduce_times;

/** The reduction of each chunk but the last hides behind the backward pass of `stages`
 * micro-batches through the next: not behind its memory traffic, nor behind tensor-parallel
 * communication on the same network, but behind the optimizer where that may start block by block.
 * In the last chunk a block's reduction hides behind the next block; the very last block's is
 * exposed. Where the reduction is longer the excess is exposed; where it is shorter, driving the
 * network still takes its share of the processor. */
static inline __attribute__((always_inline)) calc_reduce_times
calc_reduce_overlapped(const calc_reduce_overlap *o)
{
    calc_reduce_times out;
    double taken_s = (o->base_blocks + 1) * (o->busy_s - o->optimizer_window_s) +
                     (o->base_blocks * o->link_s + o->edge_link_s);
    double free_s = o->chunk_bw_s - taken_s;
    double chunk_s = (o->base_blocks + 1) * o->block_s;
    double window_s = o->stages * free_s;
    double slowed_s = o->stages * ((o->base_blocks + 1) * o->compute_s) * o->usage;
    double collisions = calc_reduce_fits(chunk_s, o->chunk_bw_s, o->last_round) * o->collides;
    double excess_s = chunk_s - (window_s - collisions * o->message_s) + slowed_s;
    double chunk_exposed_s = excess_s > 0 ? excess_s : chunk_s * o->usage;
    out.chunks_window_s = (window_s + slowed_s - o->message_s * o->collides) * (o->chunks - 1);

    double tail_s = o->base_blocks * o->block_s;
    double tail_window_s =
        free_s - o->message_s - (o->base_bw_s + o->edge_bw_s) / 2 + o->optimizer_window_s;
    /* A factor: compilers make no vectors of a condition that is the same for all layouts. */
    tail_window_s *= o->base_blocks > 0 ? 1 : 0;
    double tail_excess_s = tail_s + (o->compute_s * o->usage - tail_window_s);
    double tail_exposed_s = tail_excess_s > 0 ? tail_excess_s : tail_s * o->usage;
    out.tail_window_s = tail_window_s + tail_s * o->usage;
    out.exposed_s = o->block_s + ((o->chunks - 1) * chunk_exposed_s + tail_exposed_s);
    return out;
}

#endif
