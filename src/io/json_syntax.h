/** @file json_syntax.h  Finds the first mistake in a text that is not JSON, and suggests how to
 *  mend it. */
#ifndef CALC_IO_JSON_SYNTAX_H
#define CALC_IO_JSON_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>

/** The first mistake in a text. */
typedef struct calc_json_mistake {
    size_t offset;  /**< byte where it is */
    char text[160]; /**< one line */
    char hint[160]; /**< may be empty */
} calc_json_mistake;

/** Find the first mistake, as strict as Jansson, but for the words NaN, Infinity and -Infinity,
 *  which Python writes, if `not_finite`. Not found here: repeated keys, numbers that are
 *  too large, "\u0000".
 *  @return whether there is one; *out is then filled */
bool calc_json_syntax_check(const char *text, size_t length, bool not_finite,
                            calc_json_mistake *out);

#endif
