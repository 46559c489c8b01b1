/** @file field_text.h  A field in words: what values it takes, what it means. */
#ifndef CALC_CLI_SHELL_FIELD_TEXT_H
#define CALC_CLI_SHELL_FIELD_TEXT_H

#include "calc.h"

enum { CALC_FIELD_TEXT_MEANING = 512 /**< bytes for what a field means */ };

/** "integer", "one of", "[[size, efficiency], ...]". */
const char *calc_field_text_type(const calc_field *field);

/** "1 to 1,000", "above 0 to 1", "multihead, multiquery, flash"; "" for no limit. */
void calc_field_text_range(const calc_field *field, char *buffer, size_t size);

/** What a field means, and its other names and those of its choices. @return buffer */
const char *calc_field_text_meaning(const calc_table *table, const calc_field *field,
                                    char buffer[CALC_FIELD_TEXT_MEANING]);

#endif
