#include "validate/residuals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv.h"
#include "io/csv_table.h"
#include "spec/format.h"

static const char *const kinds[] = {"dense", "MoE", NULL};

/* In the order in which they are written. */
/* Of runs of training, the first of CALC_QUANTITY_LIST. */
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

/* @return false without memory */
static bool sort(calc_residuals *out)
{
    static int (*const order[])(const void *, const void *) = {by_width, by_source};
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        out->order[u] = calloc(out->count + 1, sizeof *out->order[u]);
        if (!out->order[u]) {
            return false;
        }
        for (size_t i = 0; i < out->count; i++) {
            out->order[u][i] = &out->item[i];
        }
        qsort(out->order[u], out->count, sizeof *out->order[u], order[u]);
    }
    return true;
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
    }
    if (status == CALC_OK && !sort(out)) {
        status = calc_errors_no_memory(errors);
    }
    return status;
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
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        free(residuals->order[u]);
    }
    free(residuals->item);
    calc_text_free(&residuals->text);
    *residuals = (calc_residuals){0};
}
