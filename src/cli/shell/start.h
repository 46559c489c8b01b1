/** @file start.h  Writes the commands for using a layout that was found: the one that runs it, and
 *  the one that writes the script which starts it. */
#ifndef CALC_CLI_SHELL_START_H
#define CALC_CLI_SHELL_START_H

#include "cli/shell/opt.h"
#include "io/json_put.h"

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
