#include "validate/residuals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv.h"
#include "io/csv_read.h"
#include "spec/format.h"

enum { CELLS_MAX = 64 };

/* Columns, in the order in which they are written. */
#define COLUMN_LIST(X)                                                                             \
    X(ID, "id")                                                                                    \
    X(QUANTITY, "quantity")                                                                        \
    X(SOURCE, "source")                                                                            \
    X(MACHINE, "machine")                                                                          \
    X(FAMILY, "family")                                                                            \
    X(KIND, "kind")                                                                                \
    X(BITS, "bits")                                                                                \
    X(PROCESSORS, "processors")                                                                    \
    X(WIDTH_FOLD, "width_fold")                                                                    \
    X(SOURCE_FOLD, "source_fold")                                                                  \
    X(UNSEEN_WIDTH, "unseen_width")                                                                \
    X(UNSEEN_SOURCE, "unseen_source")

enum {
#define CALC_X(name, text) COLUMN_##name,
    COLUMN_LIST(CALC_X)
#undef CALC_X
        COLUMNS
};
static const char *const columns[COLUMNS] = {
#define CALC_X(name, text) text,
    COLUMN_LIST(CALC_X)
#undef CALC_X
};

static const char hint[] = "calc calibrate --residuals writes such a file";
static const char dense[] = "dense";
static const char moe[] = "MoE";

/* One file being read. */
typedef struct reading {
    calc_csv_reader csv;
    int at[COLUMNS]; /* index of the column's cell in a row */
    int line;
    calc_errors *errors;
} reading;

calc_traits calc_traits_of(const calc_app *app, const calc_exec *exec, const char *family)
{
    static const int bits[] = {[CALC_DATATYPE_FLOAT8] = 8,
                               [CALC_DATATYPE_FLOAT16] = 16,
                               [CALC_DATATYPE_FLOAT32] = 32,
                               [CALC_DATATYPE_BFLOAT16] = 16,
                               [CALC_DATATYPE_FLOAT4] = 4};
    return (calc_traits){.family = family,
                         .experts = app->num_experts > 0,
                         .bits = bits[calc_format_datatype(exec->matrix_datatype, exec->datatype)],
                         .processors = (double)exec->num_procs};
}

/* ---- Reading --------------------------------------------------------------------------------- */

static calc_status read_header(reading *r)
{
    char *cell[CELLS_MAX];
    int count = calc_csv_read_row(&r->csv, cell, CELLS_MAX, &r->line, r->errors);
    if (count < 0) {
        return CALC_ERR_SYNTAX;
    }
    for (int c = 0; c < COLUMNS; c++) {
        r->at[c] = -1;
        for (int i = 0; i < count; i++) {
            r->at[c] = strcmp(cell[i], columns[c]) == 0 ? i : r->at[c];
        }
        if (r->at[c] < 0) {
            return calc_csv_read_fail(&r->csv, r->line, CALC_ERR_FIELD, r->errors, hint,
                                      "column \"%s\" is missing", columns[c]);
        }
    }
    return CALC_OK;
}

static calc_status fail(reading *r, int column, const char *found, const char *expected)
{
    return calc_csv_read_fail(&r->csv, r->line, CALC_ERR_TYPE, r->errors, NULL,
                              "%s: \"%.60s\" is not %s", columns[column], found, expected);
}

/* A finite number from `least` on. @return false if it is none */
static bool parse(const char *text, double least, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out) && *out >= least;
}

static calc_status read_numbers(reading *r, char *const *cell, calc_residual *out)
{
    double bits = 0, fold[CALC_UNSEEN_COUNT] = {0};
    const struct {
        int column;
        double least, *to;
        const char *expected;
    } numbers[] = {
        {COLUMN_BITS, 1, &bits, "a number of bits"},
        {COLUMN_PROCESSORS, 1, &out->traits.processors, "a number of processors"},
        {COLUMN_WIDTH_FOLD, 0, &fold[CALC_UNSEEN_WIDTH], "the number of a fold"},
        {COLUMN_SOURCE_FOLD, 0, &fold[CALC_UNSEEN_SOURCE], "the number of a fold"},
        {COLUMN_UNSEEN_WIDTH, -10, &out->value[CALC_UNSEEN_WIDTH], "a logarithm"},
        {COLUMN_UNSEEN_SOURCE, -10, &out->value[CALC_UNSEEN_SOURCE], "a logarithm"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *text = cell[r->at[numbers[i].column]];
        if (!parse(text, numbers[i].least, numbers[i].to) || *numbers[i].to > 1e9) {
            return fail(r, numbers[i].column, text, numbers[i].expected);
        }
    }
    out->traits.bits = (int)bits;
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        out->fold[u] = (int)fold[u];
    }
    return CALC_OK;
}

static calc_status read_row(reading *r, char *const *cell, int count, calc_residual *out)
{
    for (int c = 0; c < COLUMNS; c++) {
        if (r->at[c] >= count) {
            return calc_csv_read_fail(&r->csv, r->line, CALC_ERR_FIELD, r->errors, hint,
                                      "the row has %d cells, \"%s\" is the %d. column", count,
                                      columns[c], r->at[c] + 1);
        }
    }
    *out = (calc_residual){.id = cell[r->at[COLUMN_ID]],
                           .source = cell[r->at[COLUMN_SOURCE]],
                           .machine = cell[r->at[COLUMN_MACHINE]],
                           .traits.family = cell[r->at[COLUMN_FAMILY]]};
    const char *quantity = cell[r->at[COLUMN_QUANTITY]];
    while (out->quantity < CALC_QUANTITY_COUNT &&
           strcmp(quantity, calc_quantity_word(out->quantity)) != 0) {
        out->quantity++;
    }
    if (out->quantity == CALC_QUANTITY_COUNT) {
        return fail(r, COLUMN_QUANTITY, quantity, "step_time or memory");
    }
    const char *kind = cell[r->at[COLUMN_KIND]];
    out->traits.experts = strcmp(kind, moe) == 0;
    if (!out->traits.experts && strcmp(kind, dense) != 0) {
        return fail(r, COLUMN_KIND, kind, "dense or MoE");
    }
    return read_numbers(r, cell, out);
}

/* Sources and families get numbers, so that comparing many of them is cheap. */
static void number(calc_residuals *out, calc_residual *last)
{
    last->table = last->family = -1;
    int families = 0;
    for (const calc_residual *r = out->item; r < last; r++) {
        families = r->family >= families ? r->family + 1 : families;
        last->table = strcmp(r->source, last->source) == 0 ? r->table : last->table;
        last->family =
            strcmp(r->traits.family, last->traits.family) == 0 ? r->family : last->family;
    }
    last->table = last->table < 0 ? out->tables++ : last->table;
    last->family = last->family < 0 ? families : last->family;
}

static calc_status read_rows(reading *r, calc_residuals *out)
{
    size_t capacity = 0;
    for (;;) {
        char *cell[CELLS_MAX];
        int count = calc_csv_read_row(&r->csv, cell, CELLS_MAX, &r->line, r->errors);
        if (count <= 0) {
            return count < 0 ? CALC_ERR_SYNTAX : CALC_OK;
        }
        if (out->count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            calc_residual *grown = realloc(out->item, capacity * sizeof *grown);
            if (!grown) {
                return CALC_ERR_NOMEM;
            }
            out->item = grown;
        }
        calc_status status = read_row(r, cell, count, &out->item[out->count]);
        if (status != CALC_OK) {
            return status;
        }
        number(out, &out->item[out->count++]);
    }
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

static calc_status sort(calc_residuals *out)
{
    static int (*const order[])(const void *, const void *) = {by_width, by_source};
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        out->order[u] = calloc(out->count + 1, sizeof *out->order[u]);
        if (!out->order[u]) {
            return CALC_ERR_NOMEM;
        }
        for (size_t i = 0; i < out->count; i++) {
            out->order[u][i] = &out->item[i];
        }
        qsort(out->order[u], out->count, sizeof *out->order[u], order[u]);
    }
    return CALC_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

calc_status calc_residuals_parse(calc_residuals *out, calc_text text, const char *name,
                                 calc_errors *errors)
{
    *out = (calc_residuals){.text = text};
    reading r = {.errors = errors};
    calc_csv_read_start(&r.csv, out->text.data, out->text.length, name);
    calc_status status = read_header(&r);
    status = status == CALC_OK ? read_rows(&r, out) : status;
    status = status == CALC_OK ? sort(out) : status;
    if (status == CALC_ERR_NOMEM) {
        calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL, "%s", calc_status_text(status));
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
    for (int c = 0; c < COLUMNS; c++) {
        calc_csv_text(out, columns[c], c == 0);
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
    calc_output_printf(out, ",%s,%d,%.0f,%d,%d,%.4f,%.4f\n", r->traits.experts ? moe : dense,
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
