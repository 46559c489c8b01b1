/** @file same.h  Whether two documents have the same content, whatever their file names. */
#ifndef CALC_SPEC_SAME_H
#define CALC_SPEC_SAME_H

#include "calc.h"

/** Whether two objects have the same values in all rows of a table. Notes and unused elements of
 *  curves and lists do not count. */
bool calc_same(const calc_table *table, const void *a, const void *b);

#endif
