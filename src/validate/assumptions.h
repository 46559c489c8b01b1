/** @file assumptions.h  Assumptions made about a measured run in order to predict it. */
#ifndef CALC_VALIDATE_ASSUMPTIONS_H
#define CALC_VALIDATE_ASSUMPTIONS_H

enum { CALC_ASSUMPTIONS_MAX = 24 };

/** Texts are static. Start with {0}. */
typedef struct calc_assumptions {
    const char *text[CALC_ASSUMPTIONS_MAX];
    int count;
} calc_assumptions;

/** Add something assumed, once. A list that is full stays as it is. */
void calc_assumptions_add(calc_assumptions *assumed, const char *text);

#endif
