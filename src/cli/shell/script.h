/** @file script.h  Scripts and configurations of frameworks as inputs: a model and its layout. */
#ifndef CALC_CLI_SHELL_SCRIPT_H
#define CALC_CLI_SHELL_SCRIPT_H

#include "cli/draw/human.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "formats/import.h"
#include "formats/plan.h"
#include "io/json_put.h"

enum { CALC_SCRIPT_PARAMETERS = 2 * CALC_HUMAN_MAX + 40 };

/** Keys that are not read. Start with {.title = that of the framework}. */
typedef struct calc_script_unread {
    const char *title;
    size_t told, harmless;
} calc_script_unread;

/** Names a key that is not read, or counts it: calc_import.unread.
 *  @param context  a calc_script_unread */
void calc_script_tell_unread(void *context, const char *key, calc_unread what, const char *assumed);

/** Says how many were not named. */
void calc_script_tell_rest(const calc_script_unread *unread);

/** "70.55 B parameters". @return text */
char *calc_script_parameters(const calc_app *app, char text[CALC_SCRIPT_PARAMETERS]);

/** Says what was read: the framework, sizes, processors, batch.
 *  @param app  NULL: the model was not read */
void calc_script_tell(const calc_framework *framework, const calc_app *app, const calc_exec *exec);

/** Says what a server is not told, and a run needs. */
void calc_script_tell_requests(const calc_plan *plan, const calc_exec *exec);

/** The model that the settings describe, or that they name and models/ has.
 *  @return CALC_OK, or an error that says what is missing */
CALC_MUST_USE calc_status calc_script_model(const calc_import *import, const calc_plan *plan,
                                            calc_app *app, calc_errors *errors);

/** Reads a text as a script or a configuration, and says what it is, and what of it is not read.
 *  @param input  its text and its path; .framework is set
 *  @param procs  processors, instead of those of the file; NULL: none
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED without an error if it is neither; else with errors */
CALC_MUST_USE calc_status calc_script_load(calc_input *input, const char *procs, calc_app *app,
                                           calc_exec *exec, calc_errors *errors);

/** A layout, and the names of the three documents on a command line. Borrows everything. */
typedef struct calc_start {
    const calc_args *args; /**< of the command that found it */
    int set;               /**< row of its option --set */
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    const char *names[3]; /**< APP SYS EXE; EXE "-": standard input */
} calc_start;

/** calc_export_starter() and calc_export_starts(), where they answer (calc_is_yes()). */
const char *calc_start_framework(const calc_app *app, const calc_system *system,
                                 const calc_exec *exec);

bool calc_start_exists(const calc_app *app, const calc_system *system, const calc_exec *exec);

/** Members of the open object, each an array of words: "run", and "export" if a framework can start
 *  the layout. They include assignments of model and machine; assignments of the layout are part of
 *  its execution already. */
void calc_start_put(calc_put *put, const calc_start *start);

/** The first of them on a line. */
void calc_start_write(calc_output *out, const calc_start *start);

#endif
