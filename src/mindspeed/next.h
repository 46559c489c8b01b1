/** @file next.h  Which configuration to measure next, of those that were ranked. */
#ifndef CALC_MINDSPEED_NEXT_H
#define CALC_MINDSPEED_NEXT_H

#include "mindspeed/loop.h"
#include "mindspeed/rank.h"

/** An answer. */
typedef struct calc_mindspeed_next {
    calc_mindspeed_stop stop;     /**< whether there is one, or why not */
    calc_mindspeed_config config; /**< if there is */
    double chance;                /**< its share of the pool */
    double unmeasured;            /**< share of the pool that is not measured */
    size_t trials;                /**< results so far */
} calc_mindspeed_next;

/** Where the planner's loop stands with the results of `times`: of all that were timed, by the same
 *  samples.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_next_find(const calc_mindspeed_ranking *ranking,
                                                   const calc_mindspeed_rank_times *times,
                                                   const calc_mindspeed_loop_rules *rules,
                                                   calc_mindspeed_next *out);

#endif
