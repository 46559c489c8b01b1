/** @file measured.h  Measured runs, remarks on them, and the machines they ran on, for the commands
 *  that compare with them. */
#ifndef CALC_CLI_VALIDATE_MEASURED_H
#define CALC_CLI_VALIDATE_MEASURED_H

#include "cli/shell/digest.h"
#include "cli/shell/opt.h"
#include "validate/serving_results.h"

enum { CALC_MEASURED_FILES = 16 };

/** A file of runs: its name without directories, and its bytes, of a compressed file what it holds.
 */
typedef struct calc_measured_file {
    char name[128];
    char sha256[CALC_DIGEST_TEXT];
} calc_measured_file;

/** What was read. Owns the runs and remarks. Start with {0}; large. */
typedef struct calc_measured {
    calc_runs runs[CALC_MEASURED_FILES];
    calc_serving_rows serving[CALC_MEASURED_FILES]; /**< instead of runs */
    calc_measured_file file[CALC_MEASURED_FILES];
    size_t files;
    bool serves; /**< the files are of serving */
    calc_remarks remarks;
    calc_serving_apps apps;
    calc_systems systems;
} calc_measured;

/** Read the files that the arguments of a command name; the runs of training that calc ships if
 * there are none. A bare name is one of its tables: "serving_runs". Files of runs of serving are
 * known by their columns, and do not go with others.
 *  @param machine  of rows that name none; NULL: they are errors
 *  @return CALC_OK, or the status of the first error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_measured_read(calc_measured *out, const calc_args *args,
                                             const char *machine, calc_errors *errors);

/** Add an error if the runs are of serving. @param what  that only runs of training have
 *  @return CALC_OK, or CALC_ERR_UNSUPPORTED */
CALC_MUST_USE calc_status calc_measured_trains(const calc_measured *measured, const char *what,
                                               calc_errors *errors);

/** What runs call a machine that the command line calls `name`: the same file may have a name and a
 *  path. @return `name` if no run has it */
const char *calc_measured_machine(const calc_measured *measured, const char *name);

/** Free what it owns; fine on {0}. */
void calc_measured_free(calc_measured *measured);

#endif
