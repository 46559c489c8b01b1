/** @file cost_times.h  Times of the passes over each operator of a list by themselves: cost.h
 *  decides on overlap and repetition. Layouts that differ in recomputation alone, or in an overlap
 *  that changes no operator, have these in common. */
#ifndef CALC_MODEL_COST_TIMES_H
#define CALC_MODEL_COST_TIMES_H

#include "model/cost/cost_link.h"

/** One operator of a mean block. Passes that it does not have, or that nobody asks for, are 0. */
typedef struct calc_cost_times {
    calc_cost_work work[CALC_PASS_COUNT]; /**< with no arithmetic but that which costs count */
    double all_s[CALC_PASS_COUNT];        /**< calc_cost_kernel_s() */
    double link_s[CALC_PASS_COUNT];       /**< COLLECTIVE: calc_cost_link_s() */
    double edge_s[CALC_PASS_COUNT];       /**< the same in the last block of a chunk */
} calc_cost_times;

/** Time the operators of a list.
 *  @param known  links of the context */
void calc_cost_times_of(const calc_cost_context *context, const calc_operator *operators,
                        size_t count, calc_cost_links *known, calc_cost_times *out);

/** The same beside another list, of a context that is alike (calc_cost_kernel_alike()): kernels at
 *  the same place in both lists get the times of the other list.
 *  @param times  of that list; not those to fill */
void calc_cost_times_like(const calc_cost_context *context, const calc_operator *operators,
                          size_t count, const calc_operator *like, const calc_cost_times *times,
                          size_t like_count, calc_cost_links *known, calc_cost_times *out);

#endif
