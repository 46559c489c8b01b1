/** @file decimal.h  Numbers as decimal texts that read back as the same number. */
#ifndef CALC_BASE_DECIMAL_H
#define CALC_BASE_DECIMAL_H

#include "calc.h"

enum { CALC_DECIMAL_SIZE = 32 };

/** Write a number with the least of 15, 16 and 17 significant digits that strtod() reads back as
 *  the same number, in the form of %g, and whole numbers below 2^53 without an exponent. Exact, and
 *  some fifty times as fast as printf() and strtod(), which would take minutes to write the fields
 *  of a million layouts.
 *  @param buffer  CALC_DECIMAL_SIZE bytes
 *  @return false for a number that is left to printf() and strtod(): one below 1e-10, above 1e36,
 *  infinite or NaN, or a power of two that is not whole or not below 2^53 */
CALC_MUST_USE bool calc_decimal(double value, char *buffer);

/** As printf() writes it with %.*g, faster. @param digits  1 to 17
 *  @param buffer  CALC_DECIMAL_SIZE bytes @return buffer */
char *calc_decimal_rounded(double value, int digits, char *buffer);

/** Write a finite number rounded to a whole one, with commas between thousands; one of 16 digits or
 *  more with an exponent. @param buffer  CALC_DECIMAL_SIZE bytes @return buffer */
char *calc_decimal_grouped(double value, char *buffer);

/** The decimal number that a text begins with: strtod() without leading blanks, a plus sign,
 *  leading zeros, hexadecimal digits, infinities and NaN. Too large a number is infinite.
 *  @param end  as of strtod(): where the number ends; `text` if there is none, which is 0 */
double calc_decimal_at(const char *text, char **end);

/** Read a number from `lo` to `hi`, the whole text: digits alone if it is whole, with a minus sign
 *  only if `lo` is below 0.
 *  @return false if the text is anything else; then *out is unchanged */
bool calc_decimal_read(const char *text, bool whole, double lo, double hi, double *out);

#endif
