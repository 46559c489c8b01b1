/** @file shape_cell.h  Reads shapes and their times from the cells of a file. */
#ifndef CALC_MINDSPEED_SHAPE_CELL_H
#define CALC_MINDSPEED_SHAPE_CELL_H

#include "io/csv_table.h"
#include "mindspeed/shape.h"

/** The first members of a row: columns Type, Input Shapes and Output Shapes, and their meaning. */
typedef struct calc_mindspeed_shape_cells {
    const char *type, *inputs, *outputs;
    calc_mindspeed_shape shape; /**< a modelled type, or CALC_MINDSPEED_TYPES */
    calc_mindspeed_shape_kind kind;
} calc_mindspeed_shape_cells;

/** Reads a file whose rows begin with these cells, and allocates room for the results.
 *  @param most  results per row
 *  @return CALC_OK; CALC_ERR_TYPE with an error at a cell that has no shapes; CALC_ERR_NOMEM; or
 *  the status of calc_csv_table_read(). *item is NULL unless CALC_OK; the caller frees it, and
 *  *rows in any case. */
CALC_MUST_USE calc_status calc_mindspeed_shape_cells_read(calc_csv_rows *rows,
                                                          calc_csv_table *table, const char *path,
                                                          calc_mindspeed_timed **item, size_t most,
                                                          calc_errors *errors);

#endif
