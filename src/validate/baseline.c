#include "validate/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "validate/result_labels.h"

/* One row of the file. */
typedef struct entry {
    const char *id, *status;
    calc_quantity quantity;
    double error; /* NaN: blank */
    int line;
} entry;

static const calc_csv_column columns[] = {
    {CALC_CSV_MEMBER(entry, line)},
    {.name = "id", CALC_CSV_MEMBER(entry, id)},
    {.name = "quantity", CALC_CSV_MEMBER(entry, quantity), .words = calc_quantity_words},
    {.name = "status", CALC_CSV_MEMBER(entry, status)},
    {.name = "error", .flags = CALC_CSV_BLANK, CALC_CSV_MEMBER(entry, error)}};

static const calc_csv_table table =
    CALC_CSV_TABLE(columns, entry, "a baseline is what calc validate --csv writes");

/* The result of that id and quantity; NULL if there is none. */
static const calc_result *find_result(const calc_results *results, const entry *e)
{
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        if (r->quantity == e->quantity && strcmp(calc_result_id(r), e->id) == 0) {
            return r;
        }
    }
    return NULL;
}

static calc_status take(calc_baseline *out, const calc_results *results, const entry *e,
                        const char *path, calc_errors *errors)
{
    if (strcmp(e->status, calc_use_word(CALC_USE_SCORED)) != 0) {
        return CALC_OK;
    }
    if (isnan(e->error)) {
        return calc_errors_at(errors, CALC_ERR_TYPE, path, e->line, 0, table.hint,
                              "a scored row has an error, this one has none");
    }
    const calc_result *r = find_result(results, e);
    if (r) {
        out->error[r - results->item] = e->error;
        out->missing += r->use == CALC_USE_UNPREDICTED || r->use == CALC_USE_REFUSED;
    }
    return CALC_OK;
}

calc_status calc_baseline_read(calc_baseline *out, const char *path, const calc_results *results,
                               calc_errors *errors)
{
    *out = (calc_baseline){.error = malloc((results->count + 1) * sizeof *out->error)};
    if (!out->error) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < results->count; i++) {
        out->error[i] = (double)NAN;
    }
    calc_csv_rows rows;
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    const entry *entries = rows.item;
    for (size_t i = 0; status == CALC_OK && i < rows.count; i++) {
        status = take(out, results, &entries[i], path, errors);
    }
    free(rows.item);
    calc_text_free(&rows.text);
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
