#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/error.h"
#include "calibrate/calibration.h"
#include "cli/calibrate/calibrate_write.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "cli/validate/measured.h"
#include "cli/validate/validate_table.h"

static const char *const starts[] = {"file", "documented", NULL};

#define OPTIONS(X)                                                                                 \
    X(SYSTEM, "system", "NAME[,NAME...]",                                                          \
      .doc = "machines fitted together: constants equal in their files stay equal; repeat for "    \
             "another group",                                                                      \
      .repeated = true)                                                                            \
    X(OPERATORS, "operators", "FILE",                                                              \
      .doc = "calibrate to measured kernels and collectives instead of runs (docs/operators.md)")  \
    CALC_OPT_ROWS(X)                                                                               \
    X(WORST, "worst", "N", CALC_OPT_IS_WHOLE(0, 999999999),                                        \
      .doc = "show the N runs with the largest errors, before and after (all of up to 20 runs of " \
             "one's own)")                                                                         \
    X(FIELDS, "fields", "NAME[,NAME...]",                                                          \
      .doc = "the constants that may change; all if not given")                                    \
    X(START, "start", "WHERE",                                                                     \
      .doc = "what is assumed before: the files' values, or those of docs/validation.md",          \
      .choices = starts, .preset = "file")                                                         \
    X(CROSS, "cross", "BY",                                                                        \
      .doc = "cross-validation: predict each sixth of the models' widths, or each publisher's "    \
             "runs, by a fit without them; of serving also the runs on each machine, every "       \
             "other layout, an engine's later runs",                                               \
      .choices = calc_cross_words, .preset = "none")                                               \
    X(HOLD_OUT, "hold-out", "SOURCE[,SOURCE...]",                                                  \
      .doc = "predict the runs of these tables or publishers (nvidia; the first word of a "        \
             "table's name), or those published since a month (2025-07), but do not fit to them")  \
    X(CONSTANTS, "constants", "N", CALC_OPT_IS_WHOLE(0, 1e9), .was = "most",                       \
      .doc = "change no more than N constants of a family", .preset = "15")                        \
    X(UNDETERMINED, "undetermined", NULL, .was = "all",                                            \
      .doc = "also change constants that the runs do not determine")                               \
    X(INTO, "into", "DIR", .was = "out",                                                           \
      .doc = "write the calibrated files there, NAME.json; one machine: or to a file ending in "   \
             ".json")                                                                              \
    X(RESIDUALS, "residuals", "FILE", .unlisted = true, .output = true,                            \
      .doc = "write each run's cross-validated error, fitted without its model width and without " \
             "its publisher, as CSV: what --band of calc run reads from measured/residuals.csv")   \
    X(JSON, "json", "FILE", .output = true,                                                        \
      .doc = "write constants, groups and every run as JSON")                                      \
    X(DATE, "date", "TEXT", .unlisted = true, .doc = "the date in the files; today if not given")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {{.name = "RUNS",
                                 .optional = true,
                                 .repeated = true,
                                 .doc = "CSV files of measured runs, \"-\" for standard input; the "
                                        "published runs that calc ships if none is given"},
                                {0}};
static const char *const examples[] = {
    "calc calibrate my_runs.csv --system h100_sxm --fields matrix.bfloat16,host.block",
    "calc calibrate my_runs.csv --system mycluster.json --into fitted.json",
    "calc calibrate --system a100_sxm_80g,a100_sxm_40g,vtrain_a100 --cross width --into fitted",
    "calc calibrate --system h100_sxm --start documented --hold-out dgxc,automodel",
    "calc calibrate my_serving_runs.csv --into my_engine.json",
    "calc calibrate serving_runs --start documented --cross later",
    "calc calibrate --system h100_sxm --start documented --hold-out 2025-07",
    "calc calibrate --operators my_operators.csv --system b200 --into my_b200.json",
    NULL};

typedef calc_calibrate_task task;

static const char missing_system[] = "--system is missing: which machines to calibrate";

static const char *read_machines(task *t)
{
    size_t cursor = 0;
    const char *text;
    while ((text = calc_opt_next(t->args, OPT_SYSTEM, &cursor))) {
        if (t->families == CALC_CALIBRATE_FAMILIES) {
            return "--system: too many families";
        }
        if (!calc_list_split(&t->machines[t->families++], text)) {
            return "--system: expected NAME[,NAME...]";
        }
    }
    bool may_serve = t->args->argument_count > 0 && !calc_opt_value(t->args, OPT_OPERATORS);
    return t->families > 0 || may_serve ? NULL : missing_system;
}

/* @return the mistake, written to `complaint`; NULL if there is none */
static const char *read_fields(task *t, char complaint[256])
{
    const char *text = calc_opt_value(t->args, OPT_FIELDS);
    if (!text) {
        return NULL;
    }
    if (!calc_list_split(&t->fields, text)) {
        return "--fields: expected NAME[,NAME...]";
    }
    for (size_t i = 0; i < t->fields.count; i++) {
        if (!calc_constant_find(t->fields.item[i])) {
            const char *names[CALC_LIST_MAX + 1] = {NULL};
            for (size_t k = 0; k < CALC_LIST_MAX && calc_constant_at(k); k++) {
                names[k] = calc_constant_at(k)->name;
            }
            const char *nearest = calc_nearest(t->fields.item[i], names);
            snprintf(complaint, 256,
                     "--fields: \"%.60s\" is not a constant that can be calibrated%s%s%s",
                     t->fields.item[i], nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
            return complaint;
        }
    }
    t->plan.fields = t->fields.item;
    return NULL;
}

/* Options for runs, not for operators; and what is said of those that are not for runs of serving,
 * each of whose engines is calibrated separately. */
static const struct {
    int opt;
    const char *complaint;
} of_runs[] = {
    {OPT_START, NULL},
    {OPT_CROSS, NULL},
    {OPT_HOLD_OUT, NULL},
    {OPT_WORST, "--worst: runs of serving are shown by calc validate"},
    {OPT_FIELDS, "--fields: engines of serving have few traits, all of them are fitted"},
    {OPT_CONSTANTS, "--constants: engines of serving have few traits, all of them are fitted"},
    {OPT_UNDETERMINED,
     "--undetermined: engines of serving have few traits, all of them are fitted"},
    {OPT_RESIDUALS, "--residuals: no band is known of serving"}};

/* Options for runs only, or for operators only. @return the mistake; NULL if there is none */
static const char *check_operators(const task *t)
{
    bool runs = false;
    for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++) {
        runs = runs || calc_opt_given(t->args, of_runs[i].opt);
    }
    return !t->operators ? t->rows ? "--rows is of --operators; --worst N shows runs" : NULL
           : runs        ? "--operators takes --system, --rows, --into, --json and --date only"
           : t->args->argument_count > 0 ? "--operators: files of runs are calibrated to apart"
           : t->families > 1             ? "--operators: name the machines in one --system"
                                         : NULL;
}

/* The date of creation that files state: the given one, or today, or the day of SOURCE_DATE_EPOCH,
 * for reproducible output: "2026-11-21". @return the mistake; NULL if there is none */
static const char *read_date(task *t)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH"), *date = calc_opt_value(t->args, OPT_DATE);
    time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm parts;
    if (date) {
        snprintf(t->date, sizeof t->date, "%s", date);
    } else if (gmtime_r(&now, &parts)) {
        strftime(t->date, sizeof t->date, "%Y-%m-%d", &parts);
    }
    return date && (strlen(date) >= sizeof t->date || strpbrk(date, "\"\\"))
               ? "--date: a short text without quotes"
               : NULL;
}

/* Checks the options. @return the mistake; NULL if there is none */
static const char *read_options(task *t, char complaint[256])
{
    const char *held = calc_opt_value(t->args, OPT_HOLD_OUT);
    const char *cross = calc_opt_value(t->args, OPT_CROSS);
    t->operators = calc_opt_value(t->args, OPT_OPERATORS);
    t->rows = calc_opt_value(t->args, OPT_ROWS);
    t->into = calc_opt_value(t->args, OPT_INTO);
    t->json = calc_opt_value(t->args, OPT_JSON);
    t->worst = calc_opt_given(t->args, OPT_WORST) ? calc_opt_real(t->args, OPT_WORST) : (double)NAN;
    t->engines.documented = strcmp(calc_opt_value(t->args, OPT_START), "documented") == 0;
    while (strcmp(calc_cross_words[t->plan.cross], cross) != 0) {
        t->plan.cross++;
    }
    t->engines.cross = t->plan.cross;
    t->plan.most = (size_t)calc_opt_real(t->args, OPT_CONSTANTS);
    t->plan.all = calc_opt_value(t->args, OPT_UNDETERMINED) != NULL;
    t->plan.held_out = t->engines.held_out = held ? t->held_out.item : NULL;
    const char *wrong = read_machines(t);
    wrong = wrong ? wrong : read_fields(t, complaint);
    wrong = !wrong && held && !calc_list_split(&t->held_out, held)
                ? "--hold-out: expected SOURCE[,SOURCE...]"
                : wrong;
    wrong = wrong ? wrong : check_operators(t);
    wrong = wrong ? wrong : read_date(t);
    return wrong || t->args->argument_count <= CALC_MEASURED_FILES ? wrong
                                                                   : "too many files of runs";
}

/* Whether options suit runs of serving. @return the mistake; NULL if there is none */
static const char *check_serving(const task *t)
{
    for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++) {
        if (of_runs[i].complaint && calc_opt_given(t->args, of_runs[i].opt)) {
            return of_runs[i].complaint;
        }
    }
    return t->families > 1 ? "--system: name the machines of serving in one list"
           : t->plan.cross == CALC_CROSS_WIDTH ? "--cross: runs of serving have no folds by width"
                                               : NULL;
}

/* Calibrates each family, and predicts all runs before and after. */
static calc_status calibrate_families(task *t, calc_errors *errors)
{
    double **predicted = t->predicted;
    calc_status status = CALC_OK;
    const char *const words[] = {"assumed", "fitted", "unseen"};
    memcpy(t->word, words, sizeof words);
    t->views = t->plan.cross != CALC_CROSS_NONE ? CALC_CALIBRATE_VIEWS : CALC_CALIBRATE_UNSEEN;
    calc_calibrate_views_start(t);
    for (size_t f = 0; f < t->families && status == CALC_OK; f++) {
        status = calc_calibration_start(&t->family[f], t->machines[f].item, t->machines[f].count,
                                        &t->measured.all, errors);
        status = status == CALC_OK ? calc_calibrate(&t->family[f], &t->plan, &t->measured.all,
                                                    predicted[CALC_CALIBRATE_ASSUMED],
                                                    predicted[CALC_CALIBRATE_UNSEEN], errors)
                                   : status;
    }
    calc_results_free(&t->results);
    status = status == CALC_OK ? calc_results_make(&t->results, &t->measured.all, errors) : status;
    for (size_t i = 0; status == CALC_OK && i < t->results.count; i++) {
        bool has = !isnan(predicted[CALC_CALIBRATE_ASSUMED][i]);
        predicted[CALC_CALIBRATE_FITTED][i] = has ? t->results.item[i].predicted : (double)NAN;
    }
    calc_calibrate_views_make(t, &t->measured.sets);
    return status;
}

/* Writes the `most` runs with the largest errors after the fit, with their predictions before and
 * after, and a line if memory was measured, because no constant of a machine changes memory. */
static void write_worst(calc_output *out, const task *t, size_t most)
{
    const calc_results *after = &t->view[CALC_CALIBRATE_FITTED];
    const calc_result *r = NULL;
    size_t memory = 0;
    for (size_t i = 0; i < most && (r = calc_validate_next_worst(after, r, false)); i++) {
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
static void place(const calc_runs_row *row, const task *t, calc_errors *errors)
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
static bool is_another_unit(const task *t, calc_errors *errors)
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

/* Report the constant of a family that left the range of machines, and the run that pulls it there,
 * with the run's place; and times that are all far from what was predicted before, as in another
 * unit. @return whether the fit is refused */
static bool refuse(const task *t, calc_errors *errors)
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
    calc_output_text(out, "\n");
}

/* Errors of one side: of a source; or of all, of those of high confidence, of these dense models
 * and of these mixtures of experts, by `sum` from 0 on. */
static calc_spread side_of(const calc_results *view, const char *const *held_out, bool held,
                           const char *source, size_t sum)
{
    double *error = calc_make(view->count + 1, sizeof *error);
    size_t count = 0;
    for (const calc_result *r = view->item; r < view->item + view->count; r++) {
        bool high = strcmp(calc_result_confidence(r), "high") == 0;
        bool experts = strcmp(calc_result_kind(r), "MoE") == 0;
        if (r->use == CALC_USE_SCORED && calc_evidence_is_of(r, held_out) == held &&
            (source ? strcmp(calc_result_source(r), source) == 0
                    : sum == 0 || (high && (sum == 1 || experts == (sum == 3))))) {
            error[count++] = r->error;
        }
    }
    const calc_spread spread = calc_spread_of(error, count);
    free(error);
    return spread;
}

static void write_side(calc_output *out, const task *t, bool held)
{
    static const char *const sums[] = {"all", "all high confidence", "- dense",
                                       "- mixtures of experts"};
    const calc_error_groups *groups = &t->groups[CALC_CALIBRATE_FITTED];
    calc_calibrate_head(out, held ? "held out" : "fitted to", t->word, CALC_CALIBRATE_UNSEEN);
    for (size_t i = 0; i < groups->count + sizeof sums / sizeof *sums; i++) {
        const calc_error_group *g = i < groups->count ? &groups->item[i] : NULL;
        calc_spread of[CALC_CALIBRATE_UNSEEN] = {{0}};
        for (int v = 0; v < CALC_CALIBRATE_UNSEEN && (!g || strcmp(g->by, "source") == 0); v++) {
            of[v] =
                side_of(&t->view[v], t->plan.held_out, held, g ? g->name : NULL, i - groups->count);
        }
        if (of[0].count > 0) {
            calc_calibrate_row(out, g ? g->name : sums[i - groups->count], of,
                               CALC_CALIBRATE_UNSEEN);
        }
    }
}

static void write_runs_table(calc_output *out, const void *of)
{
    static const char *const by[] = {"set", NULL};
    const task *t = of;
    enum { FEW = 20 /* of one's own runs: all are shown */ };
    bool few = t->args->argument_count > 0 &&
               calc_results_count(&t->view[CALC_CALIBRATE_FITTED], CALC_USE_SCORED) <= FEW;
    for (size_t i = 0; i < t->families; i++) {
        write_family(out, &t->family[i]);
    }
    calc_calibrate_groups_write(out, t, CALC_QUANTITY_STEP_TIME, "time of a step", by);
    write_worst(out, t, !isnan(t->worst) ? (size_t)t->worst : few ? FEW : 0);
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

static void put_run(calc_put *put, const task *t, size_t index)
{
    static const char *const keys[CALC_CALIBRATE_VIEWS] = {"assumed_s", "fitted_s", "unseen_s"};
    const calc_result *r = &t->view[CALC_CALIBRATE_FITTED].item[index];
    assert(t->views <= CALC_CALIBRATE_VIEWS);
    calc_putf(put, "{id: %s, source: %s, machine: %s, measured_s: %g", calc_result_id(r),
              calc_result_source(r), calc_result_machine(r), r->measured);
    for (int v = 0; v < t->views; v++) {
        const calc_result *of = &t->view[v].item[index];
        bool has = of->use == CALC_USE_SCORED;
        calc_put_number(put, keys[v], has ? of->predicted : (double)NAN);
    }
    if (t->plan.held_out) {
        calc_put_flag(put, "held_out", calc_evidence_is_of(r, t->plan.held_out));
    }
    calc_put_close(put);
}

static void put_runs_report(calc_put *put, const void *of)
{
    const task *t = of;
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
    calc_put_array(put, "runs", CALC_PUT_LINES);
    for (size_t i = 0; i < results->count; i++) {
        if (results->item[i].use == CALC_USE_SCORED) {
            put_run(put, t, i);
        }
    }
    calc_put_close(put);
}

/* The file of each machine with its calibrated values. */
static calc_status write_machines(const task *t, calc_errors *errors)
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

/* Writes the files, unless the fit is refused, and the report. */
static calc_exit write_runs(task *t)
{
    const char *residuals = calc_opt_value(t->args, OPT_RESIDUALS);
    calc_errors errors = {0}, refusal = {0};
    bool refused = refuse(t, &refusal);
    calc_status status = !refused && t->into ? write_machines(t, &errors) : CALC_OK;
    if (status == CALC_OK && !refused && residuals) {
        calc_output *out = calc_write_to(residuals);
        status = calc_output_end(
            out,
            calc_unseen_write(out, t->family, t->families, &t->measured.all, &t->results, &errors),
            &errors);
    }
    status = status == CALC_OK
                 ? calc_calibrate_report(t, put_runs_report, write_runs_table, t, &errors)
                 : status;
    if (status != CALC_OK) {
        return calc_complain_failure(&errors);
    }
    (void)calc_complain_errors(&refusal);
    return refused ? CALC_EXIT_INFEASIBLE : CALC_EXIT_OK;
}

static calc_exit calibrate(task *t)
{
    calc_errors errors = {0};
    /* The machine of rows that name none, unless more than one is calibrated. */
    bool one = t->families == 1 && t->machines[0].count == 1;
    const char *machine = one ? t->machines[0].item[0] : NULL;
    calc_status status = calc_measured_read(&t->measured, t->args, machine, &errors);
    const char *wrong = status != CALC_OK    ? NULL
                        : t->measured.serves ? check_serving(t)
                        : t->families == 0   ? missing_system
                        : t->plan.cross > CALC_CROSS_SOURCE
                            ? "--cross: runs of training have folds by width and source"
                            : NULL;
    if (wrong) {
        return calc_complain_usage(t->args->command, wrong);
    }
    if (status == CALC_OK && t->measured.serves) {
        t->engines.engines = &t->measured.engines;
        t->engines.machine = t->families > 0 ? t->machines[0].item : NULL;
        status = calc_calibrate_engines(t, &errors);
        return status == CALC_OK ? CALC_EXIT_OK : calc_complain_failure(&errors);
    }
    for (size_t f = 0; f < t->families; f++) {
        for (size_t m = 0; m < t->machines[f].count; m++) {
            t->machines[f].item[m] = calc_measured_machine(&t->measured, t->machines[f].item[m]);
        }
    }
    if (status == CALC_OK && t->engines.documented) {
        char path[CALC_FIND_PATH_MAX];
        status = calc_find_data("measured/starts.csv", path, &errors);
        status = status == CALC_OK ? calc_constant_starts_read(&t->starts, path, &errors) : status;
        t->plan.starts = &t->starts;
    }
    status = status == CALC_OK ? calc_results_make(&t->results, &t->measured.all, &errors) : status;
    status = status == CALC_OK ? calc_calibrate_held_out(t, &errors) : status;
    status = status == CALC_OK ? calibrate_families(t, &errors) : status;
    return status == CALC_OK ? write_runs(t) : calc_complain_failure(&errors);
}

static calc_exit run(const calc_args *args)
{
    task *t = calc_make(1, sizeof *t); /* the machines make it too large for the stack */
    char complaint[256];
    t->args = args;
    const char *wrong = read_options(t, complaint);
    calc_errors errors = {0};
    calc_exit result = wrong           ? calc_complain_usage(args->command, wrong)
                       : !t->operators ? calibrate(t)
                       : calc_calibrate_operators(t, &errors) == CALC_OK
                           ? CALC_EXIT_OK
                           : calc_complain_failure(&errors);
    calc_calibrate_free(t);
    free(t);
    return result;
}

const calc_command calc_cmd_calibrate = {
    .name = "calibrate",
    .summary = "fit constants of machines and engines to measured runs or operators",
    .detail =
        "Fits the constants of machines that no data sheet states to measured times of "
        "steps: robust least squares on the logarithm of the error, with what was assumed "
        "as a normal prior. Only constants that the files give, and that the runs "
        "determine, are changed; the others are named and stay. A fit that ends where no "
        "machine is known is refused, with status 1 and the run that pulls it there. RUNS are "
        "those of calc validate: its --template writes an example. A machine is the path of "
        "its file, or a name; one in systems/ of a directory of CALC_PATH comes before the "
        "one that calc ships. "
        "docs/validation.md has the method and the values that calc starts from. With "
        "--operators it fits rates of kernels and networks, of training and of serving, to "
        "single operators instead: docs/operators.md. To runs of serving it fits the traits of "
        "their engines, on all "
        "machines or "
        "those of --system: docs/validation-serving.md.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
