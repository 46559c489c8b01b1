/** @file read.h  Settings out of a command line, a shell script, a YAML, a JSON or a TOML file. */
#ifndef CALC_FORMATS_READ_H
#define CALC_FORMATS_READ_H

#include "formats/settings.h"

/** Options from words: `--key value...` or `--key=value`; words before the first are passed over.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_settings_from_words(calc_settings *settings, const char *const *word,
                                                   size_t count);

/** Options from a shell script or a list of options: quotes, comments, continued lines, arrays and
 *  variables that the text itself sets (TP=8, then $TP, ${TP} or ${TP:-4}). Nothing is executed.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_settings_from_script(calc_settings *settings, const char *text,
                                                    size_t length);

/** Keys of nested mappings, dotted, with scalars and lists of scalars, of which lists in lists add
 *  their items; mappings in lists are passed over, as anchors and tags are; null is no value.
 *  Aliases are not followed: their value is their name, "*name".
 *  @param name  what errors call the text
 *  @return CALC_OK, CALC_ERR_SYNTAX with the place of the first mistake, or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_settings_from_yaml(calc_settings *settings, const char *text,
                                                  size_t length, const char *name,
                                                  calc_errors *errors);

/** The same of JSON. */
CALC_MUST_USE calc_status calc_settings_from_json(calc_settings *settings, const char *text,
                                                  size_t length, const char *name,
                                                  calc_errors *errors);

/** The same of TOML: tables and dotted keys, strings, numbers, booleans and arrays of them; inline
 *  tables and tables in arrays are passed over. */
CALC_MUST_USE calc_status calc_settings_from_toml(calc_settings *settings, const char *text,
                                                  size_t length, const char *name,
                                                  calc_errors *errors);

/** The version of libyaml: "0.2.5". */
const char *calc_settings_yaml_library(void);

#endif
