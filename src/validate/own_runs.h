/** @file own_runs.h  Runs of one's own, read to the same rows as published ones. A short table has
 * a run per row:
 *
 *      name, source          optional: of the run; of the group it is in, else the name of the file
 *      app, sys, exe         documents of calc, as on a command line
 *      arguments, procs      or: options of Megatron-LM instead of `exe`, or of `app` and `exe`
 *      measured_s            seconds of a step, and/or measured_mem_gib, GiB of the fullest
 * processor any field             of app or exe: what the row has instead of the document's value
 *
 *  A table with the column `hardware` and without `app`, `sys` and `exe` is one of published
 * columns (runs.h); its hardware may be the name of a machine's file, too. */
#ifndef CALC_VALIDATE_OWN_RUNS_H
#define CALC_VALIDATE_OWN_RUNS_H

#include "validate/run_machines.h"

/** What a row says itself. */
typedef struct calc_own_run {
    bool complete; /**< app and exec are the run's; if not, columns of a published table say it */
    calc_app app;
    calc_exec exec;
    const calc_run_machine *machine; /**< NULL: that which `hardware` means */
    const calc_run_source *source;   /**< NULL: that which `id` means, a published table */
    /* One per name, to which the pointers of this row or of later rows lead. */
    calc_run_machine its_machine;
    calc_run_source its_source;
    char group[64];              /**< name of the file, without its ending */
    char id[96];                 /**< "file:line", of a row without a name */
    struct calc_own_run *before; /**< of the same file; NULL: it is the first */
} calc_own_run;

/** How names and options become documents. */
typedef struct calc_own_loader {
    /** Read a document. @param object  a calc_app, calc_system or calc_exec, by kind */
    calc_status (*document)(calc_kind kind, const char *name, void *object, calc_errors *errors);
    /** Read options of a command line. @param procs  processors; 0: as the options say
     *  @param whole  whether the model must be complete */
    calc_status (*arguments)(const char *arguments, int64_t procs, bool whole, calc_app *app,
                             calc_exec *exec, calc_errors *errors);
    /** Whether there is a machine's file of that name. */
    bool (*is_machine)(const char *name);
    /** Called once with each column that is no field and has a cell; NULL: not called. */
    void (*ignored)(const char *file, const char *column);
    const char *machine; /**< of rows that name none; NULL: they are errors */
} calc_own_loader;

/** Read a text, which the runs own from now on; `name` is its name in errors.
 *  @return what calc_runs_parse() returns, or the loader; errors of a row name file, line and
 *  column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_own_runs_parse(calc_runs *out, calc_text text, const char *name,
                                              const calc_own_loader *loader, calc_errors *errors);

/** Whether a run is in no published table that is known: it is of the group that its file says. */
bool calc_own_runs_has(const calc_runs_row *row);

#endif
