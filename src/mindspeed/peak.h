/** @file peak.h  Memory of every configuration of a space, by the requested model. */
#ifndef CALC_MINDSPEED_PEAK_H
#define CALC_MINDSPEED_PEAK_H

#include "base/notes.h"
#include "mindspeed/arguments.h"
#include "mindspeed/probes.h"
#include "mindspeed/regression.h"

/** The inputs for memory and time of a job. Borrows. */
typedef struct calc_mindspeed_study {
    const calc_mindspeed_arguments *arguments;
    const calc_system *system;
    calc_mindspeed_generation generation;
    const char *profiles; /**< a folder; NULL: nothing was measured */
    bool calc_memory;     /**< uses calc's model, not the model of MindSpeed's generation */
} calc_mindspeed_study;

/** How peaks are computed. */
typedef struct calc_mindspeed_peak {
    const calc_mindspeed_study *study;
    bool regression; /**< uses a fit; else calc's model or memory.h, as the study sets */
    calc_mindspeed_probes probes;
    bool measured[CALC_MINDSPEED_PROBES]; /**< for each probe; the others come from calc's model */
    calc_mindspeed_regression fit;
    int negative; /**< number of configurations so far with activations below 0 */
} calc_mindspeed_peak;

/** Starts. For the first generation's model it chooses the probes, reads their measurements, takes
 *  the missing ones from calc's model, and fits. If there are no probes, it uses the second
 *  generation's model and adds a note.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_peak_start(calc_mindspeed_peak *peak,
                                                    const calc_mindspeed_study *study,
                                                    const calc_mindspeed_space *space,
                                                    calc_notes *notes);

/** Peak memory of a configuration [bytes]. */
double calc_mindspeed_peak_bytes(calc_mindspeed_peak *peak, const calc_mindspeed_config *config);

/** Shares of the capacity: above calc_mindspeed_peak_prune() a configuration is not timed, and
 *  above calc_mindspeed_peak_final() it is no answer. MindSpeed uses 1.2 and 0.95, and 1.2 and 1 in
 * its first generation, where everything that fits is an answer. With calc's memory both are 1. */
double calc_mindspeed_peak_prune(const calc_mindspeed_study *study);
double calc_mindspeed_peak_final(const calc_mindspeed_study *study);

#endif
