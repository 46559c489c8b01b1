/** @file folder.h  What a folder of MindSpeed's planner has beside the profiles of modules:
 * kernels, operators that were timed alone, collectives. */
#ifndef CALC_MINDSPEED_FOLDER_H
#define CALC_MINDSPEED_FOLDER_H

#include "mindspeed/cache.h"
#include "mindspeed/comm.h"
#include "mindspeed/kernels.h"

/** Owns what it has; start with {0}. */
typedef struct calc_mindspeed_folder {
    calc_mindspeed_kernels
        kernels;                /**< of all files kernel_details.csv, in the order of their paths */
    size_t details;             /**< such files */
    calc_mindspeed_cache cache; /**< operator_cache.csv; empty without */
    calc_mindspeed_comm comm;   /**< comm_prof.csv; empty without */
} calc_mindspeed_folder;

/** Read a folder: `comm_prof.csv` and `operator_cache.csv` in it, and every `kernel_details.csv` in
 * it or up to five folders below, which profilers make. Each may be missing.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND if there is no such folder; CALC_ERR_NOMEM; or what reading
 * a file returns. Errors name file, line and column. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_folder_read(calc_mindspeed_folder *out, const char *path,
                                                     calc_errors *errors);

/** Fine on {0}. */
void calc_mindspeed_folder_free(calc_mindspeed_folder *folder);

#endif
