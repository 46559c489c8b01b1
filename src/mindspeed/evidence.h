/** @file evidence.h  Combines the measurements in a folder of MindSpeed's planner, and calc's model
 *  where they are missing, to judge configurations. */
#ifndef CALC_MINDSPEED_EVIDENCE_H
#define CALC_MINDSPEED_EVIDENCE_H

#include "mindspeed/compose.h"
#include "mindspeed/memory.h"
#include "mindspeed/operators.h"
#include "mindspeed/shape.h"

/* Reads a folder of MindSpeed's planner except the profiles of modules: kernels,
 * operators that were timed alone, and collectives. */

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

/** Start with calc_mindspeed_evidence_start(). Must not be moved. */
typedef struct calc_mindspeed_evidence {
    const calc_mindspeed_study *study; /**< borrowed */
    calc_mindspeed_folder folder;
    calc_mindspeed_operators operators;
    calc_mindspeed_judge judge;
    calc_mindspeed_module_times modules; /**< of the configuration being timed, if it has any */
    bool has_modules, started;
    size_t profiled;  /**< number of times so far that came from profiles of modules */
    calc_notes notes; /**< damaged and missing files */
} calc_mindspeed_evidence;

/** Reads the folder of a study and fits the operators to it.
 *  @param sampling  how errors of operators are drawn
 *  @return CALC_OK, or the status of reading or fitting. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                                        const calc_mindspeed_study *study,
                                                        const calc_mindspeed_sampling *sampling,
                                                        calc_errors *errors);

/** A calc_mindspeed_rank_timer for evidence: times from profiled modules (second generation), or
 *  from operators. A damaged profile gives no time. */
bool calc_mindspeed_evidence_time(void *evidence, const calc_mindspeed_config *config,
                                  double *samples_s, size_t count);

/** Frees it; {0} is allowed. */
void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence);

#endif
