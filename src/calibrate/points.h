/** @file points.h  Measured operators: the rows of a CSV file. docs/operators.md has the layout. */
#ifndef CALC_CALIBRATE_POINTS_H
#define CALC_CALIBRATE_POINTS_H

#include "calibrate/point.h"
#include "io/text.h"

/** Columns that are read, in any order; others are ignored: X(member of calc_point, name, other
 *  name, optional). Numbers are 0 or more. */
#define CALC_POINTS_COLUMN_LIST(X)                                                                 \
    X(system, "system", "hardware", true)                                                          \
    X(op, "op", NULL, false)                                                                       \
    X(dtype, "dtype", NULL, false)                                                                 \
    X(shape, "shape", NULL, false)                                                                 \
    X(metric, "metric", NULL, false)                                                               \
    X(value, "value", NULL, false)                                                                 \
    X(unit, "unit", NULL, true)

/** The rows of one file. Owns everything. Start with {0}. */
typedef struct calc_points {
    calc_point *item;
    size_t count;
    calc_text text;
    const char *name; /**< name of the file in errors; borrowed */
} calc_points;

/** Read a file, or standard input if path is "-"; names ending in .gz are decompressed. Rows that
 *  cannot be used say why in `reason`.
 *  @return CALC_OK; CALC_ERR_FIELD for a missing column or cell, CALC_ERR_TYPE for a value that is
 *  no number, CALC_ERR_SYNTAX, or what calc_text_read() returns. Errors name file, line and column.
 *  *out must be freed in any case. */
CALC_MUST_USE calc_status calc_points_read(calc_points *out, const char *path, calc_errors *errors);

/** The same from a text, which the points own from now on; `name` is its name in errors. */
CALC_MUST_USE calc_status calc_points_parse(calc_points *out, calc_text text, const char *name,
                                            calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_points_free(calc_points *points);

/** Refuse the points of other machines than those named, and those that a machine cannot run.
 *  @param rows  names of the column `system`, separated by commas; NULL: all, if they agree
 *  @return CALC_OK; CALC_ERR_FIELD if they do not agree, or if no row has one of the names */
CALC_MUST_USE calc_status calc_points_select(calc_points *points, const char *rows,
                                             const calc_system *system, calc_errors *errors);

#endif
