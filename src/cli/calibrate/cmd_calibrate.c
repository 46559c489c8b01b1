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

/* Options for runs only, or for operators only. */
static const char *check_operators(const task *t)
{
    bool runs = false;
    static const int of_runs[] = {OPT_FIELDS,    OPT_START,        OPT_CROSS,     OPT_WORST,
                                  OPT_CONSTANTS, OPT_UNDETERMINED, OPT_RESIDUALS, OPT_HOLD_OUT};
    for (size_t i = 0; i < sizeof of_runs / sizeof *of_runs; i++) {
        runs = runs || calc_opt_given(t->args, of_runs[i]);
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

/* Whether options suit runs of serving, each of whose engines is calibrated separately.
 * @return the mistake; NULL if there is none */
static const char *check_serving(const task *t)
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
        if (calc_opt_given(t->args, of_training[i].opt)) {
            return of_training[i].complaint;
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
    t->word[CALC_CALIBRATE_ASSUMED] = "assumed";
    t->word[CALC_CALIBRATE_FITTED] = "fitted";
    t->word[CALC_CALIBRATE_UNSEEN] = t->plan.cross != CALC_CROSS_NONE ? "unseen" : NULL;
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

/* Writes the files, unless the fit is refused, and the report. */
static calc_exit write_runs(task *t)
{
    const char *residuals = calc_opt_value(t->args, OPT_RESIDUALS);
    calc_errors errors = {0}, refusal = {0};
    bool refused = calc_calibrate_runs_refuse(t, &refusal);
    calc_status status = !refused && t->into ? calc_calibrate_runs_files(t, &errors) : CALC_OK;
    if (status == CALC_OK && !refused && residuals) {
        calc_output *out = calc_write_to(residuals);
        status = calc_output_end(
            out,
            calc_unseen_write(out, t->family, t->families, &t->measured.all, &t->results, &errors),
            &errors);
    }
    status = status == CALC_OK ? calc_calibrate_runs_report(t, &errors) : status;
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
