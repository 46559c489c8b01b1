#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "calibrate/calibration.h"
#include "cli/calibrate/calibrate_write.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"
#include "cli/validate/measured.h"

/* The date of creation that files state. */

enum { DATE_SIZE = 32 };

/* The given text; without one, today, or the day of SOURCE_DATE_EPOCH, for reproducible output:
 * "2026-11-21".
 * @param given  NULL: none
 * @param out    filled, DATE_SIZE bytes */
static void date_of(const char *given, char *out)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm parts;
    if (given) {
        snprintf(out, DATE_SIZE, "%s", given);
    } else if (gmtime_r(&now, &parts)) {
        strftime(out, DATE_SIZE, "%Y-%m-%d", &parts);
    }
}

static const char *const starts[] = {"file", "documented", NULL};
static const char *const crosses[] = {"none",   "width", "source", "machine", "model",
                                      "engine", "half",  "later",  NULL};

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
      .choices = crosses, .preset = "none")                                                        \
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

enum { FAMILIES_MAX = 8 };

/* State of a calibration. */
typedef struct task {
    const calc_args *args;
    calc_measured measured;
    calc_list machines[FAMILIES_MAX];
    calc_list fields, held_out;
    calc_calibration family[FAMILIES_MAX];
    size_t families;
    calc_calibration_plan plan;
    calc_constant_starts starts;
    bool documented; /* start from them */
    calc_calibrate_views views;
    char date[DATE_SIZE];
    char complaint[256];
    double rows; /* number of runs shown one by one; NaN: not given */
    const char *cross;
} task;

static const char missing_system[] = "--system is missing: which machines to calibrate";

static const char *read_machines(task *t)
{
    size_t cursor = 0;
    const char *text;
    while ((text = calc_opt_next(t->args, OPT_SYSTEM, &cursor))) {
        if (t->families == FAMILIES_MAX) {
            return "--system: too many families";
        }
        if (!calc_list_split(&t->machines[t->families++], text)) {
            return "--system: expected NAME[,NAME...]";
        }
    }
    bool may_serve = t->args->argument_count > 0 && !calc_opt_value(t->args, OPT_OPERATORS);
    return t->families > 0 || may_serve ? NULL : missing_system;
}

static const char *read_fields(task *t)
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
            snprintf(t->complaint, sizeof t->complaint,
                     "--fields: \"%.60s\" is not a constant that can be calibrated%s%s%s",
                     t->fields.item[i], nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
            return t->complaint;
        }
    }
    t->plan.fields = t->fields.item;
    return NULL;
}

static bool is_of(const calc_result *result, const char *name)
{
    return calc_evidence_is_of(result, (const char *const[]){name, NULL});
}

/* Options for runs only, or for operators only. */
static const char *check_operators(const task *t)
{
    static const int of_runs[] = {OPT_FIELDS,    OPT_START,        OPT_CROSS,     OPT_WORST,
                                  OPT_CONSTANTS, OPT_UNDETERMINED, OPT_RESIDUALS, OPT_HOLD_OUT};
    if (!calc_opt_value(t->args, OPT_OPERATORS)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++) {
        size_t cursor = 0;
        if (calc_opt_next(t->args, of_runs[i], &cursor)) {
            return "--operators takes --system, --rows, --into, --json and --date only";
        }
    }
    return t->args->argument_count > 0 ? "--operators: files of runs are calibrated to apart"
           : t->families > 1           ? "--operators: name the machines in one --system"
                                       : NULL;
}

/* Checks the options. @return the mistake; NULL if there is none */
static const char *read_options(task *t)
{
    const char *complaint = read_machines(t);
    complaint = complaint ? complaint : read_fields(t);
    const char *held = calc_opt_value(t->args, OPT_HOLD_OUT);
    complaint = complaint || !held || calc_list_split(&t->held_out, held)
                    ? complaint
                    : "--hold-out: expected SOURCE[,SOURCE...]";
    t->plan.held_out = held ? t->held_out.item : NULL;
    complaint = complaint ? complaint : check_operators(t);
    if (!complaint && calc_opt_value(t->args, OPT_ROWS) &&
        !calc_opt_value(t->args, OPT_OPERATORS)) {
        complaint = "--rows is of --operators; --worst N shows runs";
    }
    t->rows = calc_opt_given(t->args, OPT_WORST) ? calc_opt_real(t->args, OPT_WORST) : (double)NAN;
    const char *cross = calc_opt_value(t->args, OPT_CROSS);
    t->cross = cross;
    t->plan.cross = strcmp(cross, "width") == 0    ? CALC_CROSS_WIDTH
                    : strcmp(cross, "source") == 0 ? CALC_CROSS_SOURCE
                                                   : CALC_CROSS_NONE;
    t->documented = strcmp(calc_opt_value(t->args, OPT_START), "documented") == 0;
    t->plan.most = (size_t)calc_opt_real(t->args, OPT_CONSTANTS);
    t->plan.all = calc_opt_value(t->args, OPT_UNDETERMINED) != NULL;
    date_of(calc_opt_value(t->args, OPT_DATE), t->date);
    const char *date = calc_opt_value(t->args, OPT_DATE);
    if (!complaint && date && (strlen(date) >= DATE_SIZE || strpbrk(date, "\"\\"))) {
        complaint = "--date: a short text without quotes";
    }
    return complaint                                       ? complaint
           : t->args->argument_count > CALC_MEASURED_FILES ? "too many files of runs"
                                                           : NULL;
}

static calc_status predict_all(task *t, calc_errors *errors)
{
    calc_measured *m = &t->measured;
    calc_results_free(&t->views.results);
    return calc_results_make(&t->views.results, m->runs, m->files, &m->remarks, &m->systems,
                             errors);
}

static calc_status calibrate_families(task *t, calc_errors *errors)
{
    calc_measured *m = &t->measured;
    calc_calibration_runs runs = {m->runs, m->files, &m->remarks, &m->systems};
    calc_status status = CALC_OK;
    for (size_t f = 0; f < t->families && status == CALC_OK; f++) {
        status = calc_calibration_start(&t->family[f], t->machines[f].item, t->machines[f].count,
                                        &runs, errors);
        status = status == CALC_OK
                     ? calc_calibrate(&t->family[f], &t->plan, &runs,
                                      t->views.predicted[CALC_CALIBRATE_ASSUMED],
                                      t->views.predicted[CALC_CALIBRATE_UNSEEN], errors)
                     : status;
    }
    return status;
}

static calc_status make_views(task *t, calc_errors *errors)
{
    calc_status status = predict_all(t, errors);
    for (size_t i = 0; status == CALC_OK && i < t->views.results.count; i++) {
        if (!isnan(t->views.predicted[CALC_CALIBRATE_ASSUMED][i])) {
            t->views.predicted[CALC_CALIBRATE_FITTED][i] = t->views.results.item[i].predicted;
        }
    }
    return status == CALC_OK ? calc_calibrate_views_make(&t->views, &t->measured.sets, errors)
                             : status;
}

static calc_status write_report(const task *t, calc_errors *errors)
{
    calc_calibrate_report report = {.family = t->family,
                                    .families = t->families,
                                    .unseen = t->plan.cross != CALC_CROSS_NONE,
                                    .held_out = t->plan.held_out,
                                    .views = &t->views};
    bool few = t->args->argument_count > 0 &&
               calc_calibrate_runs_count(&report) <= CALC_CALIBRATE_RUNS_FEW;
    report.rows = !isnan(t->rows) ? (size_t)t->rows : few ? CALC_CALIBRATE_RUNS_FEW : 0;
    const char *json = calc_opt_value(t->args, OPT_JSON);
    calc_status status = CALC_OK;
    if (json) {
        calc_output *out = calc_write_to(json);
        calc_calibrate_write_json(out, &report);
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK && !calc_opt_takes_stdout(t->args)) {
        calc_output *out = calc_write_to("-");
        calc_calibrate_write_table(out, &report);
        status = calc_output_close(out, errors);
    }
    return status;
}

/* Calibrates to operators, each machine separately. */
static calc_exit calibrate_operators(const task *t)
{
    const calc_args *args = t->args;
    calc_calibrate_operators_task o = {.operators = calc_opt_value(args, OPT_OPERATORS),
                                       .rows = calc_opt_value(args, OPT_ROWS),
                                       .machine = t->machines[0].item,
                                       .machines = t->machines[0].count,
                                       .out = calc_opt_value(args, OPT_INTO),
                                       .json = calc_opt_value(args, OPT_JSON),
                                       .date = t->date};
    return calc_calibrate_operators(&o);
}

/* Calibrates to serving runs, each engine separately. */
static calc_exit calibrate_engines(task *t)
{
    static const struct {
        int opt;
        const char *complaint;
    } of_training[] = {
        {OPT_WORST, "--worst: runs of serving are shown by calc validate"},
        {OPT_FIELDS, "--fields: engines of serving have few traits, all of them are fitted"},
        {OPT_CONSTANTS, "--constants: engines of serving have few traits, all of them are fitted"},
        {OPT_UNDETERMINED,
         "--undetermined: engines of serving have few traits, all of them are fitted"},
        {OPT_RESIDUALS, "--residuals: no band is known of serving"}};
    for (size_t i = 0; i < sizeof of_training / sizeof *of_training; i++) {
        size_t cursor = 0;
        if (calc_opt_next(t->args, of_training[i].opt, &cursor)) {
            return calc_complain_usage(t->args->command, of_training[i].complaint);
        }
    }
    if (t->plan.cross == CALC_CROSS_WIDTH || t->families > 1) {
        return calc_complain_usage(
            t->args->command, t->families > 1 ? "--system: name the machines of serving in one list"
                                              : "--cross: runs of serving have no folds by width");
    }
    calc_calibrate_engines_task asked = {
        .measured = &t->measured,
        .plan = {.engines = &t->measured.engines,
                 .documented = t->documented,
                 .machine = t->families > 0 ? t->machines[0].item : NULL,
                 .held_out = t->plan.held_out},
        .out = calc_opt_value(t->args, OPT_INTO),
        .json = calc_opt_value(t->args, OPT_JSON),
        .quiet = calc_opt_takes_stdout(t->args)};
    while (strcmp(calc_engine_cross_word(asked.plan.cross), t->cross) != 0) {
        asked.plan.cross++;
    }
    calc_errors errors = {0};
    calc_status status = calc_calibrate_engines(&asked, &errors);
    return status == CALC_OK ? CALC_EXIT_OK : calc_complain_failure(&errors);
}

static calc_exit calibrate(task *t)
{
    calc_errors errors = {0};
    /* The machine of rows that name none, unless more than one is calibrated. */
    bool one = t->families == 1 && t->machines[0].count == 1;
    const char *machine = one ? t->machines[0].item[0] : NULL;
    calc_status status = calc_measured_read(&t->measured, t->args, machine, &errors);
    if (status == CALC_OK && t->measured.serves) {
        return calibrate_engines(t);
    }
    if (status == CALC_OK && t->families == 0) {
        return calc_complain_usage(t->args->command, missing_system);
    }
    if (status == CALC_OK && t->plan.cross == CALC_CROSS_NONE && strcmp(t->cross, "none") != 0) {
        return calc_complain_usage(t->args->command,
                                   "--cross: runs of training have folds by width and source");
    }
    for (size_t f = 0; f < t->families; f++) {
        for (size_t m = 0; m < t->machines[f].count; m++) {
            t->machines[f].item[m] = calc_measured_machine(&t->measured, t->machines[f].item[m]);
        }
    }
    if (status == CALC_OK && t->documented) {
        char path[CALC_FIND_PATH_MAX];
        status = calc_find_data("measured/starts.csv", path, &errors);
        status = status == CALC_OK ? calc_constant_starts_read(&t->starts, path, &errors) : status;
        t->plan.starts = &t->starts;
    }
    status = status == CALC_OK ? predict_all(t, &errors) : status;
    status =
        status == CALC_OK
            ? calc_calibrate_held_out(&t->views.results, t->plan.held_out, is_of,
                                      "calc validate --json names the source of each run", &errors)
            : status;
    calc_calibrate_views_start(&t->views);
    status = status == CALC_OK ? calibrate_families(t, &errors) : status;
    status = status == CALC_OK ? make_views(t, &errors) : status;
    calc_errors refusal = {0};
    bool refused = status == CALC_OK && calc_calibrate_runs_refuse(t->family, t->families,
                                                                   &t->measured, t->args, &refusal);
    status = status == CALC_OK && !refused && calc_opt_value(t->args, OPT_INTO)
                 ? calc_calibrate_files_write(t->family, t->families,
                                              calc_opt_value(t->args, OPT_INTO), t->date, &errors)
                 : status;
    if (status == CALC_OK && !refused && calc_opt_value(t->args, OPT_RESIDUALS)) {
        calc_measured *m = &t->measured;
        calc_calibration_runs runs = {m->runs, m->files, &m->remarks, &m->systems};
        calc_output *out = calc_write_to(calc_opt_value(t->args, OPT_RESIDUALS));
        status = calc_output_end(
            out, calc_unseen_write(out, t->family, t->families, &runs, &t->views.results, &errors),
            &errors);
    }
    status = status == CALC_OK ? write_report(t, &errors) : status;
    if (status != CALC_OK) {
        return calc_complain_failure(&errors);
    }
    (void)calc_complain_errors(&refusal);
    return refused ? CALC_EXIT_INFEASIBLE : CALC_EXIT_OK;
}

static void free_task(task *t)
{
    calc_measured_free(&t->measured);
    calc_calibrate_views_free(&t->views);
    calc_constant_starts_free(&t->starts);
    free(t);
}

static calc_exit run(const calc_args *args)
{
    task *t = calc_make(1, sizeof *t); /* the machines make it too large for the stack */
    t->args = args;
    const char *complaint = read_options(t);
    calc_exit result = complaint ? calc_complain_usage(args->command, complaint)
                       : calc_opt_value(args, OPT_OPERATORS) ? calibrate_operators(t)
                                                             : calibrate(t);
    free_task(t);
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
