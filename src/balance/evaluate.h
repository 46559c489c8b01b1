/** @file evaluate.h  The step and the memory of given shares: exact for the schedule's order of
 *  operations, whatever the times of the stages. */
#ifndef CALC_BALANCE_EVALUATE_H
#define CALC_BALANCE_EVALUATE_H

#include <stdint.h>

#include "balance/problem.h"

typedef struct calc_balance_answer {
    double step_s; /**< from the first forward to the last operation */
    double peak_bytes[CALC_BALANCE_STAGES];
    double most_bytes;  /**< of the stage with the largest need */
    bool fits;          /**< every stage within its limit */
    int worst_stage;    /**< that exceeds its limit by most, or has least left */
    double lacks_bytes; /**< by how much it exceeds it; 0 if all fit */
} calc_balance_answer;

/** Simulate a step. Time is the longest path through the operations; messages count as part of the
 *  places only. With many micro-batches a few are simulated and the rest is extrapolated, exactly
 *  up to rounding. 1F1B with chunks goes by parts.
 *
 *  The memory of a stage is the maximum over all prefixes of its order: its fixed bytes, those held
 *  by its layers, and the activations of each chunk from the start of a forward to the end of the
 *  weight gradient.
 *  @param problem  of a shape that calc_schedule_check() accepts
 *  @param share    [stages * chunks] in the order of places
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RULE if the schedule cannot run on the shape */
calc_status calc_balance_evaluate(const calc_balance_problem *problem,
                                  const calc_balance_share *share, calc_balance_answer *out);

/** A workspace that grows: start with zero, free `bytes` at the end. */
typedef struct calc_balance_room {
    void *bytes;
    size_t size;
} calc_balance_room;

/** The step alone [s]; negative if there is no memory to simulate it. */
double calc_balance_step_s(const calc_balance_problem *problem, const calc_balance_share *share,
                           calc_balance_room *room);

/* 1F1B with one chunk per stage, in rounds: the step of any stages in a few steps
 * of arithmetic per stage and micro-batch, without lists of operations.
 *
 * In round i a stage does the forward of micro-batch i + p-1-stage, then the backward of
 * micro-batch i; rounds before 0 are the warm-up. A forward needs the forward of the previous
 * stage in the previous round; a backward needs the backward of the next stage in the same
 * round. */

/** Time of a step [s]. Once every stage is delayed from one round to the next by the time of the
 *  busiest one, all rounds until forwards run out are the same, and are skipped.
 *  @param stages        1 ... CALC_BALANCE_STAGES
 *  @param microbatches  1 or more
 *  @param fw_s, bw_s    [stages] a micro-batch forward, and backward with the weight gradient */
double calc_balance_rounds_s(int stages, int64_t microbatches, const double *fw_s,
                             const double *bw_s);

/* How many micro-batches of each chunk a stage has in flight, from the start of
 * their forward to the end of their weight gradient, all through its order of operations. */

/** For each stage, the counts that no other counts of it exceed in every part. The peak memory of a
 *  stage is the maximum over them. */
typedef struct calc_balance_flights {
    int parts;
    int first[CALC_BALANCE_STAGES + 1]; /**< first row of a stage in live; [stages] is the end */
    int *live;                          /**< [row][part] */
    double *row_bytes;                  /**< [row] for whoever counts with them */
} calc_balance_flights;

/** @return CALC_OK or CALC_ERR_NOMEM; in either case calc_balance_flights_end() may be called */
calc_status calc_balance_flights_begin(calc_balance_flights *flights,
                                       const calc_balance_problem *problem);
void calc_balance_flights_end(calc_balance_flights *flights);

/** The most that a stage holds. @param share  [places] */
double calc_balance_flights_bytes(const calc_balance_flights *flights,
                                  const calc_balance_problem *problem, int stage,
                                  const calc_balance_share *share);

/* 1F1B with several chunks per stage, as MindSpore orders it: micro-batches in
 * parts of one per stage; the first part also has the remainder.
 *
 * Every stage does the forwards part by part, and within a part chunk by chunk; the backwards
 * likewise, from the last chunk to the first. It begins with forwards alone: one part of all
 * chunks but the last, and 2 for each stage behind it, or 1 with less memory; then forwards and
 * backwards alternate. Where a part has a micro-batch per stage and the memory is not halved, this
 * is Megatron's order (schedule_order.h). Source: MindSpore's interleaved pipeline scheduler
 * (parallel optimizer of the graph compiler, ENABLE_LESS_MEM_VPP). */

typedef struct calc_balance_parts {
    int64_t stages, chunks, microbatches;
    int64_t first; /**< micro-batches of the first part */
    int64_t slack; /**< forwards of the warm-up for each stage behind */
} calc_balance_parts;

calc_balance_parts calc_balance_parts_of(const calc_schedule_shape *shape, bool less_memory);

/** A forward or backward of a stage. */
typedef struct calc_balance_turn {
    int64_t chunk, microbatch;
} calc_balance_turn;

/** The k-th forward (of every stage), or backward. */
calc_balance_turn calc_balance_forward(const calc_balance_parts *parts, int64_t k);
calc_balance_turn calc_balance_backward(const calc_balance_parts *parts, int64_t k);

/** Forwards before the first backward. */
int64_t calc_balance_warm_up(const calc_balance_parts *parts, int64_t stage);

/** Bytes of the workspace of calc_balance_parts_s(). */
size_t calc_balance_parts_bytes(const calc_balance_parts *parts);

/** Time of a step, every operation simulated [s].
 *  @param pass       [stages * chunks] along the model
 *  @param workspace  calc_balance_parts_bytes(), aligned as malloc() does */
double calc_balance_parts_s(const calc_balance_parts *parts, const calc_schedule_pass *pass,
                            void *workspace);

#endif
