/** @file json_value.h  Reads scalar members from JSON values, and shows values in words. */
#ifndef CALC_IO_JSON_VALUE_H
#define CALC_IO_JSON_VALUE_H

#include "io/json_report.h"

#include <jansson.h>

enum { CALC_JSON_VALUE_NUMBER_SIZE = 32 /**< bytes for the text of a number */ };

/** Fill the name of a document, or report why not.
 *  @param of  what it is the name of: "system" */
bool calc_json_value_name(calc_json_report *report, const json_t *value, const char *of, char *name,
                          size_t size);

/** Fill an INT, REAL, BOOL, ENUM or SET member, check a NOTE, or report why not. */
void calc_json_value_scalar(calc_json_report *report, const calc_field *field, const json_t *value,
                            void *member);

/** Read a finite number, without the sign of a zero, or report that it is none.
 *  @return whether *out is filled */
bool calc_json_value_number(calc_json_report *report, const json_t *value, double *out);

/** Read the Calculon rules in use (text as in spec/compat.h), or report why not. */
void calc_json_value_compat(calc_json_report *report, const json_t *value, calc_compat *compat);

/** A number as JSON would write it; a real one keeps a point, so that it does not look whole.
 *  @return buffer, CALC_JSON_VALUE_NUMBER_SIZE bytes */
char *calc_json_value_number_text(const json_t *value, char *buffer);

/** Report "expected EXPECTED, found VALUE"; `hint` may be NULL. */
void calc_json_value_type_error(calc_json_report *report, const char *expected, const json_t *value,
                                const char *hint);

#endif
