/** @file next.h  Chooses the next configuration to measure from a ranking. */
#ifndef CALC_MINDSPEED_NEXT_H
#define CALC_MINDSPEED_NEXT_H

#include "mindspeed/loop.h"
#include "mindspeed/rank.h"

/** The choice. */
typedef struct calc_mindspeed_next {
    calc_mindspeed_stop stop;     /**< whether the loop goes on, or why it ended */
    calc_mindspeed_config config; /**< the choice, if the loop goes on */
    double chance;                /**< its share of the pool */
    double unmeasured;            /**< unmeasured share of the pool */
    size_t trials;                /**< results so far */
} calc_mindspeed_next;

/** Finds the state of the planner's loop with the results of `times`, over all timed configurations
 *  and with the same samples.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_next_find(const calc_mindspeed_ranking *ranking,
                                                   const calc_mindspeed_rank_times *times,
                                                   const calc_mindspeed_loop_rules *rules,
                                                   calc_mindspeed_next *out);

#endif
