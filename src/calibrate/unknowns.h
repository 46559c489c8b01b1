/** @file unknowns.h  The unknowns of a calibration of a family of machines: constants that their
 *  files give. Machines whose files give the same value share it, unless their documentation gives
 *  another one. */
#ifndef CALC_CALIBRATE_UNKNOWNS_H
#define CALC_CALIBRATE_UNKNOWNS_H

#include "calibrate/constant.h"

enum { CALC_UNKNOWNS_MAX = 96, CALC_UNKNOWNS_MACHINES = 16 };

/** One number: a constant of some machines of a family. */
typedef struct calc_unknown {
    const calc_constant *constant;
    unsigned machines; /**< bit per machine of the family */
    double start;      /**< assumed before */
    double value;
    double error;    /**< standard error, on the constant's scale; NaN: value is start */
    bool determined; /**< the runs are stronger than the prior */
    bool indicated;  /**< they contradict the prior */
} calc_unknown;

/** All of a family. */
typedef struct calc_unknowns {
    calc_unknown item[CALC_UNKNOWNS_MAX];
    size_t count;
} calc_unknowns;

/** Machines that are calibrated together. Names are borrowed. */
typedef struct calc_family {
    const char *name; /**< "A100"; NULL: not one that is known */
    const char *machine[CALC_UNKNOWNS_MACHINES];
    calc_system system[CALC_UNKNOWNS_MACHINES]; /**< as their files say */
    size_t machines;
    unsigned measured; /**< bit per machine that has runs */
} calc_family;

/** List the unknowns. Numbers of machines without runs alone are none.
 *  @param fields      names of constants, NULL at the end; NULL: all
 *  @param documented  start from calc_constant_start() instead of the files */
void calc_unknowns_make(calc_unknowns *out, const calc_family *family, const char *const *fields,
                        bool documented);

/** Put the values into the systems of the family, `machines` of them. */
void calc_unknowns_apply(const calc_unknowns *unknowns, calc_system *system, size_t machines);

/** A standard error on the constant's scale as a share of its value. */
double calc_unknown_relative_error(const calc_unknown *unknown);

#endif
