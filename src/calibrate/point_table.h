/** @file point_table.h  Measured operators as a table that the model looks kernels up in. */
#ifndef CALC_CALIBRATE_POINT_TABLE_H
#define CALC_CALIBRATE_POINT_TABLE_H

#include "calibrate/points.h"
#include "model/cost/kernel_table.h"
#include "validate/systems.h"

/** A table. Owns its points. */
typedef struct calc_point_table {
    calc_kernel_table table;
    calc_kernel_point *owned;
} calc_point_table;

/** The key of a point that is used, on its machine. */
calc_kernel_key calc_point_key(const calc_point *point, const calc_system *system);

/** Make a table for a machine.
 *  @param skip  by index of point: not to be in it; NULL: none
 *  @return CALC_OK or CALC_ERR_NOMEM; *out must be freed in any case */
CALC_MUST_USE calc_status calc_point_table_make(calc_point_table *out, const calc_point *points,
                                                size_t count, const bool *skip,
                                                const calc_system *system, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_point_table_free(calc_point_table *table);

/** The tables of several machines, made as they are asked for. Owns them and the points. Start with
 *  {0} and calc_points_read(). */
typedef struct calc_point_tables {
    calc_points points;
    calc_point_table table[CALC_SYSTEMS_MAX];
    size_t count;
    calc_errors errors; /**< why the last machine that was asked for has no table */
} calc_point_tables;

/** The table of a machine: of the rows whose column `system` has its name, and of those without.
 *  @param tables  a calc_point_tables
 *  @return NULL: no row can be used */
const calc_kernel_table *calc_point_tables_of(void *tables, const char *machine,
                                              const calc_system *system);

/** Free what they own; fine on {0}. */
void calc_point_tables_free(calc_point_tables *tables);

#endif
