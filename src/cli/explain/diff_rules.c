#include "cli/explain/diff_rules.h"

#include <math.h>

#include "spec/compat.h"

enum { NAME = 20 };

/* Results with a set of rules. */
typedef struct result {
    double time_s, bytes;
} result;

static result evaluate(const calc_inputs *in, calc_compat compat)
{
    calc_stats s;
    calc_run(&in->app, &in->system, &in->exec, compat, &s);
    return (result){s.total_time, s.proc_mem_tier1_cap_req};
}

static bool follows(const calc_inputs *in, calc_compat compat)
{
    calc_errors ignored = {0};
    return calc_compat_check(&in->app, &in->exec, compat, &ignored) == CALC_OK;
}

static void write_total(calc_output *out, const char *name, result r)
{
    calc_output_printf(out, "%-*s%12.4g s%11.4g GiB\n", NAME, name, r.time_s, r.bytes / 0x1p30);
}

/* Writes the change of a result in percent; nothing if there is no reference. */
static void write_change(calc_output *out, double from, double to)
{
    if (isnan(from) || isnan(to)) {
        calc_output_printf(out, "%11s", "n/a");
    } else if (to == from) {
        calc_output_printf(out, "%11s", "-");
    } else {
        calc_output_printf(out, "%+9.2f %%", 100 * (to - from) / from);
    }
}

void calc_diff_rules_write(calc_output *out, const calc_inputs *in)
{
    const result ours = evaluate(in, CALC_COMPAT_NONE);
    calc_compat all = CALC_COMPAT_NONE;
    calc_compat repaired = CALC_COMPAT_NONE;
    write_total(out, "calc", ours);
    calc_output_printf(out, "\n%-*s%22s%24s\n", NAME, "", "alone", "after those above");
    calc_output_printf(out, "%-*s%11s%11s  %11s%11s\n", NAME, "rule", "step", "memory", "step",
                       "memory");
    result before = ours;
    /* Defects come last: without them the result is Calculon with its defects repaired. */
    for (int i = 0; i < CALC_COMPAT_COUNT; i++) {
        int rule = (i + CALC_COMPAT_LAYERS) % CALC_COMPAT_COUNT;
        calc_compat one = (calc_compat)1 << rule;
        calc_output_printf(out, "%-*s", NAME, calc_compat_names[rule]);
        if (!follows(in, one)) {
            calc_output_text(out,
                             "      the model has parts that Calculon's list of layers lacks\n");
            continue;
        }
        result alone = evaluate(in, one);
        result now = evaluate(in, all | one);
        write_change(out, ours.time_s, alone.time_s);
        write_change(out, ours.bytes, alone.bytes);
        calc_output_text(out, "  ");
        write_change(out, before.time_s, now.time_s);
        write_change(out, before.bytes, now.bytes);
        calc_output_printf(out, "  %s\n", calc_compat_sentences[rule]);
        all |= one;
        repaired |= CALC_COMPAT_REPAIRED & one;
        before = now;
    }
    calc_output_text(out, "\n");
    write_total(out, repaired == CALC_COMPAT_REPAIRED ? "repaired" : "without defects",
                evaluate(in, repaired));
    write_total(out, all == CALC_COMPAT_CALCULON ? "calculon" : "all that apply", before);
}
