/** @file whole.h  Upstream's dynamic programme over a stage: layer by layer, whole MB, the last
 *  layer's strategy. Which of equal answers it finds depends on the rounding of its sums, so that
 *  they are repeated here in its order; but only for states through which an answer passes that
 *  is as short as the best, which a bound tells from the others. */
#ifndef CALC_GALVATRON_WHOLE_H
#define CALC_GALVATRON_WHOLE_H

#include "galvatron/posed.h"

/** Memory that is kept from one stage to the next; begin with zeros. */
typedef struct calc_galvatron_room {
    struct calc_galvatron_state *state;
    size_t count, capacity;
    double *value; /**< [count * candidates] */
    int32_t *to;
    int16_t *back;
    size_t cells; /**< that value, to and back have room for */
    int *at; /**< [places]: state of a level with so many MB, in a group */
    size_t places;
} calc_galvatron_room;
void calc_galvatron_room_free(calc_galvatron_room *room);

/** What a stage's layers do.
 *  @param choice     [layers of the stage]: strategies of the task
 *  @param remain_mb  left of the room
 *  @return CALC_OK; CALC_ERR_RULE if they do not fit; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_galvatron_whole(calc_galvatron_posed *posed, int stage,
                                               double room_mb, calc_galvatron_room *room,
                                               int *choice, double *remain_mb);

#endif
