#include "validate/forecasts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"

bool calc_is_month(const char *text)
{
    static const char shape[] = "dddd-dd";
    size_t i = 0;
    while (shape[i] && (shape[i] == '-' ? text[i] == '-' : isdigit((unsigned char)text[i]))) {
        i++;
    }
    return !shape[i] && !text[i];
}

int calc_month_number(const char *text)
{
    enum { MONTHS = 12, YEAR_LENGTH = 5 };
    return (int)strtol(text, NULL, 10) * MONTHS + (int)strtol(text + YEAR_LENGTH, NULL, 10);
}

static const calc_csv_column columns[] = {
    {.name = "id", CALC_CSV_MEMBER(calc_forecast, id)},
    {.name = "before", CALC_CSV_MEMBER(calc_forecast, before)},
    {.name = "forecast", CALC_CSV_MEMBER(calc_forecast, value), .lo = -10, .hi = 10}};

static calc_status check(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    const calc_forecast *f = row;
    (void)context;
    return calc_is_month(f->before)
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

static int compare(const void *a, const void *b)
{
    const calc_forecast *x = a, *y = b;
    int runs = strcmp(x->id, y->id);
    return runs ? runs : strcmp(x->before, y->before);
}

calc_status calc_forecasts_parse(calc_forecasts *out, calc_text text, const char *name,
                                 calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_forecasts){.item = rows.item, .count = rows.count, .text = rows.text};
    if (status == CALC_OK && out->count > 0) {
        qsort(out->item, out->count, sizeof *out->item, compare);
    }
    return status;
}

calc_status calc_forecasts_read(calc_forecasts *out, const char *path, calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_forecasts){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_forecasts_parse(out, text, path, errors) : status;
}

/* How many are of a run that sorts before `id`, or of `id` and a month before `before` or that. */
static size_t up_to(const calc_forecasts *forecasts, const char *id, const char *before)
{
    const calc_forecast wanted = {.id = id, .before = before};
    size_t lo = 0, hi = forecasts->count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (compare(&forecasts->item[middle], &wanted) <= 0) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

static const char after_all_months[] = "9999-99";

const calc_forecast *calc_forecasts_at(const calc_forecasts *forecasts, const char *id,
                                       const char *before)
{
    size_t count = up_to(forecasts, id, before);
    const calc_forecast *f = count > 0 ? &forecasts->item[count - 1] : NULL;
    return f && strcmp(f->id, id) == 0 && strcmp(f->before, before) == 0 ? f : NULL;
}

const calc_forecast *calc_forecasts_find(const calc_forecasts *forecasts, const char *id)
{
    size_t count = up_to(forecasts, id, after_all_months);
    const calc_forecast *f = count > 0 ? &forecasts->item[count - 1] : NULL;
    return f && strcmp(f->id, id) == 0 ? f : NULL;
}

const char *calc_forecasts_next(const calc_forecasts *forecasts, const char *month)
{
    const char *next = NULL;
    for (size_t i = 0; i < forecasts->count; i++) {
        const char *before = forecasts->item[i].before;
        if (strcmp(before, month) > 0 && (!next || strcmp(before, next) < 0)) {
            next = before;
        }
    }
    return next;
}

void calc_forecasts_free(calc_forecasts *forecasts)
{
    free(forecasts->item);
    calc_text_free(&forecasts->text);
    *forecasts = (calc_forecasts){0};
}
