/** @file probes.h  Chooses the configurations on which MindSpeed's planner of July 2024 measures
 *  the activations of a layer: those that determine the weights of regression.h best. */
#ifndef CALC_MINDSPEED_PROBES_H
#define CALC_MINDSPEED_PROBES_H

#include "mindspeed/space.h"

enum { CALC_MINDSPEED_PROBES = 5 };

/** A choice. */
typedef struct calc_mindspeed_probes {
    calc_mindspeed_config config[CALC_MINDSPEED_PROBES]; /**< one of each group */
    int count;                                           /**< 5; 0: there is no such choice */
    double condition; /**< of the normal matrix: largest eigenvalue / smallest */
    int empty;        /**< number of the first empty group, from 1; 0: none */
} calc_mindspeed_probes;

/** Chooses one configuration of each group, with micro-batches below 8: (1) whole sequences and the
 *  most tensor parallelism; (2) only a pipeline and a ring; (3) only a pipeline and Ulysses; (4)
 *  ring and Ulysses, without tensor parallelism; (5) all three. At least two micro-batch sizes must
 *  differ, and the normal matrix must have full rank. The result is the choice whose matrix has the
 *  smallest condition number, or the first below 100. If there are very many choices, only the
 *  first 200,000 are considered.
 *  @return CALC_OK, also without a choice; or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_probes_choose(const calc_mindspeed_space *space,
                                                       calc_mindspeed_probes *out);

#endif
