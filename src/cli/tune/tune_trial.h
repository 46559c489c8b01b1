/** @file tune_trial.h  Builds the command for a layout to be measured, and reads the command's
 *  output. */
#ifndef CALC_CLI_TUNE_TUNE_TRIAL_H
#define CALC_CLI_TUNE_TUNE_TRIAL_H

#include "tune/decision.h"

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

#endif
