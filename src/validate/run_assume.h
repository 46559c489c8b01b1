/** @file run_assume.h  What a measured run assumes that nobody printed. */
#ifndef CALC_VALIDATE_RUN_ASSUME_H
#define CALC_VALIDATE_RUN_ASSUME_H

enum { CALC_ASSUMPTIONS_MAX = 24 };

/** Texts are static, or of the file of runs. Start with {0}. */
typedef struct calc_assumptions {
    const char *text[CALC_ASSUMPTIONS_MAX];
    int count;
} calc_assumptions;

/** Add something assumed, once. A list that is full stays as it is. */
void calc_assumptions_add(calc_assumptions *assumed, const char *text);

#endif
