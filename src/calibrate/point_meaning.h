/** @file point_meaning.h  What a row of measured operators means: which kernel or collective, of
 *  what sizes, and how many seconds it took. */
#ifndef CALC_CALIBRATE_POINT_MEANING_H
#define CALC_CALIBRATE_POINT_MEANING_H

#include "calibrate/point.h"

/** Fill what follows the texts of a point, or its reason. */
void calc_point_meaning(calc_point *point);

#endif
