/** @file file_error.h  Errors about a file as a whole. */
#ifndef CALC_IO_FILE_ERROR_H
#define CALC_IO_FILE_ERROR_H

#include "calc.h"

/** Add an error whose place is a file, without a line. `errors` may be NULL. @return status */
calc_status calc_file_error(calc_errors *errors, calc_status status, const char *path,
                            const char *text);

#endif
