/** @file operators_write.h  A calibration to measured operators, for people and as JSON. */
#ifndef CALC_CLI_CALIBRATE_OPERATORS_WRITE_H
#define CALC_CLI_CALIBRATE_OPERATORS_WRITE_H

#include "calibrate/point_calibration.h"
#include "io/json_put.h"

/** Constants, errors by class of operator, and what was not used. */
void calc_operators_write_table(calc_output *out, const calc_point_calibration *calibration,
                                const calc_points *points);

/** The same, and every point, as one object. */
void calc_operators_put(calc_put *put, const calc_point_calibration *calibration,
                        const calc_points *points);

#endif
