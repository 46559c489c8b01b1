/** @file constant.h  The constants of a machine that no data sheet states: their place in a system,
 *  their range, and the expected distance from their starting values. */
#ifndef CALC_CALIBRATE_CONSTANT_H
#define CALC_CALIBRATE_CONSTANT_H

#include "calc.h"

enum { CALC_CONSTANT_PATHS = 3 };

/** A number without limits that stands for a constant within its own: its logarithm, or that of its
 *  odds. */
typedef enum calc_constant_scale { CALC_CONSTANT_LOG, CALC_CONSTANT_LOGIT } calc_constant_scale;

/** One constant. A path names a field of the system; an efficiency curve is scaled as a whole, its
 *  first step is the constant. */
typedef struct calc_constant {
    const char *name;
    const char *path[CALC_CONSTANT_PATHS]; /**< fields that have this value; NULL: no more */
    const char *unit;                      /**< "s", "bytes" or "" */
    calc_constant_scale scale;
    double spread; /**< standard deviation of the prior, on `scale` */
    bool own;     /**< each machine of a family has its own, the first is the measure of the rest */
    double start; /**< prior value, before any measurement; calc_constant_start() */
    double lo, hi; /**< no machine is known beyond: a fit that ends there has other reasons */
} calc_constant;

/** The constant of that index, from 0; NULL after the last. */
const calc_constant *calc_constant_at(size_t index);

/** The constant of that name; NULL if there is none. */
const calc_constant *calc_constant_find(const char *name);

/** The prior values of a machine's constants, before any measurement: operator tables where they
 *  exist, round guesses where they do not (docs/validation.md).
 *  @param family  "A100", ... ; NULL: any */
double calc_constant_start(const calc_constant *constant, const char *family, const char *machine);

/** Value in a system; 0 if the system does not give it. */
double calc_constant_get(const calc_constant *constant, const calc_system *system);

/** Set it, where the system gives it. Curves keep their shape, up to an efficiency of 1. */
void calc_constant_set(const calc_constant *constant, calc_system *system, double value);

/** To the unlimited number and back; from there never above the largest value of the field. */
double calc_constant_to_free(const calc_constant *constant, double value);
double calc_constant_from_free(const calc_constant *constant, double number);

#endif
