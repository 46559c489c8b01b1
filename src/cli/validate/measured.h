/** @file measured.h  Measured runs, remarks on them, and the machines they ran on, for the commands
 *  that compare with them. */
#ifndef CALC_CLI_VALIDATE_MEASURED_H
#define CALC_CLI_VALIDATE_MEASURED_H

#include "cli/shell/opt.h"
#include "validate/results.h"

enum { CALC_MEASURED_FILES = 16 };

/** What was read. Owns the runs and remarks. Start with {0}; large. */
typedef struct calc_measured {
    calc_runs runs[CALC_MEASURED_FILES];
    size_t files;
    calc_remarks remarks;
    calc_systems systems;
} calc_measured;

/** Read the files that the arguments of a command name; those that calc ships if there are none.
 *  @param machine  of rows that name none; NULL: they are errors
 *  @return CALC_OK, or the status of the first error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_measured_read(calc_measured *out, const calc_args *args,
                                             const char *machine, calc_errors *errors);

/** What runs call a machine that the command line calls `name`: the same file may have a name and a
 *  path. @return `name` if no run has it */
const char *calc_measured_machine(const calc_measured *measured, const char *name);

/** Free what it owns; fine on {0}. */
void calc_measured_free(calc_measured *measured);

#endif
