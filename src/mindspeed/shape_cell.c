#include "mindspeed/shape_cell.h"

#include <string.h>

#include "base/error.h"
#include "io/utf8.h"

calc_status calc_mindspeed_shape_cell(const calc_csv_row *row, calc_mindspeed_type type,
                                      const char *inputs, const char *outputs,
                                      calc_mindspeed_shape *out, calc_mindspeed_shape_kind *kind,
                                      calc_errors *errors)
{
    calc_mindspeed_shape ignored;
    char shown[CALC_UTF8_SHOW_SIZE];
    *kind = calc_mindspeed_shape_read(type, inputs, outputs, out);
    if (*kind != CALC_MINDSPEED_SHAPE_WRONG) {
        return CALC_OK;
    }
    /* Attention asks for its inputs only. */
    bool input = calc_mindspeed_shape_read(CALC_MINDSPEED_FLASH, inputs, "", &ignored) ==
                 CALC_MINDSPEED_SHAPE_WRONG;
    const char *cell = input ? inputs : outputs;
    return calc_errors_at(errors, CALC_ERR_TYPE, row->reader->name, row->line,
                          calc_csv_read_column(row->reader, cell),
                          "sizes stand between commas, tensors between semicolons",
                          "%s: expected shapes like 4096,4096;11008,4096, found \"%s\"",
                          input ? "Input Shapes" : "Output Shapes",
                          calc_utf8_show(shown, cell, strlen(cell)));
}
