/** @file parts.h  1F1B with several chunks per stage, as MindSpore orders it: micro-batches in
 *  parts of one per stage; the first part also has the remainder.
 *
 *  Every stage does the forwards part by part, and within a part chunk by chunk; the backwards
 *  likewise, from the last chunk to the first. It begins with forwards alone: one part of all
 *  chunks but the last, and 2 for each stage behind it, or 1 with less memory; then forwards and
 *  backwards alternate. Where a part has a micro-batch per stage and the memory is not halved, this
 *  is Megatron's order (schedule_order.h). Source: MindSpore's interleaved pipeline scheduler
 *  (parallel optimizer of the graph compiler, ENABLE_LESS_MEM_VPP). */
#ifndef CALC_BALANCE_PARTS_H
#define CALC_BALANCE_PARTS_H

#include "balance/problem.h"

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
