/** @file point_calibration.h  A machine calibrated to its measured operators: the constants, curves
 *  of efficiency where they predict better, and how well each point is predicted, also by a
 *  calibration that has not seen its shape. */
#ifndef CALC_CALIBRATE_POINT_CALIBRATION_H
#define CALC_CALIBRATE_POINT_CALIBRATION_H

#include "calibrate/point_fit.h"
#include "calibrate/points.h"
#include "io/output.h"

/** Predictions: by the file, by the calibrated machine, by one calibrated without the half of the
 *  shapes that the point is in, and by that with the other half to look up. */
typedef enum calc_point_view {
    CALC_POINT_FILE,
    CALC_POINT_CALIBRATED,
    CALC_POINT_UNSEEN,
    CALC_POINT_LOOKUP,
    CALC_POINT_VIEWS
} calc_point_view;

/** One machine. Owns the predictions. Start with {0}; large. */
typedef struct calc_point_calibration {
    const char *machine; /**< borrowed */
    calc_point_fit fit;
    double *predicted_s[CALC_POINT_VIEWS]; /**< by index of point; NaN for those not used */
    calc_kernel_source *source;            /**< by index of point: of CALC_POINT_LOOKUP */
} calc_point_calibration;

/** Calibrate.
 *  @return CALC_OK, CALC_ERR_NOMEM or CALC_ERR_RULE; *out must be freed in any case */
CALC_MUST_USE calc_status calc_point_calibrate(calc_point_calibration *out,
                                               const calc_points *points, const char *machine,
                                               const calc_system *system, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_point_calibration_free(calc_point_calibration *calibration);

/** Write the calibrated machine's file; its source states the fitted constants, their measurements
 *  and the date.
 *  @param old   the text that the machine was read from
 *  @param date  "2026-11-21"
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_point_calibration_write(calc_output *out,
                                                       const calc_point_calibration *calibration,
                                                       const calc_points *points,
                                                       const calc_text *old, const char *date,
                                                       calc_errors *errors);

/* Efficiency by size, from measured operators: for each point the efficiency
 * with which the model gives the measured time, averaged (in the logarithm) over octaves of size,
 * and made to rise with size by pooling neighbours that fall (isotonic regression: Ayer et al.
 * 1955). */

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
