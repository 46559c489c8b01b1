/** @file schedule_interleaved.h  The step of interleaved 1F1B whose stages are not all equal, in
 *  closed form: the maximum over all paths through the operations that can be the longest. */
#ifndef CALC_MODEL_SCHEDULE_INTERLEAVED_H
#define CALC_MODEL_SCHEDULE_INTERLEAVED_H

#include "model/schedule/schedule.h"

/** One direction of a chunk [s]. */
typedef struct calc_schedule_chunk {
    double fw_s;
    double bw_s; /**< both gradients, recomputation included */
} calc_schedule_chunk;

/** A pipeline whose chunks are all alike within a stage, but for the first one of the first stage
 *  and the last one of the last stage. */
typedef struct calc_schedule_interleaved {
    double stages, chunks, microbatches;
    /** Consecutive stages that are alike, from the first stage to the last. */
    struct {
        double stages; /**< how many; 0: none */
        calc_schedule_chunk chunk;
    } of[CALC_SCHEDULE_CLASSES];
    /** Extra time of those two chunks over a usual chunk of their stage; may be less than 0. */
    calc_schedule_chunk first, last;
} calc_schedule_interleaved;

/** Whether there is a closed form: three stages and two chunks at least, and m a multiple of p. */
bool calc_schedule_interleaved_fits(const calc_schedule_shape *shape);

/** Time of a step [s], messages included in the chunks. Each of the paths exists in the order of
 *  schedule_order.h, so the time is never more than that of calc_schedule_sim_s(), and grows with
 *  every chunk; docs/schedules.md lists the paths and how much less the time may be.
 *  @param x  of a shape that calc_schedule_interleaved_fits() accepts */
double calc_schedule_interleaved_s(const calc_schedule_interleaved *x);

#endif
