/** @file folder.h  Reads a folder of MindSpeed's planner except the profiles of modules: kernels,
 *  operators that were timed alone, and collectives. */
#ifndef CALC_MINDSPEED_FOLDER_H
#define CALC_MINDSPEED_FOLDER_H

#include "mindspeed/cache.h"
#include "mindspeed/comm.h"
#include "mindspeed/kernels.h"

/** The contents of a folder. Owns them; start with {0}. */
typedef struct calc_mindspeed_folder {
    calc_mindspeed_kernels kernels; /**< from all files kernel_details.csv, in the order of their
                                     *  paths */
    size_t details;                 /**< number of such files */
    calc_mindspeed_cache cache;     /**< operator_cache.csv; empty if it is missing */
    calc_mindspeed_comm comm;       /**< comm_prof.csv; empty if it is missing */
} calc_mindspeed_folder;

/** Reads a folder: `comm_prof.csv` and `operator_cache.csv` in it, and every `kernel_details.csv`,
 *  a profiler's file, in it or up to five folders below. Each may be missing.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if there is no such folder; CALC_ERR_NOMEM; or the status of
 *  reading a file. Errors name file, line and column. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_folder_read(calc_mindspeed_folder *out, const char *path,
                                                     calc_errors *errors);

/** Frees the contents; {0} is allowed. */
void calc_mindspeed_folder_free(calc_mindspeed_folder *folder);

#endif
