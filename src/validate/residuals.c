#include "validate/residuals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv.h"
#include "io/csv_table.h"
#include "spec/format.h"
#include "validate/spread.h"

static const char *const kinds[] = {"dense", "MoE", NULL};

/* In the order in which they are written. */
/* Quantities of training, the first of CALC_QUANTITY_LIST. */
static const char *const quantities[] = {"step_time", "memory", NULL};

static const calc_csv_column columns[] = {
    {.name = "id", CALC_CSV_MEMBER(calc_residual, id)},
    {.name = "quantity", CALC_CSV_MEMBER(calc_residual, quantity), .words = quantities},
    {.name = "source", CALC_CSV_MEMBER(calc_residual, source)},
    {.name = "machine", CALC_CSV_MEMBER(calc_residual, machine)},
    {.name = "family", CALC_CSV_MEMBER(calc_residual, traits.family)},
    {.name = "kind", CALC_CSV_MEMBER(calc_residual, traits.experts), .words = kinds},
    {.name = "bits", CALC_CSV_MEMBER(calc_residual, traits.bits), .lo = 1, .hi = 1e9},
    {.name = "processors", CALC_CSV_MEMBER(calc_residual, traits.processors), .lo = 1, .hi = 1e9},
#define CALC_X(unseen, value_column, fold_column)                                                  \
    {.name = #fold_column, CALC_CSV_MEMBER(calc_residual, fold[CALC_UNSEEN_##unseen]), .hi = 1e9},
    CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
#define CALC_X(unseen, value_column, fold_column)                                                  \
    {.name = #value_column,                                                                        \
     CALC_CSV_MEMBER(calc_residual, value[CALC_UNSEEN_##unseen]),                                  \
     .lo = -10,                                                                                    \
     .hi = 10},
        CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
};

static const calc_csv_table table =
    CALC_CSV_TABLE(columns, calc_residual, "calc calibrate --residuals writes such a file");

calc_traits calc_traits_of(const calc_app *app, const calc_exec *exec, const char *family)
{
    static const int bits[] = {[CALC_DATATYPE_FLOAT8] = 8,
                               [CALC_DATATYPE_FLOAT16] = 16,
                               [CALC_DATATYPE_FLOAT32] = 32,
                               [CALC_DATATYPE_BFLOAT16] = 16,
                               [CALC_DATATYPE_FLOAT4] = 4};
    return (calc_traits){
        .family = family,
        .experts = app->num_experts > 0,
        .bits = bits[calc_format_datatype(exec->strategy.matrix_datatype, exec->strategy.datatype)],
        .processors = (double)exec->num_procs};
}

/* Sources and families get numbers, so that comparing many of them is cheap. Rows of a source stand
 * together: the nearest is looked at first. */
static void number(calc_residuals *out, calc_residual *last)
{
    last->table = last->family = -1;
    for (const calc_residual *r = last; r-- > out->item && (last->table < 0 || last->family < 0);) {
        if (last->table < 0 && strcmp(r->source, last->source) == 0) {
            last->table = r->table;
        }
        if (last->family < 0 && strcmp(r->traits.family, last->traits.family) == 0) {
            last->family = r->family;
        }
    }
    last->table = last->table < 0 ? out->tables++ : last->table;
    last->family = last->family < 0 ? out->families++ : last->family;
}

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b, calc_unseen unseen)
{
    const calc_residual *x = *(const calc_residual *const *)a;
    const calc_residual *y = *(const calc_residual *const *)b;
    double left = fabs(x->value[unseen]);
    double right = fabs(y->value[unseen]);
    return left != right ? (left > right) - (left < right) : (x > y) - (x < y);
}

static int by_width(const void *a, const void *b)
{
    return compare(a, b, CALC_UNSEEN_WIDTH);
}

static int by_source(const void *a, const void *b)
{
    return compare(a, b, CALC_UNSEEN_SOURCE);
}

static int by_release(const void *a, const void *b)
{
    return compare(a, b, CALC_UNSEEN_RELEASE);
}

static int by_software(const void *a, const void *b)
{
    return compare(a, b, CALC_UNSEEN_SOFTWARE);
}

/* @return false without memory */
static bool sort(calc_residuals *r, calc_quantity quantity, calc_unseen unseen)
{
    static int (*const order[])(const void *, const void *) = {by_width, by_source, by_release,
                                                               by_software};
    calc_residual_list *list = &r->list[quantity][unseen];
    free(list->item);
    *list = (calc_residual_list){.item = calloc(r->count + 1, sizeof *list->item)};
    for (size_t i = 0; list->item && i < r->count; i++) {
        const calc_residual *one = &r->item[i];
        if (one->quantity == quantity && !isnan(one->value[unseen])) {
            list->item[list->count++] = one;
        }
    }
    if (list->item) {
        qsort(list->item, list->count, sizeof *list->item, order[unseen]);
    }
    return list->item != NULL;
}

/* The median of a kind of models. @param runs  room for a number per table */
static double typical(const calc_residuals *r, calc_quantity quantity, bool experts, size_t *runs)
{
    const calc_residual_list *list = &r->list[quantity][CALC_UNSEEN_WIDTH];
    double all = 0, sum = 0;
    memset(runs, 0, (size_t)r->tables * sizeof *runs);
    for (size_t i = 0; i < list->count; i++) {
        runs[list->item[i]->table] += list->item[i]->traits.experts == experts;
    }
    for (int t = 0; t < r->tables; t++) {
        all += runs[t] > 0 ? (double)runs[t] * calc_spread_weight(runs[t]) : 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        const calc_residual *one = list->item[i];
        sum += one->traits.experts == experts ? calc_spread_weight(runs[one->table]) : 0;
        if (one->traits.experts == experts && sum >= all / 2) {
            return fabs(one->value[CALC_UNSEEN_WIDTH]);
        }
    }
    return 0;
}

static bool sort_all(calc_residuals *r)
{
    size_t *runs = calloc((size_t)r->tables + 1, sizeof *runs);
    bool fine = runs != NULL;
    for (calc_quantity q = 0; q < CALC_RESIDUAL_QUANTITIES; q++) {
        for (calc_unseen u = 0; u < CALC_UNSEEN_COUNT; u++) {
            fine = fine && sort(r, q, u);
        }
        for (int experts = 0; fine && experts < 2; experts++) {
            r->typical[q][experts] = typical(r, q, experts == 1, runs);
        }
    }
    free(runs);
    return fine;
}

calc_status calc_residuals_take_forecasts(calc_residuals *residuals,
                                          const calc_forecasts *forecasts, calc_errors *errors)
{
    for (size_t i = 0; i < residuals->count; i++) {
        calc_residual *r = &residuals->item[i];
        const calc_forecast *f =
            r->quantity == CALC_QUANTITY_STEP_TIME ? calc_forecasts_find(forecasts, r->id) : NULL;
        if (f) {
            r->value[CALC_UNSEEN_RELEASE] = f->value;
            r->fold[CALC_UNSEEN_RELEASE] = calc_month_number(f->before);
        }
    }
    return sort(residuals, CALC_QUANTITY_STEP_TIME, CALC_UNSEEN_RELEASE)
               ? CALC_OK
               : calc_errors_no_memory(errors);
}

/* ---- Files ----------------------------------------------------------------------------------- */

calc_status calc_residuals_parse(calc_residuals *out, calc_text text, const char *name,
                                 calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &table, text, name, errors);
    *out = (calc_residuals){.item = rows.item, .count = rows.count, .text = rows.text};
    for (size_t i = 0; i < out->count; i++) {
        number(out, &out->item[i]);
        out->item[i].value[CALC_UNSEEN_RELEASE] = (double)NAN;
        out->item[i].value[CALC_UNSEEN_SOFTWARE] = (double)NAN;
    }
    if (status == CALC_OK && !sort_all(out)) {
        status = calc_errors_no_memory(errors);
    }
    return status;
}

/* One row of the other file. */
typedef struct software_row {
    calc_residual run;
    const char *publisher;
    double value;
} software_row;

static const calc_csv_column software_columns[] = {
    {.name = "id", CALC_CSV_MEMBER(software_row, run.id)},
    {.name = "source", CALC_CSV_MEMBER(software_row, run.source)},
    {.name = "publisher", CALC_CSV_MEMBER(software_row, publisher)},
    {.name = "machine", CALC_CSV_MEMBER(software_row, run.machine)},
    {.name = "family", CALC_CSV_MEMBER(software_row, run.traits.family)},
    {.name = "kind", CALC_CSV_MEMBER(software_row, run.traits.experts), .words = kinds},
    {.name = "bits", CALC_CSV_MEMBER(software_row, run.traits.bits), .lo = 1, .hi = 1e9},
    {.name = "processors",
     CALC_CSV_MEMBER(software_row, run.traits.processors),
     .lo = 1,
     .hi = 1e9},
    {.name = "unseen_software", CALC_CSV_MEMBER(software_row, value), .lo = -10, .hi = 10}};

static const calc_csv_table software_table =
    CALC_CSV_TABLE(software_columns, software_row, "scripts/refit writes such a file");

calc_status calc_residuals_add_software(calc_residuals *residuals, calc_text text, const char *name,
                                        calc_errors *errors)
{
    calc_csv_rows rows;
    calc_status status = calc_csv_table_parse(&rows, &software_table, text, name, errors);
    const software_row *row = rows.item;
    calc_residual *grown =
        status == CALC_OK
            ? realloc(residuals->item, (residuals->count + rows.count + 1) * sizeof *grown)
            : NULL;
    residuals->software = rows.text;
    residuals->item = grown ? grown : residuals->item;
    for (size_t i = 0; grown && i < rows.count; i++) {
        calc_residual *r = &residuals->item[residuals->count];
        size_t fold = 0;
        while (strcmp(row[fold].publisher, row[i].publisher) != 0) {
            fold++;
        }
        *r = row[i].run;
        r->quantity = CALC_QUANTITY_STEP_TIME;
        for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
            r->value[u] = u == CALC_UNSEEN_SOFTWARE ? row[i].value : (double)NAN;
            r->fold[u] = -1 - (int)fold; /* no fold of the runs that were fitted to */
        }
        number(residuals, r);
        residuals->count++;
    }
    free(rows.item);
    return status != CALC_OK              ? status
           : grown && sort_all(residuals) ? CALC_OK
                                          : calc_errors_no_memory(errors);
}

calc_status calc_residuals_read(calc_residuals *out, const char *path, calc_errors *errors)
{
    calc_text text = {0};
    *out = (calc_residuals){0};
    calc_status status = calc_text_read(&text, path, errors);
    return status == CALC_OK ? calc_residuals_parse(out, text, path, errors) : status;
}

const calc_residual *calc_residuals_find(const calc_residuals *residuals, const char *id,
                                         calc_quantity quantity)
{
    for (size_t i = 0; i < residuals->count; i++) {
        const calc_residual *r = &residuals->item[i];
        if (r->quantity == quantity && strcmp(r->id, id) == 0) {
            return r;
        }
    }
    return NULL;
}

const char *calc_residuals_family(const calc_residuals *residuals, const char *machine)
{
    for (size_t i = 0; i < residuals->count; i++) {
        const calc_residual *r = &residuals->item[i];
        if (r->quantity == CALC_QUANTITY_STEP_TIME && strcmp(r->machine, machine) == 0) {
            return r->traits.family;
        }
    }
    return NULL;
}

const char *calc_residuals_family_of(const calc_residuals *residuals, const calc_runs_row *row)
{
    const char *family = calc_residuals_family(residuals, row->sys);
    return *row->family ? row->family : family ? family : "";
}

void calc_residuals_write_head(calc_output *out)
{
    for (int c = 0; c < table.columns; c++) {
        calc_csv_text(out, columns[c].name, c == 0);
    }
    calc_output_text(out, "\n");
}

void calc_residuals_write(calc_output *out, const calc_residual *r)
{
    const char *const texts[] = {r->id, calc_quantity_word(r->quantity), r->source, r->machine,
                                 r->traits.family};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        calc_csv_text(out, texts[i], i == 0);
    }
    calc_output_printf(out, ",%s,%d,%.0f,%d,%d,%.4f,%.4f\n", kinds[r->traits.experts],
                       r->traits.bits, r->traits.processors, r->fold[CALC_UNSEEN_WIDTH],
                       r->fold[CALC_UNSEEN_SOURCE], r->value[CALC_UNSEEN_WIDTH],
                       r->value[CALC_UNSEEN_SOURCE]);
}

void calc_residuals_free(calc_residuals *residuals)
{
    for (int q = 0; q < CALC_RESIDUAL_QUANTITIES; q++) {
        for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
            free(residuals->list[q][u].item);
        }
    }
    free(residuals->item);
    calc_text_free(&residuals->text);
    calc_text_free(&residuals->software);
    *residuals = (calc_residuals){0};
}
