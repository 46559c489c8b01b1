#include "validate/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_read.h"
#include "io/utf8.h"

enum { CELLS_MAX = 256, ID = 0, QUANTITY, STATUS, ERROR, COLUMNS };
static const char *const columns[COLUMNS] = {"id", "quantity", "status", "error"};

static const char hint[] = "a baseline is what calc validate --csv writes";

/* Cells of the columns in a row; -1: missing. @return the name of one that is missing, or NULL */
static const char *find_columns(char *const *cell, int count, int at[COLUMNS])
{
    for (int c = 0; c < COLUMNS; c++) {
        at[c] = -1;
        for (int i = 0; i < count; i++) {
            at[c] = strcmp(cell[i], columns[c]) == 0 ? i : at[c];
        }
        if (at[c] < 0) {
            return columns[c];
        }
    }
    return NULL;
}

/* The result of that id and quantity; NULL if there is none. */
static const calc_result *find_result(const calc_results *results, const char *id,
                                      const char *quantity)
{
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (strcmp(r->prediction->map.row->id, id) == 0 &&
            strcmp(calc_quantity_word(r->quantity), quantity) == 0) {
            return r;
        }
    }
    return NULL;
}

/* Take one row. @return false if its error is not a number */
static bool take(calc_baseline *out, const calc_results *results, char *const *cell,
                 const int at[COLUMNS])
{
    if (strcmp(cell[at[STATUS]], calc_use_word(CALC_USE_SCORED)) != 0) {
        return true;
    }
    char *end;
    double error = strtod(cell[at[ERROR]], &end);
    if (end == cell[at[ERROR]] || *end != '\0' || !isfinite(error)) {
        return false;
    }
    const calc_result *r = find_result(results, cell[at[ID]], cell[at[QUANTITY]]);
    if (r) {
        out->error[r - results->item] = error;
        out->missing += r->use == CALC_USE_UNPREDICTED;
    }
    return true;
}

static calc_status read_rows(calc_baseline *out, calc_text *text, const char *path,
                             const calc_results *results, calc_errors *errors)
{
    calc_csv_reader reader;
    char *cell[CELLS_MAX];
    int at[COLUMNS];
    int line;
    char shown[CALC_UTF8_SHOW_SIZE];
    calc_csv_read_start(&reader, text->data, text->length, path);
    int head = calc_csv_read_row(&reader, cell, CELLS_MAX, &line, errors);
    if (head < 0) {
        return CALC_ERR_SYNTAX;
    }
    const char *missing = find_columns(cell, head, at);
    if (missing) {
        return calc_csv_read_fail(&reader, line, CALC_ERR_FIELD, errors, hint,
                                  "column \"%s\" is missing", missing);
    }
    int count;
    while ((count = calc_csv_read_row(&reader, cell, CELLS_MAX, &line, errors)) > 0) {
        if (count != head) {
            return calc_csv_read_fail(&reader, line, CALC_ERR_FIELD, errors, hint,
                                      "the row has %d cells, the first has %d", count, head);
        }
        if (!take(out, results, cell, at)) {
            return calc_csv_read_fail(
                &reader, line, CALC_ERR_TYPE, errors, hint, "error: \"%s\" is not a number",
                calc_utf8_show(shown, cell[at[ERROR]], strlen(cell[at[ERROR]])));
        }
    }
    return count < 0 ? CALC_ERR_SYNTAX : CALC_OK;
}

calc_status calc_baseline_read(calc_baseline *out, const char *path, const calc_results *results,
                               calc_errors *errors)
{
    *out = (calc_baseline){.error = malloc((results->count + 1) * sizeof *out->error)};
    if (!out->error) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                               calc_status_text(CALC_ERR_NOMEM));
    }
    for (size_t i = 0; i < results->count; i++) {
        out->error[i] = (double)NAN;
    }
    calc_text text = {0};
    calc_status status = calc_text_read(&text, path, errors);
    if (status == CALC_OK) {
        status = read_rows(out, &text, path, results, errors);
    }
    calc_text_free(&text);
    return status;
}

bool calc_baseline_is_worse(const calc_error_group *group, double tolerance)
{
    return group->shared > 0 && group->mean_abs_now - group->mean_abs_then > tolerance;
}

void calc_baseline_free(calc_baseline *baseline)
{
    free(baseline->error);
    *baseline = (calc_baseline){0};
}
