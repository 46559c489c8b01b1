/** @file json_lists.h  Reads and writes the lists of an execution (stages, layers) by their row in
 *  the table of fields. */
#ifndef CALC_IO_JSON_LISTS_H
#define CALC_IO_JSON_LISTS_H

#include "io/json_put.h"
#include "io/json_report.h"

#include <jansson.h>
#include <stdbool.h>

/** Whether a row is one. */
static inline bool calc_json_is_list(const calc_field *field)
{
    return field->flags & (CALC_STAGES | CALC_LAYERS);
}

/** No list at all. */
void calc_json_lists_clear(calc_exec *exec);

/** Fill the list of a row, or report why not.
 *  @param exec  whose other fields are filled */
void calc_json_lists_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          calc_exec *exec);

/** Clear the list of a row. */
void calc_json_lists_take(const calc_field *field, calc_exec *exec);

/** Write the list of a row, if there is one.
 *  @return whether the row is one of a list */
bool calc_json_lists_put(calc_put *put, const calc_field *field, const void *object);

#endif
