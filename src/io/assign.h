/** @file assign.h  Sets one field by name from a JSON value. From text: calc_set() in calc.h. */
#ifndef CALC_IO_ASSIGN_H
#define CALC_IO_ASSIGN_H

#include "io/json_report.h"

#include <jansson.h>

enum { CALC_ASSIGN_KINDS = 3 /**< application, system, execution: as calc_kind counts them */ };

/** Set the field that `path` names, as calc_set() does, or report why not; the objects are then
 *  untouched. The report's pointer is where the value is.
 *  @param object  a calc_app, a calc_system and a calc_exec */
void calc_assign(calc_json_report *report, void *const object[CALC_ASSIGN_KINDS], const char *path,
                 json_t *value);

/** Do what calc_set() does, with the field that it found for such a text before.
 *  @param object  a calc_app, a calc_system and a calc_exec */
CALC_MUST_USE calc_status calc_assign_again(void *const object[CALC_ASSIGN_KINDS],
                                            const calc_field_ref *field, const char *text,
                                            calc_errors *errors);

#endif
