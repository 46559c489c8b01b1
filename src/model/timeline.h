/** @file timeline.h  A step as the simulator of schedules runs it (schedule_sim.h): time of each
 *  chunk of each stage with its breakdown, the work after the pipeline, and the memory of a stage.
 *  Its stages are those of calc_each_stage(), so that the chunks of a stage add up to the terms of
 *  the closed form; docs/schedules.md describes how blocks and ends are spread over them.
 */
#ifndef CALC_MODEL_TIMELINE_H
#define CALC_MODEL_TIMELINE_H

#include "model/schedule/schedule_sim.h"
#include "model/stages/placed.h"

/** A layout, ready to be simulated. Borrows the three documents and points into itself: not to be
 *  copied. */
typedef struct calc_timeline {
    calc_schedule_shape shape;
    bool fits;         /**< chunks divide the blocks; else there is nothing to simulate */
    double closed_s;   /**< the pipeline in closed form, */
    double deferred_s; /**< deferred weight gradients that it does not hide, */
    double drain_s;    /**< and how long before its end they begin; 0: there are none */
    double growth;     /**< of the pipeline's time: stragglers */
    double overhead_s; /**< fixed time of a step */
    calc_placed placed;
} calc_timeline;

/** The shape that an execution's step has. Without training it is forward passes in the order of
 *  1F1B, whose backward passes then take no time. */
calc_schedule_shape calc_timeline_shape(const calc_exec *exec);

/** Fill it. The inputs must have passed calc_check(). */
void calc_timeline_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_compat compat, calc_timeline *out);

/** Times of all parts of the model, for calc_schedule_sim.pass.
 *  @param pass  [shape.stages * shape.chunks] */
void calc_timeline_passes(const calc_timeline *timeline, calc_schedule_pass *pass);

/** Time of a chunk of a stage. With DualPipe both chunks of a stage are given: the second is its
 *  copy of the opposite stage. */
calc_schedule_pass calc_timeline_pass_of(const calc_timeline *timeline, int64_t stage,
                                         int64_t chunk);

/** A chunk of a stage, as if it were a class of its own: its blocks, and the ends that are in it.
 */
calc_stage_class calc_timeline_chunk_class(const calc_timeline *timeline, int64_t stage,
                                           int64_t chunk);

/* ---- Places ---------------------------------------------------------------------------------- */

/** The stage that receives the forward message of a chunk of a stage; -1 if it sends nothing, since
 *  the model ends there or goes on in the same stage. */
int64_t calc_timeline_next(const calc_schedule_shape *shape, int64_t stage, int64_t chunk);

/** The stage that it receives from; -1 likewise. */
int64_t calc_timeline_before(const calc_schedule_shape *shape, int64_t stage, int64_t chunk);

/* ---- Breakdown of time ----------------------------------------------------------------------- */

/** Words for a part. */
const char *calc_spent_part_text(calc_spent_part part);

/** The parts of calc_timeline_pass_of(): they add up to it. */
void calc_timeline_spent_of(const calc_timeline *timeline, int64_t stage, int64_t chunk,
                            calc_stage_spent *out);

/* ---- After the pipeline, and memory ---------------------------------------------------------- */

/** Data parallelism and the optimizer of one stage [s]. */
typedef struct calc_timeline_end {
    double reduce_link_s, reduce_s; /**< gradients: on the link, and exposed */
    double gather_link_s, gather_s; /**< updated weights */
    double tied_s;                  /**< gradients of the table that both ends share */
    double optimizer_s;
    bool scatters; /**< gradients are reduced and scattered; else all-reduced */
} calc_timeline_end;

calc_timeline_end calc_timeline_end_of(const calc_timeline *timeline, int64_t stage);

/** A piece of a stage's time that belongs to no pass. */
typedef struct calc_timeline_slice {
    const char *name, *category;
    bool link; /**< on the link, at the same time as kernels; else in their place */
    double start_s, end_s;
} calc_timeline_slice;

enum { CALC_TIMELINE_AFTER = 7 };

/** Deferred weight gradients, data parallelism, stragglers and the optimizer of a stage, as they
 *  follow a pipeline of `pipeline_s` that stragglers prolong: gradients are reduced in the backward
 * passes as far as that is hidden, and weights that the step before gathers arrive in the first
 * forward passes. Entries without time are included.
 *  @param out  in the order of a trace */
void calc_timeline_after(const calc_timeline *timeline, int64_t stage, double pipeline_s,
                         double straggler_s, calc_timeline_slice out[CALC_TIMELINE_AFTER]);

/** Tier 1 memory of a stage: fixed bytes, and bytes per micro-batch in flight, in activations of a
 *  whole stage [bytes]. */
typedef struct calc_timeline_memory {
    double fixed_bytes, flight_bytes;
} calc_timeline_memory;

calc_timeline_memory calc_timeline_memory_of(const calc_timeline *timeline, int64_t stage);

#endif
