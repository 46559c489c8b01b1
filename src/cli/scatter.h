/** @file scatter.h  Points in the plane as a drawing of characters: two axes with labelled ticks,
 *  the front as a line of steps, numbers beside the points that have one. */
#ifndef CALC_CLI_SCATTER_H
#define CALC_CLI_SCATTER_H

#include "cli/paint.h"

enum {
    CALC_SCATTER_TICKS = 24,      /**< of an axis at most */
    CALC_SCATTER_TICK_TEXT = 24,  /**< bytes of a label */
    CALC_SCATTER_MIN_COLUMNS = 40 /**< narrower terminals get so much all the same */
};

/** One point. */
typedef struct calc_scatter_point {
    double x, y;   /**< in the units of the axes; one that is not finite is left out */
    size_t number; /**< written beside it where there is room; 0: none */
} calc_scatter_point;

/** What an axis shows. */
typedef struct calc_scatter_axis {
    const char *label; /**< with the unit: "memory, GiB" */
    bool up;           /**< more is better: says which way the front's steps turn */
} calc_scatter_axis;

/** A range with the places of its ticks. */
typedef struct calc_scatter_scale {
    double lo, hi; /**< lo < hi */
    bool log;      /**< logarithmic: values that are all positive and span a factor of 50 */
    size_t count;
    double tick[CALC_SCATTER_TICKS]; /**< ascending, within [lo, hi] */
    char text[CALC_SCATTER_TICKS][CALC_SCATTER_TICK_TEXT];
} calc_scatter_scale;

/** Choose a range that holds some values, and round ticks for it.
 *  @param lo,hi  finite, lo <= hi
 *  @param most   ticks wanted at most, at least 2 */
void calc_scatter_scale_of(double lo, double hi, size_t most, calc_scatter_scale *scale);

/** Where a value lies: 0 at scale->lo, 1 at scale->hi. */
double calc_scatter_at(const calc_scatter_scale *scale, double value);

/** Draw points: with full marks and a line of steps those that no other one beats in both axes, the
 *  others with empty marks. Of each kind those that come first get their numbers first. Nothing if
 *  none is finite.
 *  @param columns  width of the whole drawing; its height follows */
void calc_scatter_write(calc_output *out, const calc_paint *paint, const calc_scatter_point *point,
                        size_t count, const calc_scatter_axis *x, const calc_scatter_axis *y,
                        int columns);

#endif
