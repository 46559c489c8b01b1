/** @file probes.h  On which configurations MindSpeed's planner of July 2024 measures the
 * activations of a layer: those from which the weights of regression.h follow best. */
#ifndef CALC_MINDSPEED_PROBES_H
#define CALC_MINDSPEED_PROBES_H

#include "mindspeed/space.h"

enum { CALC_MINDSPEED_PROBES = 5 };

/** A choice. */
typedef struct calc_mindspeed_probes {
    calc_mindspeed_config config[CALC_MINDSPEED_PROBES]; /**< one of each group */
    int count;                                           /**< 5; 0: there is no such choice */
    double condition; /**< of the normal matrix: largest eigenvalue / least */
    int empty;        /**< number of the first group without a configuration, from 1; 0: none */
} calc_mindspeed_probes;

/** Choose one configuration of each group, with micro-batches below 8: (1) sequences whole and the
 *  most tensor parallelism; (2) a pipeline and a ring only; (3) a pipeline and Ulysses only;
 *  (4) ring and Ulysses, without tensor parallelism; (5) all three. At least two micro-batches must
 *  differ, and the normal matrix must have full rank. Of all such choices the one whose matrix has
 *  the smallest condition number, or the first below 100; where there are very many, of the first
 *  200,000.
 *  @return CALC_OK, also without a choice; or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_probes_choose(const calc_mindspeed_space *space,
                                                       calc_mindspeed_probes *out);

#endif
