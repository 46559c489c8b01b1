#include "validate/forecasts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "validate/run_dates.h"

static const calc_csv_column columns[] = {
    {.name = "id", CALC_CSV_MEMBER(calc_forecast, id)},
    {.name = "before", CALC_CSV_MEMBER(calc_forecast, before)},
    {.name = "forecast", CALC_CSV_MEMBER(calc_forecast, value), .lo = -10, .hi = 10}};

static calc_status check(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    const calc_forecast *f = row;
    (void)context;
    return calc_run_is_month(f->before)
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line, 0,
                                "scripts/refit writes such a file",
                                "before: \"%.40s\" is no month like 2026-02", f->before);
}

static const calc_csv_table table = {.column = columns,
                                     .columns = sizeof columns / sizeof *columns,
                                     .row_bytes = sizeof(calc_forecast),
                                     .hint = "scripts/refit writes such a file",
                                     .finish = check};

calc_status calc_forecasts_parse(calc_forecasts *out, calc_text text, const char *name,
                                 calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_forecasts){.item = rows.item, .count = rows.count, .text = rows.text};
    return status;
}

calc_status calc_forecasts_read(calc_forecasts *out, const char *path, calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_forecasts){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_forecasts_parse(out, text, path, errors) : status;
}

const calc_forecast *calc_forecasts_find(const calc_forecasts *forecasts, const char *id)
{
    for (size_t i = 0; i < forecasts->count; i++) {
        if (strcmp(forecasts->item[i].id, id) == 0) {
            return &forecasts->item[i];
        }
    }
    return NULL;
}

void calc_forecasts_free(calc_forecasts *forecasts)
{
    free(forecasts->item);
    calc_text_free(&forecasts->text);
    *forecasts = (calc_forecasts){0};
}
