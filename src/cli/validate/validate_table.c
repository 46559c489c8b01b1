#include "cli/validate/validate_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "validate/error_groups.h"
#include "validate/residuals.h"

/* Which runs a row is about, and how the row is written. */
typedef struct table table;
struct table {
    calc_output *out;
    calc_put *put; /* or this */
    const calc_validation *v;
    calc_quantity quantity;
    void (*write)(table *t, const char *by, const char *name, const calc_coverage *of);
};

static calc_coverage coverage(const table *t, int unseen, calc_coverage_group group)
{
    return calc_coverage_of(&t->v->results, t->v->covered[unseen], t->quantity, group);
}

static void write_coverage(table *t, const char *by, const char *name, calc_coverage_group group)
{
    calc_coverage of[CALC_UNSEEN_COUNT];
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        of[u] = coverage(t, u, group);
    }
    if (of[CALC_UNSEEN_WIDTH].count > 0) {
        t->write(t, by, name, of);
    }
}

static double half_width(const calc_coverage *c)
{
    return exp(c->reach) - 1;
}

static void write_text_row(table *t, const char *by, const char *name, const calc_coverage *of)
{
    (void)by;
    calc_output_printf(t->out, "%-36s%6zu", name, of->count);
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        if (of[u].count == 0) {
            continue;
        }
        calc_output_text(t->out, " |");
        if (u >= CALC_UNSEEN_CROSSED) {
            calc_output_printf(t->out, "%5zu", of[u].count);
        }
        calc_output_printf(t->out, "%7.1f%9.1f%6.1f%6.1f%6.1f", 100 * of[u].inside,
                           100 * of[u].weighed, 100 * of[u].below, 100 * of[u].above,
                           100 * half_width(&of[u]));
    }
    calc_output_text(t->out, "\n");
}

static void put_coverage(table *t, const char *by, const char *name, const calc_coverage *of)
{
    static const char *const keys[CALC_UNSEEN_COUNT] = {"unseen_width", "unseen_publisher",
                                                        "later_software", "unseen_software"};
    calc_putf(t->put, "{by: %s, name: %s, quantity: %s, n: %zu", by, name,
              calc_quantity_words[t->quantity], of->count);
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        if (of[u].count == 0) {
            continue;
        }
        calc_put_object(t->put, keys[u], CALC_PUT_LINE);
        calc_putf(t->put,
                  "n: %zu, inside: %.10g, inside_by_table: %.10g, below: %.10g, above: %.10g, "
                  "half_width: %.10g}",
                  of[u].count, of[u].inside, of[u].weighed, of[u].below, of[u].above,
                  half_width(&of[u]));
    }
    calc_put_close(t->put);
}

/* Families stand in the order in which runs name them. */
static void write_rows(table *t)
{
    const calc_results *results = &t->v->results;
    const calc_run_sets *sets = &t->v->measured.sets;
    write_coverage(t, "all", "all", (calc_coverage_group){0});
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        const char *family = r->prediction->map.row->family;
        bool first = r->use == CALC_USE_SCORED;
        for (size_t k = 0; k < i && first; k++) {
            const calc_result *other = &results->item[k];
            first = other->use != CALC_USE_SCORED ||
                    strcmp(other->prediction->map.row->family, family) != 0;
        }
        if (first) {
            write_coverage(t, "family", *family ? family : "other machines",
                           (calc_coverage_group){.family = family});
        }
    }
    write_coverage(t, "kind", "dense", (calc_coverage_group){.kind = "dense"});
    write_coverage(t, "kind", "MoE", (calc_coverage_group){.kind = "MoE"});
    for (size_t s = 0; s < sets->count; s++) {
        write_coverage(t, "set", sets->item[s].name, (calc_coverage_group){.set = &sets->item[s]});
    }
}

static void write_quantity(table *t, const char *title)
{
    static const char *const heads[CALC_UNSEEN_COUNT] = {
        "fitted without its width", "without its publisher", "before its release",
        "as software that no fit has seen"};
    int last = CALC_UNSEEN_CROSSED - 1;
    bool shown[CALC_UNSEEN_COUNT];
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        shown[u] = u < CALC_UNSEEN_CROSSED || coverage(t, u, (calc_coverage_group){0}).count > 0;
        last = shown[u] ? u : last;
    }
    calc_output_printf(t->out, "\n%-42s", title);
    for (int u = 0; u <= last; u++) {
        int width = u == last ? 0 : u == 0 ? 33 : u < CALC_UNSEEN_CROSSED ? 32 : 38;
        if (shown[u]) {
            calc_output_printf(t->out, " | %-*s", width, heads[u]);
        }
    }
    calc_output_printf(t->out, "\n%-36s%6s", "", "n");
    for (int u = 0; u <= last; u++) {
        if (shown[u]) {
            calc_output_printf(t->out, " |%s inside by table below above   +-",
                               u >= CALC_UNSEEN_CROSSED ? "    n" : "");
        }
    }
    calc_output_text(t->out, "\n");
    write_rows(t);
}

/* How sure it was that layouts fit, beside how many ran, where some ran out of memory. */
static void write_fits(calc_output *out, calc_validation *v)
{
    const calc_results *results = &v->results;
    const calc_residuals *residuals = &v->known;
    static const double least[] = {0.95, 0.9, 0.5, 0.1, 0};
    enum { BINS = sizeof least / sizeof *least };
    size_t n[BINS] = {0}, ran[BINS] = {0}, failed = 0;
    double said[BINS] = {0};
    for (size_t i = 0; i < results->predictions; i++) {
        const calc_prediction *p = &results->prediction[i];
        const calc_runs_row *row = p->map.row;
        const calc_fits_query query = {
            &p->map.app,   &calc_documents_get(&v->measured.systems, row->sys)->system,
            &p->map.exec,  calc_residuals_family_of(residuals, row),
            p->need_bytes, calc_residuals_find(residuals, row->id, CALC_QUANTITY_MEMORY)};
        double share = *p->reason ? (double)NAN : calc_fits_share(residuals, &query);
        int bin = 0;
        while (bin + 1 < BINS && share < least[bin]) {
            bin++;
        }
        if (!isnan(share)) {
            n[bin]++;
            said[bin] += share;
            ran[bin] += !calc_runs_is_oom(row);
            failed += calc_runs_is_oom(row);
        }
    }
    for (int b = 0; failed > 0 && b < BINS; b++) {
        if (b == 0) {
            calc_output_text(out, "\nhow sure it was to fit     n  said, %   ran, %\n");
        }
        double count = n[b] > 0 ? (double)n[b] : (double)NAN;
        calc_output_printf(out, "%3.0f %% and more       %9zu%9.1f%9.1f\n", 100 * least[b], n[b],
                           100 * said[b] / count, 100 * (double)ran[b] / count);
    }
}

void calc_validate_bands_put(calc_put *put, const calc_validation *v)
{
    table t = {.put = put, .v = v, .write = put_coverage};
    calc_put_array(put, "bands", CALC_PUT_LINES);
    for (int q = 0; q < CALC_QUANTITY_COUNT; q++) {
        t.quantity = (calc_quantity)q;
        write_rows(&t);
    }
    calc_put_close(put);
}

calc_status calc_validate_bands_make(calc_validation *v, calc_errors *errors)
{
    calc_status status = calc_residuals_known(&v->known, calc_find_document, NULL, errors);
    for (int u = 0; u < CALC_UNSEEN_COUNT && status == CALC_OK; u++) {
        v->covered[u] = calc_make(v->results.count + 1, sizeof *v->covered[u]);
        calc_covered_make(v->covered[u], &v->results, &v->known, (calc_unseen)u);
    }
    return status;
}

/* What a row of the table is of; the first is all of them. */
static const char *const kinds[] = {"all", "dense", "MoE"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* One row: errors of the fit at a month, or of each run's last fit. */
typedef struct row {
    const char *before; /* NULL: the last */
    calc_spread of[KINDS];
} row;

/* `error` has room for all results. */
static row row_of(const calc_validation *v, const char *before, double *error)
{
    row found = {.before = before};
    for (int k = 0; k < KINDS; k++) {
        size_t count = 0;
        for (size_t i = 0; i < v->results.count; i++) {
            const calc_result *r = &v->results.item[i];
            const char *id = calc_result_id(r);
            const calc_forecast *f = r->quantity != CALC_QUANTITY_STEP_TIME ||
                                             r->use != CALC_USE_SCORED ||
                                             strcmp(calc_result_confidence(r), "high") != 0 ||
                                             (k > 0 && strcmp(calc_result_kind(r), kinds[k]) != 0)
                                         ? NULL
                                         : calc_forecasts_find(&v->forecasts, id, before);
            if (f) {
                error[count++] = exp(-f->value) - 1;
            }
        }
        found.of[k] = calc_spread_of(error, count);
    }
    return found;
}

/* Rows of all months, then the last one; those without runs are passed over. */
static void each_row(const calc_validation *v, void (*write)(void *to, const row *r), void *to)
{
    double *error = calc_make(v->results.count + 1, sizeof *error);
    const char *month = "";
    while (month) {
        month = calc_forecasts_next(&v->forecasts, month);
        row found = row_of(v, month, error);
        if (found.of[0].count > 0) {
            write(to, &found);
        }
    }
    free(error);
}

static void write_forecast(void *to, const row *r)
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

static void put_forecast(void *to, const row *r)
{
    calc_put *put = to;
    for (int k = 0; k < KINDS; k++) {
        if (r->of[k].count > 0) {
            calc_putf(put, "{before: %s, kind: %s", r->before ? r->before : "last", kinds[k]);
            calc_put_spread(put, &r->of[k]);
            calc_put_close(put);
        }
    }
}

void calc_validate_forecast_put(calc_put *put, const calc_validation *v)
{
    calc_put_array(put, "forecasts", CALC_PUT_LINES);
    each_row(v, put_forecast, put);
    calc_put_close(put);
}

const calc_result *calc_validate_next_worst(const calc_results *results, const calc_result *last,
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
static void predict(const calc_result *result, calc_documents *systems, calc_stats *out)
{
    const calc_run_map *map = &result->prediction->map;
    const calc_document *entry = calc_documents_get(systems, map->row->sys);
    calc_system own;
    (void)!calc_run(&map->app, calc_run_map_system(map, &entry->system, &own), &map->exec,
                    CALC_COMPAT_NONE, out);
    if (calc_run_map_counts(map, "allocated")) {
        out->proc_mem_tier1_cap_req -= out->mem_overhead;
        out->mem_overhead = 0;
    }
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
 * percent. Memory is that of the fullest stage. */
static void validate_worst_parts(calc_output *out, const calc_result *result,
                                 calc_documents *systems)
{
    calc_stats stats;
    predict(result, systems, &stats);
    calc_output_printf(out, "%34s", "");
    if (result->quantity == CALC_QUANTITY_STEP_TIME) {
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

void calc_validate_worst_put(calc_put *put, calc_validation *v)
{
    enum { WORST = 24 /* number of rows whose time is broken down */ };
    const calc_result *r = NULL;
    calc_put_array(put, "worst", CALC_PUT_LINES);
    for (int i = 0; i < WORST && (r = calc_validate_next_worst(&v->results, r, true)); i++) {
        calc_stats stats;
        predict(r, &v->measured.systems, &stats);
        calc_putf(put, "{row: %zu", (size_t)(r - v->results.item));
        calc_breakdown_put_time(put, "time", &stats);
        calc_putf(put, "total: %.17g}", stats.total_time);
    }
    calc_put_close(put);
}

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

/* Of all runs by set; of runs of serving also by what they have in common, in a quantity that every
 * one has: the time per token, or the time of its batch. */
static void write_errors(calc_output *out, const calc_error_groups *groups)
{
    static const struct {
        calc_quantity quantity;
        const char *by, *title;
    } tables[] = {{CALC_QUANTITY_STEP_TIME, "set", "time of a step, errors in %"},
                  {CALC_QUANTITY_MEMORY, "set", "memory, errors in %"},
                  {CALC_QUANTITY_TPOT, "set", "time per output token, in %"},
                  {CALC_QUANTITY_TTFT, "set", "time to the first token, in %"},
                  {CALC_QUANTITY_E2E, "set", "whole static batches, in %"},
                  {CALC_QUANTITY_OUTPUT_RATE, "set", "output tokens/s, in %"},
                  {CALC_QUANTITY_TPOT_SHAPE, "set", "shape over requests, in %"},
                  {CALC_QUANTITY_TPOT, "kind", "time per output token, by kind"},
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

static void write_features(calc_output *out, const calc_features *f)
{
    bool memory = f->quantity == CALC_QUANTITY_MEMORY;
    calc_output_printf(out, "%-28s%7s%9s%8s%9s%8s%8s%8s%8s\n",
                       memory ? "memory, pairs that differ in" : "time, pairs that differ in",
                       "moved", "same way", "missed", "opposite", "still", "stayed",
                       memory ? "tau" : "regret", "ratio");
    for (size_t i = 0; i < f->options; i++) {
        write_option(out, &f->option[i]);
    }
    write_option(out, &f->all);
    for (size_t i = 0; i < f->families && f->families > 1; i++) {
        char name[40];
        calc_features_option o = f->family[i];
        snprintf(name, sizeof name, "- %.30s", o.name);
        o.name = name;
        write_option(out, &o);
    }
    for (size_t i = 0; i < f->options; i++) {
        const calc_features_option *o = &f->option[i];
        const calc_features_pair *p = &f->pair[o->wrong];
        if (o->has_wrong) {
            calc_output_printf(out, "%s: %s: measured %+.1f %%, predicted %+.1f %%, %s -> %s\n",
                               p->predicted > f->still ? "opposite" : "missed", o->name,
                               100 * p->measured, 100 * p->predicted, calc_features_id(f, p->from),
                               calc_features_id(f, p->to));
        }
    }
    calc_output_text(out, "\n");
}

static const char *quantity_of(const calc_peer *p)
{
    return p->quantity == CALC_QUANTITY_STEP_TIME ? "time" : calc_quantity_words[p->quantity];
}

static void write_percent(calc_output *out, double fraction)
{
    if (isnan(fraction)) {
        calc_output_printf(out, "%7s", "");
    } else {
        calc_output_printf(out, "%7.1f", 100 * fraction);
    }
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
            const calc_peer *p = &peers->item[i];
            char name[96];
            snprintf(name, sizeof name, "%.40s, %.40s", p->simulator, p->machine);
            calc_output_printf(out, "%-36s %-7s%6zu", name, quantity_of(p), p->rows);
            write_percent(out, p->mean_abs);
            write_percent(out, p->worst_abs);
            calc_output_printf(out, "%8zu%7.1f%7.1f%s%s\n", p->ours.count, 100 * p->ours.mean_abs,
                               100 * p->ours.worst_abs, *p->note ? "  " : "", p->note);
        }
    }
    for (size_t i = 0; shown > 0 && i < peers->count; i++) {
        if (peers->item[i].ours.count == 0) {
            write_alone(out, &peers->item[i]);
        }
    }
    calc_output_text(out, shown > 0 ? "\n" : "");
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
        bool named = count == 1 && r->prediction && !calc_result_is_published(r);
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
    static const struct {
        const char *unit;
        double times;
    } units[CALC_QUANTITY_COUNT] = {
        [CALC_QUANTITY_MEMORY] = {"GiB", 0x1p-30}, [CALC_QUANTITY_OUTPUT_RATE] = {"/s ", 1},
        [CALC_QUANTITY_TPOT_SHAPE] = {"x  ", 1},   [CALC_QUANTITY_TPOT] = {"ms ", 1e3},
        [CALC_QUANTITY_TTFT] = {"ms ", 1e3},       [CALC_QUANTITY_STEP_TIME] = {"s  ", 1},
        [CALC_QUANTITY_E2E] = {"s  ", 1}};
    snprintf(buffer, size, "%.4g %s", units[quantity].times * value, units[quantity].unit);
    return buffer;
}

static void write_worst(calc_output *out, calc_validation *v)
{
    const calc_result *r = NULL;
    for (size_t i = 0; i < v->worst && (r = calc_validate_next_worst(&v->results, r, false)); i++) {
        if (i == 0) {
            calc_output_printf(out, "\n%8s%12s%12s  %s\n", "error", "measured", "predicted",
                               "largest errors");
        }
        char measured[32], predicted[32];
        calc_output_printf(out, "%+7.1f%%%12s%12s  %s%s%s%s\n", 100 * r->error,
                           value_text(r->quantity, r->measured, measured, sizeof measured),
                           value_text(r->quantity, r->predicted, predicted, sizeof predicted),
                           calc_result_id(r), *r->remark ? " (" : "", r->remark,
                           *r->remark ? ")" : "");
        if (v->breakdown) {
            validate_worst_parts(out, r, &v->measured.systems);
        }
    }
}

void calc_validate_table_write(calc_output *out, calc_validation *v)
{
    write_errors(out, &v->groups);
    if (v->options) {
        write_features(out, &v->features[0]);
        write_features(out, &v->features[1]);
    }
    write_peers(out, &v->peers);
    const calc_results *results = &v->results;
    calc_output_printf(
        out, "%s, %s: %zu scored, %zu unscored, %zu not predicted\n",
        calc_human_counted((double)(results->predictions + results->servings), "run"),
        calc_human_counted((double)results->count, "measurement"),
        calc_results_count(results, CALC_USE_SCORED),
        calc_results_count(results, CALC_USE_UNSCORED),
        calc_results_count(results, CALC_USE_UNPREDICTED));
    write_misfits(out, &v->results);
    write_reasons(out, &v->results, CALC_USE_UNSCORED);
    write_reasons(out, &v->results, CALC_USE_UNPREDICTED);
    write_worst(out, v);
    if (v->covered[0]) {
        table t = {
            .out = out, .v = v, .quantity = CALC_QUANTITY_STEP_TIME, .write = write_text_row};
        write_quantity(&t, "time of a step, runs in their bands in %");
        t.quantity = CALC_QUANTITY_MEMORY;
        write_quantity(&t, "memory, runs in their bands in %");
        write_fits(out, v);
    }
    if (v->over_dates) {
        calc_output_text(
            out, "\nforecasts of the time of a step, errors in %, runs of high confidence\n");
        calc_output_printf(out, "%-36s%6s%8s%7s%6s%7s%6s%7s\n",
                           "fitted to what was published before", "n", "bias", "mean", "n", "dense",
                           "n", "MoE");
        each_row(v, write_forecast, out);
    }
}

size_t calc_validate_table_baseline(calc_output *out, const calc_validation *v, double tolerance)
{
    size_t worse = 0;
    for (size_t i = 0; i < v->groups.count; i++) {
        const calc_error_group *g = &v->groups.item[i];
        if (g->shared > 0 && g->mean_abs_now - g->mean_abs_then > tolerance) {
            calc_output_printf(out,
                               "worse: %s %s, %s: mean error %.2f %%, %.2f %% in the baseline"
                               " (%zu measurements)\n",
                               g->by, g->name, calc_quantity_words[g->quantity],
                               100 * g->mean_abs_now, 100 * g->mean_abs_then, g->shared);
            worse++;
        }
    }
    if (v->baseline.missing > 0) {
        calc_output_printf(out, "worse: %zu measurements of the baseline are not predicted\n",
                           v->baseline.missing);
        worse++;
    }
    return worse;
}
