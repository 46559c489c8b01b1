/** @file layers_join.h  The layers of a candidate spread over its stages, each with its best
 *  options: the slowest stage counts once per micro-batch, and the sum of all stages once. */
#ifndef CALC_PLAN_LAYERS_JOIN_H
#define CALC_PLAN_LAYERS_JOIN_H

#include "plan/layers_spread.h"

/** A list of layers, stage by stage. Owns `stage`; free with calc_layers_answer_free(). */
typedef struct calc_layers_answer {
    int ends; /**< option of embedding and head */
    int stages;
    calc_layers_stage *stage;
    int (*layers)[2]; /**< of each stage */
    double planned_s; /**< the step */
    double bound_s;   /**< no such list takes less */
} calc_layers_answer;

/** The best list. With several chunks per stage all stages have equally many layers.
 *  @return CALC_OK; CALC_ERR_RULE if there is none; CALC_ERR_NOMEM; `bound_s` is filled in any
 * case, and *out to be freed */
CALC_MUST_USE calc_status calc_layers_join(const calc_layers_case *c, const calc_layers_want *want,
                                           calc_layers_answer *out);

void calc_layers_answer_free(calc_layers_answer *answer);

/** Time of a step by the planner's own numbers, from the times of its stages [s]. */
double calc_layers_planned_s(const calc_layers_case *c, const calc_layers_answer *answer);

#endif
