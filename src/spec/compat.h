/** @file compat.h  Calculon's rules as text: "none", "repaired" (all but its defects), "calculon"
 *  (all), or names of rules with commas between them. */
#ifndef CALC_SPEC_COMPAT_H
#define CALC_SPEC_COMPAT_H

#include "calc.h"

enum { CALC_COMPAT_TEXT = 256 /**< bytes that hold any text of rules */ };

/** Names of the rules in order of their bits, and their descriptions; NULL at the end. */
extern const char *const calc_compat_names[];
extern const char *const calc_compat_sentences[];

/** Every word of such a text, NULL at the end. */
extern const char *const calc_compat_words[];

/** Read such a text.
 *  @param errors  filled if a word is not a rule
 *  @return CALC_OK or CALC_ERR_RANGE; *out is then untouched */
CALC_MUST_USE calc_status calc_compat_read(const char *text, calc_compat *out, calc_errors *errors);

/** The shortest text for rules. @return buffer */
char *calc_compat_text(calc_compat compat, char buffer[CALC_COMPAT_TEXT]);

#endif
