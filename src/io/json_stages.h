/** @file json_stages.h  The list of stages of an execution (calc_exec.stages) in JSON: an array
 * with an entry per stage, or an object with a list per key, in which "7x11" is seven times 11 and
 * an object gives a value for each system (docs/stages.md). */
#ifndef CALC_IO_JSON_STAGES_H
#define CALC_IO_JSON_STAGES_H

#include "io/json_put.h"
#include "io/json_report.h"

#include <jansson.h>

/** Fill exec->stages, or report why not. Systems are named only: nobody has looked for them.
 *  @param exec  whose other fields are filled */
void calc_json_stages_bind(calc_json_report *report, json_t *value, calc_exec *exec);

/** Write the list as an object with a list per key. */
void calc_json_stages_put(calc_put *put, const char *key, const calc_stage_list *list);

#endif
