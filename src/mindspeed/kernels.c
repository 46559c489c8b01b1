#include "mindspeed/kernels.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "mindspeed/shape_cell.h"

typedef struct row {
    const char *type, *inputs, *outputs;
    double us;
    calc_mindspeed_shape shape; /* of a type that is modelled */
    calc_mindspeed_shape_kind kind;
} details_row;

static const calc_csv_column columns[] = {
    {"Type", "OP Type", CALC_CSV_MEMBER(details_row, type)},
    {"Input Shapes", NULL, CALC_CSV_MEMBER(details_row, inputs)},
    {"Output Shapes", NULL, CALC_CSV_MEMBER(details_row, outputs)},
    {"Duration(us)", "Task Duration(us)", CALC_CSV_MEMBER(details_row, us), .lo = 0,
     .hi = HUGE_VAL},
};

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    details_row *r = row;
    (void)context;
    r->shape.type = calc_mindspeed_shape_type(r->type);
    return r->shape.type == CALC_MINDSPEED_TYPES
               ? CALC_OK
               : calc_mindspeed_shape_cell(from, r->shape.type, r->inputs, r->outputs, &r->shape,
                                           &r->kind, errors);
}

/* Takes one row, or two of a LayerNorm's gradient. @return how many */
static size_t take(calc_mindspeed_kernels *out, const details_row *row, size_t left)
{
    double us = row->us;
    size_t taken = 1;
    if (row->shape.type == CALC_MINDSPEED_TYPES) {
        out->others++;
        return 1;
    }
    if (row->shape.type == CALC_MINDSPEED_LAYER_NORM_GRAD) {
        if (left < 2 || row[1].shape.type != row->shape.type) {
            out->odd++;
            return 1;
        }
        us += row[1].us;
        taken = 2;
    }
    if (row->kind != CALC_MINDSPEED_SHAPE_GOOD) {
        out->odd += taken;
    } else if (us < CALC_MINDSPEED_KERNEL_LEAST_US) {
        out->brief += taken;
    } else {
        out->item[out->count++] = (calc_mindspeed_kernel){row->shape, us * 1e-6};
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
    table.finish = finish;
    *out = (calc_mindspeed_kernels){0};
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    if (status == CALC_OK) {
        out->item = malloc((rows.count + 1) * sizeof *out->item);
        status = out->item ? CALC_OK : calc_errors_no_memory(errors);
    }
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
