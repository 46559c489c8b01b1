/** @file answer_formats.h  Files of other programs in answers: settings of a framework for a
 * layout, and the model of a configuration of Hugging Face. */
#ifndef CALC_SESSION_ANSWER_FORMATS_H
#define CALC_SESSION_ANSWER_FORMATS_H

#include "calc.h"
#include "io/json_put.h"
#include "io/request.h"

/** Write the member "export" for a run that was resolved and checked: "framework" and "text", which
 *  starts it as `calc export` would, or "refused": why the framework cannot run it. "any" is the
 *  first framework that can; without one "refused" says so. */
void calc_answer_export(calc_put *put, const calc_request *request);

/** Write the members "app" and "remarks": the model of a configuration, and what is to know of it.
 *  @return CALC_OK; else nothing was written, and an error was added */
CALC_MUST_USE calc_status calc_answer_import(calc_put *put, const char *json, calc_errors *errors);

#endif
