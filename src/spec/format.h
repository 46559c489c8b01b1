/** @file format.h  Number formats: what is stored or sent, and what an engine computes in. */
#ifndef CALC_SPEC_FORMAT_H
#define CALC_SPEC_FORMAT_H

#include "calc.h"

/** Bytes of one number that an engine computes in; of 4 bits, which only matrices have, 2. */
double calc_datatype_bytes(calc_datatype datatype);

/** Bytes of one number; 0 for auto. Scales of blocks are not counted. */
double calc_format_bytes(calc_format format);

/** The same, `otherwise` for auto. */
double calc_format_bytes_or(calc_format format, double otherwise);

/** The engine's datatype of a format, `otherwise` for auto. */
calc_datatype calc_format_datatype(calc_format format, calc_datatype otherwise);

#endif
