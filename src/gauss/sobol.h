/** @file sobol.h  Sobol's sequence: points that fill the unit cube evenly, from the GNU Scientific
 *  Library. */
#ifndef CALC_GAUSS_SOBOL_H
#define CALC_GAUSS_SOBOL_H

#include <stdbool.h>
#include <stddef.h>

/** A point of the sequence, counted from 0.
 *  @param dimensions  1 to 40
 *  @return whether there was memory for it */
bool calc_sobol_point(size_t index, size_t dimensions, double *out);

#endif
