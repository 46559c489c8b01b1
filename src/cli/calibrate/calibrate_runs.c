#include "cli/calibrate/calibrate_runs.h"

#include <math.h>

#include "base/error.h"
#include "cli/draw/human.h"

/* Whether the result at `index` is a time that was predicted before and after. */
static bool is_shown(const calc_calibrate_report *report, size_t index)
{
    const calc_result *before = &report->results[CALC_CALIBRATE_ASSUMED]->item[index];
    const calc_result *after = &report->results[CALC_CALIBRATE_FITTED]->item[index];
    return before->use == CALC_USE_SCORED && after->use == CALC_USE_SCORED &&
           after->quantity == CALC_QUANTITY_STEP_TIME;
}

size_t calc_calibrate_runs_count(const calc_calibrate_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->results[CALC_CALIBRATE_FITTED]->count; i++) {
        count += is_shown(report, i);
    }
    return count;
}

/* The next worst run after `last`; `count` at the end. */
static size_t next_worst(const calc_calibrate_report *report, size_t last)
{
    const calc_results *after = report->results[CALC_CALIBRATE_FITTED];
    size_t found = after->count;
    for (size_t i = 0; i < after->count; i++) {
        double error = fabs(after->item[i].error);
        double limit = last < after->count ? fabs(after->item[last].error) : INFINITY;
        bool below = error < limit || (error == limit && i > last);
        if (is_shown(report, i) && below &&
            (found == after->count || error > fabs(after->item[found].error))) {
            found = i;
        }
    }
    return found;
}

static void write_run(calc_output *out, const calc_calibrate_report *report, size_t index)
{
    const calc_result *before = &report->results[CALC_CALIBRATE_ASSUMED]->item[index];
    const calc_result *after = &report->results[CALC_CALIBRATE_FITTED]->item[index];
    calc_output_printf(out, "%8.4g s%9.4g s%+8.1f%%%9.4g s%+8.1f%%  %s%s%s%s\n", after->measured,
                       before->predicted, 100 * before->error, after->predicted, 100 * after->error,
                       after->prediction->map.row->id, *after->remark ? " (" : "", after->remark,
                       *after->remark ? ")" : "");
}

static void write_memory(calc_output *out, const calc_results *results)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        count += r->quantity == CALC_QUANTITY_MEMORY && r->use != CALC_USE_UNPREDICTED;
    }
    char text[CALC_HUMAN_MAX];
    if (count > 0) {
        calc_output_printf(out,
                           "\nnot fitted to: %s of memory, which no constant of a machine changes; "
                           "calc validate shows them\n",
                           calc_human_counted((double)count, "measurement", text));
    }
}

void calc_calibrate_runs_write(calc_output *out, const calc_calibrate_report *report, size_t rows)
{
    size_t count = report->results[CALC_CALIBRATE_FITTED]->count;
    size_t last = count;
    for (size_t i = 0; i < rows && (last = next_worst(report, last)) < count; i++) {
        if (i == 0) {
            calc_output_printf(out, "\n%10s%11s%9s%11s%9s  %s\n", "measured", "assumed", "error",
                               "fitted", "error", "runs, largest errors first");
        }
        write_run(out, report, last);
    }
    write_memory(out, report->results[CALC_CALIBRATE_FITTED]);
}

/* The file of a run, if the command line names it. */
static void place(const calc_runs_row *row, const calc_measured *measured, const calc_args *args,
                  calc_errors *errors)
{
    for (size_t f = 0; f < args->argument_count && errors->count > 0; f++) {
        const calc_runs *runs = &measured->runs[f];
        for (size_t i = 0; i < runs->count; i++) {
            if (&runs->row[i] == row) {
                calc_error_place(&errors->item[errors->count - 1], args->argument[f], row->line, 0);
            }
        }
    }
}

bool calc_calibrate_runs_refuse(const calc_calibration *family, size_t families,
                                const calc_measured *measured, const calc_args *args,
                                calc_errors *errors)
{
    bool refused = false;
    for (size_t f = 0; f < families; f++) {
        const calc_influence *i = &family[f].outside;
        if (i->constant) {
            bool alone = i->without >= i->constant->lo && i->without <= i->constant->hi;
            calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                            alone ? "check what was measured there; or leave the run out, or the "
                                    "constant (--fields)"
                                  : "no run does it alone: is it this machine that they ran on? "
                                    "--fields chooses constants",
                            "refused: no machine has %s = %.3g%s%s (known: %g to %g); \"%.80s\" "
                            "pulls most, without it %.3g",
                            i->constant->name, i->value, *i->constant->unit ? " " : "",
                            i->constant->unit, i->constant->lo, i->constant->hi, family[f].pull->id,
                            i->without);
            place(family[f].pull, measured, args, errors);
            refused = true;
        }
    }
    return refused;
}
