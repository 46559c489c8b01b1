#include "mindspeed/cache.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "mindspeed/shape_cell.h"

typedef struct row {
    const char *type, *inputs, *outputs;
    double fw_us, bw_us;
    calc_mindspeed_shape shape;
    calc_mindspeed_shape_kind kind;
} cache_row;

static const calc_csv_column columns[] = {
    {"Type", NULL, CALC_CSV_MEMBER(cache_row, type)},
    {"Input Shapes", NULL, CALC_CSV_MEMBER(cache_row, inputs)},
    {"Output Shapes", NULL, CALC_CSV_MEMBER(cache_row, outputs)},
    {"fwd_time", NULL, CALC_CSV_MEMBER(cache_row, fw_us), CALC_CSV_BLANK, 0, HUGE_VAL},
    {"bwd_time", NULL, CALC_CSV_MEMBER(cache_row, bw_us), CALC_CSV_BLANK, 0, HUGE_VAL},
};

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    cache_row *r = row;
    (void)context;
    r->shape.type = calc_mindspeed_shape_type(r->type);
    r->kind = CALC_MINDSPEED_SHAPE_OTHER;
    return r->shape.type == CALC_MINDSPEED_TYPES
               ? CALC_OK
               : calc_mindspeed_shape_cell(from, r->shape.type, r->inputs, r->outputs, &r->shape,
                                           &r->kind, errors);
}

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
    table.finish = finish;
    *out = (calc_mindspeed_cache){0};
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    if (status == CALC_OK) {
        out->item = malloc((2 * rows.count + 1) * sizeof *out->item);
        status = out->item ? CALC_OK : calc_errors_no_memory(errors);
    }
    const cache_row *row = rows.item;
    for (size_t i = 0; i < rows.count && out->item; i++) {
        calc_mindspeed_shape back = row[i].shape;
        back.type = calc_mindspeed_shape_gradient(back.type);
        if (row[i].kind != CALC_MINDSPEED_SHAPE_GOOD) {
            out->others++;
            continue;
        }
        take(out, &row[i].shape, row[i].fw_us);
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
