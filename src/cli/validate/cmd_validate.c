#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "calibrate/points.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/validate/measured.h"
#include "cli/validate/validate_table.h"
#include "io/csv_table.h"
#include "io/json_put.h"
#include "report/page.h"
#include "spec/field.h"
#include "spec/format.h"
#include "validate/error_groups.h"

/* Errors of predictions with constants fitted without the run, and of those fitted to what was
 * published before it; null for runs that nothing was fitted to, or that are older. */
static void put_unseen(calc_put *put, const calc_result *r, const calc_validation *v)
{
    static const char *const keys[] = {
#define CALC_X(name, value, fold) [CALC_UNSEEN_##name] = #value,
        CALC_UNSEEN_LIST(CALC_X)
#undef CALC_X
    };
    const calc_residual *own = calc_residuals_find(&v->residuals, calc_result_id(r), r->quantity);
    for (int i = 0; i < CALC_UNSEEN_CROSSED; i++) {
        calc_put_rounded(put, keys[i], own ? exp(-own->value[i]) - 1 : (double)NAN, 4);
    }
    const calc_forecast *forecast =
        r->quantity == CALC_QUANTITY_STEP_TIME
            ? calc_forecasts_find(&v->forecasts, calc_result_id(r), NULL)
            : NULL;
    calc_put_rounded(put, "forecast", forecast ? exp(-forecast->value) - 1 : (double)NAN, 4);
    if (forecast) {
        calc_put_text(put, "forecast_before", forecast->before);
    }
}

static void put_row(calc_put *put, const calc_result *r, const calc_validation *v)
{
    const calc_assumptions *assumed =
        r->serving ? &r->serving->map.assumed : &r->prediction->map.assumed;
    const char *dtype = r->serving ? r->serving->map.row->weight_dtype : NULL;
    if (!r->serving) {
        const calc_strategy *s = &r->prediction->map.exec.strategy;
        dtype = calc_datatype_names[calc_format_datatype(s->matrix_datatype, s->datatype)];
    }
    calc_putf(put, "{id: %s, status: %s, quantity: %s, measured: %g, predicted: %g, error: %g",
              calc_result_id(r), calc_use_words[r->use], calc_quantity_words[r->quantity],
              r->measured, r->predicted, r->error);
    put_unseen(put, r, v);
    calc_putf(put, "source: %s, machine: %s, model: %s, kind: %s, dtype: %s, confidence: %s",
              calc_result_source(r), calc_result_machine(r), calc_result_model(r),
              calc_result_kind(r), dtype, calc_result_confidence(r));
    const calc_exec *e = r->serving ? &r->serving->map.exec : &r->prediction->map.exec;
    const char *reason = r->serving ? r->serving->map.reason : r->prediction->map.reason;
    if (!reason) {
        calc_putf(put,
                  "gpus: %jd, tp: %jd, pp: %jd, dp: %jd, cp: %jd, ep: %jd, micro_batch: %jd, "
                  "chunks: %jd",
                  e->num_procs, e->strategy.tensor_par, e->pipeline_par, e->strategy.data_par,
                  e->strategy.context_par, e->strategy.expert_par, e->microbatch_size,
                  e->pipeline_interleaving);
    }
    if (r->serving && !reason) {
        /* Additional columns of serving runs. */
        const calc_serving_map *map = &r->serving->map;
        calc_putf(
            put,
            "engine: %s, regime: %s, period: %s, requests: %g, prompt_size: %jd, generate_size: "
            "%jd, prefill_gpus: %jd",
            calc_result_engine(r), calc_result_regime(r), calc_result_period(r), map->requests,
            map->exec.inference.prompt_size, map->exec.inference.generate_size,
            map->exec.inference.prefill_procs);
    }
    calc_putf(put, "remark: %s, assumptions: [", r->remark);
    for (int i = 0; i < assumed->count; i++) {
        calc_put_text(put, NULL, assumed->text[i]);
    }
    calc_putf(put, "]}");
}

static void put_group(calc_put *put, const calc_error_group *g)
{
    calc_putf(put, "{by: %s, name: %s, quantity: %s", g->by, g->name,
              calc_quantity_words[g->quantity]);
    calc_put_spread(put, &g->spread);
    calc_put_ranking(put, &g->ranking);
    if (g->shared > 0) {
        calc_putf(put, "shared: %zu, mean_abs_shared: %g, mean_abs_baseline: %g", g->shared,
                  g->mean_abs_now, g->mean_abs_then);
    }
    calc_put_close(put);
}

static void put_features(calc_put *put, const calc_features *f)
{
    for (size_t i = 0; i < f->options; i++) {
        const calc_features_option *o = &f->option[i];
        calc_putf(put,
                  "{quantity: %s, option: %s, moved: %zu, agreed: %zu, missed: %zu, still: %zu, "
                  "stayed: %zu, kendall_tau: %g, ratio_median: %g, regret_mean: %g",
                  calc_quantity_words[f->quantity], o->name, o->moved, o->agreed, o->missed,
                  o->still, o->stayed, o->tau, o->ratio, o->regret);
        if (o->has_wrong) {
            const calc_features_pair *p = &f->pair[o->wrong];
            calc_putf(put, "wrong: {from: %s, to: %s, measured: %g, predicted: %g}",
                      calc_features_id(f, p->from), calc_features_id(f, p->to), p->measured,
                      p->predicted);
        }
        calc_put_close(put);
    }
}

static void put_peers(calc_put *put, const calc_peers *peers)
{
    calc_put_array(put, "peers", CALC_PUT_LINES);
    for (size_t i = 0; i < peers->count; i++) {
        const calc_peer *p = &peers->item[i];
        calc_putf(put,
                  "{simulator: %s, machine: %s, quantity: %s, n: %zu, mean_abs: %g, worst_abs: %g, "
                  "calc_n: %zu, calc_mean_abs: %g, calc_worst_abs: %g, note: %s}",
                  p->simulator, p->machine, calc_quantity_words[p->quantity], p->rows, p->mean_abs,
                  p->worst_abs, p->ours.count, p->ours.mean_abs, p->ours.worst_abs, p->note);
    }
    calc_put_close(put);
}

/* The tables of the rows, and the measured operators. */
static void put_read(calc_put *put, const calc_measured *measured)
{
    calc_put_array(put, "read", CALC_PUT_LINE);
    for (size_t i = 0; i <= measured->files; i++) {
        const calc_measured_file *file =
            i < measured->files ? &measured->file[i] : &measured->operators;
        if (*file->name) {
            calc_putf(put, "{name: %s, sha256: %s}", file->name, file->sha256);
        }
    }
    calc_put_close(put);
}

/* Write {"rows": [...], "groups": [...], "worst": [...], "features": [...], "peers": [...]}, times
 * in seconds and memory in bytes. `calc show schema validation` describes it. */
static void write_json(calc_output *out, calc_validation *v)
{
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_put_text(&put, "version", CALC_VERSION);
    put_read(&put, &v->measured);
    calc_putf(&put, "counts: {runs: %zu", v->results.predictions + v->results.servings);
    for (int use = 0; use < CALC_USE_COUNT; use++) {
        calc_put_count(&put, calc_use_words[use],
                       (int64_t)calc_results_count(&v->results, (calc_use)use));
    }
    calc_putf(&put, "}, rows: [\n");
    for (size_t i = 0; i < v->results.count; i++) {
        put_row(&put, &v->results.item[i], v);
    }
    calc_putf(&put, "], groups: [\n");
    for (size_t i = 0; i < v->groups.count; i++) {
        put_group(&put, &v->groups.item[i]);
    }
    calc_put_close(&put);
    calc_validate_worst_put(&put, v);
    calc_put_array(&put, "features", CALC_PUT_LINES);
    put_features(&put, &v->features[0]);
    put_features(&put, &v->features[1]);
    calc_put_close(&put);
    put_peers(&put, &v->peers);
    if (v->covered[0]) {
        calc_validate_bands_put(&put, v);
    }
    if (v->over_dates) {
        calc_validate_forecast_put(&put, v);
    }
    calc_put_end(&put);
}

static const char *const shown[] = {"band", "forecast", "breakdown", "features", NULL};

#define OPTIONS(X)                                                                                 \
    X(JSON, "json", "FILE", .output = true,                                                        \
      .doc = "write every measurement and every group as JSON")                                    \
    X(CSV, "csv", "FILE", .output = true, .doc = "write every measurement as CSV")                 \
    X(HTML, "html", "FILE", .output = true,                                                        \
      .doc = "write an HTML page: parity, errors by group, every row; one file that needs no "     \
             "network")                                                                            \
    X(BASELINE, "baseline", "FILE",                                                                \
      .doc = "an earlier --csv file: exit with status 1 if the mean error of a group grew")        \
    X(TOLERANCE, "tolerance", "X", CALC_OPT_IS_NUMBER(0, 1e9),                                     \
      .doc = "percentage points by which it may grow", .preset = "0.5")                            \
    X(SYSTEM, "default-system", "NAME", .was = "system",                                           \
      .doc = "machine of the rows of RUNS that name none")                                         \
    X(OPERATORS, "operators", "FILE",                                                              \
      .doc = "use measured kernels, collectives and blocks where there are some, as calc run "     \
             "does; the column \"system\" has the names of machines (docs/operators.md)")          \
    X(TEMPLATE, "template", NULL, .doc = "write a template for your own runs, and nothing else")   \
    X(WORST, "worst", "N", CALC_OPT_IS_WHOLE(0, 999999999), .was = "rows",                         \
      .doc = "show the N measurements with the largest errors", .preset = "10")                    \
    X(SHOW, "show", "LIST", .choices = shown, .list = true, .repeated = true,                      \
      .was = "band=band forecast=forecast breakdown=breakdown features=features",                  \
      .doc = "also show how often a band of calc run --band, made without a run, contains its "    \
             "measured value; errors on runs published after a month, by constants fitted to "     \
             "earlier runs (measured/forecasts.csv, which scripts/refit writes); the parts of "    \
             "the predictions shown; whether options move memory and time as measured, by pairs "  \
             "of runs that differ in one option only")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {{.name = "RUNS",
                                 .optional = true,
                                 .repeated = true,
                                 .doc = "CSV files of measured runs, \"-\" for standard input, or "
                                        "the bare name of a table that calc ships: serving_runs; "
                                        "its published runs of training if none is given"},
                                {0}};
static const char *const examples[] = {"calc validate",
                                       "calc validate --csv now.csv --baseline before.csv",
                                       "calc validate --template > my_runs.csv",
                                       "calc validate my_runs.csv --json - --html page.html",
                                       "calc validate my_runs.csv --operators my_operators.csv",
                                       "calc validate --worst 3 --show breakdown",
                                       "calc validate --show features",
                                       "calc validate --html validation.html",
                                       "calc validate --show band --worst 0",
                                       "calc validate --show forecast --worst 0",
                                       "calc validate serving_runs",
                                       NULL};

/* A header and one row per measurement, as calc_baseline_read() reads them. */
static void write_csv(calc_output *out, calc_validation *v)
{
    calc_output_text(out, "id,quantity,status,source,machine,model,kind,confidence,measured,"
                          "predicted,error,remark\n");
    for (const calc_result *r = v->results.item; r < v->results.item + v->results.count; r++) {
        const char *const texts[] = {calc_result_id(r),      calc_quantity_words[r->quantity],
                                     calc_use_words[r->use], calc_result_source(r),
                                     calc_result_machine(r), calc_result_model(r),
                                     calc_result_kind(r),    calc_result_confidence(r)};
        const double numbers[] = {r->measured, r->predicted, r->error};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            calc_csv_text(out, texts[i], i == 0);
        }
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            bool some = isfinite(numbers[i]);
            calc_output_printf(out, ",%s", some ? CALC_NUMBER(numbers[i]) : "");
        }
        calc_csv_text(out, r->remark, false);
        calc_output_text(out, "\n");
    }
}

static void write_page(calc_output *out, calc_validation *v)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_VALIDATE);
    calc_put_key(&put, "validate");
    write_json(out, v);
    calc_page_end(&put, CALC_PAGE_VALIDATE);
}

static calc_status write_files(calc_validation *v, const calc_args *args, calc_errors *errors)
{
    static const struct {
        int opt;
        void (*write)(calc_output *out, calc_validation *v);
    } files[] = {{OPT_JSON, write_json}, {OPT_CSV, write_csv}, {OPT_HTML, write_page}};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == CALC_OK; i++) {
        const char *path = calc_opt_value(args, files[i].opt);
        if (path) {
            calc_output *out = calc_write_to(path);
            files[i].write(out, v);
            status = calc_output_close(out, errors);
        }
    }
    return status;
}

/* Of runs of training pairs of them, if an output shows these; and the errors of fits that left a
 * run out: for the files, which list them for every run, and for the table over dates. */
static calc_status compare_runs(calc_validation *v, bool files, calc_errors *errors)
{
    static const calc_quantity of[] = {CALC_QUANTITY_MEMORY, CALC_QUANTITY_STEP_TIME};
    char path[CALC_FIND_PATH_MAX];
    calc_errors missing = {0};
    calc_status status = CALC_OK;
    for (int q = 0; q < 2 && (files || v->options); q++) {
        calc_features_make(&v->features[q], &v->results, of[q]);
    }
    if (files) {
        status = calc_find_data(CALC_FIND_RESIDUALS, path, errors);
        status = status == CALC_OK ? calc_residuals_read(&v->residuals, path, errors) : status;
    }
    if (status != CALC_OK || (!files && !v->over_dates)) {
        return status;
    }
    status = calc_find_data(CALC_FIND_FORECASTS, path, v->over_dates ? errors : &missing);
    return status == CALC_OK ? calc_forecasts_read(&v->forecasts, path, errors)
           : v->over_dates   ? status
                             : CALC_OK;
}

static calc_status predict(calc_validation *v, calc_point_tables *operators, const char *path,
                           calc_errors *errors)
{
    calc_documents *systems = &v->measured.systems;
    calc_status status = CALC_OK;
    if (path) {
        calc_text text = {0};
        status = calc_measured_text(&text, &v->measured.operators, path, errors);
        status =
            status == CALC_OK ? calc_points_parse(&operators->points, text, path, errors) : status;
        calc_complain_points(&operators->points);
        systems->measure = calc_point_tables_of;
        systems->operators = operators;
    }
    status = status == CALC_OK ? calc_results_make(&v->results, &v->measured.all, errors) : status;
    if (status == CALC_OK && operators->count == 0 && operators->errors.count > 0) {
        *errors = operators->errors;
        return errors->item[0].status;
    }
    return status;
}

static calc_status make_results(calc_validation *v, const calc_args *args, calc_errors *errors)
{
    const char *baseline = calc_opt_value(args, OPT_BASELINE);
    bool files = calc_opt_value(args, OPT_JSON) || calc_opt_value(args, OPT_HTML);
    char peers[CALC_FIND_PATH_MAX];
    calc_status status =
        baseline ? calc_baseline_read(&v->baseline, baseline, &v->results, errors) : CALC_OK;
    calc_error_groups_make(&v->groups, &v->results, &v->measured.sets, v->baseline.error);
    status = status == CALC_OK && calc_opt_lists(args, OPT_SHOW, "band")
                 ? calc_validate_bands_make(v, errors)
                 : status;
    status = status == CALC_OK && !v->measured.serves ? compare_runs(v, files, errors) : status;
    status = status == CALC_OK ? calc_find_data("measured/peers.csv", peers, errors) : status;
    return status == CALC_OK ? calc_peers_read(&v->peers, peers, &v->results, errors) : status;
}

static calc_status write_text(calc_output *out, void *what, calc_errors *errors)
{
    (void)errors;
    calc_validate_table_write(out, what);
    return CALC_OK;
}

static calc_exit validate(calc_validation *v, calc_point_tables *operators, const calc_args *args)
{
    const char *path = calc_opt_value(args, OPT_OPERATORS);
    const char *training = path ? "--operators" : calc_opt_value(args, OPT_SHOW) ? "--show" : NULL;
    calc_errors errors = {0};
    calc_status status = calc_opt_value(args, OPT_HTML) ? calc_page_check(&errors) : CALC_OK;
    status = status == CALC_OK
                 ? calc_measured_read(&v->measured, args, calc_opt_value(args, OPT_SYSTEM), &errors)
                 : status;
    status = status == CALC_OK && training && v->measured.serves
                 ? calc_errors_add(&errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                                   "%s: of runs of training, not of serving", training)
                 : status;
    status = status == CALC_OK ? predict(v, operators, path, &errors) : status;
    status = status == CALC_OK ? make_results(v, args, &errors) : status;
    status = status == CALC_OK ? write_files(v, args, &errors) : status;
    if (status == CALC_OK && !calc_opt_takes_stdout(args)) {
        status = calc_fold_print(write_text, v, &errors);
    }
    bool worse = false;
    if (status == CALC_OK && v->baseline.error) {
        double tolerance = calc_opt_real(args, OPT_TOLERANCE) / 100;
        calc_output *out = calc_write_to(calc_opt_takes_stdout(args) ? "/dev/stderr" : "-");
        worse = calc_validate_table_baseline(out, v, tolerance) > 0;
        status = calc_output_close(out, &errors);
    }
    return status != CALC_OK ? calc_complain_failure(&errors)
           : worse           ? CALC_EXIT_INFEASIBLE
                             : CALC_EXIT_OK;
}

static void free_validation(calc_validation *v)
{
    for (int u = 0; u < CALC_UNSEEN_COUNT; u++) {
        free(v->covered[u]);
    }
    calc_measured_free(&v->measured);
    calc_results_free(&v->results);
    calc_baseline_free(&v->baseline);
    calc_error_groups_free(&v->groups);
    calc_residuals_free(&v->known);
    calc_residuals_free(&v->residuals);
    calc_forecasts_free(&v->forecasts);
    calc_features_free(&v->features[0]);
    calc_features_free(&v->features[1]);
    calc_peers_free(&v->peers);
    free(v);
}

/* Two rows to start from, which run as written. */
static const char template_rows[] =
    "name,app,sys,exe,arguments,procs,measured_s,measured_mem_gib\n"
    "documents,llama3-70B,h100_sxm,llama3-70B_512,,,15.3,47.1\n"
    "options,llama2-7B,h100_sxm,,--tensor-model-parallel-size 2 --sequence-parallel"
    " --use-distributed-optimizer --micro-batch-size 1 --global-batch-size 64 --seq-length 4096"
    " --bf16,8,3.31,\n";

static calc_exit run(const calc_args *args)
{
    if (args->argument_count > CALC_MEASURED_FILES) {
        return calc_complain_usage(args->command, "too many files of runs");
    }
    if (calc_opt_value(args, OPT_TEMPLATE)) {
        calc_errors errors = {0};
        calc_output *out = calc_write_to("-");
        calc_output_text(out, template_rows);
        (void)!calc_output_close(out, &errors);
        return calc_complain_errors(&errors);
    }
    calc_validation *v = calc_make(1, sizeof *v); /* machines are too large for the stack */
    calc_point_tables operators = {.count = 0};
    v->worst = (size_t)calc_opt_real(args, OPT_WORST);
    v->breakdown = calc_opt_lists(args, OPT_SHOW, "breakdown");
    v->options = calc_opt_lists(args, OPT_SHOW, "features");
    v->over_dates = calc_opt_lists(args, OPT_SHOW, "forecast");
    calc_exit result = validate(v, &operators, args);
    free_validation(v);
    calc_point_tables_free(&operators);
    return result;
}

const calc_command calc_cmd_validate = {
    .name = "validate",
    .summary = "compare predictions with published measured runs",
    .detail =
        "Predicts measured runs and shows the "
        "errors by published table: predicted over measured, less 1, of the time of a step "
        "and of memory. Rates are turned into times. RUNS name app, sys and exe, or have the "
        "options of Megatron-LM, or a column per field, beside what was measured: --template; "
        "scripts/make_runs.py makes such a file of a published table. With the columns isl and osl "
        "they are of serving: time per output token, to "
        "the first one, of static batches, tokens per second. Rows that cannot be predicted or "
        "scored are listed with the reason; docs/validation.md and docs/validation-serving.md have "
        "the rules. FILE may be "
        "\"-\" for standard output, which then carries nothing else.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
