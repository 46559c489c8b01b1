/** @file fold.h  Text in fewer columns than it was written for. */
#ifndef CALC_CLI_DRAW_FOLD_H
#define CALC_CLI_DRAW_FOLD_H

#include "io/output.h"

/** Write a text whose lines are no wider than `columns`: a longer one is broken at the last gap
 *  between its columns that fits, or else at the last space, and goes on below, indented. A word
 *  that is longer stays whole. Characters of UTF-8 are a column wide; colours take none. */
void calc_fold_write(calc_output *out, const char *text, size_t length, int columns);

#endif
