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

/* Any number of choices as bits, in the order of the choices, and as text:
 * "core_attn+mlp". */

enum { CALC_CHOICE_SET_SIZE = 256 /**< bytes for the text of a set */ };

/** Choices joined by "+", in their order; "" for none of them. At most 62 choices.
 *  @param buffer  CALC_CHOICE_SET_SIZE bytes
 *  @return buffer */
char *calc_choice_set_text(const char *const *choices, int64_t set, char *buffer);

/** Read such a text, in any order, with "," for "+", too; "" and "none" have no member.
 *  @param bad  filled with the first word that is no choice, CALC_CHOICE_SET_SIZE bytes; a longer
 *  one is cut
 *  @return whether *set is filled */
bool calc_choice_set_parse(const char *const *choices, const char *text, int64_t *set, char *bad);

#endif
