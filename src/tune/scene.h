/** @file scene.h  All inputs of a decision: candidates, their measurements, and the posterior of
 *  the others. */
#ifndef CALC_TUNE_SCENE_H
#define CALC_TUNE_SCENE_H

#include "tune/decision.h"
#include "tune/model.h"

/** The state of a candidate so far. */
typedef enum calc_tune_state {
    CALC_TUNE_UNTRIED,
    CALC_TUNE_MEASURED,
    CALC_TUNE_TOO_LARGE,
    CALC_TUNE_BROKEN
} calc_tune_state;

/** The posterior of one candidate: times and memory as logarithms. */
typedef struct calc_tune_view {
    calc_tune_state state;
    double measured_s; /**< mean of its measurements; NaN: none */
    size_t seen;       /**< first observation of its time */
    double mean, sd;   /**< of the time */
    double memory_mean, memory_sd;
    double memory_limit; /**< largest memory at which it counts as fitting */
    double fits;
    double ahead; /**< probability that it fits and beats the incumbent */
} calc_tune_view;

/** Sizes of errors that may be the true ones, and what follows from them. */
typedef struct calc_tune_world {
    double weight; /**< its probability, given the measurements; before it is normalised, a log */
    double spread; /**< factor on the standard deviations of its times, from the errors observed */
    calc_effects errors; /**< as wide as that */
    calc_effects_posterior time;
} calc_tune_world;

/** Owns its lists, points into itself: not to be copied. */
typedef struct calc_tune_scene {
    const calc_tune_candidate *candidate;
    size_t count;
    const calc_tune_measurement *measurement;
    size_t measurements;
    const calc_tune_options *options;
    calc_tune_model model;
    calc_effects_observation *seen_time, *seen_memory;
    size_t times, memories;
    calc_tune_world *world; /**< the likeliest first, without those that do not matter */
    size_t worlds;
    calc_effects_posterior memory;
    calc_tune_view *view;
    size_t best;      /**< measured fastest; SIZE_MAX: none */
    size_t incumbent; /**< best or, before there is one, the candidate that is expected to be
                           fastest among those that probably fit; SIZE_MAX: there are no
                           candidates */
} calc_tune_scene;

/** Make it.
 *  @return CALC_OK or CALC_ERR_NOMEM; free *out in any case */
CALC_MUST_USE calc_status calc_tune_scene_make(calc_tune_scene *out,
                                               const calc_tune_candidate *candidate, size_t count,
                                               const calc_tune_measurement *measurement,
                                               size_t measurements,
                                               const calc_tune_options *options,
                                               calc_errors *errors);
void calc_tune_scene_free(calc_tune_scene *scene);

/** Whether a candidate may be proposed: it has not been tried. */
static inline bool calc_tune_scene_free_to_try(const calc_tune_scene *scene, size_t i)
{
    return scene->view[i].state == CALC_TUNE_UNTRIED;
}

#endif
