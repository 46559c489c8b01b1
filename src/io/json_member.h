/** @file json_member.h  Members of a parsed JSON object, each read with the pointer on it, so that
 *  errors have their place. For documents that no table describes. */
#ifndef CALC_IO_JSON_MEMBER_H
#define CALC_IO_JSON_MEMBER_H

#include "io/json_report.h"

#include <jansson.h>

enum { CALC_JSON_NAME = 256 /**< bytes of a name */ };

/** Read a value, or report why not. `out` is what the reader fills. */
typedef void calc_json_read(calc_json_report *report, json_t *value, void *out);

/** Read the member `key` of an object; report if there is none. */
void calc_json_member(calc_json_report *report, json_t *object, const char *key,
                      calc_json_read *read, void *out);

/** Whether a value is one; reports if it is not. */
bool calc_json_is_object(calc_json_report *report, json_t *value);
bool calc_json_is_array(calc_json_report *report, json_t *value);

/** A value again as JSON in one line, with the same bits in its numbers. The caller frees it.
 *  @return NULL if memory ran out, which is reported */
char *calc_json_text_of(calc_json_report *report, const json_t *value);

/** Report that memory ran out. */
void calc_json_no_memory(calc_json_report *report);

/** A text into CALC_JSON_NAME bytes; what is longer is cut. */
void calc_json_read_name(calc_json_report *report, json_t *value, void *out);

/** A calc_compat. */
void calc_json_read_compat(calc_json_report *report, json_t *value, void *out);

/** A finite number, or null, which is NaN: a double. */
void calc_json_read_number(calc_json_report *report, json_t *value, void *out);

/** A calc_exec. */
void calc_json_read_exec(calc_json_report *report, json_t *value, void *out);

/** All of a calc_stats but the verdict. Keys that are no statistics are another version's. */
void calc_json_read_stats(calc_json_report *report, json_t *value, void *out);

#endif
