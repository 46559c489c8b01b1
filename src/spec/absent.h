/** @file absent.h  Values of absent optional keys: 0, false, the first choice, no object at all, or
 *  the value in the column .absent of the row. */
#ifndef CALC_SPEC_ABSENT_H
#define CALC_SPEC_ABSENT_H

#include "calc.h"

/** Fill a struct as if no key were present; required members are zero, lists and maps empty. */
void calc_absent_fill(const calc_table *table, void *object);

/** Whether a member has the value of an absent key. A network operation of all zeros counts as
 *  absent, too: a struct that was not read from a file has it. */
bool calc_absent_is(const calc_field *field, const void *member);

#endif
