/** @file regression.h  Memory of a configuration as MindSpeed's planner of July 2024 computes it
 *  (auto_parallel_memory.py, its "grey box"). The activations of a layer are measured on a few
 *  configurations, and a sum of four terms is fitted to them. All other memory follows from the
 *  sizes of the model. */
#ifndef CALC_MINDSPEED_REGRESSION_H
#define CALC_MINDSPEED_REGRESSION_H

#include "mindspeed/config.h"

enum { CALC_MINDSPEED_TERMS = 4, CALC_MINDSPEED_RUNS = 8 /* most configurations */ };

/** A configuration with the measured activations of one layer [GiB]; NaN: the run failed. */
typedef struct calc_mindspeed_measured {
    calc_mindspeed_config config;
    double layer_gib;
} calc_mindspeed_measured;

/** Weights of the terms, GiB. */
typedef struct calc_mindspeed_regression {
    double theta[CALC_MINDSPEED_TERMS];
} calc_mindspeed_regression;

/** The terms: 1, b/(tp cp up), b/(tp cp^2 up), b/(cp up), with b the micro-batch. */
void calc_mindspeed_regression_terms(const calc_mindspeed_config *config,
                                     double term[CALC_MINDSPEED_TERMS]);

/** Fits the weights by least squares, with equal weight for each measurement.
 *  @param count  at most CALC_MINDSPEED_RUNS; failed runs are left out
 *  @return false if fewer than four are left, or if they determine fewer than four weights */
CALC_MUST_USE bool calc_mindspeed_regression_fit(calc_mindspeed_regression *out,
                                                 const calc_mindspeed_measured *measured,
                                                 size_t count);

/** Activations of one layer and one micro-batch by the fit [GiB]. A bad fit can give a value below
 *  0. */
double calc_mindspeed_regression_layer_gib(const calc_mindspeed_regression *regression,
                                           const calc_mindspeed_config *config);

/** Memory of a device of the first stage [bytes], the larger of two moments: the end of the forward
 *  passes, and the backward pass with the gradients. It includes 4 GiB besides weights, states and
 *  activations.
 *  @param layer_gib  of one layer and one micro-batch; below 0 counts as 0 */
double calc_mindspeed_regression_peak_bytes(const calc_mindspeed_job *job,
                                            const calc_mindspeed_config *config, double layer_gib);

#endif
