/** @file point_curve.h  Efficiency by size, from measured operators: for each point the efficiency
 *  with which the model gives the measured time, averaged (in the logarithm) over octaves of size,
 *  and made to rise with size by pooling neighbours that fall (isotonic regression: Ayer et al.
 *  1955). */
#ifndef CALC_CALIBRATE_POINT_CURVE_H
#define CALC_CALIBRATE_POINT_CURVE_H

#include "calibrate/point.h"

enum { CALC_POINT_CURVE_FOLDS = 5 };

/** Replace the efficiency of the matrix engine of a datatype in `system` by a curve, if that
 *  predicts points outside its own fit better than a single number does, on average and weighted by
 *  their arithmetic.
 *  @param points  `count` of them
 *  @param skip    by index: true for points to leave out; NULL: none
 *  @param changed filled: whether it was
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_point_curve_matrix(calc_system *system, calc_datatype datatype,
                                                  const calc_point *points, size_t count,
                                                  const bool *skip, bool *changed,
                                                  calc_errors *errors);

/** A number of 0 to 2^32 - 1 from the sizes of a point, the same for all passes over one shape, so
 *  that shapes can be kept apart. */
uint32_t calc_point_hash(const calc_point *point);

#endif
