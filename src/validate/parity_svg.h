/** @file parity_svg.h  Predicted over measured times of steps, or tpot and e2e for serving, as a
 *  picture: logarithmic axes, bands of 10 and 25 percent, a colour per machine. */
#ifndef CALC_VALIDATE_PARITY_SVG_H
#define CALC_VALIDATE_PARITY_SVG_H

#include "io/output.h"
#include "validate/results.h"

/** Write an SVG document of the scored times. */
void calc_parity_svg_write(calc_output *out, const calc_results *results);

#endif
