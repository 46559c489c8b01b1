/** @file value_text.h  Values of fields as text. */
#ifndef CALC_SPEC_VALUE_TEXT_H
#define CALC_SPEC_VALUE_TEXT_H

#include "calc.h"

enum { CALC_VALUE_TEXT = 1024 /**< bytes; a longer curve is cut */ };

/** The value of a member, in file units; "" for objects, lists, maps and notes. @return buffer */
char *calc_value_text(const calc_field *field, const void *member, char buffer[CALC_VALUE_TEXT]);

/** Call `visit` with the name (as --set takes it) and both texts of each field in which two objects
 *  of a kind differ. Lists, maps and nested objects are skipped. */
void calc_value_differences(calc_kind kind, const void *from, const void *to,
                            void (*visit)(void *context, const char *path, const char *from,
                                          const char *to),
                            void *context);

#endif
