/** @file notes.h  Remarks that accompany the answer of a search: missing measurements, damaged
 *  files. */
#ifndef CALC_BASE_NOTES_H
#define CALC_BASE_NOTES_H

#include "calc.h"

enum { CALC_NOTES = 24, CALC_NOTE_SIZE = 640 };

/** Sentences without a full stop; start with {0}. */
typedef struct calc_notes {
    int count, dropped;
    char text[CALC_NOTES][CALC_NOTE_SIZE];
} calc_notes;

/** Add a sentence unless it is already there. */
void calc_notes_add(calc_notes *notes, const char *fmt, ...) CALC_PRINTF(2, 3);

/** Add errors that do not end a search, with their places; *errors is empty then. */
void calc_notes_take(calc_notes *notes, calc_errors *errors);

#endif
