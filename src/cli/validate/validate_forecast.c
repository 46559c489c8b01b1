#include "cli/validate/validate_forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/validate/put_spread.h"
#include "validate/result_labels.h"

/* What a row of the table is of; the first is all of them. */
static const char *const kinds[] = {"all", "dense", "MoE"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* One row: errors of the fit at a month, or of each run's last fit. */
typedef struct row {
    const char *before; /* NULL: the last */
    calc_spread of[KINDS];
} row;

static bool is_in(const calc_result *r, const char *kind)
{
    return r->quantity == CALC_QUANTITY_STEP_TIME && r->use == CALC_USE_SCORED &&
           strcmp(calc_result_confidence(r), "high") == 0 &&
           (kind == kinds[0] || strcmp(calc_result_kind(r), kind) == 0);
}

/* `error` has room for all results. */
static row row_of(const calc_results *results, const calc_forecasts *forecasts, const char *before,
                  double *error)
{
    row found = {.before = before};
    for (int k = 0; k < KINDS; k++) {
        size_t count = 0;
        for (size_t i = 0; i < results->count; i++) {
            const calc_result *r = &results->item[i];
            const char *id = calc_result_id(r);
            const calc_forecast *f = !is_in(r, kinds[k]) ? NULL
                                     : before            ? calc_forecasts_at(forecasts, id, before)
                                                         : calc_forecasts_find(forecasts, id);
            if (f) {
                error[count++] = exp(-f->value) - 1;
            }
        }
        found.of[k] = calc_spread_of(error, count);
    }
    return found;
}

/* Rows of all months, then the last one; those without runs are passed over. */
static void each_row(const calc_results *results, const calc_forecasts *forecasts,
                     void (*write)(void *to, const row *r), void *to)
{
    double *error = calloc(results->count + 1, sizeof *error);
    const char *month = "";
    while (error && month) {
        month = calc_forecasts_next(forecasts, month);
        row found = row_of(results, forecasts, month, error);
        if (found.of[0].count > 0) {
            write(to, &found);
        }
    }
    free(error);
}

/* ---- For people ------------------------------------------------------------------------------ */

static void write_row(void *to, const row *r)
{
    calc_output *out = to;
    calc_output_printf(out, "%-36s%6zu%+8.1f%7.1f",
                       r->before ? r->before : "each by the last before it", r->of[0].count,
                       100 * r->of[0].bias, 100 * r->of[0].mean_abs);
    for (int k = 1; k < KINDS; k++) {
        if (r->of[k].count > 0) {
            calc_output_printf(out, "%6zu%7.1f", r->of[k].count, 100 * r->of[k].mean_abs);
        } else {
            calc_output_printf(out, "%6d%7s", 0, "");
        }
    }
    calc_output_text(out, "\n");
}

void calc_validate_forecast_write(calc_output *out, const calc_results *results,
                                  const calc_forecasts *forecasts)
{
    calc_output_text(out,
                     "\nforecasts of the time of a step, errors in %, runs of high confidence\n");
    calc_output_printf(out, "%-36s%6s%8s%7s%6s%7s%6s%7s\n", "fitted to what was published before",
                       "n", "bias", "mean", "n", "dense", "n", "MoE");
    each_row(results, forecasts, write_row, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_row(void *to, const row *r)
{
    calc_put *put = to;
    for (int k = 0; k < KINDS; k++) {
        if (r->of[k].count > 0) {
            calc_put_object(put, NULL, CALC_PUT_LINE);
            calc_put_text(put, "before", r->before ? r->before : "last");
            calc_put_text(put, "kind", kinds[k]);
            calc_put_spread(put, &r->of[k]);
            calc_put_close(put);
        }
    }
}

void calc_validate_forecast_put(calc_put *put, const calc_results *results,
                                const calc_forecasts *forecasts)
{
    calc_put_array(put, "forecasts", CALC_PUT_LINES);
    each_row(results, forecasts, put_row, put);
    calc_put_close(put);
}
