/** @file human.h  Formats numbers for people: units, digits, shares that add up. Every function
 *  fills the caller's buffer of CALC_HUMAN_MAX bytes and returns it. NaN is "n/a". */
#ifndef CALC_CLI_DRAW_HUMAN_H
#define CALC_CLI_DRAW_HUMAN_H

#include <stddef.h>
#include <stdint.h>

enum { CALC_HUMAN_MAX = 160 };

/** "3,072"; rounded to an integer. */
char *calc_human_integer(double value, char *buffer);

/** "1 block", "96 blocks". */
char *calc_human_counted(double value, const char *noun, char *buffer);

/** Four significant digits, with commas from a thousand on: "326,701", "159.5", "0.1234". */
char *calc_human_number(double value, char *buffer);

/** "174.6 B" for 174.6e9: K, M, B (1e9), T. */
char *calc_human_count(double value, char *buffer);

/** Four significant digits in s, ms, us or ns: "19.26 s", "12.00 us". */
char *calc_human_seconds(double seconds, char *buffer);

/** Four significant digits in TiB, GiB, MiB, KiB or B: "80.00 GiB". */
char *calc_human_bytes(double bytes, char *buffer);

/** One decimal: "38.2 %". */
char *calc_human_percent(double fraction, char *buffer);

/** Split `whole` into integers in proportion to `part` that add up to it: each is rounded down, and
 *  the remainder goes to the parts with the largest remainders (the first of equals).
 *  @param part  finite; their sum is not 0
 *  @param count  at most 32 */
void calc_human_apportion(const double *part, size_t count, int64_t whole, int64_t *share);

#endif
