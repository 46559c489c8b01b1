#include "validate/serving_reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"

typedef struct run {
    const char *id, *engine;
    double half;
} run;

static const calc_csv_column run_columns[] = {
    {.name = "id", CALC_CSV_MEMBER(run, id)},
    {.name = "inference.engine", CALC_CSV_MEMBER(run, engine)},
    {.name = "half", CALC_CSV_MEMBER(run, half), .flags = CALC_CSV_BLANK, .lo = 0, .hi = 1}};

typedef struct result {
    const char *id, *quantity, *status;
    double error;
} result;

static const calc_csv_column result_columns[] = {
    {.name = "id", CALC_CSV_MEMBER(result, id)},
    {.name = "quantity", CALC_CSV_MEMBER(result, quantity)},
    {.name = "status", CALC_CSV_MEMBER(result, status)},
    {.name = "error",
     CALC_CSV_MEMBER(result, error),
     .flags = CALC_CSV_BLANK,
     .lo = -1,
     .hi = 1e9}};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The logarithms of the runs of an engine; NULL: of all. Both files are in the order of the runs.
 */
static size_t collect(double *off, const calc_csv_rows *runs, const calc_csv_rows *results,
                      const char *engine)
{
    const run *r = runs->item, *end = r + runs->count;
    const result *item = results->item;
    size_t count = 0;
    for (size_t i = 0; i < results->count && r < end; i++) {
        while (r < end && strcmp(r->id, item[i].id) != 0) {
            r++;
        }
        if (r < end && r->half == 1 && (!engine || strcmp(r->engine, engine) == 0) &&
            strcmp(item[i].quantity, "tpot") == 0 && strcmp(item[i].status, "scored") == 0) {
            off[count++] = fabs(log1p(item[i].error));
        }
    }
    qsort(off, count, sizeof *off, by_value);
    return count;
}

calc_status calc_serving_reach_read(calc_serving_reach *out, const char *engine, const char *runs,
                                    const char *results, calc_errors *errors)
{
    static const char hint[] = "calc validate serving_runs reads and writes such files";
    static const calc_csv_table run_table = CALC_CSV_TABLE(run_columns, run, hint);
    static const calc_csv_table result_table = CALC_CSV_TABLE(result_columns, result, hint);
    calc_csv_rows measured = {0}, errors_of = {0};
    *out = (calc_serving_reach){.reach = NAN};
    calc_status status = calc_csv_table_read(&measured, &run_table, runs, errors);
    status = status == CALC_OK ? calc_csv_table_read(&errors_of, &result_table, results, errors)
                               : status;
    double *off = malloc((errors_of.count + 1) * sizeof *off);
    status = off || status != CALC_OK ? status : calc_errors_no_memory(errors);
    if (status == CALC_OK && off) {
        out->runs = collect(off, &measured, &errors_of, engine);
        out->own = out->runs >= CALC_SERVING_REACH_RUNS;
        out->runs = out->own ? out->runs : collect(off, &measured, &errors_of, NULL);
        size_t at = (size_t)ceil(0.9 * (double)(out->runs + 1)); /* from 1, and one run more */
        out->reach = at > 0 && at <= out->runs ? off[at - 1] : NAN;
    }
    free(off);
    calc_csv_rows_free(&measured);
    calc_csv_rows_free(&errors_of);
    return status;
}
