#include "cli/calibrate/calibrate_held.h"

#include <math.h>
#include <string.h>

#include "calibrate/evidence.h"

/* Runs that are predicted before and after. */
typedef struct tally {
    size_t count, better; /* how many; of which the error became smaller */
    double assumed, fitted;
} tally;

static bool counts(const calc_calibrate_report *report, size_t index)
{
    const calc_result *before = &report->results[CALC_CALIBRATE_ASSUMED]->item[index];
    const calc_result *after = &report->results[CALC_CALIBRATE_FITTED]->item[index];
    return before->use == CALC_USE_SCORED && after->use == CALC_USE_SCORED;
}

static const char *source_of(const calc_calibrate_report *report, size_t index)
{
    return report->results[CALC_CALIBRATE_FITTED]->item[index].prediction->map.source->name;
}

/* Of one source, or of all (NULL), on one side. */
static tally tally_of(const calc_calibrate_report *report, const char *source, bool held)
{
    tally t = {0};
    for (size_t i = 0; i < report->results[CALC_CALIBRATE_FITTED]->count; i++) {
        const calc_result *after = &report->results[CALC_CALIBRATE_FITTED]->item[i];
        bool mine = !source || strcmp(source_of(report, i), source) == 0;
        if (counts(report, i) && mine && calc_evidence_is_of(after, report->held_out) == held) {
            double before = fabs(report->results[CALC_CALIBRATE_ASSUMED]->item[i].error);
            t.count++;
            t.better += fabs(after->error) < before;
            t.assumed += before;
            t.fitted += fabs(after->error);
        }
    }
    t.assumed /= (double)t.count;
    t.fitted /= (double)t.count;
    return t;
}

/* Whether the run at `index` is the first of its source. */
static bool is_first(const calc_calibrate_report *report, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (counts(report, i) && strcmp(source_of(report, i), source_of(report, index)) == 0) {
            return false;
        }
    }
    return counts(report, index);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static void write_tally(calc_output *out, const char *name, const tally *t)
{
    calc_output_printf(out, "%-36s%6zu%10.1f%10.1f%10.0f %%\n", name, t->count, 100 * t->assumed,
                       100 * t->fitted, 100 * (double)t->better / (double)t->count);
}

static void write_side(calc_output *out, const calc_calibrate_report *report, bool held)
{
    calc_output_printf(out, "\n%-36s%6s%10s%10s%12s\n",
                       held ? "held out, mean error in %" : "fitted to, mean error in %", "n",
                       "assumed", "fitted", "better");
    for (size_t i = 0; i < report->results[CALC_CALIBRATE_FITTED]->count; i++) {
        tally t = is_first(report, i) ? tally_of(report, source_of(report, i), held) : (tally){0};
        if (t.count > 0) {
            write_tally(out, source_of(report, i), &t);
        }
    }
    tally all = tally_of(report, NULL, held);
    if (all.count > 0) {
        write_tally(out, "all", &all);
    }
}

void calc_calibrate_held_table(calc_output *out, const calc_calibrate_report *report)
{
    if (report->held_out) {
        write_side(out, report, false);
        write_side(out, report, true);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_tally(calc_put *put, const char *name, const tally *t)
{
    calc_put_object(put, name, CALC_PUT_LINE);
    calc_put_count(put, "n", (int64_t)t->count);
    calc_put_count(put, "better", (int64_t)t->better);
    calc_put_number(put, "assumed", t->assumed); /* of none it is not a number */
    calc_put_number(put, "fitted", t->fitted);
    calc_put_close(put);
}

static void put_side(calc_put *put, const calc_calibrate_report *report, bool held)
{
    tally all = tally_of(report, NULL, held);
    calc_put_object(put, held ? "held_out" : "fitted_to", CALC_PUT_LINES);
    calc_put_object(put, "sources", CALC_PUT_LINES);
    for (size_t i = 0; i < report->results[CALC_CALIBRATE_FITTED]->count; i++) {
        tally t = is_first(report, i) ? tally_of(report, source_of(report, i), held) : (tally){0};
        if (t.count > 0) {
            put_tally(put, source_of(report, i), &t);
        }
    }
    calc_put_close(put);
    put_tally(put, "all", &all);
    calc_put_close(put);
}

void calc_calibrate_held_put(calc_put *put, const calc_calibrate_report *report)
{
    if (report->held_out) {
        calc_put_object(put, "halves", CALC_PUT_LINES);
        put_side(put, report, false);
        put_side(put, report, true);
        calc_put_close(put);
    }
}
