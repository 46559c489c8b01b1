/** @file absent.h  What an optional key that is not there means: 0, false, the first choice, no
 *  object at all, or what the column .absent of its row says. */
#ifndef CALC_SPEC_ABSENT_H
#define CALC_SPEC_ABSENT_H

#include "calc.h"

/** Make a struct of which no key is there; what is not optional is zero, a list or a map empty. */
void calc_absent_fill(const calc_table *table, void *object);

/** Whether a member has the value of an absent key. A network operation of all zeros counts as
 *  absent too: what a struct has that was not read from a file. */
bool calc_absent_is(const calc_field *field, const void *member);

#endif
