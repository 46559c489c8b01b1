/** @file operators_write.h  A calibration to measured operators, for people and as JSON. */
#ifndef CALC_CLI_OPERATORS_WRITE_H
#define CALC_CLI_OPERATORS_WRITE_H

#include "calibrate/point_calibration.h"
#include "io/output.h"

/** Constants, errors by class of operator, and what was not used. */
void calc_operators_write_table(calc_output *out, const calc_point_calibration *calibration,
                                const calc_points *points);

/** The same, and every point, as one object. */
void calc_operators_write_json(calc_output *out, const calc_point_calibration *calibration,
                               const calc_points *points);

#endif
