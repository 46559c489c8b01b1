#include "mindspeed/shape_cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/utf8.h"

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    calc_mindspeed_shape_cells *c = row;
    calc_mindspeed_shape ignored;
    char shown[CALC_UTF8_SHOW_SIZE];
    (void)context;
    calc_mindspeed_type type = c->shape.type = calc_mindspeed_shape_type(c->type);
    c->kind = type == CALC_MINDSPEED_TYPES
                  ? CALC_MINDSPEED_SHAPE_OTHER
                  : calc_mindspeed_shape_read(type, c->inputs, c->outputs, &c->shape);
    if (c->kind != CALC_MINDSPEED_SHAPE_WRONG) {
        return CALC_OK;
    }
    /* Attention needs its inputs only. */
    bool input = calc_mindspeed_shape_read(CALC_MINDSPEED_FLASH, c->inputs, "", &ignored) ==
                 CALC_MINDSPEED_SHAPE_WRONG;
    const char *cell = input ? c->inputs : c->outputs;
    return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line,
                          calc_csv_read_column(from->reader, cell),
                          "sizes stand between commas, tensors between semicolons",
                          "%s: expected shapes like 4096,4096;11008,4096, found \"%s\"",
                          input ? "Input Shapes" : "Output Shapes",
                          calc_utf8_show(shown, cell, strlen(cell)));
}

calc_status calc_mindspeed_shape_cells_read(calc_csv_rows *rows, calc_csv_table *table,
                                            const char *path, calc_mindspeed_timed **item,
                                            size_t most, calc_errors *errors)
{
    table->finish = finish;
    *item = NULL;
    calc_status status = calc_csv_table_read(rows, table, path, errors);
    if (status == CALC_OK) {
        *item = malloc((most * rows->count + 1) * sizeof **item);
        status = *item ? CALC_OK : calc_errors_no_memory(errors);
    }
    return status;
}
