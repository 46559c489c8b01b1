/** @file front.h  The best of what was seen: an exact Pareto front and the N best by one objective.
 *  The result does not depend on the order of insertion: ties go to the layout that comes first. */
#ifndef CALC_SWEEP_FRONT_H
#define CALC_SWEEP_FRONT_H

#include <stddef.h>

#include "calc.h"
#include "objective.h"

/** A layout that was evaluated. Objectives are written so that less is better. Layouts of a sweep
 *  have no lists of stages or layers, which an execution ends with and which are most of it: a
 * sweep of thousands of groups finds a hundred thousand layouts. */
typedef struct calc_found {
    double objective[CALC_MAX_OBJECTIVES];
    uint64_t design; /**< index of the application and system */
    _Alignas(calc_exec) char layout[offsetof(calc_exec, stages)]; /**< calc_found_exec() */
} calc_found;

/** A layout that was found, without objectives. @param exec  without lists of stages or layers */
calc_found calc_found_of(uint64_t design, const calc_exec *exec);

/** The execution of a layout. */
calc_exec calc_found_exec(const calc_found *found);

/** Order of layouts: design, then the fields of the execution. <0, 0 or >0. */
int calc_found_compare(const calc_found *a, const calc_found *b);

/** A list of layouts. Owns what it points to. Start with {0}. */
typedef struct calc_front {
    size_t count, capacity;
    calc_found *item; /**< of a front that is not settled: in no particular order */
    size_t kept; /**< of a long list of best ones: the first so many were the best when it was put
                    in order last */
    struct calc_front_tree *tree; /**< of an unsettled front: its points, whose slots are positions
                                       in `item` */
} calc_front;

/** Whether a layout of the front is at least as good in all of `count` objectives and better in
 *  one. As quick with 100,000 layouts as with 100, unless the front is settled. */
bool calc_front_dominates(const calc_front *front, const double *objective, size_t count);

/** Add a layout to the front if nothing dominates it, and drop what it dominates. The first of
 *  equals stays. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_front_insert(calc_front *front, const calc_found *found,
                                            size_t count);

/** Add all layouts of another front, which stays as it is. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_front_merge(calc_front *front, const calc_front *from, size_t count);

/** The objectives of its layouts, in no particular order.
 *  @return a list of front->count, to be freed; NULL if memory is short */
double (*calc_front_objectives(const calc_front *front))[CALC_MAX_OBJECTIVES];

/** Put the front in order of the objectives. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_front_settle(calc_front *front);

/** Add a layout to the `limit` best by the first objective. A layout that is already there is not
 *  kept again. Before calc_top_settle() its first is the best, and others may be there besides.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_top_insert(calc_front *top, const calc_found *found, size_t limit);

/** Put the best in order and forget the others. */
void calc_top_settle(calc_front *top, size_t limit);

/** Upper limit of the first objective to be among the best; infinity while there is room. For a
 *  list that is not in order the limit may be too large. */
double calc_top_threshold(const calc_front *top, size_t limit);

/** Forget the layouts, keep the memory. */
void calc_front_clear(calc_front *front);

/** Free what the list owns. */
void calc_front_free(calc_front *front);

#endif
