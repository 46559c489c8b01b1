/** @file amount.h  Numbers with a unit, as people write them: "80GiB", "400Gb/s", "10us". */
#ifndef CALC_SPEC_AMOUNT_H
#define CALC_SPEC_AMOUNT_H

#include "calc.h"

/** Result of reading a text. */
typedef enum calc_amount {
    CALC_AMOUNT_BARE, /**< a number without a unit: it is in the unit of the field */
    CALC_AMOUNT_UNIT, /**< a number with a unit that fits */
    CALC_AMOUNT_WRONG_UNIT,
    CALC_AMOUNT_NO_NUMBER
} calc_amount;

/** Read a number and its unit. Prefixes are K (or k), M, G, T, P of 1000 and Ki, Mi, Gi, Ti of
 *  1024, for times m, u, n; a prefix without a unit counts bytes, tokens, FLOP ... A capital B is a
 *  byte, b a bit; of tokens B is 1e9. A percentage is a pure number. Spaces may stand before the
 *  unit.
 *  @param unit    target unit, usually that of a field, "GiB"; NULL: a pure number
 *  @param number  filled for the first two: the decimal number that was meant, rounded once where
 *                 the units differ by powers of 10 and 2 */
calc_amount calc_amount_read(const char *text, const char *unit, double *number);

/** Units that may be written instead of one that does not fit: "units are s, ms, us, ns, min, h and
 *  days". */
const char *calc_amount_units(const char *unit);

/** Whether a number in this unit means little without one beside it: bytes, bytes/s, FLOP ... */
bool calc_amount_is_large(const char *unit);

#endif
