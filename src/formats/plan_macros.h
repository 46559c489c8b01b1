/** @file plan_macros.h  Short forms for functions that handle a plan named `plan`. */
#ifndef CALC_FORMATS_PLAN_MACROS_H
#define CALC_FORMATS_PLAN_MACROS_H

#include "formats/plan.h"

#define SET(name, number) (plan->value[CALC_PLAN_##name] = (double)(number))
#define SAYS(name) calc_plan_says(plan, CALC_PLAN_##name)
#define VALUE(name) calc_plan_value(plan, CALC_PLAN_##name)
#define COUNT(name) ((int64_t)VALUE(name))
#define YES(name) (VALUE(name) > 0)
/* A number where something says it; else the member is left out. */
#define WHERE(says, number) ((says) ? (double)(number) : (double)NAN)
/* The value, or a default that follows from others. */
#define VALUE_OR(name, absent) calc_plan_get(plan, CALC_PLAN_##name, (double)(absent))
#define COUNT_OR(name, absent) ((int64_t)VALUE_OR(name, absent))
#define YES_OR(name, absent) (VALUE_OR(name, absent) > 0)

#endif
