/** @file files.h  Writes the files and folders of planners' programs. */
#ifndef CALC_CLI_AS_FILES_H
#define CALC_CLI_AS_FILES_H

#include "cli/as/flags.h"
#include "io/output.h"
#include "io/text.h"

enum { CALC_AS_PATH_SIZE = 4096 };

/** Creates a folder, with its parents, if it does not exist.
 *  @return CALC_OK, or CALC_ERR_IO with an error that names it */
CALC_MUST_USE calc_status calc_as_make_folder(const char *path, calc_errors *errors);

/** Writes a text to folder/name. */
CALC_MUST_USE calc_status calc_as_write(const char *folder, const char *name, const char *text,
                                        size_t length, calc_errors *errors);

/** Joins "folder/name" with one slash. @return path */
char *calc_as_path(const char *folder, const char *name, char path[CALC_AS_PATH_SIZE]);

#endif
