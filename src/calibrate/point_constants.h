/** @file point_constants.h  Which constants of a machine its measured operators have a say in. */
#ifndef CALC_CALIBRATE_POINT_CONSTANTS_H
#define CALC_CALIBRATE_POINT_CONSTANTS_H

#include "calibrate/point_fit.h"

/** Add the constants of kernels that have points. Constants absent from the file start from a usual
 *  value in fit->system. See calc_point_fit_make() for the parameters. */
void calc_point_constants_of_kernels(calc_point_fit *fit, const calc_point *points, size_t count,
                                     const bool *skip);

/** Add those of one collective on one network: share of the bandwidth, fixed latency, and latency
 *  per step where groups of several sizes were measured. */
void calc_point_constants_of_network(calc_point_fit *fit, const calc_point *points, size_t count,
                                     const bool *skip, int64_t network, calc_point_class class);

#endif
