#include "mindspeed/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "io/utf8.h"

#define GB 1e9

typedef struct row {
    int pp, tp, dp, cp, up, mbs;
    double vpp, ep, peak_gb;
    const char *ms;
    int line;
    calc_mindspeed_end end;
    double step_s;
} result_row;

#define SIZE(name, member)                                                                         \
    {                                                                                              \
        name, NULL, CALC_CSV_MEMBER(result_row, member), .lo = 1, .hi = 1e9                        \
    }
#define MAYBE CALC_CSV_OPTIONAL | CALC_CSV_BLANK

static const calc_csv_column columns[] = {
    SIZE("pp", pp),
    SIZE("tp", tp),
    SIZE("dp", dp),
    SIZE("ring_attention", cp),
    SIZE("ulysses", up),
    SIZE("mbs", mbs),
    {"vpp", NULL, CALC_CSV_MEMBER(result_row, vpp), MAYBE, 1, 1e9},
    {"ep", NULL, CALC_CSV_MEMBER(result_row, ep), MAYBE, 0, 1e9},
    {"peak_memory", NULL, CALC_CSV_MEMBER(result_row, peak_gb), MAYBE, 0, 1e9},
    {"e2e_time", NULL, CALC_CSV_MEMBER(result_row, ms)},
    {NULL, NULL, CALC_CSV_MEMBER(result_row, line)},
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static calc_status refuse(const calc_csv_row *from, const char *cell, const char *name,
                          const char *expected, calc_errors *errors)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line,
                          calc_csv_read_column(from->reader, cell), NULL,
                          "%s: expected %s, found \"%s\"", name, expected,
                          calc_utf8_show(shown, cell, strlen(cell)));
}

static bool is_whole(double x)
{
    return isnan(x) || x == floor(x);
}

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    result_row *r = row;
    char *end;
    (void)context;
    if (!is_whole(r->vpp) || !is_whole(r->ep)) {
        return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line, 0, NULL,
                              "%s: expected a whole number, found %g",
                              is_whole(r->vpp) ? "ep" : "vpp", is_whole(r->vpp) ? r->ep : r->vpp);
    }
    r->end = strcmp(r->ms, "oom") == 0      ? CALC_MINDSPEED_OUT_OF_MEMORY
             : strcmp(r->ms, "failed") == 0 ? CALC_MINDSPEED_FAILED
                                            : CALC_MINDSPEED_RAN;
    if (r->end != CALC_MINDSPEED_RAN) {
        return CALC_OK;
    }
    r->step_s = strtod(r->ms, &end) * 1e-3;
    bool number = end != r->ms && *end == '\0';
    return number && isfinite(r->step_s) && r->step_s > 0
               ? CALC_OK
               : refuse(from, r->ms, "e2e_time", "milliseconds above 0, oom or failed", errors);
}

static calc_mindspeed_result result_of(const result_row *r)
{
    return (calc_mindspeed_result){.config = {r->pp, r->tp, r->dp, r->cp, r->up, r->mbs,
                                              isnan(r->vpp) ? 1 : (int)r->vpp,
                                              isnan(r->ep) ? 0 : (int)r->ep},
                                   .end = r->end,
                                   .step_s = r->step_s,
                                   .peak_bytes = r->peak_gb * GB,
                                   .line = r->line};
}

/* ---- The file -------------------------------------------------------------------------------- */

static calc_status take(calc_mindspeed_results *out, const result_row *row, size_t count,
                        const char *path, calc_errors *errors)
{
    calc_status status = CALC_OK;
    out->item = calloc(count + 1, sizeof *out->item);
    if (!out->item) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < count; i++) {
        calc_mindspeed_result result = result_of(&row[i]);
        const calc_mindspeed_result *first = calc_mindspeed_results_find(out, &result.config);
        if (first) {
            status = calc_errors_at(
                errors, CALC_ERR_RULE, path, row[i].line, 0, "keep one row of each, or their mean",
                "the configuration was measured in line %d already", first->line);
        } else {
            out->item[out->count++] = result;
        }
    }
    return status;
}

calc_status calc_mindspeed_results_read(calc_mindspeed_results *out, const char *path,
                                        calc_errors *errors)
{
    calc_csv_table table =
        CALC_CSV_TABLE(columns, result_row,
                       "model_results.csv has pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,"
                       "peak_memory,e2e_time");
    calc_csv_rows rows;
    table.finish = finish;
    *out = (calc_mindspeed_results){0};
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    if (status == CALC_OK) {
        status = take(out, rows.item, rows.count, path, errors);
    }
    free(rows.item);
    calc_text_free(&rows.text);
    return status;
}

void calc_mindspeed_results_free(calc_mindspeed_results *results)
{
    free(results->item);
    *results = (calc_mindspeed_results){0};
}

const calc_mindspeed_result *calc_mindspeed_results_find(const calc_mindspeed_results *results,
                                                         const calc_mindspeed_config *c)
{
    for (size_t i = 0; i < results->count; i++) {
        if (memcmp(&results->item[i].config, c, sizeof *c) == 0) {
            return &results->item[i];
        }
    }
    return NULL;
}
