#include "cli/validate/validate_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "validate/result_labels.h"
#include "validate/sets.h"

/* ---- The worst ------------------------------------------------------------------------------- */

/* The scored result with the largest error after `last` (NULL: the largest of all), the first of
 *  equals, or of times of steps only; NULL if there is none. */
static const calc_result *validate_next_worst(const calc_results *results, const calc_result *last,
                                              bool times)
{
    const calc_result *found = NULL;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        double error = fabs(r->error);
        bool counts = r->use == CALC_USE_SCORED && isfinite(error) &&
                      (!times || r->quantity == CALC_QUANTITY_STEP_TIME);
        bool below = !last || error < fabs(last->error) || (error == fabs(last->error) && r > last);
        if (counts && below && (!found || error > fabs(found->error))) {
            found = r;
        }
    }
    return found;
}

/* Predict again, with all statistics; memory outside the tensors is left out where it was not
 * measured. */
static void predict(const calc_result *result, calc_systems *systems, calc_stats *out)
{
    const calc_run_map *map = &result->prediction->map;
    const calc_systems_entry *entry = calc_systems_get(systems, map->row->sys);
    calc_system own;
    (void)!calc_run(&map->app, calc_run_map_system(map, &entry->system, &own), &map->exec,
                    CALC_COMPAT_NONE, out);
    if (calc_run_map_counts(map, "allocated")) {
        out->proc_mem_tier1_cap_req -= out->mem_overhead;
        out->mem_overhead = 0;
    }
}

static bool is_time(const calc_result *result)
{
    return result->quantity == CALC_QUANTITY_STEP_TIME;
}

static void write_parts(calc_output *out, const double *part, size_t count, double total,
                        const char *(*label)(size_t part))
{
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        if (part[i] > 0.005 * total) {
            calc_output_printf(out, "%s%s %.0f %%", shown++ ? ", " : "", label(i),
                               100 * part[i] / total);
        }
    }
}

/* Write one line with the parts of the predicted time or memory, in percent, if above half a
 *  percent. Memory is that of the fullest stage. */
static void validate_worst_parts(calc_output *out, const calc_result *result, calc_systems *systems)
{
    calc_stats stats;
    predict(result, systems, &stats);
    calc_output_printf(out, "%34s", "");
    if (is_time(result)) {
        double time_s[CALC_BREAKDOWN_TIMES];
        calc_breakdown_times(&stats, time_s);
        write_parts(out, time_s, CALC_BREAKDOWN_TIMES, stats.total_time, calc_breakdown_time_label);
    } else {
        double space_bytes[CALC_BREAKDOWN_SPACES];
        calc_breakdown_spaces(&result->prediction->map.exec, &stats, 1, space_bytes);
        write_parts(out, space_bytes, CALC_BREAKDOWN_SPACES, stats.proc_mem_tier1_cap_req,
                    calc_breakdown_space_label);
    }
    calc_output_text(out, "\n");
}

/* One row: its index among the rows, and the parts of its time. */
static void put_row(calc_put *put, const calc_result *r, size_t index, calc_systems *systems)
{
    const calc_run_map *map = &r->prediction->map;
    const calc_systems_entry *entry = calc_systems_get(systems, map->row->sys);
    calc_system own;
    calc_stats stats;
    calc_run(&map->app, calc_run_map_system(map, &entry->system, &own), &map->exec,
             CALC_COMPAT_NONE, &stats);
    calc_put_object(put, NULL, CALC_PUT_LINE);
    calc_put_count(put, "row", (int64_t)index);
    calc_breakdown_put_time(put, "time", &stats);
    calc_put_rounded(put, "total", stats.total_time, 17);
    calc_put_close(put);
}

void calc_validate_worst_put(calc_put *put, const calc_results *results, calc_systems *systems)
{
    enum { WORST = 24 /* number of rows whose time is broken down */ };
    const calc_result *r = NULL;
    calc_put_array(put, "worst", CALC_PUT_LINES);
    for (int i = 0; i < WORST && (r = validate_next_worst(results, r, true)); i++) {
        put_row(put, r, (size_t)(r - results->item), systems);
    }
    calc_put_close(put);
}

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

/* The errors of a quantity by group, under a title; nothing if there are no groups. */
static void write_groups(calc_output *out, const calc_error_groups *groups, calc_quantity quantity,
                         const char *by, const char *title)
{
    bool head = false;
    for (size_t i = 0; i < groups->count; i++) {
        const calc_error_group *g = &groups->item[i];
        if (g->quantity != quantity || strcmp(g->by, by) != 0) {
            continue;
        }
        if (!head) {
            bool ranked = quantity != CALC_QUANTITY_MEMORY && quantity != CALC_QUANTITY_TTFT &&
                          quantity != CALC_QUANTITY_TPOT_SHAPE;
            calc_output_printf(out, "%-36s%6s%8s%7s%7s%7s%8s%s\n", title, "n", "bias", "mean",
                               "median", "p90", "worst", ranked ? "    tau   pairs  regret" : "");
            head = true;
        }
        write_group(out, g);
    }
    calc_output_text(out, head ? "\n" : "");
}

static void write_sets(calc_output *out, const calc_error_groups *groups)
{
    static const char *const titles[] = {[CALC_QUANTITY_STEP_TIME] = "time of a step, errors in %",
                                         [CALC_QUANTITY_MEMORY] = "memory, errors in %",
                                         [CALC_QUANTITY_TPOT] = "time per output token, in %",
                                         [CALC_QUANTITY_TTFT] = "time to the first token, in %",
                                         [CALC_QUANTITY_E2E] = "whole static batches, in %",
                                         [CALC_QUANTITY_OUTPUT_RATE] = "output tokens/s, in %",
                                         [CALC_QUANTITY_TPOT_SHAPE] = "shape over requests, in %"};
    for (int q = 0; q < CALC_QUANTITY_COUNT; q++) {
        write_groups(out, groups, (calc_quantity)q, "set", titles[q]);
    }
}

/* A quantity that every serving run has: the time per token, or the time of its batch. */
static void write_serving(calc_output *out, const calc_error_groups *groups)
{
    static const struct {
        calc_quantity quantity;
        const char *by, *title;
    } tables[] = {{CALC_QUANTITY_TPOT, "kind", "time per output token, by kind"},
                  {CALC_QUANTITY_TPOT, "regime", "time per output token, by regime"},
                  {CALC_QUANTITY_TPOT, "engine", "time per output token, by engine"},
                  {CALC_QUANTITY_TPOT, "model", "time per output token, by model"},
                  {CALC_QUANTITY_TPOT, "period", "time per output token, by year"},
                  {CALC_QUANTITY_TPOT, "confidence", "time per output token, by confidence"},
                  {CALC_QUANTITY_E2E, "regime", "whole static batches, by regime"},
                  {CALC_QUANTITY_E2E, "engine", "whole static batches, by engine"},
                  {CALC_QUANTITY_E2E, "model", "whole static batches, by model"},
                  {CALC_QUANTITY_E2E, "confidence", "whole static batches, by confidence"}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        write_groups(out, groups, tables[i].quantity, tables[i].by, tables[i].title);
    }
}

/* ---- Options --------------------------------------------------------------------------------- */

static const char *id_of(const calc_features *f, size_t cell)
{
    return f->cell[cell].first->prediction->map.row->id;
}

static void write_option(calc_output *out, const calc_features_option *o)
{
    calc_output_printf(out, "%-28s%7zu%9zu%8zu%9zu%8zu%8zu", o->name, o->moved, o->agreed,
                       o->missed, o->moved - o->agreed - o->missed, o->still, o->stayed);
    if (!isnan(o->tau)) {
        calc_output_printf(out, "%8.2f", o->tau);
    }
    if (!isnan(o->regret)) {
        calc_output_printf(out, "%8.1f", 100 * o->regret);
    }
    if (!isnan(o->ratio)) {
        calc_output_printf(out, "%*.2f", isnan(o->tau) && isnan(o->regret) ? 16 : 8, o->ratio);
    }
    calc_output_text(out, "\n");
}

static void write_wrong(calc_output *out, const calc_features *f, const calc_features_option *o)
{
    const calc_features_pair *p = &f->pair[o->wrong];
    calc_output_printf(out, "%s: %s: measured %+.1f %%, predicted %+.1f %%, %s -> %s\n",
                       p->predicted > f->still ? "opposite" : "missed", o->name, 100 * p->measured,
                       100 * p->predicted, id_of(f, p->from), id_of(f, p->to));
}

static void write_features(calc_output *out, const calc_features *f)
{
    bool memory = f->quantity == CALC_QUANTITY_MEMORY;
    calc_features_option all = {.name = "all", .tau = (double)NAN, .ratio = (double)NAN};
    double lost = 0;
    calc_output_printf(out, "%-28s%7s%9s%8s%9s%8s%8s%8s%8s\n",
                       memory ? "memory, pairs that differ in" : "time, pairs that differ in",
                       "moved", "same way", "missed", "opposite", "still", "stayed",
                       memory ? "tau" : "regret", "ratio");
    for (size_t i = 0; i < f->options; i++) {
        const calc_features_option *o = &f->option[i];
        write_option(out, o);
        all.moved += o->moved;
        all.agreed += o->agreed;
        all.missed += o->missed;
        all.still += o->still;
        all.stayed += o->stayed;
        lost += o->moved > 0 ? o->regret * (double)o->moved : 0;
    }
    all.regret = memory || all.moved == 0 ? (double)NAN : lost / (double)all.moved;
    write_option(out, &all);
    for (size_t i = 0; i < f->families && f->families > 1; i++) {
        char name[40];
        calc_features_option o = f->family[i];
        snprintf(name, sizeof name, "- %.30s", o.name);
        o.name = name;
        write_option(out, &o);
    }
    for (size_t i = 0; i < f->options; i++) {
        if (f->option[i].has_wrong) {
            write_wrong(out, f, &f->option[i]);
        }
    }
    calc_output_text(out, "\n");
}

/* ---- Others ---------------------------------------------------------------------------------- */

static const char *quantity_of(const calc_peer *p)
{
    return p->quantity == CALC_QUANTITY_STEP_TIME ? "time" : calc_quantity_word(p->quantity);
}

static void write_percent(calc_output *out, double fraction)
{
    if (isnan(fraction)) {
        calc_output_printf(out, "%7s", "");
    } else {
        calc_output_printf(out, "%7.1f", 100 * fraction);
    }
}

static void write_peer(calc_output *out, const calc_peer *p)
{
    char name[96];
    snprintf(name, sizeof name, "%.40s, %.40s", p->simulator, p->machine);
    calc_output_printf(out, "%-36s %-7s%6zu", name, quantity_of(p), p->rows);
    write_percent(out, p->mean_abs);
    write_percent(out, p->worst_abs);
    calc_output_printf(out, "%8zu%7.1f%7.1f%s%s\n", p->ours.count, 100 * p->ours.mean_abs,
                       100 * p->ours.worst_abs, *p->note ? "  " : "", p->note);
}

static void write_alone(calc_output *out, const calc_peer *p)
{
    calc_output_printf(out, "not comparable: %s, %s, %s", p->simulator, p->machine, quantity_of(p));
    if (!isnan(p->mean_abs)) {
        calc_output_printf(out, ", mean %.1f", 100 * p->mean_abs);
    }
    if (!isnan(p->worst_abs)) {
        calc_output_printf(out, ", worst %.1f", 100 * p->worst_abs);
    }
    if (p->rows > 0) {
        calc_output_printf(out, " (%zu rows)", p->rows);
    }
    calc_output_printf(out, ": %s\n", p->listed > 0 ? "its runs cannot be predicted" : p->note);
}

static void write_peers(calc_output *out, const calc_peers *peers)
{
    size_t shown = 0;
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->item[i].ours.count > 0) {
            calc_output_printf(out, "%s",
                               shown++ ? ""
                                       : "published errors of others, in %     "
                                         "            n   mean  worst  calc n   mean  worst\n");
            write_peer(out, &peers->item[i]);
        }
    }
    for (size_t i = 0; shown > 0 && i < peers->count; i++) {
        if (peers->item[i].ours.count == 0) {
            write_alone(out, &peers->item[i]);
        }
    }
    calc_output_text(out, shown > 0 ? "\n" : "");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static void write_counts(calc_output *out, const calc_results *results)
{
    char runs[CALC_HUMAN_MAX], measurements[CALC_HUMAN_MAX];
    calc_output_printf(
        out, "%s, %s: %zu scored, %zu unscored, %zu not predicted\n",
        calc_human_counted((double)(results->predictions + results->servings), "run", runs),
        calc_human_counted((double)results->count, "measurement", measurements),
        calc_results_count(results, CALC_USE_SCORED),
        calc_results_count(results, CALC_USE_UNSCORED),
        calc_results_count(results, CALC_USE_UNPREDICTED));
}

/* Runs that ran, but for which the prediction needs more memory than there is. */
static void write_misfits(calc_output *out, const calc_results *results)
{
    size_t count = 0;
    for (size_t i = 0; i < results->predictions; i++) {
        count += *results->prediction[i].misfit != '\0';
    }
    if (count > 0) {
        calc_output_printf(out, "%6zu predicted not to fit the machine: marked where shown\n",
                           count);
    }
    size_t refused = calc_results_count(results, CALC_USE_REFUSED);
    if (refused > 0) {
        calc_output_printf(out, "%6zu refused: predicted not to fit the machine, though they ran\n",
                           refused);
    }
}

/* Results of a use that have the same remark as `result`, counted from it on; 0 if an earlier one
 * has that remark. */
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
        bool named = count == 1 && r->prediction && !calc_sets_is_published(r);
        if (count > 0) {
            calc_output_printf(out, "%6zu %s: %s%s%s\n", count,
                               use == CALC_USE_UNSCORED ? "unscored" : "not predicted",
                               named ? calc_result_id(r) : "", named ? ": " : "", r->remark);
        }
    }
}

/* A value in the unit shown to people. */
static const char *value_text(calc_quantity quantity, double value, char *buffer, size_t size)
{
    switch (quantity) {
    case CALC_QUANTITY_MEMORY:
        snprintf(buffer, size, "%.4g GiB", value / 1073741824.0);
        break;
    case CALC_QUANTITY_OUTPUT_RATE:
        snprintf(buffer, size, "%.4g /s ", value);
        break;
    case CALC_QUANTITY_TPOT_SHAPE:
        snprintf(buffer, size, "%.4g x  ", value);
        break;
    case CALC_QUANTITY_TPOT:
    case CALC_QUANTITY_TTFT:
        snprintf(buffer, size, "%.4g ms ", 1e3 * value);
        break;
    default:
        snprintf(buffer, size, "%.4g s  ", value);
    }
    return buffer;
}

static void write_result(calc_output *out, const calc_result *r)
{
    char measured[32], predicted[32];
    calc_output_printf(out, "%+7.1f%%%12s%12s  %s%s%s%s\n", 100 * r->error,
                       value_text(r->quantity, r->measured, measured, sizeof measured),
                       value_text(r->quantity, r->predicted, predicted, sizeof predicted),
                       calc_result_id(r), *r->remark ? " (" : "", r->remark, *r->remark ? ")" : "");
}

static void write_worst(calc_output *out, const calc_validation *v)
{
    const calc_result *r = NULL;
    for (size_t i = 0; i < v->worst && (r = validate_next_worst(v->results, r, false)); i++) {
        if (i == 0) {
            calc_output_printf(out, "\n%8s%12s%12s  %s\n", "error", "measured", "predicted",
                               "largest errors");
        }
        write_result(out, r);
        if (v->breakdown) {
            validate_worst_parts(out, r, v->systems);
        }
    }
}

void calc_validate_table_write(calc_output *out, const calc_validation *v)
{
    write_sets(out, v->groups);
    if (v->results->servings > 0) {
        write_serving(out, v->groups);
    }
    if (v->options) {
        write_features(out, v->features);
        write_features(out, v->time_features);
    }
    write_peers(out, v->peers);
    write_counts(out, v->results);
    write_misfits(out, v->results);
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
