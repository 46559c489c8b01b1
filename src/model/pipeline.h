/** @file pipeline.h  Pipeline parallelism: how blocks are split into stages and chunks, the
 *  message between stages, and the bubble of the (interleaved) 1F1B schedule.
 *  Source: Narayanan et al. 2021, arXiv 2104.04473, section 2.2. */
#ifndef CALC_MODEL_PIPELINE_H
#define CALC_MODEL_PIPELINE_H

#include "calc.h"

/** How the blocks of a model are split over stages and chunks. Counts are kept as double: they
 *  multiply times. Stages may be uneven: all are charged the ceiling. */
typedef struct calc_pipeline {
    double stages;          /**< pipeline_par */
    double chunks;          /**< per stage: pipeline_interleaving */
    double microbatches;    /**< per step and pipeline */
    double blocks_per_proc; /**< rounded up */
    double missing_blocks;  /**< that later stages have less than the first, in all */
    double blocks_per_chunk;
    double base_blocks;   /**< of a chunk: all but its last */
    double in_flight;     /**< micro-batches whose activations a stage holds at the peak */
    double extra_bubbles; /**< chunk times lost because micro-batches do not fill the pipeline */
    double rounds;        /**< chunk times of a step on the first stage, bubble included */
    double last_round;    /**< micro-batches of the last round through the pipeline, 1..stages */
    bool chunks_fit;      /**< whether the chunks divide the blocks per processor */
} calc_pipeline;

/** Split `num_blocks` blocks. If the chunks do not fit, blocks_per_chunk and
 *  base_blocks are NaN, and so becomes all that is computed from them. */
calc_pipeline calc_pipeline_split(int64_t num_blocks, int64_t pipeline_par,
                                  int64_t pipeline_interleaving, int64_t num_microbatches);

/** Message a stage hands to the next for one micro-batch [bytes]: the residual stream, a rank's
 *  share of it where tensor parallelism scatters it; 0 without a pipeline. */
double calc_pipeline_message_bytes(const calc_app *app, const calc_exec *exec);

/** Time of such a message [s]. Without a pipeline there is none and it takes no time; Calculon
 *  charges one latency all the same (docs/calculon.md). */
double calc_pipeline_message_s(const calc_network *network, double bytes, double stages,
                               calc_compat compat);

/** Idle time of a stage in one step [s].
 *  @param chunk_s    forward and backward of one chunk
 *  @param missing_s  what the missing blocks would have taken: calc_step_missing_s */
static inline double calc_pipeline_bubble_s(const calc_pipeline *pipeline, double chunk_s,
                                            double missing_s)
{
    return (pipeline->stages - 1 + pipeline->extra_bubbles) * chunk_s - missing_s;
}

#endif
