/** @file files.h  What the six files of Galvatron's profiles are called, and where they lie. */
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

/** Its name, as the present release has it. @return out */
char *calc_galvatron_file_name(const calc_galvatron_request *request, calc_galvatron_file file,
                               char *out, size_t size);

/** "fp32", "fp16" or "bf16". Static text. */
const char *calc_galvatron_precision_name(calc_galvatron_precision precision);

/** Find a file: a path that is no folder is taken as it is; in a folder the file has its name, or
 *  one of earlier releases.
 *  @param out  [CALC_GALVATRON_FILE_PATH_SIZE], filled
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if a folder has none, or CALC_ERR_RULE if it has several
 * that may be meant, with an error added */
CALC_MUST_USE calc_status calc_galvatron_file_find(const calc_galvatron_request *request,
                                                   calc_galvatron_file file, const char *path,
                                                   char *out, calc_errors *errors);

#endif
