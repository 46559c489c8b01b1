/** @file whole.h  Upstream's dynamic programme over a stage: layer by layer, whole MB, the last
 *  layer's strategy. Which of equal answers it finds depends on the rounding of its sums, so that
 *  they are repeated here in its order; but only for the beginnings of answers that are as short as
 *  the best, which are listed first: whatever else it looks at, it never keeps. Of
 *  more than 20,000 such answers some are not listed: one as short is found, perhaps another. */
#ifndef CALC_GALVATRON_WHOLE_H
#define CALC_GALVATRON_WHOLE_H

#include "galvatron/posed.h"

/** What a stage's layers do.
 *  @param choice     [layers of the stage]: strategies of the task
 *  @param remain_mb  left of the room
 *  @return CALC_OK; CALC_ERR_RULE if they do not fit; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_galvatron_whole(calc_galvatron_posed *posed, int stage,
                                               double room_mb, int *choice, double *remain_mb);

#endif
