/** @file json_stack.h  Reads and writes the layers of a model (calc_app.stack) in JSON: `parts`, an
 *  object of named parts, and the patterns `layers` and `mtp_layers` (spec/stack.h). */
#ifndef CALC_IO_JSON_STACK_H
#define CALC_IO_JSON_STACK_H

#include <jansson.h>

#include "io/json_put.h"
#include "io/json_report.h"

/** Fill what a row says of app->stack, or report why not.
 *  @param app  whose other fields are filled: parts that do not say them have these */
void calc_json_stack_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          calc_app *app);

/** Write what a row says of the stack, if there is any. */
void calc_json_stack_put(calc_put *put, const calc_field *field, const calc_app *app);

#endif
