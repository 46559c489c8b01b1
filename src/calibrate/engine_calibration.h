/** @file engine_calibration.h  Serving engines calibrated to measured runs: each engine for itself,
 *  with predictions by fits that have not seen a run. */
#ifndef CALC_CALIBRATE_ENGINE_CALIBRATION_H
#define CALC_CALIBRATE_ENGINE_CALIBRATION_H

#include "calibrate/engine_fit.h"

/** Which runs are predicted by fits without them: X(NAME, word). */
#define CALC_ENGINE_CROSS_LIST(X)                                                                  \
    X(NONE, "none")                                                                                \
    X(HALF, "half")       /* every other layout and workload; the fit is that to the first half */ \
    X(SOURCE, "source")   /* those of each publisher */                                            \
    X(MACHINE, "machine") /* those on each machine */                                              \
    X(LATER, "later")     /* the later half of an engine's runs, by its earlier ones */

typedef enum calc_engine_cross {
#define CALC_X(name, word) CALC_ENGINE_CROSS_##name,
    CALC_ENGINE_CROSS_LIST(CALC_X)
#undef CALC_X
        CALC_ENGINE_CROSS_COUNT
} calc_engine_cross;

/** The word of one. */
const char *calc_engine_cross_word(calc_engine_cross cross);

/** What is asked. Names are borrowed, NULL at the end; NULL: none. */
typedef struct calc_engine_plan {
    calc_engine_cross cross;
    bool documented;             /**< start where nothing is known, not from the engines' traits */
    const char *const *machine;  /**< only runs on these; NULL: on all */
    const char *const *held_out; /**< sources and machines that no fit sees */
} calc_engine_plan;

/** Whether a run is of that source, publisher or machine. */
bool calc_engine_run_is_of(const calc_result *result, const char *name);

/** The engines that have runs. */
typedef struct calc_engine_calibration {
    calc_engine_fit fit[CALC_SERVING_ENGINE_COUNT];
    size_t count;
} calc_engine_calibration;

/** Fit all engines.
 *  @param results  of runs of serving
 *  @param fitted   by index of the result: prediction by the fit that saw it; NaN: none did
 *  @param unseen   by a fit that did not; NaN: there is none
 *  @return CALC_OK, CALC_ERR_NOMEM, or CALC_ERR_RULE if there is nothing to fit to */
CALC_MUST_USE calc_status calc_engine_calibrate(calc_engine_calibration *out,
                                                const calc_engine_plan *plan,
                                                const calc_results *results, double *fitted,
                                                double *unseen, calc_errors *errors);

#endif
