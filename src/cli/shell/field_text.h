/** @file field_text.h  Describes a field in words: its allowed values and its meaning. */
#ifndef CALC_CLI_SHELL_FIELD_TEXT_H
#define CALC_CLI_SHELL_FIELD_TEXT_H

#include "calc.h"

enum { CALC_FIELD_TEXT_MEANING = 512 /**< bytes for the meaning of a field */ };

/** "integer", "one of", "[[size, efficiency], ...]". */
const char *calc_field_text_type(const calc_field *field);

/** "1 to 1,000", "above 0 to 1", "multihead, multiquery, flash"; "" for no limit. */
void calc_field_text_range(const calc_field *field, char *buffer, size_t size);

/** The meaning of a field, its other names, and the other names of its choices. @return buffer */
const char *calc_field_text_meaning(const calc_table *table, const calc_field *field,
                                    char buffer[CALC_FIELD_TEXT_MEANING]);

#endif
