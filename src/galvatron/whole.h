/** @file whole.h  Upstream's dynamic programme over a stage, by layers, whole MB and the last
 *  layer's strategy. Its choice between equal answers depends on the rounding of its sums, so the
 *  sums are repeated here in its order. They are computed only for the beginnings of answers that
 *  are as short as the best, because upstream discards all others; these answers are listed first.
 *  If there are more than 20,000, some are not listed, and another answer of the same length may be
 *  found. */
#ifndef CALC_GALVATRON_WHOLE_H
#define CALC_GALVATRON_WHOLE_H

#include "galvatron/posed.h"

/** Finds the strategies of a stage's layers.
 *  @param choice     [layers of the stage]: strategies of the task
 *  @param remain_mb  memory left
 *  @return CALC_OK; CALC_ERR_RULE if the layers do not fit; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_galvatron_whole(calc_galvatron_posed *posed, int stage,
                                               double room_mb, int *choice, double *remain_mb);

#endif
