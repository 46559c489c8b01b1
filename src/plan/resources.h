/** @file resources.h  The resources of a machine: the rates and capacities of which one can buy
 *  more. */
#ifndef CALC_PLAN_RESOURCES_H
#define CALC_PLAN_RESOURCES_H

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

/** Multiply a resource of a system by CALC_RESOURCE_MORE. @param which  below
 *  calc_resources_count() */
void calc_resource_grow(calc_system *system, size_t which);

/** The name of a resource: "bandwidth of mem1". @return text */
char *calc_resource_text(const calc_system *system, size_t which, char text[CALC_RESOURCE_TEXT]);

#endif
