/** @file tune_journal.h  Appends measurements to the state of `calc tune` one by one, so that none
 *  is lost whenever calc ends: each is a line that is written at once, and is on the disk before
 *  the next begins. */
#ifndef CALC_CLI_TUNE_TUNE_JOURNAL_H
#define CALC_CLI_TUNE_TUNE_JOURNAL_H

#include <signal.h>

#include "io/csv_table.h"
#include "tune/decision.h"

/* The state of `calc tune`: measurements in a file of comma-separated values, a
 * row each:
 *
 *     layout or exe   the identity of a layout, or the path of its execution
 *     step_s          time of a step, in seconds or with a unit: 1.53, 1.53s, 1530ms
 *     memory_gib      peak of the fullest processor, in GiB or with a unit; optional
 *     outcome         ok, oom or failed; blank or absent: ok
 *     note            for people; optional
 *     id              of the row, for people; optional, but there may be no two alike
 *
 * in any order; other columns are ignored. */

/** A row. Texts are "" where there are none. */
typedef struct calc_tune_row {
    int line;
    int layout_column, exe_column;                   /**< of their cells, for errors; 0: none */
    const char *layout, *exe;                        /**< one of them is there */
    const char *step, *memory, *outcome, *note, *id; /**< as they were written */
    calc_tune_end end;
    double step_s;       /**< NaN unless it is fine */
    double memory_bytes; /**< NaN: not known */
} calc_tune_row;

/** A file. Owns its texts. Start with {0}. */
typedef struct calc_tune_rows {
    calc_csv_rows csv; /**< of calc_tune_row */
    const calc_tune_row *row;
    size_t count;
    bool ends;  /**< its last line does, or it has none */
    char *head; /**< its first row, as it is; NULL: it is empty */
} calc_tune_rows;

/** Read a file, or standard input if the path is "-".
 *  @param absent  a file that does not exist is an empty one
 *  @return what calc_csv_table_read() returns; CALC_ERR_FIELD for ids that are there twice or a row
 *  without a layout. *out must be freed in any case */
CALC_MUST_USE calc_status calc_tune_rows_read(calc_tune_rows *out, const char *path, bool absent,
                                              calc_errors *errors);

/** The same from a text, which *out owns from now on; `name` is what errors call it. */
CALC_MUST_USE calc_status calc_tune_rows_parse(calc_tune_rows *out, calc_text text,
                                               const char *name, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_tune_rows_free(calc_tune_rows *rows);

enum { CALC_TUNE_JOURNAL_COLUMNS = 64 };

/** A state that is open. Start with {.file = -1}. */
typedef struct calc_tune_journal {
    const char *path; /**< borrowed */
    int file;
    int columns;
    int what[CALC_TUNE_JOURNAL_COLUMNS]; /**< stands in each column */
} calc_tune_journal;

/** Open the file that `rows` were read from, or begin one.
 *  @param path  must live as long as the journal
 *  @return CALC_OK; CALC_ERR_FIELD for a column that is missing, CALC_ERR_SYNTAX if the last line
 *  has no end, CALC_ERR_IO for a file that cannot be written or that another calc writes */
CALC_MUST_USE calc_status calc_tune_journal_open(calc_tune_journal *out, const char *path,
                                                 const calc_tune_rows *rows, calc_errors *errors);

/** Append a measurement.
 *  @param layout  its identity
 *  @param note    one line; "": none
 *  @return CALC_OK or CALC_ERR_IO */
CALC_MUST_USE calc_status calc_tune_journal_add(const calc_tune_journal *journal,
                                                const char *layout, calc_tune_end end,
                                                double step_s, double memory_bytes,
                                                const char *note, calc_errors *errors);

/** Close it; fine on {.file = -1}. */
void calc_tune_journal_close(calc_tune_journal *journal);

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
 */
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
