/** @file process_path.h  Draws of a Gaussian process, point by point, that stay draws of one
 *  function: earlier values are kept, and later ones are drawn conditional on them. Each point adds
 *  a row to the factor of the covariance of all points. */
#ifndef CALC_GAUSS_PROCESS_PATH_H
#define CALC_GAUSS_PROCESS_PATH_H

#include "base/rng.h"
#include "gauss/process.h"

/** A point. Its arrays are one piece of memory, which begins with the values. */
typedef struct calc_process_path_point {
    double at[CALC_PROCESS_DIMENSIONS];
    double *value;  /**< `draws` numbers, */
    double *normal; /**< and the independent numbers that are its own part of them */
    double *reach;  /**< calc_process_reach() */
    double *row;    /**< of the factor: a number for each point before it, and its own */
} calc_process_path_point;

/** Start with calc_process_path_start(). Owns its points. */
typedef struct calc_process_path {
    const calc_process *process; /**< borrowed; as it is while there are points */
    calc_rng rng;
    size_t draws;
    calc_process_path_point *point;
    size_t count, capacity;
} calc_process_path;

/** Begin without points. */
void calc_process_path_start(calc_process_path *path, const calc_process *process, size_t draws,
                             const calc_rng *rng);

/** Forget the points; `rng` goes on. Needed when the process has new data. */
void calc_process_path_clear(calc_process_path *path);

/** The draws at a point: existing ones, or new ones.
 *  @return `draws` numbers, which stay until the path is cleared; NULL if memory is short */
CALC_MUST_USE const double *calc_process_path_at(calc_process_path *path, const double *point);

#endif
