/** @file files.h  Names and locations of the six files of Galvatron's profiles. */
#ifndef CALC_GALVATRON_FILES_H
#define CALC_GALVATRON_FILES_H

#include "calc.h"
#include "galvatron/request.h"

#include <stddef.h>

typedef enum calc_galvatron_file {
    CALC_GALVATRON_FILE_COMPUTATION,
    CALC_GALVATRON_FILE_MEMORY,
    CALC_GALVATRON_FILE_ALLREDUCE,
    CALC_GALVATRON_FILE_P2P,
    CALC_GALVATRON_FILE_OVERLAP,
    CALC_GALVATRON_FILE_COLLECTIVES,
    CALC_GALVATRON_FILE_COUNT
} calc_galvatron_file;

enum { CALC_GALVATRON_FILE_PATH_SIZE = 4096 };

/** The name of a file in the current release. @return out */
char *calc_galvatron_file_name(const calc_galvatron_request *request, calc_galvatron_file file,
                               char *out, size_t size);

/** "fp32", "fp16" or "bf16". Static text. */
const char *calc_galvatron_precision_name(calc_galvatron_precision precision);

/** Finds a file. A path that is not a folder is used as it is. In a folder the file has its current
 *  name, or a name from an earlier release.
 *  @param out  [CALC_GALVATRON_FILE_PATH_SIZE], filled
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if a folder has no such file, or CALC_ERR_RULE if it has
 *  several candidates, with an error added */
CALC_MUST_USE calc_status calc_galvatron_file_find(const calc_galvatron_request *request,
                                                   calc_galvatron_file file, const char *path,
                                                   char *out, calc_errors *errors);

#endif
