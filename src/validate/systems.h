/** @file systems.h  The machines that runs name, each read once. */
#ifndef CALC_VALIDATE_SYSTEMS_H
#define CALC_VALIDATE_SYSTEMS_H

#include "model/cost/kernel_table.h"

enum { CALC_SYSTEMS_MAX = 32 };

/** Reads the machine of that name.
 *  @return CALC_OK, or a status with errors added */
typedef calc_status (*calc_systems_load)(const char *name, calc_system *out, calc_errors *errors);

/** Measured operators of a machine to look up.
 *  @param of  the one to ask: calc_systems.operators
 *  @return NULL: there are none; borrowed */
typedef const calc_kernel_table *(*calc_systems_measure)(void *of, const char *name,
                                                         const calc_system *system);

/** One machine, or why there is none. */
typedef struct calc_systems_entry {
    const char *name; /**< borrowed */
    bool fine;
    char reason[256]; /**< if not fine */
    calc_system system;
    const calc_kernel_table
        *measured; /**< operators to look up before the model is asked, or NULL */
} calc_systems_entry;

/** All that were asked for. Start with {.load = ...}; owns nothing. */
typedef struct calc_systems {
    calc_systems_load load;
    calc_systems_measure measure; /**< NULL: no operators are looked up */
    void *operators;              /**< for it */
    calc_status failed; /**< the first failure of reading that says nothing about the machine:
                         * memory, the file system; CALC_OK: there was none */
    int count;
    calc_systems_entry entry[CALC_SYSTEMS_MAX];
} calc_systems;

/** Whether a status of reading says nothing about what was to be read. */
static inline bool calc_systems_is_failure(calc_status status)
{
    return status == CALC_ERR_NOMEM || status == CALC_ERR_IO;
}

/** The machine of a name, read the first time. */
const calc_systems_entry *calc_systems_get(calc_systems *systems, const char *name);

#endif
