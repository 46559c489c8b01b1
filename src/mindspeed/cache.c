#include "mindspeed/cache.h"

#include <math.h>
#include <stdlib.h>

#include "mindspeed/shape_cell.h"

typedef struct row {
    calc_mindspeed_shape_cells cells;
    double fw_us, bw_us;
} cache_row;

static const calc_csv_column columns[] = {
    {"Type", NULL, CALC_CSV_MEMBER(cache_row, cells.type)},
    {"Input Shapes", NULL, CALC_CSV_MEMBER(cache_row, cells.inputs)},
    {"Output Shapes", NULL, CALC_CSV_MEMBER(cache_row, cells.outputs)},
    {"fwd_time", NULL, CALC_CSV_MEMBER(cache_row, fw_us), CALC_CSV_BLANK, 0, HUGE_VAL},
    {"bwd_time", NULL, CALC_CSV_MEMBER(cache_row, bw_us), CALC_CSV_BLANK, 0, HUGE_VAL},
};

static void take(calc_mindspeed_cache *out, const calc_mindspeed_shape *shape, double us)
{
    if (us > 0) {
        out->item[out->count++] = (calc_mindspeed_timed){*shape, us * 1e-6};
    }
}

calc_status calc_mindspeed_cache_read(calc_mindspeed_cache *out, const char *path,
                                      calc_errors *errors)
{
    calc_csv_table table = CALC_CSV_TABLE(columns, cache_row,
                                          "an operator cache has Type, Input Shapes, Output "
                                          "Shapes, fwd_time and bwd_time in us");
    calc_csv_rows rows;
    *out = (calc_mindspeed_cache){0};
    calc_status status =
        calc_mindspeed_shape_cells_read(&rows, &table, path, &out->item, 2, errors);
    const cache_row *row = rows.item;
    for (size_t i = 0; i < rows.count && out->item; i++) {
        calc_mindspeed_shape back = row[i].cells.shape;
        back.type = calc_mindspeed_shape_gradient(back.type);
        if (row[i].cells.kind != CALC_MINDSPEED_SHAPE_GOOD) {
            out->others++;
            continue;
        }
        take(out, &row[i].cells.shape, row[i].fw_us);
        take(out, &back, back.type == CALC_MINDSPEED_TYPES ? 0 : row[i].bw_us);
    }
    free(rows.item);
    calc_text_free(&rows.text);
    return status;
}

double calc_mindspeed_cache_s(const calc_mindspeed_cache *cache, const calc_mindspeed_shape *shape)
{
    double sum_s = 0;
    size_t count = 0;
    for (size_t i = 0; i < cache->count; i++) {
        if (calc_mindspeed_shape_equal(&cache->item[i].shape, shape)) {
            sum_s += cache->item[i].time_s;
            count++;
        }
    }
    return count ? sum_s / (double)count : 0;
}

void calc_mindspeed_cache_free(calc_mindspeed_cache *cache)
{
    free(cache->item);
    *cache = (calc_mindspeed_cache){0};
}
