/** @file field_text.h  A field in words: what values it takes, what it means, what it holds. */
#ifndef CALC_CLI_FIELD_TEXT_H
#define CALC_CLI_FIELD_TEXT_H

#include "calc.h"

enum {
    CALC_FIELD_TEXT_MEANING = 512, /**< bytes for what a field means */
    CALC_FIELD_TEXT_VALUE = 1024   /**< bytes for a value; a longer curve is cut */
};

/** "integer", "one of", "[[size, efficiency], ...]". */
const char *calc_field_text_type(const calc_field *field);

/** "1 to 1,000", "above 0 to 1", "multihead, multiquery, flash"; "" for no limit. */
void calc_field_text_range(const calc_field *field, char *buffer, size_t size);

/** What a field means, and its other names and those of its choices. @return buffer */
const char *calc_field_text_meaning(const calc_table *table, const calc_field *field,
                                    char buffer[CALC_FIELD_TEXT_MEANING]);

/** The value of a member, in file units; "" for objects, lists, maps and notes. @return buffer */
char *calc_field_text_value(const calc_field *field, const void *member,
                            char buffer[CALC_FIELD_TEXT_VALUE]);

#endif
