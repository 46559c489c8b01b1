/** @file schedule_sim.h  A step of the pipeline, operation by operation: exact for a given order,
 *  any durations of every part of the model, and messages between stages.
 *
 *  A stage does its operations in the order of schedule_order.h, each as soon as the one before is
 *  done and its input is there. So the time is the longest path through these dependencies: it is
 *  monotonic in every duration. */
#ifndef CALC_MODEL_SCHEDULE_SIM_H
#define CALC_MODEL_SCHEDULE_SIM_H

#include "model/schedule/schedule.h"

/* The operations of a stage in order, under each pipeline schedule. An
 * order depends on the shape only, not on how long anything takes.
 *
 * A stage holds one or more *chunks*. Every schedule takes the micro-batches of a chunk in turn,
 * so that an operation is a kind and a chunk, and its micro-batch is the number of equal ones
 * before it.
 *
 * Sources: GPipe: Huang et al. 2018, arXiv 1811.06965. 1F1B and interleaving: Narayanan et al.
 * 2021, arXiv 2104.04473. ZB-H1, ZB-H2, ZB-V: Qi et al. 2023, arXiv 2401.10241, and 2024,
 * arXiv 2405.15362. DualPipe: DeepSeek-AI 2024, arXiv 2412.19437; DualPipeV is its half. */

/** Kinds of operations. */
typedef enum calc_schedule_op_kind {
    CALC_SCHEDULE_FW,      /**< forward */
    CALC_SCHEDULE_BW,      /**< activation gradient only */
    CALC_SCHEDULE_WGRAD,   /**< weight gradient */
    CALC_SCHEDULE_BW_WHOLE /**< both gradients, one after the other */
} calc_schedule_op_kind;

/** One operation of a stage. If `paired`, it is the forward of `chunk` and the whole backward of
 *  the stage's other chunk at once. */
typedef struct calc_schedule_op {
    uint16_t chunk;
    uint8_t kind; /**< calc_schedule_op_kind */
    uint8_t paired;
} calc_schedule_op;

/** Operations that the orders of all stages have room for; those of stage i begin at i times
 *  calc_schedule_ops_room(). */
int64_t calc_schedule_ops_room(const calc_schedule_shape *shape);

/** Write the order of every stage.
 *  @param shape    one that calc_schedule_check() accepts
 *  @param op       room for shape->stages times calc_schedule_ops_room()
 *  @param count    [stages] operations of each stage */
void calc_schedule_orders(const calc_schedule_shape *shape, calc_schedule_op *op, int64_t *count);

/** Chunks that a stage holds, the copy of DualPipe included. */
int64_t calc_schedule_held(const calc_schedule_shape *shape);

/** Place of a chunk of a stage, in the order in which a micro-batch visits them: with DualPipe the
 *  chunks of the way back come after those of the way down. */
int64_t calc_schedule_place(const calc_schedule_shape *shape, int64_t stage, int64_t chunk);

/** The stage of a place. */
int64_t calc_schedule_stage_at(const calc_schedule_shape *shape, int64_t place);

/** Whether a micro-batch goes from this place to the next one. */
bool calc_schedule_joined(const calc_schedule_shape *shape, int64_t place);

/** One micro-batch through one part of the model [s]. */
typedef struct calc_schedule_pass {
    double fw_s;
    double bw_s;    /**< activation gradient, recomputation included */
    double wgrad_s; /**< weight gradient */
} calc_schedule_pass;

/** All of it [s]. */
static inline double calc_schedule_pass_s(const calc_schedule_pass *p)
{
    return p->fw_s + p->bw_s + p->wgrad_s;
}

typedef struct calc_schedule_sim {
    calc_schedule_shape shape;
    /** [stages * chunks] in the order in which a micro-batch goes forward through the model. */
    const calc_schedule_pass *pass;
    double fw_message_s, bw_message_s; /**< from one stage to the next; both 0 or more */
    /** Messages delay the receiver only. Otherwise the sender does nothing else meanwhile. */
    bool overlap;
    /** Time that an overlapped forward and backward (DualPipe) save against one after the other. */
    double pair_saves_s;
} calc_schedule_sim;

/** What one stage did. */
typedef struct calc_schedule_stage {
    double start_s, end_s; /**< of its first and last operation */
    double busy_s;         /**< in operations, and in messages that do not overlap */
    double bubble_s;       /**< the rest of the step */
    double in_flight;      /**< most micro-batches whose activations it held, of the whole stage:
                                from the start of a forward to the end of its weight gradient */
} calc_schedule_stage;

/** An operation for a trace. Both halves of an overlapped pair have the times of the pair. */
typedef struct calc_schedule_event {
    int32_t stage, chunk, microbatch;
    calc_schedule_op_kind kind;
    double start_s, end_s;
} calc_schedule_event;

/** Where events go: those of a stage come in order, stages in turns. */
typedef struct calc_schedule_events {
    calc_schedule_event *event;
    int64_t capacity;
    int64_t count; /**< all events; those beyond the capacity are not written */
} calc_schedule_events;

/** Bytes of the workspace for a shape that calc_schedule_check() accepts. */
size_t calc_schedule_sim_bytes(const calc_schedule_shape *shape);

/** Run one step and return its time: when the last stage is done [s].
 *  @param workspace  calc_schedule_sim_bytes(), aligned as malloc() does
 *  @param stage      [shape.stages], or NULL
 *  @param events     or NULL */
double calc_schedule_sim_s(const calc_schedule_sim *sim, void *workspace,
                           calc_schedule_stage *stage, calc_schedule_events *events);

/** Whether the simulation has room for a shape: about 64 stages of two chunks. */
bool calc_schedule_steady_fits(const calc_schedule_shape *shape);

/** Time of a step [s], without messages beside the passes.
 *
 *  The time is the longest path through the operations, so that each further period of
 *  micro-batches (p interleaved, 2 with DualPipe, else 1) adds no less than the one before, until
 *  it adds the time of the busiest stage. A step of 2p micro-batches mostly does so; where it does
 *  not, more are simulated: twice as many, and so on, at most all. So the result equals that of
 *  calc_schedule_sim_s() up to rounding. Allocates nothing.
 *  @param shape  one that calc_schedule_check() and calc_schedule_steady_fits() accept
 *  @param pass   [stages * chunks] as in calc_schedule_sim */
double calc_schedule_steady_s(const calc_schedule_shape *shape, const calc_schedule_pass *pass);

/** The same in a workspace of the caller's.
 *  @param bytes  of it: calc_schedule_sim_bytes() of 2p micro-batches and a period more at least */
double calc_schedule_steady_in(const calc_schedule_shape *shape, const calc_schedule_pass *pass,
                               void *workspace, size_t bytes);

#endif
