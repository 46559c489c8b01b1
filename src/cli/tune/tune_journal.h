/** @file tune_journal.h  Appends measurements to the state of `calc tune` one by one, so that none
 *  is lost whenever calc ends: each is a line that is written at once, and is on the disk before
 *  the next begins. */
#ifndef CALC_CLI_TUNE_TUNE_JOURNAL_H
#define CALC_CLI_TUNE_TUNE_JOURNAL_H

#include "cli/tune/tune_rows.h"

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

#endif
