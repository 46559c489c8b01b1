/** @file evidence.h  Combines the measurements in a folder of MindSpeed's planner, and calc's model
 *  where they are missing, to judge configurations. */
#ifndef CALC_MINDSPEED_EVIDENCE_H
#define CALC_MINDSPEED_EVIDENCE_H

#include "mindspeed/folder.h"
#include "mindspeed/peak.h"
#include "mindspeed/time.h"

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
