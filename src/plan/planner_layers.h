/** @file planner_layers.h  Planner of layouts whose layers differ: how each is split, kept and
 *  recomputed is searched together with how the model is spread over the stages of a pipeline.
 *
 *  Layouts of a space that differ only in fields that each layer may set for itself form one
 *  candidate, and their strategies are the options of its layers. A candidate has a lower bound
 *  (layers_bound.h); candidates are solved (layers_solve.h) by ascending bound, until no bound is
 *  below the best step found. Each layout found is an execution with a list of layers, and its step
 *  is calc_run()'s, not the planner's own number. Layouts with equal layers compete, so that no
 *  answer is slower than what a sweep of the same space finds. */
#ifndef CALC_PLAN_PLANNER_LAYERS_H
#define CALC_PLAN_PLANNER_LAYERS_H

#include "calc.h"
#include "plan/planner.h"

/** What is wanted. */
typedef struct calc_planner_layers {
    const calc_app *app;
    const calc_system *system;
    const calc_space *space; /**< stages have as many chunks as layouts with equal layers */
    calc_designs design;     /**< the one model and machine that the space is listed for */
    size_t top;              /**< how many to find: at most one per candidate */
    bool curve;              /**< also the best candidate's step for other amounts of memory */
    double time_limit_s;     /**< 0: none */
    int threads;             /**< 0: as many as the machine has */
    bool (*progress)(void *context, const calc_planner_progress *progress); /**< true: stop */
    void *context;
} calc_planner_layers;

/** Search.
 *  @return CALC_OK, also if nothing fits or nothing is found in time; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_planner_layers_run(const calc_planner_layers *planner,
                                                  calc_planner_result *out, calc_errors *errors);

#endif
