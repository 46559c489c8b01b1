/** @file errors_svg.h  Errors of predicted times by published table, for serving by engine, as a
 * picture: a row per table, a point per run, the bias and the mean of absolute errors. Shows what a
 * mean hides: whether a table is off as a whole, spread, or has outliers. */
#ifndef CALC_VALIDATE_ERRORS_SVG_H
#define CALC_VALIDATE_ERRORS_SVG_H

#include "io/output.h"
#include "validate/error_groups.h"

/** Write an SVG document of the scored times. Errors beyond 40 %, for serving beyond 100 %, are
 *  drawn at the edge. */
void calc_errors_svg_write(calc_output *out, const calc_results *results,
                           const calc_error_groups *groups);

#endif
