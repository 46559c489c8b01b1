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

/** A list of layers, and its needs. */
typedef struct calc_planner_layers_point {
    double needs_bytes; /**< of every processor */
    double step_s;
    calc_exec exec;
} calc_planner_layers_point;

/** A layout that was found. */
typedef struct calc_planner_layers_found {
    calc_exec exec;   /**< with a list of layers, unless they are all equal */
    calc_stats stats; /**< calc_run() */
    double planned_s; /**< step by the planner's own numbers */
    double bound_s; /**< no list of layers of this candidate takes less, by the planner's numbers */
    bool proven;    /**< planned_s and bound_s differ by rounding only */
    int rounds;     /**< how often limits had to be tightened */
    size_t candidate; /**< the planner's own number */
} calc_planner_layers_found;

/** The result. Owns `found` and `curve`; free with calc_planner_layers_result_free(). */
typedef struct calc_planner_layers_result {
    size_t count;
    calc_planner_layers_found *found; /**< best first */
    size_t layouts;                   /**< with equal layers */
    size_t candidates, solved;
    bool complete;          /**< every candidate was solved or has a bound above the worst found */
    double bound_s;         /**< no layout takes less, by the planner's numbers */
    bool uniform;           /**< there is a layout with equal layers: */
    calc_exec uniform_exec; /**< the best of them, */
    calc_stats uniform_stats; /**< and its numbers by calc_run() */
    /** Lists of the best layout's candidate by ascending memory, each quicker than those before it,
     *  also beyond the memory available (layers_curve.h). */
    size_t points;
    calc_planner_layers_point *curve;
    double needs_bytes, has_bytes; /**< where nothing fits: for the layout that lacks least */
    calc_exec lacking;
} calc_planner_layers_result;

/** Search.
 *  @return CALC_OK, also if nothing fits or nothing is found in time; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_planner_layers_run(const calc_planner_layers *planner,
                                                  calc_planner_layers_result *out,
                                                  calc_errors *errors);

void calc_planner_layers_result_free(calc_planner_layers_result *result);

#endif
