#include "mindspeed/kernels.h"

#include <math.h>
#include <stdlib.h>

#include "mindspeed/shape_cell.h"

typedef struct row {
    calc_mindspeed_shape_cells cells;
    double us;
} details_row;

static const calc_csv_column columns[] = {
    {"Type", "OP Type", CALC_CSV_MEMBER(details_row, cells.type)},
    {"Input Shapes", NULL, CALC_CSV_MEMBER(details_row, cells.inputs)},
    {"Output Shapes", NULL, CALC_CSV_MEMBER(details_row, cells.outputs)},
    {"Duration(us)", "Task Duration(us)", CALC_CSV_MEMBER(details_row, us), .lo = 0,
     .hi = HUGE_VAL},
};

/* Reads one row, or the two rows of a LayerNorm's gradient. @return number of rows read */
static size_t take(calc_mindspeed_kernels *out, const details_row *row, size_t left)
{
    double us = row->us;
    size_t taken = 1;
    if (row->cells.shape.type == CALC_MINDSPEED_TYPES) {
        out->others++;
        return 1;
    }
    if (row->cells.shape.type == CALC_MINDSPEED_LAYER_NORM_GRAD) {
        if (left < 2 || row[1].cells.shape.type != row->cells.shape.type) {
            out->odd++;
            return 1;
        }
        us += row[1].us;
        taken = 2;
    }
    if (row->cells.kind != CALC_MINDSPEED_SHAPE_GOOD) {
        out->odd += taken;
    } else if (us < CALC_MINDSPEED_KERNEL_LEAST_US) {
        out->brief += taken;
    } else {
        out->item[out->count++] = (calc_mindspeed_timed){row->cells.shape, us * 1e-6};
    }
    return taken;
}

calc_status calc_mindspeed_kernels_read(calc_mindspeed_kernels *out, const char *path,
                                        calc_errors *errors)
{
    calc_csv_table table = CALC_CSV_TABLE(columns, details_row,
                                          "kernel_details.csv of a profile has Type, Input Shapes, "
                                          "Output Shapes and Duration(us)");
    calc_csv_rows rows;
    *out = (calc_mindspeed_kernels){0};
    calc_status status =
        calc_mindspeed_shape_cells_read(&rows, &table, path, &out->item, 1, errors);
    const details_row *row = rows.item;
    for (size_t i = 0; i < rows.count && out->item;) {
        i += take(out, row + i, rows.count - i);
    }
    free(rows.item);
    calc_text_free(&rows.text);
    return status;
}

void calc_mindspeed_kernels_free(calc_mindspeed_kernels *kernels)
{
    free(kernels->item);
    *kernels = (calc_mindspeed_kernels){0};
}
