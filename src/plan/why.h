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
    double time_s;      /**< of a step, with it */
    double tier1_bytes; /**< memory of a processor, with it */
} calc_why_change;

typedef struct calc_why {
    calc_stats before;
    size_t tried; /**< changes that were evaluated, legal or not */
    size_t count;
    calc_why_change change[CALC_WHY_CHANGES]; /**< those that can run and differ, fastest first */
    size_t resources;
    calc_why_change
        resource[CALC_RESOURCES]; /**< 10 % more of each rate of the system, in its order */
} calc_why;

/** Try every field of the execution at its neighbouring values: a choice at its others, a flag at
 *  its opposite, a number at twice, half, one more and one less, parallel sizes in pairs that keep
 *  the number of processors. Fields that change what is computed (batch, length, formats, whether
 *  it trains) stay, and so do those that change nothing at the values of the others (idle.h). Then
 * 10 % more of each rate of the system. */
void calc_why_find(const calc_app *app, const calc_system *system, const calc_exec *exec,
                   calc_why *out);

#endif
