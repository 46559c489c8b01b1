/** @file detect.h  Reads a text as a file of a framework, and finds of which by the keys it has. */
#ifndef CALC_FORMATS_DETECT_H
#define CALC_FORMATS_DETECT_H

#include "formats/framework.h"
#include "formats/settings.h"

/** Reads a text: JSON if it begins with a brace, TOML if it begins with a table or "key = value",
 *  else YAML or a script, whichever has more keys that are read.
 *  @param framework  NULL: set to the framework that reads most of the keys; it knows at least half
 *                    of them
 *  @param name       of the text in errors
 *  @param settings   start with {0}; free with calc_settings_free()
 *  @return CALC_OK; CALC_ERR_SYNTAX with the place of the first mistake; CALC_ERR_UNSUPPORTED if no
 *  key is read, or several frameworks read as many; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_detect(const calc_framework **framework, const char *text,
                                      size_t length, const char *name, calc_settings *settings,
                                      calc_errors *errors);

/** The same for the words of a command line. */
CALC_MUST_USE calc_status calc_detect_options(const calc_framework **framework,
                                              const char *const *word, size_t count,
                                              calc_settings *settings, calc_errors *errors);

#endif
