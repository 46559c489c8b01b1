/** @file measured.h  Reads measured runs, remarks on them, and the machines they ran on, for the
 *  commands that compare predictions with measurements. */
#ifndef CALC_CLI_VALIDATE_MEASURED_H
#define CALC_CLI_VALIDATE_MEASURED_H

#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "validate/error_groups.h"
#include "validate/results.h"

enum { CALC_MEASURED_FILES = 16 };

/** A file of runs: its name without directories, and the digest of its bytes (after
 *  decompression). */
typedef struct calc_measured_file {
    char name[128];
    char sha256[CALC_DIGEST_TEXT];
} calc_measured_file;

/** Everything read. Owns the runs, remarks and sets. Start with {0}; large. */
typedef struct calc_measured {
    calc_runs runs[CALC_MEASURED_FILES];
    calc_serving_rows serving[CALC_MEASURED_FILES]; /**< instead of runs */
    calc_measured_file file[CALC_MEASURED_FILES];
    size_t files;
    calc_measured_file operators; /**< measured ones to look up; no name: none */
    bool serves;                  /**< the files have runs of serving */
    calc_remarks remarks;
    calc_run_sets sets; /**< of published tables */
    calc_documents apps;
    calc_serving_engines engines; /**< where runs are of serving */
    calc_documents systems;
    calc_measured_runs all; /**< of these */
} calc_measured;

/** Read the files that the arguments of a command name; without arguments, the training runs
 *  shipped with calc. A bare name means a shipped table: "serving_runs". Files of serving runs are
 *  recognised by their columns, and cannot be combined with others.
 *  @param machine  for rows that name none; NULL: such rows are errors
 *  @return CALC_OK, or the status of the first error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_measured_read(calc_measured *out, const calc_args *args,
                                             const char *machine, calc_errors *errors);

/** Read a file, and fill in what is recorded of it.
 *  @return CALC_OK, or what calc_text_read() returns */
CALC_MUST_USE calc_status calc_measured_text(calc_text *text, calc_measured_file *file,
                                             const char *path, calc_errors *errors);

/** The name by which runs refer to the machine called `name` on the command line: the same file may
 *  have a name and a path. @return `name` if no run has it */
const char *calc_measured_machine(const calc_measured *measured, const char *name);

/** Free what it owns; fine on {0}. */
void calc_measured_free(calc_measured *measured);

#endif
