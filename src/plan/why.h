/** @file why.h  Changes that would make a layout faster: of one field, and of hardware. And the
 * resources of a machine: the rates and capacities of which one can buy more. */
#ifndef CALC_PLAN_WHY_H
#define CALC_PLAN_WHY_H

#include "calc.h"

enum { CALC_RESOURCES = 6 + CALC_MAX_NETWORKS, CALC_RESOURCE_TEXT = 64 };

/** Factor by which a resource grows: 10 % more. */
#define CALC_RESOURCE_MORE 1.1

/** How many resources a system has: matrix and vector arithmetic and the bandwidth of mem1, mem2
 *  and every network, which are rates, then the capacities of mem1 and mem2. */
size_t calc_resources_count(const calc_system *system);

/** How many of them are rates; these come first. */
size_t calc_resources_rates(const calc_system *system);

/** Whether a system has any of a resource: a second tier need not be there. */
bool calc_resource_there(const calc_system *system, size_t which);

/** Multiply a resource of a system, by CALC_RESOURCE_MORE or another factor above 0.
 *  @param which  below calc_resources_count() */
void calc_resource_scale(calc_system *system, size_t which, double factor);

/** The name of a resource: "bandwidth of mem1", or for people "bandwidth of HBM". @return text */
char *calc_resource_text(const calc_system *system, size_t which, bool people,
                         char text[CALC_RESOURCE_TEXT]);

enum { CALC_WHY_CHANGES = 512 /**< changes that are remembered */ };

/** A change and its result. */
typedef struct calc_why_change {
    calc_exec exec;     /**< with the change; a faster rate leaves it as it was */
    char text[160];     /**< "tensor_par 4 -> 8, data_par 12 -> 6" */
    double value;       /**< of the statistic calc_why.counts, after the change */
    double tier1_bytes; /**< memory of a processor, after the change */
} calc_why_change;

typedef struct calc_why {
    calc_stats before;
    const calc_field *counts; /**< the statistic that ranks layouts: total_time; for serving
                                   output_tokens_per_s, or request_time where requests arrive at a
                                   rate */
    bool up;                  /**< more of it is better */
    size_t tried;             /**< changes that were evaluated, legal or not */
    size_t count;
    calc_why_change change[CALC_WHY_CHANGES]; /**< those that can run and make a difference, the
                                                   best first */
    size_t resources;
    calc_why_change
        resource[CALC_RESOURCES]; /**< 10 % more of each rate of the system, in its order */
} calc_why;

/** Whether a field defines the workload or the efficiency of software, and not the layout. */
bool calc_why_keeps(const calc_field *field, const calc_exec *exec);

/** Try every field of the execution at its neighbouring values: a choice at its others, a flag at
 *  its opposite, a number at twice, half, one more and one less, parallel sizes in pairs that keep
 *  the number of processors. Fields that define the workload (batch, length, formats, whether it
 *  trains) stay as they are, and so do those that have no effect at the values of the others
 *  (absent.h). For serving, also try how requests are batched and read. Then try 10 % more of each
 *  rate of the system. */
void calc_why_find(const calc_app *app, const calc_system *system, const calc_exec *exec,
                   calc_why *out);

/** The relative gain of a value of calc_why.counts over the layout as it was: 0.1 is 10 %. */
double calc_why_gain(const calc_why *why, double value);

#endif
