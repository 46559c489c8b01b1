/** @file notes.h  What is said of an answer beside it: values beyond what was measured. */
#ifndef CALC_GALVATRON_NOTES_H
#define CALC_GALVATRON_NOTES_H

#include "base/error.h"

enum { CALC_GALVATRON_NOTES = 24, CALC_GALVATRON_NOTE_SIZE = 256 };

/** Each is said once; beyond the capacity they are counted. */
typedef struct calc_galvatron_notes {
    int count;   /**< of text */
    int dropped; /**< beyond the capacity */
    char text[CALC_GALVATRON_NOTES][CALC_GALVATRON_NOTE_SIZE];
} calc_galvatron_notes;

/** Add a sentence, unless it is there. */
void calc_galvatron_note(calc_galvatron_notes *notes, const char *fmt, ...) CALC_PRINTF(2, 3);

#endif
