/** @file resolved.h  What optional fields mean where they are absent: the one list that the law of
 *  neutral values (prop_neutral.c) goes through. A new optional field needs a row here. */
#ifndef CALC_TESTS_RESOLVED_H
#define CALC_TESTS_RESOLVED_H

#include "field_walk.h"

/** Whether the list has the field. A curve or an operation needs no row. */
bool calc_resolved_known(const calc_field_at *at);

/** What the field means where it is absent, as the number its member would have: NaN where nothing
 *  that can be written does, or absence means itself (0: none). */
double calc_resolved_value(const calc_field_at *at, const calc_random_layout *layout);

/** Paths of the list, one after the other; NULL at the end. */
const char *calc_resolved_path(size_t index);

#endif
