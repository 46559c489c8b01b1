#include "cli/calibrate/calibrate_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "calibrate/calibration.h"
#include "calibrate/fit.h"
#include "calibrate/points.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/validate/validate_table.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "validate/error_groups.h"

calc_status calc_calibrate_held_out(const calc_results *results, const char *const *names,
                                    bool (*is_of)(const calc_result *, const char *),
                                    const char *hint, calc_errors *errors)
{
    for (; names && *names; names++) {
        size_t i = 0;
        while (i < results->count && !is_of(&results->item[i], *names)) {
            i++;
        }
        if (i == results->count) {
            return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, hint,
                                   "--hold-out: no run of \"%.60s\"", *names);
        }
    }
    return CALC_OK;
}

void calc_calibrate_views_start(calc_calibrate_views *views)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        views->predicted[v] = calc_make(views->results.count + 1, sizeof *views->predicted[v]);
        for (size_t i = 0; i < views->results.count; i++) {
            views->predicted[v][i] = (double)NAN;
        }
    }
}

calc_status calc_calibrate_views_make(calc_calibrate_views *views, const calc_run_sets *sets,
                                      calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int v = 0; v < CALC_CALIBRATE_VIEWS && status == CALC_OK; v++) {
        status = calc_view_make(&views->of[v], &views->results, views->predicted[v], errors);
        status = status == CALC_OK
                     ? calc_error_groups_make(&views->groups[v], &views->of[v], sets, NULL, errors)
                     : status;
    }
    return status;
}

void calc_calibrate_views_put(calc_put *put, const calc_calibrate_views *views,
                              const char *const *words, size_t count, const calc_error_group *group)
{
    calc_putf(put, "{by: %s, name: %s, quantity: %s, n: %zu", group->by, group->name,
              calc_quantity_word(group->quantity), group->spread.count);
    for (size_t v = 0; v < count; v++) {
        const calc_error_group *g = calc_error_groups_like(&views->groups[v], group);
        if (g) {
            calc_put_object(put, words[v], CALC_PUT_LINE);
            calc_put_spread(put, &g->spread);
            if (g->ranking.pairs > 0) {
                calc_put_ranking(put, &g->ranking);
            }
            calc_put_close(put);
        }
    }
    calc_put_close(put);
}

void calc_calibrate_views_free(calc_calibrate_views *views)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        free(views->predicted[v]);
        free(views->of[v].item);
        calc_error_groups_free(&views->groups[v]);
    }
    calc_results_free(&views->results);
}

/* Whether the result at `index` is a time that was predicted before and after. */
static bool is_shown(const calc_calibrate_report *report, size_t index)
{
    const calc_result *before = &report->views->of[CALC_CALIBRATE_ASSUMED].item[index];
    const calc_result *after = &report->views->of[CALC_CALIBRATE_FITTED].item[index];
    return before->use == CALC_USE_SCORED && after->use == CALC_USE_SCORED &&
           after->quantity == CALC_QUANTITY_STEP_TIME;
}

size_t calc_calibrate_runs_count(const calc_calibrate_report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->views->of[CALC_CALIBRATE_FITTED].count; i++) {
        count += is_shown(report, i);
    }
    return count;
}

/* The next worst run after `last`; `count` at the end. */
static size_t next_worst(const calc_calibrate_report *report, size_t last)
{
    const calc_results *after = &report->views->of[CALC_CALIBRATE_FITTED];
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

static void write_memory(calc_output *out, const calc_results *results)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *r = &results->item[i];
        count += r->quantity == CALC_QUANTITY_MEMORY && r->use != CALC_USE_UNPREDICTED;
    }
    if (count > 0) {
        calc_output_printf(out,
                           "\nnot fitted to: %s of memory, which no constant of a machine changes; "
                           "calc validate shows them\n",
                           calc_human_counted((double)count, "measurement"));
    }
}

/* Writes the `rows` runs with the largest errors after the fit, with their predictions before and
 * after, and a line if memory was measured, because no constant of a machine changes memory. */
static void calibrate_runs_write(calc_output *out, const calc_calibrate_report *report, size_t rows)
{
    size_t count = report->views->of[CALC_CALIBRATE_FITTED].count;
    size_t last = count;
    for (size_t i = 0; i < rows && (last = next_worst(report, last)) < count; i++) {
        if (i == 0) {
            calc_output_printf(out, "\n%10s%11s%9s%11s%9s  %s\n", "measured", "assumed", "error",
                               "fitted", "error", "runs, largest errors first");
        }
        const calc_result *before = &report->views->of[CALC_CALIBRATE_ASSUMED].item[last];
        const calc_result *after = &report->views->of[CALC_CALIBRATE_FITTED].item[last];
        calc_output_printf(out, "%8.4g s%9.4g s%+8.1f%%%9.4g s%+8.1f%%  %s%s%s%s\n",
                           after->measured, before->predicted, 100 * before->error,
                           after->predicted, 100 * after->error, after->prediction->map.row->id,
                           *after->remark ? " (" : "", after->remark, *after->remark ? ")" : "");
    }
    write_memory(out, &report->views->of[CALC_CALIBRATE_FITTED]);
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

static const char *const words[CALC_CALIBRATE_VIEWS] = {"assumed", "fitted", "unseen"};

void calc_calibrate_out_path(const char *out, bool one, const char *machine, char *path)
{
    size_t length = strlen(out);
    if (one && length > 5 && strcmp(out + length - 5, ".json") == 0) {
        snprintf(path, CALC_FIND_PATH_MAX, "%s", out);
    } else {
        char name[151];
        snprintf(path, CALC_FIND_PATH_MAX, "%.3900s/%s.json", out,
                 calc_find_name(machine, name, sizeof name));
    }
}

static size_t views_of(const calc_calibrate_report *report)
{
    return report->unseen ? CALC_CALIBRATE_VIEWS : CALC_CALIBRATE_UNSEEN;
}

/* Runs predicted both before and after. */
typedef struct tally {
    size_t count, better; /* number of runs, and of those whose error shrank */
    double assumed, fitted;
} tally;

static bool counts(const calc_calibrate_report *report, size_t index)
{
    const calc_result *before = &report->views->of[CALC_CALIBRATE_ASSUMED].item[index];
    const calc_result *after = &report->views->of[CALC_CALIBRATE_FITTED].item[index];
    return before->use == CALC_USE_SCORED && after->use == CALC_USE_SCORED;
}

static const char *source_of(const calc_calibrate_report *report, size_t index)
{
    return report->views->of[CALC_CALIBRATE_FITTED].item[index].prediction->map.row->source;
}

/* Selects runs; NULL matches any value. */
typedef struct selection {
    const char *source, *confidence;
    const char *kind; /* result_labels.h */
} selection;

static bool is(const char *wanted, const char *found)
{
    return !wanted || strcmp(wanted, found) == 0;
}

/* The tally of a selection on one side. */
static tally tally_of(const calc_calibrate_report *report, selection of, bool held)
{
    tally t = {0};
    for (size_t i = 0; i < report->views->of[CALC_CALIBRATE_FITTED].count; i++) {
        const calc_result *after = &report->views->of[CALC_CALIBRATE_FITTED].item[i];
        bool mine = is(of.source, source_of(report, i)) &&
                    is(of.confidence, after->prediction->map.row->confidence) &&
                    is(of.kind, calc_result_kind(after));
        if (counts(report, i) && mine && calc_evidence_is_of(after, report->held_out) == held) {
            double before = fabs(report->views->of[CALC_CALIBRATE_ASSUMED].item[i].error);
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

/* Sums below the sources. */
static const struct {
    const char *name;
    selection of;
} sums[] = {{"all", {NULL, NULL, NULL}},
            {"all high confidence", {NULL, "high", NULL}},
            {"- dense", {NULL, "high", "dense"}},
            {"- mixtures of experts", {NULL, "high", "MoE"}}};
enum { SUMS = sizeof sums / sizeof *sums };

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

static void machines_text(const calc_calibration *c, unsigned machines, char *text, size_t size)
{
    bool all = true;
    text[0] = '\0';
    for (size_t m = 0; m < c->family.machines; m++) {
        bool has = machines >> m & 1;
        all = all && has;
        if (has) {
            calc_append(text, size, "%s%s", *text ? ", " : "", c->family.machine[m]);
        }
    }
    if (all && c->family.machines > 1) {
        snprintf(text, size, "all");
    }
}

static void write_family(calc_output *out, const calc_calibration *c)
{
    char machines[256];
    machines_text(c, c->family.measured, machines, sizeof machines);
    calc_output_printf(out, "%s: %zu runs of %zu sources on %s\n",
                       c->family.name ? c->family.name : "machines", c->runs, c->sources,
                       strcmp(machines, "all") == 0 ? "all machines" : machines);
    calc_output_printf(out, "  %-30s%10s%10s%10s\n", "constant", "assumed", "fitted", "s.e.");
    size_t left = 0;
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        left += isnan(p->error) ? 1 : 0;
        if (!isnan(p->error)) {
            char where[256];
            machines_text(c, p->machines, where, sizeof where);
            calc_output_printf(out, "  %-30s%10.4g%10.4g%8.1f %%%s  %s\n", p->constant->name,
                               p->start, p->value, 100 * calc_unknown_relative_error(p),
                               p->determined ? " " : "*", where);
        }
    }
    calc_output_printf(out,
                       "  * contradicted by the runs, but not determined by them\n"
                       "  %zu left as assumed:",
                       left);
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        if (isnan(p->error)) {
            calc_output_printf(out, " %s%s", p->constant->name, --left ? "," : "");
        }
    }
    calc_output_text(out, "\n\n");
}

static void write_spreads(calc_output *out, const calc_calibrate_report *report,
                          const calc_error_group *group)
{
    calc_output_printf(out, "%-36s%6zu", group->name, group->spread.count);
    for (size_t v = 0; v < views_of(report); v++) {
        const calc_error_group *g = calc_error_groups_like(&report->views->groups[v], group);
        if (g) {
            calc_output_printf(out, " |%+6.1f%6.1f%6.1f%6.1f", 100 * g->spread.bias,
                               100 * g->spread.mean_abs, 100 * g->spread.median_abs,
                               100 * g->spread.p90_abs);
        }
    }
    calc_output_text(out, "\n");
}

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
    for (size_t i = 0; i < report->views->of[CALC_CALIBRATE_FITTED].count; i++) {
        tally t = is_first(report, i)
                      ? tally_of(report, (selection){source_of(report, i), NULL, NULL}, held)
                      : (tally){0};
        if (t.count > 0) {
            write_tally(out, source_of(report, i), &t);
        }
    }
    for (size_t i = 0; i < SUMS; i++) {
        tally sum = tally_of(report, sums[i].of, held);
        if (sum.count > 0) {
            write_tally(out, sums[i].name, &sum);
        }
    }
}

void calc_calibrate_write_table(calc_output *out, const calc_calibrate_report *report)
{
    for (size_t i = 0; i < report->families; i++) {
        write_family(out, &report->family[i]);
    }
    calc_output_printf(out, "%-42s", "time of a step, errors in %");
    for (size_t v = 0; v < views_of(report); v++) {
        calc_output_printf(out, " | %-23s", words[v]);
    }
    calc_output_printf(out, "\n%-36s%6s", "", "n");
    for (size_t v = 0; v < views_of(report); v++) {
        calc_output_text(out, " |  bias  mean   med   p90");
    }
    calc_output_text(out, "\n");
    const calc_error_groups *fitted = &report->views->groups[CALC_CALIBRATE_FITTED];
    for (size_t i = 0; i < fitted->count; i++) {
        if (strcmp(fitted->item[i].by, "set") == 0) {
            write_spreads(out, report, &fitted->item[i]);
        }
    }
    calibrate_runs_write(out, report, report->rows);
    if (report->held_out) {
        write_side(out, report, false);
        write_side(out, report, true);
    }
}

static void put_machines(calc_put *put, const calc_family *family, unsigned machines)
{
    calc_put_array(put, "machines", CALC_PUT_LINE);
    for (size_t m = 0; m < family->machines; m++) {
        if (machines >> m & 1) {
            calc_put_text(put, NULL, family->machine[m]);
        }
    }
    calc_put_close(put);
}

static void put_family(calc_put *put, const calc_calibration *c)
{
    calc_putf(put, "{\nname: %s, runs: %zu", c->family.name ? c->family.name : "", c->runs);
    put_machines(put, &c->family, c->family.measured);
    calc_put_object(put, "sources", CALC_PUT_LINE);
    for (size_t i = 0; i < c->sources; i++) {
        calc_put_count(put, c->source[i].name, (int64_t)c->source[i].count);
    }
    calc_putf(put, "}, constants: [\n");
    for (size_t i = 0; i < c->unknowns.count; i++) {
        const calc_unknown *p = &c->unknowns.item[i];
        calc_putf(put, "{name: %s", p->constant->name);
        put_machines(put, &c->family, p->machines);
        calc_putf(put, "unit: %s, assumed: %g, value: %g, relative_error: %g, determined?: %d}",
                  p->constant->unit, p->start, p->value, calc_unknown_relative_error(p),
                  p->determined);
    }
    calc_putf(put, "]}");
}

static void put_run(calc_put *put, const calc_calibrate_report *report, size_t index)
{
    static const char *const keys[CALC_CALIBRATE_VIEWS] = {"assumed_s", "fitted_s", "unseen_s"};
    const calc_result *r = &report->views->of[CALC_CALIBRATE_FITTED].item[index];
    calc_putf(put, "{id: %s, source: %s, machine: %s, measured_s: %g", r->prediction->map.row->id,
              r->prediction->map.row->source, r->prediction->map.row->sys, r->measured);
    for (size_t v = 0; v < views_of(report); v++) {
        const calc_result *of = &report->views->of[v].item[index];
        bool has = of->use == CALC_USE_SCORED;
        calc_put_number(put, keys[v], has ? of->predicted : (double)NAN);
    }
    if (report->held_out) {
        calc_put_flag(put, "held_out", calc_evidence_is_of(r, report->held_out));
    }
    calc_put_close(put);
}

static void put_tally(calc_put *put, const char *name, const tally *t)
{
    calc_put_object(put, name, CALC_PUT_LINE);
    calc_putf(put, "n: %zu, better: %zu", t->count, t->better);
    calc_put_number(put, "assumed", t->assumed); /* NaN if there are none */
    calc_putf(put, "fitted: %g}", t->fitted);
}

static void put_side(calc_put *put, const calc_calibrate_report *report, bool held)
{
    tally all = tally_of(report, (selection){NULL, NULL, NULL}, held);
    calc_put_object(put, held ? "held_out" : "fitted_to", CALC_PUT_LINES);
    calc_put_object(put, "sources", CALC_PUT_LINES);
    for (size_t i = 0; i < report->views->of[CALC_CALIBRATE_FITTED].count; i++) {
        tally t = is_first(report, i)
                      ? tally_of(report, (selection){source_of(report, i), NULL, NULL}, held)
                      : (tally){0};
        if (t.count > 0) {
            put_tally(put, source_of(report, i), &t);
        }
    }
    calc_put_close(put);
    put_tally(put, "all", &all);
    calc_put_close(put);
}

void calc_calibrate_write_json(calc_output *out, const calc_calibrate_report *report)
{
    const calc_error_groups *fitted = &report->views->groups[CALC_CALIBRATE_FITTED];
    const calc_results *results = &report->views->of[CALC_CALIBRATE_FITTED];
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_putf(&put, "version: %s, families: [\n", CALC_VERSION);
    for (size_t i = 0; i < report->families; i++) {
        put_family(&put, &report->family[i]);
    }
    calc_putf(&put, "], groups: [\n");
    for (size_t i = 0; i < fitted->count; i++) {
        calc_calibrate_views_put(&put, report->views, words, views_of(report), &fitted->item[i]);
    }
    calc_put_close(&put);
    if (report->held_out) {
        calc_put_object(&put, "halves", CALC_PUT_LINES);
        put_side(&put, report, false);
        put_side(&put, report, true);
        calc_put_close(&put);
    }
    calc_put_array(&put, "runs", CALC_PUT_LINES);
    for (size_t i = 0; i < results->count; i++) {
        if (results->item[i].use == CALC_USE_SCORED) {
            put_run(&put, report, i);
        }
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

static calc_status write_machine(const calc_calibration *c, size_t machine, const char *path,
                                 const char *date, calc_errors *errors)
{
    calc_input input = {0};
    calc_system *system = calc_make(1, sizeof *system);
    calc_status status =
        calc_input_load(&input, CALC_KIND_SYSTEM, system, c->family.machine[machine], errors);
    free(system);
    if (status == CALC_OK) {
        calc_output *out = calc_write_to(path);
        status = calc_system_text_write(out, &input.text, c, machine, date, errors);
        status = calc_output_end(out, status, errors);
    }
    calc_text_free(&input.text);
    return status;
}

calc_status calc_calibrate_files_write(const calc_calibration *family, size_t families,
                                       const char *out, const char *date, calc_errors *errors)
{
    bool one = families == 1 && family[0].family.machines == 1;
    calc_status status = CALC_OK;
    for (size_t f = 0; f < families; f++) {
        for (size_t m = 0; m < family[f].family.machines && status == CALC_OK; m++) {
            char path[CALC_FIND_PATH_MAX];
            calc_calibrate_out_path(out, one, family[f].family.machine[m], path);
            status = write_machine(&family[f], m, path, date, errors);
        }
    }
    return status;
}

/* The calibration of one machine. */
typedef struct job {
    calc_input input;
    calc_system system;
    calc_points points;
    calc_point_calibration calibration;
} job;

static calc_status write_measured_machine(const calc_calibrate_operators_task *t, const job *j,
                                          calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_calibrate_out_path(t->out, t->machines == 1, j->calibration.machine, path);
    calc_output *out = calc_write_to(path);
    return calc_output_end(out,
                           calc_point_calibration_write(out, &j->calibration, &j->points,
                                                        &j->input.text, t->date, errors),
                           errors);
}

static calc_status calibrate(const calc_calibrate_operators_task *t, const char *machine, job *j,
                             calc_errors *errors)
{
    calc_status status = calc_input_load(&j->input, CALC_KIND_SYSTEM, &j->system, machine, errors);
    status = status == CALC_OK ? calc_points_read(&j->points, t->operators, errors) : status;
    status =
        status == CALC_OK ? calc_points_select(&j->points, t->rows, &j->system, errors) : status;
    status = status == CALC_OK
                 ? calc_point_calibrate(&j->calibration, &j->points, machine, &j->system, errors)
                 : status;
    return status == CALC_OK && t->out ? write_measured_machine(t, j, errors) : status;
}

static const char *const views[CALC_POINT_VIEWS] = {"file", "fitted", "unseen", "lookup"};
static const char *const standings[] = {"not determined", "determined", "adjusted"};

/* The errors of a class in a view. */
static calc_spread spread_of(const calc_point_calibration *c, const calc_points *points, int class,
                             int view)
{
    double *error = calc_make(points->count + 1, sizeof *error);
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        if (calc_point_is_used(p) && (int)p->class == class) {
            error[count++] = c->predicted_s[view][i] / p->measured_s - 1;
        }
    }
    const calc_spread spread = calc_spread_of(error, count);
    free(error);
    return spread;
}

/* Number of rows refused for the same reason as row `i`; 0 if an earlier row has that reason. */
static size_t refused_like(const calc_points *points, size_t i)
{
    size_t count = 0;
    for (size_t k = 0; k < points->count; k++) {
        bool same = strcmp(points->item[k].reason, points->item[i].reason) == 0;
        if (same && k < i) {
            return 0;
        }
        count += same;
    }
    return count;
}

static size_t count_used(const calc_points *points)
{
    size_t used = 0;
    for (size_t i = 0; i < points->count; i++) {
        used += calc_point_is_used(&points->item[i]);
    }
    return used;
}

static void write_constants(calc_output *out, const calc_point_fit *f)
{
    calc_output_printf(out, "  %-50s%12s%12s%9s\n", "constant", "file", "fitted", "s.e.");
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        calc_output_printf(out, "  %-50s", c->constant.name);
        if (c->before > 0) {
            calc_output_printf(out, "%12.4g", c->before);
        } else {
            calc_output_printf(out, "%12s", "-");
        }
        if (c->standing == CALC_POINT_STAYS) {
            calc_output_text(out, "    not determined, stays\n");
        } else {
            calc_output_printf(out, "%12.4g%7.1f %%%s\n", c->value, 100 * c->relative_error,
                               c->standing == CALC_POINT_ADJUSTED ? " *" : "");
        }
    }
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        if (f->curve[i]) {
            const calc_curve *curve = &f->system.chip.matrix[i].efficiency;
            calc_output_printf(out, "  matrix.%s by size: %jd steps, %.3g to %.3g\n",
                               calc_datatype_names[i], curve->count,
                               curve->efficiency[curve->count - 1], curve->efficiency[0]);
        }
    }
}

static void write_classes(calc_output *out, const calc_point_calibration *c,
                          const calc_points *points)
{
    calc_output_printf(out, "  %-28s", "errors in %");
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        calc_output_printf(out, " | %-17s", views[v]);
    }
    calc_output_printf(out, "\n  %-22s%6s", "", "n");
    for (int v = 0; v < CALC_POINT_VIEWS; v++) {
        calc_output_text(out, " |  mean   med worst");
    }
    calc_output_text(out, "\n");
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        calc_spread first = spread_of(c, points, class, 0);
        if (first.count == 0) {
            continue;
        }
        calc_output_printf(out, "  %-22s%6zu", calc_point_class_name((calc_point_class) class),
                           first.count);
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            calc_spread s = spread_of(c, points, class, v);
            calc_output_printf(out, " |%6.1f%6.1f%6.1f", 100 * s.mean_abs, 100 * s.median_abs,
                               100 * s.worst_abs);
        }
        calc_output_text(out, "\n");
    }
    size_t count[CALC_KERNEL_SOURCES] = {0};
    for (size_t i = 0; i < points->count; i++) {
        count[c->source[i]] += calc_point_is_used(&points->item[i]);
    }
    calc_output_text(out,
                     "  unseen: by a fit to the other half of the shapes; lookup: the same with "
                     "that half to look up:");
    for (int s = CALC_KERNEL_SOURCES; s-- > 0;) {
        calc_output_printf(out, " %s %zu%s", calc_kernel_source_text((calc_kernel_source)s),
                           count[s], s ? "," : "\n");
    }
}

static void write_table(calc_output *out, const calc_point_calibration *c,
                        const calc_points *points)
{
    size_t used = count_used(points);
    calc_output_printf(out, "%s: %zu of %zu measured operators\n", c->machine, used, points->count);
    write_constants(out, &c->fit);
    calc_output_text(out, "\n");
    write_classes(out, c, points);
    for (size_t i = 0; i < points->count; i++) {
        const calc_point *p = &points->item[i];
        size_t alike = calc_point_is_used(p) ? 0 : refused_like(points, i);
        if (alike > 0) {
            calc_output_printf(out, "  %zu not used: %s (line %d, \"%s\"%s)\n", alike, p->reason,
                               p->line, calc_utf8_shown(p->op, strlen(p->op)),
                               alike > 1 ? ", and others" : "");
        }
    }
}

static void put_constants(calc_put *put, const calc_point_fit *f)
{
    calc_put_array(put, "constants", CALC_PUT_LINES);
    for (size_t i = 0; i < f->count; i++) {
        const calc_point_constant *c = &f->item[i];
        calc_putf(put,
                  "{name: %s, unit: %s, standing: %s, file: %g, value: %g, relative_error: %g}",
                  c->constant.name, c->constant.unit, standings[c->standing],
                  c->before > 0 ? c->before : (double)NAN, c->value > 0 ? c->value : (double)NAN,
                  c->relative_error);
    }
    calc_put_close(put);
}

static void put_classes(calc_put *put, const calc_point_calibration *c, const calc_points *points)
{
    calc_put_array(put, "classes", CALC_PUT_LINES);
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        calc_spread s = spread_of(c, points, class, 0);
        if (s.count == 0) {
            continue;
        }
        calc_putf(put, "{name: %s, n: %zu", calc_point_class_name((calc_point_class) class),
                  s.count);
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            s = spread_of(c, points, class, v);
            calc_put_object(put, views[v], CALC_PUT_LINE);
            calc_put_spread(put, &s);
            calc_put_close(put);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_point(calc_put *put, const calc_point_calibration *c, const calc_point *p,
                      size_t index)
{
    static const char *const keys[CALC_POINT_VIEWS] = {"file_s", "fitted_s", "unseen_s",
                                                       "lookup_s"};
    calc_putf(put, "{line: %d", p->line);
    if (!calc_point_is_used(p)) {
        calc_put_text(put, "refused", p->reason);
    } else {
        calc_putf(put, "class: %s, measured_s: %g", calc_point_class_name(p->class), p->measured_s);
        for (int v = 0; v < CALC_POINT_VIEWS; v++) {
            calc_put_number(put, keys[v], c->predicted_s[v][index]);
        }
        calc_put_text(put, "lookup", calc_kernel_source_text(c->source[index]));
    }
    calc_put_close(put);
}

static void put_machine(calc_put *put, const calc_point_calibration *c, const calc_points *points)
{
    calc_putf(put, "{\nname: %s, points: %zu, used: %zu", c->machine, points->count,
              count_used(points));
    put_constants(put, &c->fit);
    put_classes(put, c, points);
    calc_put_array(put, "operators", CALC_PUT_LINES);
    for (size_t i = 0; i < points->count; i++) {
        put_point(put, c, &points->item[i], i);
    }
    calc_putf(put, "]}");
}

static void write_json(calc_output *out, job *const *jobs, size_t count)
{
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_putf(&put, "version: %s, machines: [\n", CALC_VERSION);
    for (size_t i = 0; i < count; i++) {
        put_machine(&put, &jobs[i]->calibration, &jobs[i]->points);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

static void write_tables(calc_output *out, job *const *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        calc_output_text(out, i ? "\n" : "");
        write_table(out, &jobs[i]->calibration, &jobs[i]->points);
    }
}

/* Writes the report to `path`. */
static calc_status report(const char *path, job *const *jobs, size_t count, bool json,
                          calc_errors *errors)
{
    calc_output *out = calc_write_to(path);
    (json ? write_json : write_tables)(out, jobs, count);
    return calc_output_close(out, errors);
}

calc_exit calc_calibrate_operators(const calc_calibrate_operators_task *t)
{
    calc_errors errors = {0};
    calc_status status = CALC_OK;
    job **jobs = calc_make(t->machines + 1, sizeof(job *));
    size_t count = 0;
    for (; status == CALC_OK && count < t->machines; count++) {
        jobs[count] = calc_make(1, sizeof *jobs[count]);
        status = calibrate(t, t->machine[count], jobs[count], &errors);
    }
    status = status == CALC_OK && t->json ? report(t->json, jobs, count, true, &errors) : status;
    status = status == CALC_OK && !(t->json && strcmp(t->json, "-") == 0)
                 ? report("-", jobs, count, false, &errors)
                 : status;
    for (size_t i = 0; i < count; i++) {
        job *j = jobs[i];
        calc_text_free(&j->input.text);
        calc_points_free(&j->points);
        calc_point_calibration_free(&j->calibration);
        free(j);
    }
    free(jobs);
    return calc_is_yes(status) ? CALC_EXIT_OK : calc_complain_failure(&errors);
}
