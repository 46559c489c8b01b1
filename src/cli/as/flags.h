/** @file flags.h  Programs of other planners as commands: what they share. A flag is listed as the
 *  program spells it; a row of cmd_as.c adds a program. */
#ifndef CALC_CLI_AS_FLAGS_H
#define CALC_CLI_AS_FLAGS_H

#include "base/notes.h"
#include "cli/shell/opt.h"
#include "io/json_put.h"
#include "io/output.h"

/** Lists on standard error the given flags that have no effect here. */
void calc_as_tell_unused(const calc_args *args);

/** Lists the notes of an answer, on standard error or as the array "notes". */
void calc_as_tell_notes(const calc_args *args, const calc_notes *notes);
void calc_as_put_notes(calc_put *put, const calc_notes *notes);

enum { CALC_AS_PATH_SIZE = 4096 };

/** Creates a folder, with its parents, if it does not exist.
 *  @return CALC_OK, or CALC_ERR_IO with an error that names it */
CALC_MUST_USE calc_status calc_as_make_folder(const char *path, calc_errors *errors);

/** Joins "folder/name" with one slash. @return path */
char *calc_as_path(const char *folder, const char *name, char path[CALC_AS_PATH_SIZE]);

/** "calc as PLANNER", or "calc as PLANNER PROGRAM". */
extern const calc_command calc_as_taylor_nd, calc_as_taylor_balance;
extern const calc_command calc_as_aiak;
extern const calc_command calc_as_galvatron, calc_as_galvatron_paddle;
extern const calc_command calc_as_mindspeed;

#endif
