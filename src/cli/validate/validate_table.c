#include "cli/validate/validate_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"
#include "cli/validate/validate_breakdown.h"
#include "cli/validate/validate_features.h"
#include "cli/validate/validate_peers.h"

/* ---- Groups ---------------------------------------------------------------------------------- */

static void write_group(calc_output *out, const calc_error_group *g)
{
    const calc_spread *s = &g->spread;
    calc_output_printf(out, "%-36s%6zu%+8.1f%7.1f%7.1f%7.1f%8.1f", g->name, s->count, 100 * s->bias,
                       100 * s->mean_abs, 100 * s->median_abs, 100 * s->p90_abs,
                       100 * s->worst_abs);
    if (g->ranking.pairs > 0) {
        calc_output_printf(out, "%7.2f%8zu%8.1f", g->ranking.tau, g->ranking.pairs,
                           100 * g->ranking.regret_mean);
    }
    calc_output_text(out, "\n");
}

static void write_sets(calc_output *out, const calc_error_groups *groups, calc_quantity quantity,
                       const char *title)
{
    bool head = false;
    for (size_t i = 0; i < groups->count; i++) {
        const calc_error_group *g = &groups->item[i];
        if (g->quantity != quantity || strcmp(g->by, "set") != 0) {
            continue;
        }
        if (!head) {
            calc_output_printf(
                out, "%-36s%6s%8s%7s%7s%7s%8s%s\n", title, "n", "bias", "mean", "median", "p90",
                "worst", quantity == CALC_QUANTITY_STEP_TIME ? "    tau   pairs  regret" : "");
            head = true;
        }
        write_group(out, g);
    }
    calc_output_text(out, head ? "\n" : "");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void write_counts(calc_output *out, const calc_results *results)
{
    char runs[CALC_HUMAN_MAX], measurements[CALC_HUMAN_MAX];
    calc_output_printf(out, "%s, %s: %zu scored, %zu unscored, %zu not predicted\n",
                       calc_human_counted((double)results->predictions, "run", runs),
                       calc_human_counted((double)results->count, "measurement", measurements),
                       calc_results_count(results, CALC_USE_SCORED),
                       calc_results_count(results, CALC_USE_UNSCORED),
                       calc_results_count(results, CALC_USE_UNPREDICTED));
}

/* Results of a use that have the same remark as `result`, from it on; 0 if an earlier one has. */
static size_t alike(const calc_results *results, const calc_result *result)
{
    size_t count = 0;
    for (const calc_result *r = results->item; r < results->item + results->count; r++) {
        if (r->use == result->use && strcmp(r->remark, result->remark) == 0) {
            if (r < result) {
                return 0;
            }
            count++;
        }
    }
    return count;
}

static void write_reasons(calc_output *out, const calc_results *results, calc_use use)
{
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        size_t count = r->use == use ? alike(results, r) : 0;
        if (count > 0) {
            calc_output_printf(out, "%6zu %s: %s\n", count,
                               use == CALC_USE_UNSCORED ? "unscored" : "not predicted", r->remark);
        }
    }
}

static void write_result(calc_output *out, const calc_result *r)
{
    bool time = r->quantity == CALC_QUANTITY_STEP_TIME;
    double unit = time ? 1 : 1073741824.0;
    const char *word = time ? "s" : "GiB";
    calc_output_printf(out, "%+7.1f%%%8.4g %-3s%8.4g %-3s  %s%s%s%s\n", 100 * r->error,
                       r->measured / unit, word, r->predicted / unit, word,
                       r->prediction->map.row->id, *r->remark ? " (" : "", r->remark,
                       *r->remark ? ")" : "");
}

static void write_worst(calc_output *out, const calc_validation *v)
{
    const calc_result *r = NULL;
    for (size_t i = 0; i < v->worst && (r = calc_validate_next_worst(v->results, r)); i++) {
        if (i == 0) {
            calc_output_printf(out, "\n%8s%12s%12s  %s\n", "error", "measured", "predicted",
                               "largest errors");
        }
        write_result(out, r);
        if (v->breakdown) {
            calc_validate_breakdown_line(out, r, v->systems);
        }
    }
}

void calc_validate_table_write(calc_output *out, const calc_validation *v)
{
    write_sets(out, v->groups, CALC_QUANTITY_STEP_TIME, "time of a step, errors in %");
    write_sets(out, v->groups, CALC_QUANTITY_MEMORY, "memory, errors in %");
    if (v->options) {
        calc_validate_features_table(out, v->features);
    }
    calc_validate_peers_table(out, v->peers);
    write_counts(out, v->results);
    write_reasons(out, v->results, CALC_USE_UNSCORED);
    write_reasons(out, v->results, CALC_USE_UNPREDICTED);
    write_worst(out, v);
}

/* ---- Baseline -------------------------------------------------------------------------------- */

size_t calc_validate_table_baseline(calc_output *out, const calc_error_groups *groups,
                                    const calc_baseline *baseline, double tolerance)
{
    size_t worse = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const calc_error_group *g = &groups->item[i];
        if (calc_baseline_is_worse(g, tolerance)) {
            calc_output_printf(out,
                               "worse: %s %s, %s: mean error %.2f %%, %.2f %% in the baseline"
                               " (%zu measurements)\n",
                               g->by, g->name, calc_quantity_word(g->quantity),
                               100 * g->mean_abs_now, 100 * g->mean_abs_then, g->shared);
            worse++;
        }
    }
    if (baseline->missing > 0) {
        calc_output_printf(out, "worse: %zu measurements of the baseline are not predicted\n",
                           baseline->missing);
        worse++;
    }
    return worse;
}
