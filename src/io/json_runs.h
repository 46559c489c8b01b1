/** @file json_runs.h  Lists of an execution in JSON. Stages (calc_exec.stages, docs/stages.md) and
 *  layers (calc_exec.layers, docs/layers.md) are an array with an entry per run of equal ones, or
 * an object with a list per key, in which "7x11" is seven times 11. An object in place of a stage's
 *  list gives a value for each system; beside the lists are "join_latency", the seconds of messages
 *  between different systems, and "ends", an object of the embedding and the head. Systems are only
 *  named: their files are not looked up. Lists are written in as few elements as possible. */
#ifndef CALC_IO_JSON_RUNS_H
#define CALC_IO_JSON_RUNS_H

#include <jansson.h>
#include <stdbool.h>

#include "io/json_put.h"
#include "io/json_report.h"
#include "spec/value_text.h"

/* Reads and writes the lists of an execution (stages, layers) and of an application (parts,
 * layers), and the name of its software, by their row in the table of fields. */

/** Whether a row is one. */
static inline bool calc_json_is_list(const calc_field *field)
{
    return field->flags & (CALC_STAGES | CALC_LAYERS | CALC_STACK | CALC_SOFTWARE);
}

/** No list at all. */
void calc_json_lists_clear(calc_kind kind, void *object);

/** Fill the list of a row, or report why not.
 *  @param object  calc_exec or calc_app, whose other fields are filled */
void calc_json_lists_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          void *object);

/** Clear the list of a row. */
void calc_json_lists_take(const calc_field *field, void *object);

/** Write the list of a row, if there is one.
 *  @return whether the row is one of a list */
bool calc_json_lists_put(calc_put *put, const calc_field *field, const void *object);

/** Write the schema of a list of stages, or of layers. */
void calc_json_runs_schema(calc_put *put, const char *key, bool layers);

/* Reads and writes the layers of a model (calc_app.stack) in JSON: `parts`, an
 *  object of named parts, and the patterns `layers` and `mtp_layers` (spec/stack.h). */

/** Fill what a row says of app->stack, or report why not.
 *  @param app  whose other fields are filled: parts that do not say them have these */
void calc_json_stack_bind(calc_json_report *report, const calc_field *field, json_t *value,
                          calc_app *app);

/** Write what a row says of the stack, if there is any. */
void calc_json_stack_put(calc_put *put, const calc_field *field, const calc_app *app);

#endif
