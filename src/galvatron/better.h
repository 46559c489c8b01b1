/** @file better.h  The least step of a task with given ends: every stage's layers, so that the step
 *  itself is least, not the sum of each stage by itself.
 *
 *  The step (calc_galvatron_pipeline_s) rises with what a micro-batch takes on any stage. Beyond
 * that it has what the last micro-batch reduces where nothing hides it: of stage i, its sync_s less
 * what its ends and the stages before it take. So stages of which nothing is exposed when each
 * micro-batch is as short as can be stay like that; the others choose from their fronts. */
#ifndef CALC_GALVATRON_BETTER_H
#define CALC_GALVATRON_BETTER_H

#include "galvatron/posed.h"

typedef struct calc_galvatron_joined {
    calc_layerwise_point point[CALC_GALVATRON_STAGES]; /**< bytes are MB */
    double step_s;
    double bound_s; /**< no answer takes less, or none that is below the limit: where it is
                         step_s or the limit, that is proven */
} calc_galvatron_joined;

/** @param limit_s  the least is only looked for if it is below; else there is some answer
 *  @return CALC_OK; CALC_ERR_RULE if a stage does not fit; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_galvatron_better(calc_galvatron_posed *posed, int end,
                                                double limit_s, calc_galvatron_joined *out);

#endif
