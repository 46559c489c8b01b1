/** @file schedule_fill.h  The filling of an interleaved pipeline: a part of schedule_interleaved.c,
 *  which defines paths, slots and rounds. */
#ifndef CALC_MODEL_SCHEDULE_FILL_H
#define CALC_MODEL_SCHEDULE_FILL_H

#include "model/schedule/schedule.h"

/** The first and the last stage of each class, and one more. */
enum { CALC_SCHEDULE_PLACES = 2 * CALC_SCHEDULE_CLASSES + 1 };

/** One direction of all places: times of a usual chunk, and of the usual chunks of all stages
 *  before. */
typedef struct calc_schedule_way {
    double chunk_s[CALC_SCHEDULE_PLACES], before_s[CALC_SCHEDULE_PLACES];
    double all_s;           /**< a usual chunk of every stage */
    double first_s, last_s; /**< extra time of the special chunks over a usual one */
} calc_schedule_way;

typedef struct calc_schedule_line {
    int count; /**< places */
    double p, v;
    double stage[CALC_SCHEDULE_PLACES];
    double slot_s[CALC_SCHEDULE_PLACES]; /**< a usual forward and backward */
    calc_schedule_way fw, bw;
} calc_schedule_line;

/** Longest paths of a pipeline that fills [s]. */
typedef struct calc_schedule_filling {
    /** Until slot 0 is over: until the first backward has come up to here. */
    double turn_s[CALC_SCHEDULE_PLACES];
    /** Until the last forward, if all come before the first backward. */
    double last_s[CALC_SCHEDULE_PLACES];
} calc_schedule_filling;

/** Draining is the same backwards in time, with the two ways changed.
 *  @param go, back  of the line
 *  @param next      micro-batches of the next period's first round: none, or p */
void calc_schedule_fill(const calc_schedule_line *line, double next, const calc_schedule_way *go,
                        const calc_schedule_way *back, calc_schedule_filling *out);

#endif
