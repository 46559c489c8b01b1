/** @file resources.h  What a machine has of everything: the rates and sizes that more of can be
 *  bought. */
#ifndef CALC_PLAN_RESOURCES_H
#define CALC_PLAN_RESOURCES_H

#include "calc.h"

enum { CALC_RESOURCES = 6 + CALC_MAX_NETWORKS, CALC_RESOURCE_TEXT = 64 };

/** How much more is asked for: 10 %. */
#define CALC_RESOURCE_MORE 1.1

/** How many resources a system has: matrix and vector arithmetic, bandwidth of mem1, mem2 and every
 *  network, then, which are no rates, the capacities of mem1 and mem2. */
size_t calc_resources_count(const calc_system *system);

/** How many of them are rates: those that come first. */
size_t calc_resources_rates(const calc_system *system);

/** Whether a system has any of a resource: a second tier need not be there. */
bool calc_resource_there(const calc_system *system, size_t which);

/** Give a system CALC_RESOURCE_MORE of a resource. @param which  below calc_resources_count() */
void calc_resource_grow(calc_system *system, size_t which);

/** What a resource is called: "bandwidth of mem1". @return text */
char *calc_resource_text(const calc_system *system, size_t which, char text[CALC_RESOURCE_TEXT]);

#endif
