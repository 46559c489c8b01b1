/** @file peak.h  Memory of every configuration of a space, by the model that is asked for. */
#ifndef CALC_MINDSPEED_PEAK_H
#define CALC_MINDSPEED_PEAK_H

#include "base/notes.h"
#include "mindspeed/arguments.h"
#include "mindspeed/probes.h"
#include "mindspeed/regression.h"

/** What memory and time of a job are computed from. Borrows. */
typedef struct calc_mindspeed_study {
    const calc_mindspeed_arguments *arguments;
    const calc_system *system;
    calc_mindspeed_generation generation;
    const char *profiles; /**< a folder; NULL: nothing was measured */
    bool calc_memory;     /**< by calc's model, not MindSpeed's of the generation */
} calc_mindspeed_study;

/** How peaks are computed. */
typedef struct calc_mindspeed_peak {
    const calc_mindspeed_study *study;
    bool regression; /**< by a fit; else by calc's model or memory.h, as the study says */
    calc_mindspeed_probes probes;
    bool measured[CALC_MINDSPEED_PROBES]; /**< of the probes; the others are calc's */
    calc_mindspeed_regression fit;
    int negative; /**< configurations so far whose activations came out below 0 */
} calc_mindspeed_peak;

/** Begin: of the first generation's model, choose the probes, read what was measured of them, take
 *  from calc's model what was not, and fit. Without probes the second generation's model counts,
 * and a note says so.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_peak_start(calc_mindspeed_peak *peak,
                                                    const calc_mindspeed_study *study,
                                                    const calc_mindspeed_space *space,
                                                    calc_notes *notes);

/** Peak of a configuration, bytes. */
double calc_mindspeed_peak_bytes(calc_mindspeed_peak *peak, const calc_mindspeed_config *config);

/** Share of the capacity above which a configuration is not timed, and that above which it is no
 *  answer: 1.2 and 0.95 in MindSpeed, of whose first generation all that fits is an answer; 1 of
 *  calc's. */
double calc_mindspeed_peak_prune(const calc_mindspeed_study *study);
double calc_mindspeed_peak_final(const calc_mindspeed_study *study);

#endif
