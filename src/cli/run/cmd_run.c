#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/draw/human.h"
#include "cli/run/run_outcome.h"
#include "cli/run/simulation.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_study.h"
#include "report/page.h"
#include "spec/compat.h"
#include "spec/value_text.h"

static const char *const schedules[] = {"closed", "exact", NULL};

#define OPTIONS(X)                                                                                 \
    CALC_INPUTS_SET(X)                                                                             \
    CALC_COMPLETE_OPTS(X)                                                                          \
    X(SCHEDULE, "schedule", "HOW",                                                                 \
      .doc =                                                                                       \
          "pipeline time in closed form or simulated operation by operation (docs/schedules.md); " \
          "for serving, queueing simulated request by request (docs/inference.md)",                \
      .choices = schedules, .preset = "closed")                                                    \
    X(OPERATORS, "operators", "FILE",                                                              \
      .doc = "use measured kernels, collectives and blocks where there are some, the model "       \
             "elsewhere, and say where each time comes from (docs/operators.md)")                  \
    CALC_OPT_ROWS(X)                                                                               \
    CALC_OPT_COMPAT(X)                                                                             \
    X(BAND, "band", NULL, .section = "Display",                                                    \
      .doc = "add the range of nine in ten comparable measured runs to the summary and to JSON "   \
             "(docs/validation.md)")                                                               \
    X(LAYERS, "layers", NULL,                                                                      \
      .doc = "add each layer of the blocks, embedding and head to the summary and to JSON")        \
    X(TOKENS, "tokens", "N",                                                                       \
      .doc = "show the days and the price of training on this many tokens, 15T; --set price=2.5 "  \
             "is USD per processor and hour")                                                      \
    X(PLOT, "plot", NULL, .doc = "draw the simulated pipeline below the summary, a row per stage") \
    CALC_OPT_COLOR(X)                                                                              \
    X(HTML, "html", "FILE", .output = true, .section = "Files",                                    \
      .doc = "write an HTML page: time, memory, the pipeline, the roofline; one file that needs "  \
             "no network")                                                                         \
    X(JSON, "json", "FILE", .output = true,                                                        \
      .doc = "write inputs, verdict and statistics as one JSON object")                            \
    X(CSV, "csv", "FILE", .output = true, .doc = "write a header and one row of CSV")              \
    X(STAGES, "stages", "FILE", .output = true,                                                    \
      .doc = "write a header and one row of CSV per pipeline stage, and add the stages to JSON")   \
    X(PEERS, "peers", "FILE", .output = true,                                                      \
      .doc = "write the ranks of every communication group as JSON")                               \
    X(TRACE, "trace", "FILE", .output = true, .was = "out",                                        \
      .doc = "write the simulated step as a timeline for https://ui.perfetto.dev and "             \
             "chrome://tracing: passes of each stage and what they are spent on, messages, data "  \
             "parallelism, optimizer, memory (docs/trace.md)")                                     \
    X(MICROBATCHES, "microbatches", "N", CALC_OPT_IS_WHOLE(1, 1e9),                                \
      .doc = "only the first N micro-batches in --trace; all are simulated")                       \
    X(SAVE_APP, "save-app", "FILE", .output = true,                                                \
      .doc = "write the model with the changes of --set")                                          \
    X(SAVE_SYS, "save-sys", "FILE", .output = true, .doc = "write the machine likewise")           \
    X(SAVE_EXE, "save-exe", "FILE", .output = true, .doc = "write the layout likewise")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {CALC_ARGS_MACHINE, CALC_COMPLETE_EXE, {0}};
static const char *const examples[] = {
    "calc run llama3-70B h100_sxm llama3-70B_512 --band",
    "calc run llama3-70B h100_sxm --procs 64 --batch 512 --set tp=8",
    "calc run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full",
    "calc run gpt3-175B a100_80g 3072_t4_p64_d12_mbs4_full --set mem1.GiB=40 --json -",
    "calc run llama3-405B h100_sxm llama3-405B_16384 --schedule exact --plot",
    "calc run llama3-405B h100_sxm llama3-405B_16384 --band",
    "calc run deepseek-v3-671B h800 deepseek-v3_2048 --html run.html",
    "calc run llama3-405B h100_sxm llama3-405B_16384 --trace step.json.gz",
    "calc run llama3-405B h100_sxm llama3-405B_16384 --operators my_operators.csv",
    NULL};

static calc_status write_parts(calc_output *out, void *what, calc_errors *errors)
{
    const calc_run_outcome *o = what;
    calc_report_write(out, o);
    if (o->operators) {
        calc_run_operators_write(out, o->operators);
    }
    return o->plots && !isnan(o->stats.total_time)
               ? calc_plot_write(out, &o->paint, &o->inputs, errors)
               : CALC_OK;
}

/* The files written beside the page; the page is written last. */
static const struct {
    int opt;
    void (*write)(calc_output *out, const calc_run_outcome *o);
} files[] = {{OPT_JSON, calc_run_write_json},
             {OPT_CSV, calc_run_write_csv},
             {OPT_STAGES, calc_run_write_stages},
             {OPT_PEERS, calc_run_write_peers}};
enum { FILES = sizeof files / sizeof *files };

static calc_status write_files(const calc_args *args, const calc_run_outcome *o,
                               calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (size_t i = 0; i < FILES && status == CALC_OK; i++) {
        const char *path = calc_opt_value(args, files[i].opt);
        if (path) {
            calc_output *out = calc_write_to(path);
            files[i].write(out, o);
            status = calc_output_close(out, errors);
        }
    }
    const struct {
        int opt;
        calc_kind kind;
        const void *object;
    } saved[] = {{OPT_SAVE_APP, CALC_KIND_APP, &o->inputs.app},
                 {OPT_SAVE_SYS, CALC_KIND_SYSTEM, &o->inputs.system},
                 {OPT_SAVE_EXE, CALC_KIND_EXEC, &o->inputs.exec}};
    for (size_t i = 0; i < sizeof saved / sizeof *saved && status == CALC_OK; i++) {
        status = calc_save_to(calc_opt_value(args, saved[i].opt), saved[i].kind, saved[i].object,
                              errors);
    }
    const char *trace = calc_opt_value(args, OPT_TRACE), *page = calc_opt_value(args, OPT_HTML);
    if (trace && status == CALC_OK) {
        status = calc_trace_write(trace, &o->inputs, (int64_t)calc_opt_real(args, OPT_MICROBATCHES),
                                  errors);
    }
    return page && status == CALC_OK ? calc_run_page_write(page, o, NULL, errors) : status;
}

static bool is_exact(const calc_args *args)
{
    return strcmp(calc_opt_value(args, OPT_SCHEDULE), "exact") == 0;
}

/* Rejects options whose results do not include measured operators and so would contradict the
 * run. */
static const char *check_operators(const calc_args *args, bool calculon)
{
    if (!calc_opt_value(args, OPT_OPERATORS)) {
        return calc_opt_value(args, OPT_ROWS) ? "--rows is of --operators" : NULL;
    }
    bool other = calculon || is_exact(args) || calc_opt_value(args, OPT_PLOT) ||
                 calc_opt_value(args, OPT_STAGES) || calc_opt_value(args, OPT_HTML) ||
                 calc_opt_value(args, OPT_BAND) || calc_opt_value(args, OPT_TRACE);
    return other ? "--operators goes with the summary, --layers, --json, --csv and --peers only"
                 : NULL;
}

static const char *check_options(const calc_args *args)
{
    bool calculon = strcmp(calc_opt_value(args, OPT_COMPAT), "none") != 0;
    if (calculon && calc_opt_value(args, OPT_BAND)) {
        return "--band has no --compat: its runs were predicted by calc";
    }
    if (calculon && (is_exact(args) || calc_opt_value(args, OPT_TRACE))) {
        return is_exact(args)
                   ? "--schedule exact has no --compat: Calculon has the closed form only"
                   : "--trace has no --compat: Calculon has the closed form only";
    }
    double tokens;
    const char *text = calc_opt_value(args, OPT_TOKENS);
    if (text && (calc_amount_read(text, "tokens", &tokens) > CALC_AMOUNT_UNIT || tokens <= 0)) {
        return "--tokens: expected a number of tokens: 15T, 300B";
    }
    const char *complaint = check_operators(args, calculon);
    return complaint ? complaint : calc_inputs_check_stdin(args);
}

/* Loads the inputs; assignments of --set are kept for the page. */
static calc_status load(const calc_args *args, calc_run_outcome *o, calc_errors *errors)
{
    size_t cursor = 0;
    o->set = calc_make(args->use_count + 1, sizeof *o->set);
    while ((o->set[o->set_count] = calc_opt_next(args, OPT_SET, &cursor))) {
        o->set_count++;
    }
    calc_sweep_completes(&o->inputs, args, OPT_PROCS, OPT_BATCH, calc_opt_value(args, OPT_COMPAT));
    calc_status status = calc_inputs_load(&o->inputs, args->argument, o->set, o->set_count, errors);
    if (status == CALC_OK) {
        calc_run_outcome_command(o, args->argument);
    }
    return status;
}

/* Evaluates the step with measured operators and lists them. */
static calc_status look_up(const calc_args *args, calc_run_outcome *o, calc_errors *errors)
{
    if (!o->operators_file) {
        return CALC_OK;
    }
    o->operators = calc_make(1, sizeof *o->operators);
    calc_status status = calc_run_operators_make(o->operators, o->operators_file, o->operators_rows,
                                                 &o->inputs, &o->stats, errors);
    if (status == CALC_OK && calc_opt_value(args, OPT_LAYERS)) {
        o->layer_count = o->operators->count;
        memcpy(o->layer, o->operators->layer, sizeof o->layer);
    }
    return status;
}

static calc_exit evaluate(const calc_args *args, calc_run_outcome *o, calc_errors *errors)
{
    if (calc_opt_value(args, OPT_HTML) && calc_page_check(errors) != CALC_OK) {
        return calc_complain_failure(errors);
    }
    o->exact = is_exact(args);
    o->has_band = calc_opt_value(args, OPT_BAND) != NULL;
    o->operators_file = calc_opt_value(args, OPT_OPERATORS);
    o->operators_rows = calc_opt_value(args, OPT_ROWS);
    o->plots = calc_opt_value(args, OPT_PLOT) != NULL;
    o->paint = calc_paint_stdout(calc_opt_value(args, OPT_COLOR));
    o->tokens_text = calc_opt_value(args, OPT_TOKENS);
    if (o->tokens_text) {
        (void)calc_amount_read(o->tokens_text, "tokens", &o->tokens);
    }
    if (calc_compat_read(calc_opt_value(args, OPT_COMPAT), &o->compat, errors) != CALC_OK ||
        load(args, o, errors) != CALC_OK ||
        calc_run_outcome_evaluate(o, calc_opt_value(args, OPT_LAYERS), errors) != CALC_OK ||
        look_up(args, o, errors) != CALC_OK) {
        return calc_complain_failure(errors);
    }
    if (o->stats.verdict == CALC_VERDICT_OK && !(o->stats.total_time > 0)) {
        calc_say("calc: a feasible layout takes %g s: this is a bug in calc\n",
                 o->stats.total_time);
        return CALC_EXIT_BUG;
    }
    /* With measured operators stages are listed only if they are asked for or the page needs them.
     */
    bool shown = calc_opt_value(args, OPT_STAGES) || !o->operators;
    if (shown || calc_opt_value(args, OPT_HTML)) {
        calc_run_outcome_stages(o);
        o->stage_count = shown ? o->stage_known : 0;
    }
    calc_status status = o->has_band ? calc_run_band_make(&o->band, &o->inputs, errors) : CALC_OK;
    status = status == CALC_OK ? write_files(args, o, errors) : status;
    if (status == CALC_OK && !calc_opt_takes_stdout(args)) {
        status = calc_fold_print(write_parts, o, errors);
    }
    if (calc_opt_takes_stdout(args) || !isatty(STDOUT_FILENO)) {
        for (size_t i = 0; i < o->reason_count; i++) {
            const calc_reason *reason = &o->reason[i];
            calc_say("infeasible: %s: %s\n", calc_verdict_text(reason->verdict), reason->text);
            if (reason->hint[0]) {
                calc_say("  hint: %s\n", reason->hint);
            }
        }
    }
    if (status != CALC_OK) {
        return calc_complain_failure(errors);
    }
    return o->stats.verdict == CALC_VERDICT_OK ? CALC_EXIT_OK : CALC_EXIT_INFEASIBLE;
}

static calc_exit run(const calc_args *args)
{
    const char *complaint = check_options(args);
    if (complaint) {
        return calc_complain_usage(args->command, complaint);
    }
    calc_errors errors = {0};
    calc_run_outcome o = {0};
    calc_exit result = evaluate(args, &o, &errors);
    calc_run_outcome_free(&o);
    return result;
}

const calc_command calc_cmd_run = {
    .name = "run",
    .summary = "predict time and memory of one layout",
    .detail = "Evaluates one layout and shows where the time and the memory of one training step "
              "go. A layout that cannot run is shown too, with the reasons. FILE may be \"-\" for "
              "standard output, which then gets nothing else; names ending in .gz are compressed.",
    CALC_COMMAND_PARTS};
