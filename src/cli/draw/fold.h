/** @file fold.h  Folds text to fewer columns than it was written for. */
#ifndef CALC_CLI_DRAW_FOLD_H
#define CALC_CLI_DRAW_FOLD_H

#include "io/output.h"

/** Write a text with lines no wider than `columns`: a longer line is broken at the last gap between
 *  its columns that fits, or else at the last space, and continues below, indented. A longer word
 *  stays whole. UTF-8 characters are one column wide; colours take none. */
void calc_fold_write(calc_output *out, const char *text, size_t length, int columns);

#endif
