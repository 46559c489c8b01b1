/** @file shape_cell.h  Shapes in the cells of a file. */
#ifndef CALC_MINDSPEED_SHAPE_CELL_H
#define CALC_MINDSPEED_SHAPE_CELL_H

#include "io/csv_table.h"
#include "mindspeed/shape.h"

/** calc_mindspeed_shape_read() of two cells of a row.
 *  @return CALC_OK, or CALC_ERR_TYPE with an error at the cell that has no shapes */
CALC_MUST_USE calc_status calc_mindspeed_shape_cell(const calc_csv_row *row,
                                                    calc_mindspeed_type type, const char *inputs,
                                                    const char *outputs, calc_mindspeed_shape *out,
                                                    calc_mindspeed_shape_kind *kind,
                                                    calc_errors *errors);

#endif
