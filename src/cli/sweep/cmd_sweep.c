#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "checkpoint.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_study.h"
#include "cli/sweep/sweep_table.h"
#include "estimate.h"
#include "io/json_put.h"
#include "io/output.h"
#include "plan/sweep_more.h"
#include "report/page.h"
#include "report/sweep_data.h"

/* Estimates properties of a space from random points (`calc sweep --sample`). */

/* The share of points with a verdict. */
static void write_share(calc_output *out, const char *what, size_t points, size_t drawn)
{
    calc_output_printf(out, "  %14s  %8s  %s\n", calc_human_integer((double)points),
                       calc_human_percent((double)points / (double)drawn), what);
}

static void write_points(calc_output *out, const calc_sweep_study *study,
                         const calc_sample_point *point, size_t drawn, uint64_t total,
                         double *value)
{
    const calc_objective *objective = &study->options.top_by;
    size_t with[CALC_VERDICT_COUNT] = {0};
    size_t count = 0;
    for (size_t i = 0; i < drawn; i++) {
        with[point[i].verdict]++;
        if (point[i].verdict == CALC_VERDICT_OK) {
            value[count++] =
                calc_objective_value(objective, calc_objective_of(objective, &point[i].stats));
        }
    }
    calc_output_printf(out, "\n  %14s  layouts\n", calc_human_integer((double)total));
    calc_output_printf(out, "  %14s  drawn at random\n", calc_human_integer((double)drawn));
    write_share(out, "feasible", with[CALC_VERDICT_OK], drawn);
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        if (with[v] > 0) {
            write_share(out, calc_verdict_text((calc_verdict)v), with[v], drawn);
        }
    }
    /* Quantiles: the value that the given share of them does not exceed. */
    static const int percents[] = {0, 5, 25, 50, 75, 95, 99, 100};
    if (count > 0) {
        CALC_SORT(value, count, calc_order_numbers);
        calc_output_printf(out, "\n%s of the feasible ones:\n", objective->field->key);
    }
    for (size_t i = 0; i < sizeof percents / sizeof *percents && count > 0; i++) {
        size_t at = (count - 1) * (size_t)percents[i] / 100;
        calc_output_printf(out, "  %12d %%  %s\n", percents[i], calc_human_number(value[at]));
    }
}

/* Draw the points that --sample asks for, evaluate them, and write the shares of the verdicts and
 * the quantiles of --top-by over the feasible ones.
 * @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_RANGE with an error */
static calc_status sweep_sample_write(calc_output *out, const calc_sweep_study *study,
                                      const calc_args *args, calc_errors *errors)
{
    size_t drawn = (size_t)calc_opt_real(args, CALC_SWEEP_OPT_SAMPLE);
    calc_sample_point *point = calc_make(drawn, sizeof *point);
    double *value = calc_make(drawn, sizeof *value);
    uint64_t total;
    calc_status status = calc_sample(&study->space, &study->designs, study->options.compat,
                                     (uint64_t)calc_opt_real(args, CALC_SWEEP_OPT_SEED), drawn,
                                     point, &total, errors);
    if (status == CALC_OK) {
        write_points(out, study, point, drawn, total, value);
    }
    free(point);
    free(value);
    return status;
}

/* Writes a row for every feasible layout (--all): all threads make rows, which are written in
 * order. */

/* Rows in progress. Start with {0}. */
typedef struct sweep_all {
    const calc_sweep_study *study; /* borrowed */
    calc_output *file;             /* borrowed */
    calc_output **row;             /* by place: CALC_SWEEP_PLACES of them, in memory */
} sweep_all;

/* calc_sweep_options.prepare: the text of a row. */
static void make_row(void *context, const calc_sweep_point *point)
{
    const sweep_all *all = context;
    const calc_sweep_found found = {point->design, *point->exec, *point->stats};
    calc_sweep_write_row(all->row[point->place], all->study, &found, true);
}

/* calc_sweep_options.point: starts the next row. False if memory is short. */
static bool write_row(void *context, const calc_sweep_point *point)
{
    const sweep_all *all = context;
    size_t length;
    const char *text = calc_output_take(all->row[point->place], &length);
    if (text) {
        calc_output_write(all->file, text, length);
    }
    return text != NULL;
}

/* Write the names of the columns, and make a sweep write its layouts.
 * @param options  filled: `all` receives its points */
static void sweep_all_begin(sweep_all *all, const calc_sweep_study *study, calc_output *file,
                            calc_sweep_options *options)
{
    *all = (sweep_all){.study = study, .file = file};
    all->row = calc_make(CALC_SWEEP_PLACES, sizeof *all->row);
    for (size_t i = 0; i < CALC_SWEEP_PLACES; i++) {
        all->row[i] = calc_write_to_memory(NULL);
    }
    calc_sweep_write_header(file, study, NULL);
    options->prepare = make_row;
    options->point = write_row;
    options->point_context = all;
}

/* A sweep under way. */
typedef struct task {
    const calc_args *args;
    calc_sweep_study study;
    calc_sweep_save save;
    calc_ranks ranks;
    calc_sweep_result result;
    calc_sweep_watch watch;
    calc_residuals measured; /* residuals for predicting what fits; empty if the data files are
                              * missing */
    calc_sweep_rows best;    /* of the table */
    calc_sweep_advice advice;
    sweep_all all;
    calc_output *file[CALC_SWEEP_OPTS]; /* of options with an output; NULL: not asked for */
} task;

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

static bool is_csv(const char *path)
{
    return ends_with(path, ".csv") || ends_with(path, ".csv.gz");
}

/* Opened before the sweep, so that a path that cannot be written costs nothing. */
static calc_status open_files(task *t, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int i = 0; i < CALC_SWEEP_OPTS && status == CALC_OK; i++) {
        const char *path = calc_sweep_opts[i].output ? calc_opt_value(t->args, i) : NULL;
        if (path && !(i == CALC_SWEEP_OPT_OUT && t->save.is_part)) {
            status = calc_output_open(&t->file[i], path, errors);
        }
    }
    return status;
}

/* The layout to start with, and its machine. Without such a layout the files are not written. */
static void save_start(task *t)
{
    const calc_found *start = t->advice.start.layout;
    calc_app app;
    calc_system system;
    calc_exec exec;
    if (start) {
        exec = calc_found_exec(start);
        t->study.designs.get(t->study.designs.context, start->design, &app, &system);
    }
    const struct {
        int file;
        calc_kind kind;
        const void *object;
    } saved[] = {{CALC_SWEEP_OPT_SAVE_BEST, CALC_KIND_EXEC, &exec},
                 {CALC_SWEEP_OPT_SAVE_SYS, CALC_KIND_SYSTEM, &system}};
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        calc_output **file = &t->file[saved[i].file];
        if (*file && start) {
            calc_json_save(*file, saved[i].kind, saved[i].object, 0);
            calc_output_text(*file, "\n");
        } else {
            calc_output_discard(*file);
            *file = NULL;
        }
    }
}

/* Tries every file, so that one failure does not lose the others. */
static void write_files(task *t, calc_errors *errors)
{
    for (int i = CALC_SWEEP_OPT_JSON; i <= CALC_SWEEP_OPT_OUT; i++) {
        bool csv = i == CALC_SWEEP_OPT_CSV || (t->file[i] && i == CALC_SWEEP_OPT_OUT &&
                                               is_csv(calc_opt_value(t->args, CALC_SWEEP_OPT_OUT)));
        if (t->file[i]) {
            (csv ? calc_sweep_write_csv : calc_sweep_write_json)(t->file[i], &t->study, &t->result);
        }
    }
    if (t->file[CALC_SWEEP_OPT_SUMMARY]) {
        calc_put put = calc_put_to(t->file[CALC_SWEEP_OPT_SUMMARY]);
        calc_sweep_put_summary(&put, NULL, &t->result);
        calc_output_text(t->file[CALC_SWEEP_OPT_SUMMARY], "\n");
    }
    save_start(t);
    if (t->file[CALC_SWEEP_OPT_HTML] &&
        calc_sweep_page_write(t->file[CALC_SWEEP_OPT_HTML], &t->study, &t->result, t->args,
                              &t->advice.start, t->best.measured, errors) != CALC_OK) {
        calc_output_discard(t->file[CALC_SWEEP_OPT_HTML]);
        t->file[CALC_SWEEP_OPT_HTML] = NULL;
    }
    for (int i = 0; i < CALC_SWEEP_OPTS; i++) {
        (void)!calc_output_close(t->file[i], errors);
        t->file[i] = NULL;
    }
}

static calc_status write_plan(calc_output *out, void *what, calc_errors *errors)
{
    const task *t = what;
    calc_sweep_plan_axes(out, &t->study);
    return calc_opt_value(t->args, CALC_SWEEP_OPT_PLAN)
               ? calc_sweep_plan_work(out, &t->study, errors)
               : sweep_sample_write(out, &t->study, t->args, errors);
}

static calc_status write_result(calc_output *out, void *what, calc_errors *errors)
{
    const task *t = what;
    const calc_paint paint = calc_paint_stdout("auto");
    bool plots = calc_opt_value(t->args, CALC_SWEEP_OPT_PLOT) != NULL;
    const calc_sweep_view view = {.columns = calc_opt_value(t->args, CALC_SWEEP_OPT_COLUMNS),
                                  .front = plots || calc_opt_value(t->args, CALC_SWEEP_OPT_FRONT) ||
                                           calc_opt_value(t->args, CALC_SWEEP_OPT_OBJECTIVES),
                                  .width = calc_paint_columns(),
                                  .best = &t->best,
                                  .advice = &t->advice,
                                  .args = t->args,
                                  .saved = calc_opt_value(t->args, CALC_SWEEP_OPT_SAVE_BEST)};
    calc_sweep_plan_brief(out, &t->study);
    calc_status status = calc_sweep_table_found(out, &t->study, &t->result, &view, errors);
    calc_sweep_table_counts(out, &t->result, t->study.options.constraints > 0);
    if (status == CALC_OK) {
        calc_sweep_tokens_write(out, &t->study, &t->result, &t->best, t->args);
    }
    if (status == CALC_OK && plots) {
        calc_sweep_plot_write(out, &paint, &t->study, &t->result, calc_paint_columns());
    }
    return status;
}

/* The best layouts that the table shows, at most as many as asked for; the other outputs show no
 * more than these. */
static void choose_best(task *t)
{
    t->best.measured = calc_known_runs_try(&t->measured);
    t->advice = calc_sweep_order_advise(t->best.measured, &t->study, &t->result);
    if (calc_is_yes(t->advice.status) && t->result.groups_count == 1) {
        bool again =
            !t->save.is_part && t->save.parts == 0 && calc_sweep_repeats(&t->study, &t->result, 1);
        calc_sweep_rows_best(&t->best, &t->study, &t->result.group[0].top, t->study.top,
                             &t->advice.start, again);
    }
    calc_study_cut(&t->study, &t->result);
}

static calc_status sweep(task *t, calc_errors *errors)
{
    calc_sweep_options *o = &t->study.options;
    o->progress = calc_sweep_watch_progress;
    o->progress_context = &t->watch;
    if (t->file[CALC_SWEEP_OPT_ALL]) {
        sweep_all_begin(&t->all, &t->study, t->file[CALC_SWEEP_OPT_ALL], o);
    }
    calc_sweep_watch_begin(&t->watch, calc_opt_value(t->args, CALC_SWEEP_OPT_PROGRESS),
                           calc_opt_given(t->args, CALC_SWEEP_OPT_TIME_LIMIT)
                               ? calc_opt_real(t->args, CALC_SWEEP_OPT_TIME_LIMIT)
                               : HUGE_VAL,
                           t->ranks.count == 1);
    calc_status status = calc_sweep_save_run(&t->save, &t->study, o, &t->ranks, &t->result, errors);
    calc_sweep_watch_hide(&t->watch);
    calc_sweep_found_systems(&t->study, &t->result);
    return status;
}

/* After the sweep: writes its results to all outputs. */
static calc_exit finish(task *t, calc_errors *errors)
{
    bool agrees = calc_sweep_found_agree(&t->study, &t->result);
    if (!agrees && (t->save.parts > 0 || t->save.saving.resume)) {
        calc_errors_at(errors, CALC_ERR_RANGE,
                       t->save.parts > 0 ? t->save.part[0] : t->save.saving.path, 0, 0, NULL,
                       "%s other numbers than its layouts: not what calc wrote",
                       t->save.parts > 1 ? "it or another part has" : "it has");
        return calc_complain_failure(errors);
    }
    if (!agrees) {
        calc_say("calc: the sweep found other numbers than calc run: a bug in calc, please "
                 "report it\n");
        return CALC_EXIT_BUG;
    }
    bool found = calc_sweep_found_best_of_all(&t->result) != NULL;
    choose_best(t);
    write_files(t, errors); /* first: calc ends where its reader closes the pipe, as head does */
    if (!calc_opt_takes_stdout(t->args)) {
        (void)!calc_fold_print(write_result, t, errors);
    }
    if (t->result.partial) {
        calc_say("calc: %s: partial result after %.0f %% of the work\n",
                 t->watch.timed_out ? "time limit" : "interrupted", 100 * t->watch.share);
    }
    calc_exit result = calc_complain_errors(errors);
    if (result == CALC_EXIT_OK && t->result.partial && atomic_load(&t->watch.interrupted)) {
        return CALC_EXIT_INTERRUPTED;
    }
    if (result == CALC_EXIT_OK && !found && !t->save.is_part) { /* others may have */
        calc_sweep_infeasible(&t->study, &t->result);
        result = CALC_EXIT_INFEASIBLE;
    }
    return result;
}

/* Checks everything that can be wrong with the inputs before the work starts. */
static calc_status prepare(task *t, calc_errors *errors)
{
    const char *columns = calc_opt_value(t->args, CALC_SWEEP_OPT_COLUMNS);
    calc_status status = calc_sweep_study_load(&t->study, t->args, errors);
    if (status == CALC_OK && columns) {
        calc_sweep_columns known;
        status = calc_sweep_columns_list(&known, &t->study, columns, errors);
        if (status != CALC_OK) {
            calc_error_place(&errors->item[errors->count - 1], "--columns", 0, 0);
        }
    }
    if (status == CALC_OK && calc_sweep_study_mixes(&t->study) &&
        !(t->study.options.per_num_procs || t->study.options.per_design) &&
        calc_opt_value(t->args, CALC_SWEEP_OPT_SAVE_BEST)) {
        status = calc_errors_at(errors, CALC_ERR_RULE, "--save-best", 0, 0,
                                "name one, or rank them by --top-by STATISTIC",
                                "models or lengths that differ have no best in common");
    }
    status = status == CALC_OK && calc_opt_value(t->args, CALC_SWEEP_OPT_HTML)
                 ? calc_page_check(errors)
                 : status;
    status = status == CALC_OK ? calc_sweep_save_load(&t->save, t->args, errors) : status;
    bool sweeps = !calc_opt_value(t->args, CALC_SWEEP_OPT_PLAN) &&
                  !calc_opt_value(t->args, CALC_SWEEP_OPT_SAMPLE);
    status = status == CALC_OK && t->ranks.rank == 0 && sweeps ? open_files(t, errors) : status;
    return calc_ranks_agree(&t->ranks, status, errors);
}

static calc_exit run_task(task *t)
{
    calc_errors errors = {0};
    if (calc_ranks_join(&t->ranks, &errors) != CALC_OK) {
        return calc_complain_failure(&errors);
    }
    const char *out = calc_opt_value(t->args, CALC_SWEEP_OPT_OUT);
    bool part = calc_opt_value(t->args, CALC_SWEEP_OPT_SHARD) != NULL;
    bool known = !out || part || is_csv(out) || ends_with(out, ".json") ||
                 ends_with(out, ".json.gz") || strcmp(out, "-") == 0;
    const char *complaint = !known ? "--out: the name must end in .json, .csv, .json.gz or .csv.gz"
                                   : calc_sweep_save_complaint(t->args, t->ranks.count);
    complaint = complaint ? complaint : calc_sweep_tokens_complaint(t->args);
    if (complaint) {
        return t->ranks.rank > 0 ? CALC_EXIT_USAGE
                                 : calc_complain_usage(t->args->command, complaint);
    }
    if (prepare(t, &errors) != CALC_OK) {
        return calc_complain_errors(&errors); /* none if another rank has them */
    }
    if (calc_opt_value(t->args, CALC_SWEEP_OPT_PLAN) ||
        calc_opt_value(t->args, CALC_SWEEP_OPT_SAMPLE)) {
        if (t->ranks.rank == 0) {
            (void)!calc_fold_print(write_plan, t, &errors);
        }
        return calc_complain_errors(&errors);
    }
    calc_status status = sweep(t, &errors);
    /* The last checkpoint may fail although the sweep is complete. */
    bool whole = status == CALC_ERR_IO && t->save.saving.path && t->result.groups_count > 0 &&
                 !t->result.partial;
    bool failed = status != CALC_OK && !whole;
    calc_exit result =
        failed || t->ranks.rank != 0 ? calc_complain_errors(&errors) : finish(t, &errors);
    calc_sweep_watch_end(&t->watch);
    return failed && status == CALC_ERR_RULE ? CALC_EXIT_BUG : result;
}

static calc_exit sweep_once(const calc_args *args)
{
    task t = {.args = args};
    calc_exit result = run_task(&t);
    for (int i = 0; i < CALC_SWEEP_OPTS; i++) {
        calc_output_discard(t.file[i]);
    }
    calc_ranks_leave(&t.ranks);
    for (size_t i = 0; t.all.row && i < CALC_SWEEP_PLACES; i++) {
        calc_output_discard(t.all.row[i]);
    }
    free(t.all.row);
    calc_sweep_rows_free(&t.best);
    calc_residuals_free(&t.measured);
    calc_sweep_result_free(&t.result);
    calc_sweep_save_free(&t.save);
    calc_study_free(&t.study);
    return result;
}

/* The words of the sweep that made the parts, followed by those of this command. */
typedef struct line {
    char **word; /* as main() gets them; never changed */
    size_t count;
} line;

/* Options that go with --merge. */
static const char *const merge_words[] = {[CALC_SWEEP_OPT_OUT] = "--out",
                                          [CALC_SWEEP_OPT_JSON] = "--json",
                                          [CALC_SWEEP_OPT_CSV] = "--csv",
                                          [CALC_SWEEP_OPT_SUMMARY] = "--summary",
                                          [CALC_SWEEP_OPT_SAVE_BEST] = "--save-best",
                                          [CALC_SWEEP_OPT_HTML] = "--html",
                                          [CALC_SWEEP_OPT_PLOT] = "--plot",
                                          [CALC_SWEEP_OPT_PART] = NULL};

static void make_line(line *out, const calc_checkpoint *part, const calc_args *args)
{
    size_t most = part->words_size + 2 * args->use_count + 2 * args->argument_count;
    out->word = calc_make(most + 1, sizeof *out->word);
    /* Options of this command come first: the words of a part end with "--" and arguments. */
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &calc_sweep_opts[args->use[i].opt];
        if (!opt->alone) {
            out->word[out->count++] = (char *)merge_words[args->use[i].opt];
            if (opt->value) {
                out->word[out->count++] = (char *)args->use[i].value;
            }
        }
    }
    for (size_t i = 0; i < args->argument_count; i++) {
        out->word[out->count++] = (char *)"--part";
        out->word[out->count++] = (char *)args->argument[i];
    }
    for (size_t at = 0; at < part->words_size; at += strlen(part->words + at) + 1) {
        out->word[out->count++] = part->words + at;
    }
}

/* Merges the parts, which stand where a sweep has model and machine. */
static calc_exit merge(const calc_args *args)
{
    calc_errors errors = {0};
    calc_checkpoint part;
    line words = {0};
    calc_args sweep = {0};
    calc_exit result;
    size_t own = args->argument_count;
    for (size_t i = 0; i < args->use_count; i++) {
        own += !calc_sweep_opts[args->use[i].opt].alone;
        if (!calc_sweep_opts[args->use[i].opt].alone && !merge_words[args->use[i].opt]) {
            return calc_complain_usage(args->command, "--merge goes with --out, --summary, "
                                                      "--save-best, --html and --plot only");
        }
    }
    if (args->argument_count == 0) {
        return calc_complain_usage(args->command, "missing PART");
    }
    if (calc_checkpoint_read(&part, args->argument[0], &errors) != CALC_OK) {
        result = calc_complain_failure(&errors);
    } else {
        make_line(&words, &part, args);
        result = calc_opt_parse(&sweep, args->command, words.count, words.word);
        /* The words of the part must be those of a sweep that may be merged: a forged one could
         * name files to write. */
        while (own < sweep.use_count && calc_sweep_save_defines(sweep.use[own].opt)) {
            own++;
        }
        if (result == CALC_EXIT_OK && own == sweep.use_count && !sweep.help) {
            result = sweep_once(&sweep);
        } else {
            calc_errors_at(&errors, CALC_ERR_SYNTAX, args->argument[0], 0, 0, NULL,
                           "damaged: its command line makes no sense");
            result = calc_complain_failure(&errors);
        }
    }
    calc_opt_free(&sweep);
    free(words.word);
    calc_checkpoint_free(&part);
    return result;
}

static calc_exit run(const calc_args *args)
{
    return calc_opt_value(args, CALC_SWEEP_OPT_MERGE) ? merge(args) : sweep_once(args);
}

static const char *const examples[] = {
    "calc sweep qwen3-235B-A22B h200 --procs 256 --batch 1024 --save-best best.json",
    "calc sweep",
    "calc sweep gpt3-175B a100_80g --procs 512 --batch 512 --top 5",
    "calc sweep gpt3-175B h100_80g_nvl8 --procs 8:8192:8 --batch 2340 --per num_procs",
    "calc sweep gpt3-175B a100_80g --procs 512 --batch 512 --axis sys.mem1.GiB=40,80,120",
    "calc sweep gpt3-175B a100_80g --procs 512 --batch 512 --html sweep.html",
    "calc sweep llama3-405B h100_sxm --procs 16384 --batch 2048 --top 5 --plot",
    NULL};

const calc_command calc_cmd_sweep = {
    .name = "sweep",
    .summary = "evaluate every layout of a space: the best and the Pareto front",
    .detail =
        "Evaluates every legal layout of a model on a machine and shows the exact Pareto front and "
        "the best. Without arguments: GPT-3 175B on 4,096 H100. Ctrl-C and --time-limit end the "
        "sweep early and show the partial results, marked as such. FILE may be \"-\" for standard "
        "output, "
        "which then carries nothing else; files whose names end in .gz are compressed.",
    .args = calc_sweep_args,
    .opts = calc_sweep_opts,
    .examples = examples,
    .run = run};
