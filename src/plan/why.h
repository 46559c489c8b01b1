/** @file why.h  What would make a layout faster: changes of one field, and faster hardware. */
#ifndef CALC_PLAN_WHY_H
#define CALC_PLAN_WHY_H

#include "calc.h"
#include "plan/resources.h"

enum { CALC_WHY_CHANGES = 512 /**< changes that are remembered */ };

/** A change and what it comes to. */
typedef struct calc_why_change {
    calc_exec exec;     /**< changed; of a rate nothing is */
    char text[160];     /**< "tensor_par 4 -> 8, data_par 12 -> 6" */
    double value;       /**< of what counts (calc_why.counts), with it */
    double tier1_bytes; /**< memory of a processor, with it */
} calc_why_change;

typedef struct calc_why {
    calc_stats before;
    const calc_field *counts; /**< the statistic that says how good a layout is: total_time; of what
                                   is served output_tokens_per_s, or request_time where requests
                                   arrive at a rate */
    bool up;                  /**< more of it is better */
    size_t tried;             /**< changes that were evaluated, legal or not */
    size_t count;
    calc_why_change change[CALC_WHY_CHANGES]; /**< those that can run and differ, the best first */
    size_t resources;
    calc_why_change
        resource[CALC_RESOURCES]; /**< 10 % more of each rate of the system, in its order */
} calc_why;

/** Try every field of the execution at its neighbouring values: a choice at its others, a flag at
 *  its opposite, a number at twice, half, one more and one less, parallel sizes in pairs that keep
 *  the number of processors. Fields that change what is computed (batch, length, formats, whether
 *  it trains) stay, and so do those that change nothing at the values of the others (idle.h). Of
 *  what is served, how requests are batched and read, too. Then 10 % more of each rate of the
 *  system. */
void calc_why_find(const calc_app *app, const calc_system *system, const calc_exec *exec,
                   calc_why *out);

/** By how much a value of what counts is better than before: 0.1 is 10 %. */
double calc_why_gain(const calc_why *why, double value);

#endif
