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

calc_status calc_calibrate_held_out(const calc_calibrate_task *t, calc_errors *errors)
{
    for (const char *const *name = t->held_out.item; *name; name++) {
        size_t i = 0;
        while (i < t->results.count &&
               !calc_evidence_is_of(&t->results.item[i], (const char *const[]){*name, NULL})) {
            i++;
        }
        if (i == t->results.count) {
            return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                                   t->measured.serves
                                       ? "calc validate --json names the source and the machine of "
                                         "each run"
                                       : "calc validate --json names the source of each run",
                                   "--hold-out: no run of \"%.60s\"", *name);
        }
    }
    return CALC_OK;
}

void calc_calibrate_views_start(calc_calibrate_task *t)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        t->predicted[v] = calc_make(t->results.count + 1, sizeof *t->predicted[v]);
        for (size_t i = 0; i < t->results.count; i++) {
            t->predicted[v][i] = (double)NAN;
        }
    }
}

void calc_calibrate_views_make(calc_calibrate_task *t, const calc_run_sets *sets)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        t->view[v] = t->results;
        t->view[v].item = calc_make(t->results.count + 1, sizeof *t->view[v].item);
        for (size_t i = 0; i < t->results.count; i++) {
            calc_result *r = &t->view[v].item[i];
            *r = t->results.item[i];
            if (!isnan(t->predicted[v][i]) && r->quantity != CALC_QUANTITY_MEMORY) {
                r->predicted = t->predicted[v][i];
                r->error = r->predicted / r->measured - 1;
            } else if (r->use == CALC_USE_SCORED) {
                r->use = CALC_USE_UNSCORED;
            }
        }
        calc_error_groups_make(&t->groups[v], &t->view[v], sets, NULL);
    }
}

void calc_calibrate_views_put(calc_put *put, const calc_calibrate_task *t,
                              const calc_error_group *group)
{
    calc_putf(put, "{by: %s, name: %s, quantity: %s, n: %zu", group->by, group->name,
              calc_quantity_word(group->quantity), group->spread.count);
    for (int v = 0; v < CALC_CALIBRATE_VIEWS && t->word[v]; v++) {
        const calc_error_group *g = calc_error_groups_like(&t->groups[v], group);
        if (g) {
            calc_put_object(put, t->word[v], CALC_PUT_LINE);
            calc_put_spread(put, &g->spread);
            if (g->ranking.pairs > 0) {
                calc_put_ranking(put, &g->ranking);
            }
            calc_put_close(put);
        }
    }
    calc_put_close(put);
}

void calc_calibrate_free(calc_calibrate_task *t)
{
    for (int v = 0; v < CALC_CALIBRATE_VIEWS; v++) {
        free(t->predicted[v]);
        free(t->view[v].item);
        calc_error_groups_free(&t->groups[v]);
    }
    free(t->found.fit);
    calc_results_free(&t->results);
    calc_measured_free(&t->measured);
    calc_constant_starts_free(&t->starts);
}

calc_status calc_calibrate_report(const calc_calibrate_task *t,
                                  void (*json)(calc_put *put, const void *of),
                                  void (*table)(calc_output *out, const void *of), const void *of,
                                  calc_errors *errors)
{
    calc_status status = CALC_OK;
    if (t->json) {
        calc_output *out = calc_write_to(t->json);
        calc_put put = calc_put_to(out);
        calc_put_document(&put);
        calc_put_text(&put, "version", CALC_VERSION);
        json(&put, of);
        calc_put_end(&put);
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK && !calc_opt_takes_stdout(t->args)) {
        calc_output *out = calc_write_to("-");
        table(out, of);
        status = calc_output_close(out, errors);
    }
    return status;
}

/* Writes the `rows` runs with the largest errors after the fit, with their predictions before and
 * after, and a line if memory was measured, because no constant of a machine changes memory. */
static void write_runs(calc_output *out, const calc_calibrate_task *t, size_t rows)
{
    const calc_results *after = &t->view[CALC_CALIBRATE_FITTED];
    const calc_result *r = NULL;
    size_t memory = 0;
    for (size_t i = 0; i < rows && (r = calc_validate_next_worst(after, r, false)); i++) {
        if (i == 0) {
            calc_output_printf(out, "\n%10s%11s%9s%11s%9s  %s\n", "measured", "assumed", "error",
                               "fitted", "error", "runs, largest errors first");
        }
        const calc_result *before = &t->view[CALC_CALIBRATE_ASSUMED].item[r - after->item];
        calc_output_printf(out, "%8.4g s%9.4g s%+8.1f%%%9.4g s%+8.1f%%  %s%s%s%s\n", r->measured,
                           before->predicted, 100 * before->error, r->predicted, 100 * r->error,
                           calc_result_id(r), *r->remark ? " (" : "", r->remark,
                           *r->remark ? ")" : "");
    }
    for (size_t i = 0; i < after->count; i++) {
        memory += after->item[i].quantity == CALC_QUANTITY_MEMORY &&
                  after->item[i].use != CALC_USE_UNPREDICTED;
    }
    if (memory > 0) {
        calc_output_printf(out,
                           "\nnot fitted to: %s of memory, which no constant of a machine changes; "
                           "calc validate shows them\n",
                           calc_human_counted((double)memory, "measurement"));
    }
}

/* The file of a run, if the command line names it. */
static void place(const calc_runs_row *row, const calc_calibrate_task *t, calc_errors *errors)
{
    for (size_t f = 0; f < t->args->argument_count && errors->count > 0; f++) {
        const calc_runs *runs = &t->measured.runs[f];
        for (size_t i = 0; i < runs->count; i++) {
            if (&runs->row[i] == row) {
                calc_error_place(&errors->item[errors->count - 1], t->args->argument[f], row->line,
                                 0);
            }
        }
    }
}

/* No machine is so many times as slow as another that is known, or as fast, in every run. */
static bool is_another_unit(const calc_calibrate_task *t, calc_errors *errors)
{
    static const double far = 20;
    double least = HUGE_VAL, most = 0;
    for (size_t i = 0; i < t->results.count; i++) {
        const calc_result *r = &t->results.item[i];
        double times = r->measured / t->predicted[CALC_CALIBRATE_ASSUMED][i];
        if (r->quantity == CALC_QUANTITY_STEP_TIME && !isnan(times)) {
            least = fmin(least, times);
            most = fmax(most, times);
        }
    }
    bool another = most > 0 && (least > far || most < 1 / far);
    if (another) {
        calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                        "measured_s is the time of a step in seconds",
                        "refused: every run took at least %.0f times as %s as is predicted",
                        least > far ? least : 1 / most, least > far ? "long" : "short");
    }
    return another;
}

bool calc_calibrate_runs_refuse(const calc_calibrate_task *t, calc_errors *errors)
{
    bool unit = is_another_unit(t, errors), refused = unit;
    for (size_t f = 0; f < t->families && !unit; f++) {
        const calc_influence *i = &t->family[f].outside;
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
                            i->constant->unit, i->constant->lo, i->constant->hi,
                            t->family[f].pull->id, i->without);
            place(t->family[f].pull, t, errors);
            refused = true;
        }
    }
    return refused;
}

void calc_calibrate_path(const calc_calibrate_task *t, bool one, const char *name, char *path)
{
    size_t length = strlen(t->into);
    if (one && length > 5 && strcmp(t->into + length - 5, ".json") == 0) {
        snprintf(path, CALC_FIND_PATH_MAX, "%s", t->into);
    } else {
        char found[151];
        snprintf(path, CALC_FIND_PATH_MAX, "%.3900s/%s.json", t->into,
                 calc_find_name(name, found, sizeof found));
    }
}

/* Runs predicted both before and after, of a source or of several. */
typedef struct tally {
    const char *name;
    size_t count, better;   /* number of runs, and of those whose error shrank */
    double assumed, fitted; /* sums of errors */
} tally;

/* Sums over sources stand behind these: all runs, those of high confidence, of these dense models
 * and mixtures of experts. */
enum { SUMS = 4 };

/* The tallies of one side, in the order in which its sources come. @param out  has room for one
 * of each result @return how many sources have one */
static size_t tallies_of(const calc_calibrate_task *t, bool held, tally *out, tally sum[SUMS])
{
    const calc_results *after = &t->view[CALC_CALIBRATE_FITTED];
    size_t sources = 0;
    for (size_t i = 0; i < after->count; i++) {
        const calc_result *r = &after->item[i];
        if (r->use != CALC_USE_SCORED || calc_evidence_is_of(r, t->plan.held_out) != held) {
            continue;
        }
        const char *name = calc_result_source(r);
        double before = fabs(t->view[CALC_CALIBRATE_ASSUMED].item[i].error);
        bool high = strcmp(calc_result_confidence(r), "high") == 0;
        bool experts = strcmp(calc_result_kind(r), "MoE") == 0;
        size_t s = 0;
        while (s < sources && strcmp(out[s].name, name) != 0) {
            s++;
        }
        out[s].name = name;
        sources += s == sources;
        tally *const of[] = {&out[s], &sum[0], &sum[1], &sum[experts ? 3 : 2]};
        for (int k = 0; k < (high ? 4 : 2); k++) {
            of[k]->count++;
            of[k]->better += fabs(r->error) < before;
            of[k]->assumed += before;
            of[k]->fitted += fabs(r->error);
        }
    }
    return sources;
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

static void write_spreads(calc_output *out, const calc_calibrate_task *t,
                          const calc_error_group *group)
{
    calc_output_printf(out, "%-36s%6zu", group->name, group->spread.count);
    for (int v = 0; v < CALC_CALIBRATE_VIEWS && t->word[v]; v++) {
        const calc_error_group *g = calc_error_groups_like(&t->groups[v], group);
        if (g) {
            calc_output_printf(out, " |%+6.1f%6.1f%6.1f%6.1f", 100 * g->spread.bias,
                               100 * g->spread.mean_abs, 100 * g->spread.median_abs,
                               100 * g->spread.p90_abs);
        }
    }
    calc_output_text(out, "\n");
}

static void write_tally(calc_output *out, const tally *t)
{
    double n = (double)t->count;
    if (t->count > 0) {
        calc_output_printf(out, "%-36s%6zu%10.1f%10.1f%10.0f %%\n", t->name, t->count,
                           100 * (t->assumed / n), 100 * (t->fitted / n),
                           100 * (double)t->better / n);
    }
}

static void write_side(calc_output *out, const calc_calibrate_task *t, bool held)
{
    tally *source = calc_make(t->results.count + 1, sizeof *source);
    tally sum[SUMS] = {{.name = "all"},
                       {.name = "all high confidence"},
                       {.name = "- dense"},
                       {.name = "- mixtures of experts"}};
    size_t sources = tallies_of(t, held, source, sum);
    calc_output_printf(out, "\n%-36s%6s%10s%10s%12s\n",
                       held ? "held out, mean error in %" : "fitted to, mean error in %", "n",
                       "assumed", "fitted", "better");
    for (size_t i = 0; i < sources + SUMS; i++) {
        write_tally(out, i < sources ? &source[i] : &sum[i - sources]);
    }
    free(source);
}

static void write_runs_table(calc_output *out, const void *of)
{
    const calc_calibrate_task *t = of;
    const calc_error_groups *fitted = &t->groups[CALC_CALIBRATE_FITTED];
    enum { FEW = 20 /* of one's own runs: all are shown */ };
    bool few = t->args->argument_count > 0 &&
               calc_results_count(&t->view[CALC_CALIBRATE_FITTED], CALC_USE_SCORED) <= FEW;
    for (size_t i = 0; i < t->families; i++) {
        write_family(out, &t->family[i]);
    }
    calc_output_printf(out, "%-42s", "time of a step, errors in %");
    for (int v = 0; v < CALC_CALIBRATE_VIEWS && t->word[v]; v++) {
        calc_output_printf(out, " | %-23s", t->word[v]);
    }
    calc_output_printf(out, "\n%-36s%6s", "", "n");
    for (int v = 0; v < CALC_CALIBRATE_VIEWS && t->word[v]; v++) {
        calc_output_text(out, " |  bias  mean   med   p90");
    }
    calc_output_text(out, "\n");
    for (size_t i = 0; i < fitted->count; i++) {
        if (strcmp(fitted->item[i].by, "set") == 0) {
            write_spreads(out, t, &fitted->item[i]);
        }
    }
    write_runs(out, t, !isnan(t->worst) ? (size_t)t->worst : few ? FEW : 0);
    if (t->plan.held_out) {
        write_side(out, t, false);
        write_side(out, t, true);
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

static void put_run(calc_put *put, const calc_calibrate_task *t, size_t index)
{
    static const char *const keys[CALC_CALIBRATE_VIEWS] = {"assumed_s", "fitted_s", "unseen_s"};
    const calc_result *r = &t->view[CALC_CALIBRATE_FITTED].item[index];
    calc_putf(put, "{id: %s, source: %s, machine: %s, measured_s: %g", calc_result_id(r),
              calc_result_source(r), calc_result_machine(r), r->measured);
    for (int v = 0; v < CALC_CALIBRATE_VIEWS && t->word[v]; v++) {
        const calc_result *of = &t->view[v].item[index];
        bool has = of->use == CALC_USE_SCORED;
        calc_put_number(put, keys[v], has ? of->predicted : (double)NAN);
    }
    if (t->plan.held_out) {
        calc_put_flag(put, "held_out", calc_evidence_is_of(r, t->plan.held_out));
    }
    calc_put_close(put);
}

static void put_tally(calc_put *put, const char *name, const tally *t)
{
    double n = (double)t->count; /* NaN if there are none */
    calc_put_object(put, name, CALC_PUT_LINE);
    calc_putf(put, "n: %zu, better: %zu, assumed: %g, fitted: %g}", t->count, t->better,
              t->assumed / n, t->fitted / n);
}

static void put_side(calc_put *put, const calc_calibrate_task *t, bool held)
{
    tally *source = calc_make(t->results.count + 1, sizeof *source), sum[SUMS] = {{0}};
    size_t sources = tallies_of(t, held, source, sum);
    calc_put_object(put, held ? "held_out" : "fitted_to", CALC_PUT_LINES);
    calc_put_object(put, "sources", CALC_PUT_LINES);
    for (size_t i = 0; i < sources; i++) {
        put_tally(put, source[i].name, &source[i]);
    }
    calc_put_close(put);
    put_tally(put, "all", &sum[0]);
    calc_put_close(put);
    free(source);
}

static void put_runs_report(calc_put *put, const void *of)
{
    const calc_calibrate_task *t = of;
    const calc_error_groups *fitted = &t->groups[CALC_CALIBRATE_FITTED];
    const calc_results *results = &t->view[CALC_CALIBRATE_FITTED];
    calc_putf(put, "families: [\n");
    for (size_t i = 0; i < t->families; i++) {
        put_family(put, &t->family[i]);
    }
    calc_putf(put, "], groups: [\n");
    for (size_t i = 0; i < fitted->count; i++) {
        calc_calibrate_views_put(put, t, &fitted->item[i]);
    }
    calc_put_close(put);
    if (t->plan.held_out) {
        calc_put_object(put, "halves", CALC_PUT_LINES);
        put_side(put, t, false);
        put_side(put, t, true);
        calc_put_close(put);
    }
    calc_put_array(put, "runs", CALC_PUT_LINES);
    for (size_t i = 0; i < results->count; i++) {
        if (results->item[i].use == CALC_USE_SCORED) {
            put_run(put, t, i);
        }
    }
    calc_put_close(put);
}

calc_status calc_calibrate_runs_report(const calc_calibrate_task *t, calc_errors *errors)
{
    return calc_calibrate_report(t, put_runs_report, write_runs_table, t, errors);
}

calc_status calc_calibrate_runs_files(const calc_calibrate_task *t, calc_errors *errors)
{
    bool one = t->families == 1 && t->family[0].family.machines == 1;
    calc_system *ignored = calc_make(1, sizeof *ignored); /* large */
    calc_status status = CALC_OK;
    for (const calc_calibration *c = t->family; c < t->family + t->families; c++) {
        for (size_t m = 0; m < c->family.machines && status == CALC_OK; m++) {
            char path[CALC_FIND_PATH_MAX];
            calc_input input = {0};
            status =
                calc_input_load(&input, CALC_KIND_SYSTEM, ignored, c->family.machine[m], errors);
            if (status == CALC_OK) {
                calc_calibrate_path(t, one, c->family.machine[m], path);
                calc_output *out = calc_write_to(path);
                calc_system_text_write(out, &input.text, c, m, t->date);
                status = calc_output_close(out, errors);
            }
            calc_text_free(&input.text);
        }
    }
    free(ignored);
    return status;
}

/* The calibration of one machine to operators. */
typedef struct job {
    calc_input input;
    calc_system system;
    calc_points points;
    calc_point_calibration calibration;
} job;

/* Those of all machines, each made on its own: large. */
typedef struct jobs {
    job **item;
    size_t count;
} jobs;

static calc_status calibrate(const calc_calibrate_task *t, const char *machine, job *j,
                             calc_errors *errors)
{
    calc_status status = calc_input_load(&j->input, CALC_KIND_SYSTEM, &j->system, machine, errors);
    status = status == CALC_OK ? calc_points_read(&j->points, t->operators, errors) : status;
    status =
        status == CALC_OK ? calc_points_select(&j->points, t->rows, &j->system, errors) : status;
    status = status == CALC_OK
                 ? calc_point_calibrate(&j->calibration, &j->points, machine, &j->system, errors)
                 : status;
    if (status != CALC_OK || !t->into) {
        return status;
    }
    char path[CALC_FIND_PATH_MAX];
    calc_calibrate_path(t, t->machines[0].count == 1, machine, path);
    calc_output *out = calc_write_to(path);
    return calc_output_end(out,
                           calc_point_calibration_write(out, &j->calibration, &j->points,
                                                        &j->input.text, t->date, errors),
                           errors);
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

static void put_jobs(calc_put *put, const void *of)
{
    const jobs *all = of;
    calc_putf(put, "machines: [\n");
    for (size_t i = 0; i < all->count; i++) {
        put_machine(put, &all->item[i]->calibration, &all->item[i]->points);
    }
    calc_put_close(put);
}

static void write_jobs(calc_output *out, const void *of)
{
    const jobs *all = of;
    for (size_t i = 0; i < all->count; i++) {
        calc_output_text(out, i ? "\n" : "");
        write_table(out, &all->item[i]->calibration, &all->item[i]->points);
    }
}

calc_status calc_calibrate_operators(const calc_calibrate_task *t, calc_errors *errors)
{
    calc_status status = CALC_OK;
    jobs all = {calc_make(t->machines[0].count, sizeof(job *)), 0};
    for (; status == CALC_OK && all.count < t->machines[0].count; all.count++) {
        all.item[all.count] = calc_make(1, sizeof(job));
        status = calibrate(t, t->machines[0].item[all.count], all.item[all.count], errors);
    }
    status =
        status == CALC_OK ? calc_calibrate_report(t, put_jobs, write_jobs, &all, errors) : status;
    for (size_t i = 0; i < all.count; i++) {
        calc_text_free(&all.item[i]->input.text);
        calc_points_free(&all.item[i]->points);
        calc_point_calibration_free(&all.item[i]->calibration);
        free(all.item[i]);
    }
    free(all.item);
    return status;
}
