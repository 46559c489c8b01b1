/** @file format.h  Number formats: of stored or sent data, and of arithmetic in an engine. */
#ifndef CALC_SPEC_FORMAT_H
#define CALC_SPEC_FORMAT_H

#include "calc.h"

/** Bytes of one number in an engine's datatype; 2 for 4-bit datatypes, which only matrices have. */
double calc_datatype_bytes(calc_datatype datatype);

/** Bytes of one number; 0 for auto. Scales of blocks are not counted. */
double calc_format_bytes(calc_format format);

/** The same, `otherwise` for auto. */
double calc_format_bytes_or(calc_format format, double otherwise);

/** The engine's datatype of a format, `otherwise` for auto. */
calc_datatype calc_format_datatype(calc_format format, calc_datatype otherwise);

#endif
