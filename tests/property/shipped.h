/** @file shipped.h  Layouts of what is shipped: every execution with its model and machine, and
 * simple ones of every model and on every machine. All are legal; whether they fit is another
 * question. */
#ifndef CALC_TESTS_SHIPPED_H
#define CALC_TESTS_SHIPPED_H

#include "random_layout.h"

/** @param name  for messages: "gpt3-175B on a100_80g, plain" */
typedef void calc_shipped_visit(const char *name, const calc_random_layout *layout);

/** Visit models/APP.json on systems/SYSTEM.json with executions/EXEC.json. */
void calc_shipped_with(const char *app, const char *system, const char *exec,
                       calc_shipped_visit *each);

/** Visit all: some 450 layouts. */
void calc_shipped_all(calc_shipped_visit *each);

/** Visit those on every machine: a plain layout, one with experts, one that serves. */
void calc_shipped_machines(calc_shipped_visit *each);

#endif
