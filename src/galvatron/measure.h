/** @file measure.h  Single figures of a synthesis: what one measurement of Galvatron's profilers
 *  would give, from calc's model. */
#ifndef CALC_GALVATRON_MEASURE_H
#define CALC_GALVATRON_MEASURE_H

#include "galvatron/synthesis.h"

/** Which ranks a measurement of the model runs on, and what. */
typedef struct calc_galvatron_run {
    int64_t tensor_par;
    int64_t batch, sequence;
    bool sequence_par; /**< Megatron's: activations between layers are split, too */
    bool checkpoint;   /**< layers keep their input only */
    bool stages;       /**< embedding and head are on stages of their own */
} calc_galvatron_run;

/** What one rank sees, per micro-batch; MB of 2^20 bytes. */
typedef struct calc_galvatron_measured {
    double layer_ms, other_ms; /**< forward */
    double layer_elements;     /**< parameters */
    double layer_mb;           /**< activations kept for the backward pass */
    double first_elements, last_elements;
    double first_mb,
        last_mb; /**< kept by embedding and head, with the most that exists in passing */
} calc_galvatron_measured;

/** @return false where the model cannot be split so; *out is then untouched */
bool calc_galvatron_measure(const calc_galvatron_synthesis *s, const calc_galvatron_run *run,
                            calc_galvatron_measured *out);

/** Bus bandwidth [MB/ms] of a long all-reduce over ranks that are neighbours, or that stand as far
 *  apart as they can. */
double calc_galvatron_measure_allreduce(const calc_galvatron_synthesis *s, int64_t ranks,
                                        bool neighbours);

/** Bandwidth between stages of so many [MB/ms]. */
double calc_galvatron_measure_p2p(const calc_galvatron_synthesis *s, int64_t stages);

/** An all-reduce, or else an all-to-all, of so many MB over neighbours [ms]. */
double calc_galvatron_measure_collective_ms(const calc_galvatron_synthesis *s, bool allreduce,
                                            int64_t ranks, double mb);

/** How much longer computing and messages take at the same time: messages take a share of the
 *  processor for themselves. */
double calc_galvatron_measure_overlap(const calc_galvatron_synthesis *s);

/** Whether it can be profiled: one type of layers, a number format that the machine has, so many
 *  GPUs.
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_galvatron_synthesis_check(const calc_galvatron_synthesis *s,
                                                         calc_errors *errors);

#endif
