/** @file parameters.h  Parameters of a model, and the arithmetic they ask for. The public part,
 *  calc_count_parameters(), is in calc.h. */
#ifndef CALC_MODEL_PARAMETERS_H
#define CALC_MODEL_PARAMETERS_H

#include "calc.h"
#include "model/operators/shape.h"

/** Matrix arithmetic that a whole model needs for one step [FLOP]: two per weight and token that
 * the token uses (experts it is routed to, router and head included, embedding not), two per score
 * and width of attention, forward; three times that in training. No recomputation and no
 * multi-token prediction.
 *  @param square  count all scores, whatever the mask */
double calc_parameters_step_flop(const calc_shape *shape, const calc_exec *exec, bool square);

#endif
