/** @file engine.h  Serving engines as software: what a step of an engine costs beside the model, and
 *  how it schedules. Constants belong to an engine from a version on, never to a model or machine. */
#ifndef CALC_MODEL_ENGINE_H
#define CALC_MODEL_ENGINE_H

#include "calc.h"

/** What is known of an engine. */
typedef struct calc_engine_traits {
    double step_s;          /**< between steps: scheduling, sampling, answers [s] */
    double step_doubling_s; /**< added per doubling of tensor parallelism [s] */
    double step_sequence_s; /**< added per sequence of a step [s] */
} calc_engine_traits;

/** The traits of an engine; all 0 for CALC_SERVING_ENGINE_NONE. */
calc_engine_traits calc_engine_traits_of(calc_serving_engine engine);

/** Time of the engine in a step of `sequences` on `tensor_par` ranks [s]. */
double calc_engine_step_s(const calc_engine_traits *traits, double tensor_par, double sequences);

#endif
