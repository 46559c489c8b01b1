/** @file tune_program.h  Runs the programs that measure layouts in a shell, watches them, and reads
 *  their output. */
#ifndef CALC_CLI_TUNE_TUNE_PROGRAM_H
#define CALC_CLI_TUNE_TUNE_PROGRAM_H

#include <signal.h>

#include "tune/decision.h"

/* Builds the command for a layout to be measured, and reads the command's
 * output. */

enum { CALC_TUNE_NOTE_SIZE = 160 };

/** A layout that is tried, and what comes of it. */
typedef struct calc_tune_trial {
    size_t candidate;
    const char *exe;    /**< path of its execution */
    const char *layout; /**< its identity */
    calc_tune_end end;
    double step_s;                  /**< NaN unless it is fine */
    double memory_bytes;            /**< NaN: not printed */
    char note[CALC_TUNE_NOTE_SIZE]; /**< why it failed; "": it did not */
} calc_tune_trial;

/** Whether a command says which layout is to be measured. */
bool calc_tune_trial_names_layout(const char *command);

/** The command for a trial, in memory of its own: a path is quoted for the shell if it has to be.
 *  @return NULL if memory is short */
char *calc_tune_trial_command(const char *command, const calc_tune_trial *trial, size_t slot);

/** Read the last line that a program prints: "1.53", "1530ms 61.2GiB", "oom" or "failed".
 *  @return whether it is a result; if not, *trial is unchanged */
bool calc_tune_trial_read(const char *line, calc_tune_trial *trial);

/** How programs are run. */
typedef struct calc_tune_program {
    const char *command; /**< for /bin/sh -c: {exe}, {layout} and {slot} are replaced */
    double timeout_s;
    int retries;      /**< of a run that failed, but for one that took too long */
    sigset_t mask;    /**< of signals, for the programs */
    sigset_t signals; /**< blocked ones that end the measurements */
} calc_tune_program;

/** Run a program for each trial, all at once, each in a group of processes of its own. Standard
 *  error is theirs, too; standard input is empty.
 *  @param trial   layouts that are to be tried; filled
 *  @param ended   called as soon as one has ended. Not CALC_OK ends the others
 *  @param interrupted  whether one of the signals came: what ran then has no result
 *  @return CALC_OK; what `ended` returned; CALC_ERR_IO if a program cannot be run at all;
 *  CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_program_run(
    const calc_tune_program *program, calc_tune_trial *trial, size_t count,
    calc_status (*ended)(void *context, const calc_tune_trial *trial, calc_errors *errors),
    void *context, bool *interrupted, calc_errors *errors);

#endif
