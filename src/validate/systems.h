/** @file systems.h  The machines that runs name, each read once. */
#ifndef CALC_VALIDATE_SYSTEMS_H
#define CALC_VALIDATE_SYSTEMS_H

#include "calc.h"

enum { CALC_SYSTEMS_MAX = 32 };

/** Reads the machine of that name.
 *  @return CALC_OK, or a status with errors added */
typedef calc_status (*calc_systems_load)(const char *name, calc_system *out, calc_errors *errors);

/** One machine, or why there is none. */
typedef struct calc_systems_entry {
    const char *name; /**< borrowed */
    bool fine;
    char reason[200]; /**< if not fine */
    calc_system system;
} calc_systems_entry;

/** All that were asked for. Start with {.load = ...}; owns nothing. */
typedef struct calc_systems {
    calc_systems_load load;
    int count;
    calc_systems_entry entry[CALC_SYSTEMS_MAX];
} calc_systems;

/** The machine of a name, read the first time. */
const calc_systems_entry *calc_systems_get(calc_systems *systems, const char *name);

#endif
