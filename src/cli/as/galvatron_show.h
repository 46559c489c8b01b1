/** @file galvatron_show.h  What the programs share that search as Galvatron does: the search
 * itself, the file of its answer, and the answer for people and as JSON. */
#ifndef CALC_CLI_AS_GALVATRON_SHOW_H
#define CALC_CLI_AS_GALVATRON_SHOW_H

#include "cli/as/flags.h"
#include "galvatron/arguments.h"
#include "galvatron/layout.h"
#include "galvatron/search.h"

/** A search, and its answer. */
typedef struct calc_galvatron_job {
    const calc_args *flags;
    calc_galvatron_arguments arguments;
    calc_app app; /**< of --model and --system */
    calc_system system;
    calc_galvatron_profiles profiles;
    calc_galvatron_found found;
    calc_galvatron_layout layout; /**< of the best answer, if it is feasible */
    char file[CALC_AS_PATH_SIZE]; /**< the written file; "": none */
} calc_galvatron_job;

/** Searches with the profiles, writes the answer to folder/name and shows it.
 *  @param format   "json", or the summary
 *  @param write    the file
 *  @param options  written below the summary, as options of the trainer; NULL: none
 *  @return the exit code, after complaints */
calc_exit calc_galvatron_job_run(
    calc_galvatron_job *task, const char *folder, const char *name, const char *format,
    void (*write)(const calc_galvatron_layout *layout, calc_output *out),
    void (*options)(const calc_galvatron_layout *layout, calc_output *out), calc_errors *errors);

#endif
