/** @file error.h  Collecting errors: the first CALC_MAX_ERRORS are kept, the rest are counted. */
#ifndef CALC_BASE_ERROR_H
#define CALC_BASE_ERROR_H

#include "calc.h"

enum { CALC_HINT_SIZE = 96 };

/** Add an error without a place. `pointer` and `hint` may be NULL.
 *  @return status, so that callers can `return calc_errors_add(...)` */
calc_status calc_errors_add(calc_errors *errors, calc_status status, calc_kind kind,
                            const char *pointer, const char *hint, const char *fmt, ...)
    CALC_PRINTF(6, 7);

/** Add an error at a place of a file; NULL: none. line = 0: the file as a whole; column = 0: the
 *  whole line. `hint` may be NULL.
 *  @return status */
calc_status calc_errors_at(calc_errors *errors, calc_status status, const char *file, int line,
                           int column, const char *hint, const char *fmt, ...) CALC_PRINTF(7, 8);

/** Add the message of a status; nothing for CALC_OK. @return status */
calc_status calc_errors_status(calc_errors *errors, calc_status status);

/** Add "out of memory". @return CALC_ERR_NOMEM */
calc_status calc_errors_no_memory(calc_errors *errors);

/** A hint that names the word that was meant; "" if `nearest` is NULL. @return hint */
const char *calc_did_you_mean(const char *nearest, char hint[CALC_HINT_SIZE]);
#define CALC_DID_YOU_MEAN(nearest) calc_did_you_mean(nearest, (char[CALC_HINT_SIZE]){""})

/** Give `error` a place. A file name that is too long loses its beginning. line = 0: unknown;
 *  so is a column. */
void calc_error_place(calc_error *error, const char *file, int line, int column);

/** Status of the first error; CALC_OK if there is none. */
calc_status calc_errors_first(const calc_errors *errors);

/** The word of `words` (NULL at the end) nearest to `word`: the shortest that begins with it, if it
 *  has 3 letters or more, or 2 of 3; else by edit distance, if at most a third of the longer one:
 *  more is another word. NULL if none is. */
const char *calc_nearest(const char *word, const char *const *words);

/** Edit distance between two words (insert, delete, replace, swap of neighbours each cost 1);
 *  words longer than 63 bytes are infinitely far. */
int calc_edit_distance(const char *a, const char *b);

#endif
