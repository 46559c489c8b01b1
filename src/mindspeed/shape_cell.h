/** @file shape_cell.h  Shapes in the cells of a file, and their times. */
#ifndef CALC_MINDSPEED_SHAPE_CELL_H
#define CALC_MINDSPEED_SHAPE_CELL_H

#include "io/csv_table.h"
#include "mindspeed/shape.h"

/** What the first members of a row are: columns Type, Input Shapes and Output Shapes, and what they
 *  mean. */
typedef struct calc_mindspeed_shape_cells {
    const char *type, *inputs, *outputs;
    calc_mindspeed_shape shape; /**< of a type that is modelled, or CALC_MINDSPEED_TYPES */
    calc_mindspeed_shape_kind kind;
} calc_mindspeed_shape_cells;

/** Read a file whose rows begin with these cells, and make room for what is taken of them.
 *  @param most  of a row
 *  @return CALC_OK; CALC_ERR_TYPE with an error at a cell that has no shapes; CALC_ERR_NOMEM; or
 * what calc_csv_table_read() returns. *item is NULL unless CALC_OK; the caller frees it, and *rows
 * in any case. */
CALC_MUST_USE calc_status calc_mindspeed_shape_cells_read(calc_csv_rows *rows,
                                                          calc_csv_table *table, const char *path,
                                                          calc_mindspeed_timed **item, size_t most,
                                                          calc_errors *errors);

#endif
