/** @file list.h  Splits values of options that are lists: "a,b,c". */
#ifndef CALC_CLI_SHELL_LIST_H
#define CALC_CLI_SHELL_LIST_H

#include "calc.h"

enum { CALC_LIST_MAX = 64, CALC_LIST_SIZE = 1024 };

/** A list in parts; its items point into its text, so it must not be copied. */
typedef struct calc_list {
    char text[CALC_LIST_SIZE];
    const char *item[CALC_LIST_MAX + 1]; /**< NULL at the end */
    size_t count;
} calc_list;

/** Split a text at its commas.
 *  @param out  {0} before
 *  @return false if it is too long, or an item is empty */
bool calc_list_split(calc_list *out, const char *text);

#endif
