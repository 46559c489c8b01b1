/** @file scatter.h  Draws points in the plane in characters: two axes with the values at their
 *  ends, the front marked, and numbers beside numbered points. */
#ifndef CALC_CLI_DRAW_SCATTER_H
#define CALC_CLI_DRAW_SCATTER_H

#include "cli/draw/human.h"

enum { CALC_SCATTER_MIN_COLUMNS = 40 /**< minimum width, also on narrower terminals */ };

/** One point. */
typedef struct calc_scatter_point {
    double x, y;   /**< points that are not finite are left out */
    size_t number; /**< written beside it where there is room; 0: none */
} calc_scatter_point;

/** Description of an axis; it is logarithmic if all values are positive and span a factor of 50. */
typedef struct calc_scatter_axis {
    const char *label;
    bool up;                                   /**< more is better */
    char *(*text)(double value, char *buffer); /**< formats a value, like the functions of
                                                *  human.h */
} calc_scatter_axis;

/** Write the drawing; nothing if no point is finite. A point is on the front if no other is at
 *  least as good in both and better in one.
 *  @param columns  of the drawing */
void calc_scatter_write(calc_output *out, const calc_paint *paint, const calc_scatter_point *point,
                        size_t count, const calc_scatter_axis *x, const calc_scatter_axis *y,
                        int columns);

#endif
