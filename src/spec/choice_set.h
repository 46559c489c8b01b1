/** @file choice_set.h  Any number of choices as bits, in the order of the choices, and as text:
 *  "core_attn+mlp". */
#ifndef CALC_SPEC_CHOICE_SET_H
#define CALC_SPEC_CHOICE_SET_H

#include "calc.h"

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
