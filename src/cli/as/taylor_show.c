#include "cli/as/taylor_show.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

static void show_stages(const calc_taylor_job *j, calc_output *out)
{
    const calc_balance_solution *s = &j->solution;
    calc_output_printf(out, "%5s  %-16s%-16s%10s%10s%10s\n", "stage", "layers (dense)",
                       "recomputed", "peak MB", j->check ? "checked" : "", "limit MB");
    for (int64_t stage = 0; stage < j->ask.stages; stage++) {
        char layers[128] = "", again[128] = "", checked[32] = "";
        for (int64_t chunk = 0; chunk < j->ask.chunks; chunk++) {
            const calc_balance_share *one = &s->share[chunk * j->ask.stages + stage];
            const char *plus = chunk ? " + " : "";
            calc_append(layers, sizeof layers, "%s%d", plus, one->layers[0] + one->layers[1]);
            if (one->layers[0] > 0) {
                calc_append(layers, sizeof layers, " (%d)", one->layers[0]);
            }
            calc_append(again, sizeof again, "%s%d", plus, one->full[0] + one->full[1]);
            if (one->selective[0] + one->selective[1] > 0) {
                calc_append(again, sizeof again, ", %d in parts",
                            one->selective[0] + one->selective[1]);
            }
        }
        if (j->check) {
            snprintf(checked, sizeof checked, "%.0f", j->checked_mb[stage]);
        }
        calc_output_printf(out, "%5lld  %-16s%-16s%10.0f%10s%10.0f\n", (long long)stage, layers,
                           again, s->answer.peak_bytes[stage], checked,
                           j->problem.stage[stage].limit_bytes);
    }
}

void calc_taylor_show_lists(const calc_taylor_ask *ask, const calc_balance_share *share,
                            calc_output *out)
{
    char text[4096];
    calc_output_printf(out, "offset: %s\n",
                       calc_taylor_matrix_text(ask, share, CALC_TAYLOR_OFFSET, text, sizeof text));
    calc_output_printf(out, "recompute: %s\n",
                       calc_taylor_matrix_text(ask, share, CALC_TAYLOR_FULL, text, sizeof text));
    calc_taylor_matrix_text(ask, share, CALC_TAYLOR_SELECTIVE, text, sizeof text);
    if (ask->may_select || strpbrk(text, "123456789")) {
        calc_output_printf(out, "select_recompute: %s\n", text);
    }
}

static void show_none(const calc_taylor_job *j, calc_output *out)
{
    const calc_balance_solution *s = &j->solution;
    if (s->feasible) {
        calc_output_printf(out, "after %d rounds the check still fails: no solution\n", j->rounds);
    } else if (!s->proven) {
        calc_output_text(out, "no solution was found in the time\n");
    } else if (s->stage >= 0) {
        calc_output_printf(out, "no solution: stage %d needs %.0f MB at least, and may take %.0f\n",
                           s->stage, s->needs_bytes, j->problem.stage[s->stage].limit_bytes);
    } else {
        calc_output_text(out, "no solution: the stages have no room for all layers\n");
    }
}

void calc_taylor_show(const calc_taylor_job *j, calc_output *out)
{
    const calc_balance_solution *s = &j->solution;
    if (!j->fits) {
        show_none(j, out);
        return;
    }
    show_stages(j, out);
    calc_output_printf(out, "step: %.10g forwards of a layer, ", s->answer.step_s);
    if (s->proven) {
        calc_output_text(out, "and no division takes less\n");
    } else {
        calc_output_printf(out, "and no division takes less than %.10g (gap %.2g %%)\n", s->bound_s,
                           100 * (1 - s->bound_s / s->answer.step_s));
    }
    calc_taylor_show_lists(&j->ask, s->share, out);
}
