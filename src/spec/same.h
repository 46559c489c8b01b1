/** @file same.h  Whether two documents say the same, whatever their files are called. */
#ifndef CALC_SPEC_SAME_H
#define CALC_SPEC_SAME_H

#include "calc.h"

/** Whether two objects have the same values in all rows of a table. Notes do not count, and of a
 *  curve or list what is not in use does not. */
bool calc_same(const calc_table *table, const void *a, const void *b);

#endif
