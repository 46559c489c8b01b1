/** @file process_fit.h  Hyper-parameters of a Gaussian process, from its data. */
#ifndef CALC_GAUSS_PROCESS_FIT_H
#define CALC_GAUSS_PROCESS_FIT_H

#include "gauss/process.h"

/** Bounds and prior of the hyper-parameters. */
#define CALC_PROCESS_LENGTH_MIN 0.03
#define CALC_PROCESS_LENGTH_MAX 30.0
#define CALC_PROCESS_SCALE_MIN 0.01
#define CALC_PROCESS_SCALE_MAX 30.0
#define CALC_PROCESS_NOISE_MIN 1e-4
#define CALC_PROCESS_NOISE_MAX 1.0
/** The noise's own prior is a normal distribution. */
#define CALC_PROCESS_NOISE_MEAN 1e-3
#define CALC_PROCESS_NOISE_SD 0.02

enum { CALC_PROCESS_FIT_DATA = 3 };
/** Step at which the search ends, in logarithms. */
#define CALC_PROCESS_FIT_STEP 0.01

/** Find the hyper-parameters that maximise the log marginal likelihood and the log of the noise's
 *  prior, and learn from the data with them: a grid, then a search along one hyper-parameter after
 *  the other, down to steps of 1 %. The same data give the same bits. Fewer than
 *  CALC_PROCESS_FIT_DATA data do not determine them: then lengths and scale are 1, and the noise is
 *  where its prior is highest.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_process_fit(calc_process *process);

#endif
