/** @file census.h  The points of a space, counted without evaluation, and by number.
 *
 *  Counting depends on few properties of a system: calc_census_system(). Designs that agree in
 *  these form a kind (calc_designs.kinds) and are counted once, so that a study of a million
 *  systems is counted as quickly as one of them. Points are numbered kind by kind, in a kind design
 *  by design, in a
 * design in the order in which a sweep meets them. */
#ifndef CALC_SWEEP_CENSUS_H
#define CALC_SWEEP_CENSUS_H

#include "calc.h"
#include "sweep.h"
#include "worker.h"

/** The counts. Free with calc_census_free(). */
typedef struct calc_census {
    calc_sweep_counts counts; /**< total and points rejected before evaluation */
    double units, rows;       /**< of all designs: units of work, rows of their tables */
    size_t most_rows;         /**< of one table */
    double walk_s;            /**< that one processor takes to visit all cells of all designs */
    struct calc_census_walk *walk;
} calc_census;

/** Count a space, with all processors of the machine. Borrows space and designs.
 *  @param out  to be freed in any case
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RANGE for more interleavings than a cell takes, or
 * 2^64 points or more; with an error */
CALC_MUST_USE calc_status calc_census_take(calc_census *out, const calc_space *space,
                                           const calc_designs *designs, calc_compat compat,
                                           calc_errors *errors);

/** Called with points that were asked for.
 *  @param i       position in the list
 *  @param design  of the point; the place has another of its kind
 *  @param point   number of the point in its place, for calc_worker_decode() */
typedef void calc_census_visit(void *context, size_t i, uint64_t design,
                               const calc_worker_place *place, uint64_t point);

/** Visit the points with the given numbers without walking through the whole space.
 *  @param index  below counts.total; put in ascending order
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_census_points(const calc_census *census, uint64_t *index,
                                             size_t count, calc_census_visit *visit, void *context,
                                             calc_errors *errors);

void calc_census_free(calc_census *census);

/** A system reduced to the properties that counting depends on: which engines and which tiers there
 *  are, the number and sizes of its networks and which of them must be filled. */
calc_system calc_census_system(const calc_system *system);

/** Whether that is the same of two. */
bool calc_census_alike(const calc_system *first, const calc_system *second);

#endif
