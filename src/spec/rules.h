/** @file rules.h  Rules between fields, and between application, system and execution.
 *  The rules themselves are in rules.c; calc_check() in calc.h runs them all. */
#ifndef CALC_SPEC_RULES_H
#define CALC_SPEC_RULES_H

#include "calc.h"

/** Greatest common divisor of two positive numbers. */
int64_t calc_gcd(int64_t a, int64_t b);

/** Text of the divisors of n, smallest first: "1, 2, 3, 4, 6 or 12"; long lists are cut with
 *  "...". @return buffer */
char *calc_divisors_text(int64_t n, char *buffer, size_t size);

#endif
