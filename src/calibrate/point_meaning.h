/** @file point_meaning.h  The meaning of a row of measured operators: its kernel or collective,
 *  sizes and time in seconds. */
#ifndef CALC_CALIBRATE_POINT_MEANING_H
#define CALC_CALIBRATE_POINT_MEANING_H

#include "calibrate/point.h"

/** Fill the members of a point after its texts, or its reason. */
void calc_point_meaning(calc_point *point);

#endif
