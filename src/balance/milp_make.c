/* Columns, rows and terms, one after the other. */
#include "balance/milp_make.h"

#include "base/buffer.h"

int calc_milp_column_add(calc_milp_maker *maker, const calc_milp_column *column)
{
    calc_milp *out = maker->out;
    if (maker->status != CALC_OK) {
        return -1;
    }
    if (out->columns == CALC_MILP_MOST) {
        maker->status = CALC_ERR_RANGE;
        return -1;
    }
    calc_milp_column *grown =
        calc_grown(out->column, out->columns, &out->column_room, sizeof *grown);
    if (!grown) {
        maker->status = CALC_ERR_NOMEM;
        return -1;
    }
    out->column = grown;
    out->column[out->columns] = *column;
    return (int)out->columns++;
}

void calc_milp_row_add(calc_milp_maker *maker, calc_milp_sense sense, double bound)
{
    calc_milp *out = maker->out;
    if (maker->status != CALC_OK) {
        return;
    }
    if (out->rows == CALC_MILP_MOST) {
        maker->status = CALC_ERR_RANGE;
        return;
    }
    calc_milp_row *grown = calc_grown(out->row, out->rows, &out->row_room, sizeof *grown);
    if (!grown) {
        maker->status = CALC_ERR_NOMEM;
        return;
    }
    out->row = grown;
    out->row[out->rows++] = (calc_milp_row){sense, bound};
}

void calc_milp_term_add(calc_milp_maker *maker, int column, double factor)
{
    calc_milp *out = maker->out;
    if (maker->status != CALC_OK || column < 0 || factor == 0) {
        return;
    }
    calc_milp_term *grown = calc_grown(out->term, out->terms, &out->term_room, sizeof *grown);
    if (!grown) {
        maker->status = CALC_ERR_NOMEM;
        return;
    }
    out->term = grown;
    out->term[out->terms++] = (calc_milp_term){(int)out->rows - 1, column, factor};
}
