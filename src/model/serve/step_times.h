/** @file step_times.h  Times of passes for a simulation that asks for many: batches are rounded, so
 * that few are different, and each is evaluated once. Numbers above 64 keep 7 bits: they are off by
 * up to 0.8 %, and by nothing in the mean of many. */
#ifndef CALC_MODEL_STEP_TIMES_H
#define CALC_MODEL_STEP_TIMES_H

#include "model/serve/inference_pass.h"

/** A pass that was asked for. */
typedef struct calc_step_time {
    uint64_t word[CALC_PASS_MEMO_WORDS]; /**< the bits of its batch */
    bool known;
    double latency_s; /**< through all stages */
    double slow_s;    /**< on the slowest stage */
} calc_step_time;

enum { CALC_STEP_TIMES = 1 << 14 };

/** All of one model; the array is the caller's, zeros at first. Borrows. */
typedef struct calc_step_times {
    const calc_inference_pass_model *model;
    calc_step_time *time; /**< CALC_STEP_TIMES */
} calc_step_times;

/** A number as batches have it. */
double calc_step_times_round(double x);

/** The times of a batch, rounded. Valid until the next call. */
const calc_step_time *calc_step_times_of(calc_step_times *times,
                                         const calc_inference_pass_work *work);

#endif
