/** @file json_load.h  Parses JSON text to Jansson values, with errors for people. Public part:
 *  calc_load() and calc_parse() in calc.h. */
#ifndef CALC_IO_JSON_LOAD_H
#define CALC_IO_JSON_LOAD_H

#include "io/json_report.h"

#include <jansson.h>

/** Parse any JSON value, or report what is wrong with the text.
 *  @return a new reference; NULL if an error was added */
json_t *calc_json_load_text(calc_json_report *report, const char *text, size_t length);

/** Have Jansson allocate by a function of the process, which does not return without memory. After
 *  one failed allocation Jansson 2.14 drops characters of a long key or number, or crashes. For
 *  commands, not for libraries: there is one allocator per process. */
void calc_json_allocate(void *(*allocate)(size_t size));

#endif
