/** @file better.h  Finds the shortest step of a task with given ends. It chooses the layers of all
 *  stages together to minimize the step, not the time of each stage alone.
 *
 *  The step time (calc_galvatron_pipeline_s) rises with the micro-batch time of every stage. It
 *  also contains the exposed part of the last micro-batch's gradient reduction: for stage i, sync_s
 *  of the stage minus the time of its ends and of the stages before it. A stage that exposes
 *  nothing when all micro-batches are as short as possible keeps its choice; every other stage
 *  chooses from its front of micro_s and sync_s. */
#ifndef CALC_GALVATRON_BETTER_H
#define CALC_GALVATRON_BETTER_H

#include "galvatron/posed.h"

typedef struct calc_galvatron_joined {
    calc_layerwise_point point[CALC_GALVATRON_STAGES]; /**< its bytes are MB */
    double step_s;
    double bound_s; /**< lower bound: no answer is faster, or none below the limit; the answer is
                     *  proven if the bound equals step_s or the limit */
} calc_galvatron_joined;

/** Finds the shortest step.
 *  @param limit_s  the search for the minimum stops if no step can be below it; then the answer is
 *  any that fits
 *  @return CALC_OK; CALC_ERR_RULE if a stage does not fit; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_galvatron_better(calc_galvatron_posed *posed, int end,
                                                double limit_s, calc_galvatron_joined *out);

/** calc_galvatron_judge_s() for an answer to this task. */
double calc_galvatron_judge_posed_s(const calc_galvatron_posed *posed,
                                    const calc_galvatron_answer *answer, double *reshard_s);

/** Fills the layers, ends, step and memory of an answer with the best strategy of a task, by
 *  upstream's step time.
 *  @return false if none fits */
bool calc_galvatron_coarse(const calc_galvatron_posed *posed, calc_galvatron_answer *out);

#endif
