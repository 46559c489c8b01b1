/** @file point_table.h  Measured operators as a table that the model looks kernels up in. */
#ifndef CALC_CALIBRATE_POINT_TABLE_H
#define CALC_CALIBRATE_POINT_TABLE_H

#include "calibrate/points.h"
#include "model/cost/kernel_table.h"

/** A table. Owns its points. */
typedef struct calc_point_table {
    calc_kernel_table table;
    calc_kernel_point *owned;
} calc_point_table;

/** The key of a point that is used. */
calc_kernel_key calc_point_key(const calc_point *point);

/** Make a table for a machine.
 *  @param skip  by index of point: not to be in it; NULL: none
 *  @return CALC_OK or CALC_ERR_NOMEM; *out must be freed in any case */
CALC_MUST_USE calc_status calc_point_table_make(calc_point_table *out, const calc_point *points,
                                                size_t count, const bool *skip,
                                                const calc_system *system, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_point_table_free(calc_point_table *table);

#endif
