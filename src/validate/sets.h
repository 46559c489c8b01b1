/** @file sets.h  The sets of published tables that errors are reported for: one table, or tables of
 *  the same kind on machines of one family. */
#ifndef CALC_VALIDATE_SETS_H
#define CALC_VALIDATE_SETS_H

#include "validate/results.h"

/** Name of the set of that index, from 0; NULL after the last. */
const char *calc_sets_name(size_t index);

/** Whether a result of training is of a published table: its row names a publisher. */
bool calc_sets_is_published(const calc_result *result);

/** Whether a result belongs to the set. Runs of one's own belong to none. */
bool calc_sets_has(size_t index, const calc_result *result);

#endif
