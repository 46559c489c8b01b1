/** @file knowledge.h  The knowledge gradient: the expected reduction of the shortest expected time
 * by one more measurement. Frazier, Powell & Dayanik 2009 (INFORMS Journal on Computing 21), for
 * errors that are correlated. */
#ifndef CALC_TUNE_KNOWLEDGE_H
#define CALC_TUNE_KNOWLEDGE_H

#include <stdbool.h>
#include <stddef.h>

/** E min_i (mean_i + slope_i Z) - min_i mean_i for a standard normal Z, negated: >= 0.
 *  @param order  room for `count` numbers
 *  @param hull   likewise */
double calc_tune_knowledge(const double *mean, const double *slope, size_t count, size_t *order,
                           size_t *hull);

#endif
