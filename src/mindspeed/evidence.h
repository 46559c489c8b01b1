/** @file evidence.h  What was measured, put together to judge configurations by: a folder of
 *  MindSpeed's planner, learnt from, and calc's model for what it has not. */
#ifndef CALC_MINDSPEED_EVIDENCE_H
#define CALC_MINDSPEED_EVIDENCE_H

#include "mindspeed/folder.h"
#include "mindspeed/peak.h"
#include "mindspeed/time.h"

/** Start with calc_mindspeed_evidence_start(). Not to be moved. */
typedef struct calc_mindspeed_evidence {
    const calc_mindspeed_study *study; /**< borrowed */
    calc_mindspeed_folder folder;
    calc_mindspeed_operators operators;
    calc_mindspeed_judge judge;
    calc_mindspeed_module_times modules; /**< of the configuration that is timed, if it has them */
    bool has_modules, started;
    size_t profiled;  /**< times asked for so far that were of profiles of modules */
    calc_notes notes; /**< damaged files, what is missing */
} calc_mindspeed_evidence;

/** Read the folder of a study and learn from it.
 *  @param sampling  how errors of operators are drawn
 *  @return CALC_OK, or what reading and fitting return. *out must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                                        const calc_mindspeed_study *study,
                                                        const calc_mindspeed_sampling *sampling,
                                                        calc_errors *errors);

/** A calc_mindspeed_rank_timer of evidence: by profiled modules (second generation), or by
 * operators. A damaged profile is no time. */
bool calc_mindspeed_evidence_time(void *evidence, const calc_mindspeed_config *config,
                                  double *samples_s, size_t count);

/** Fine on {0}. */
void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence);

#endif
