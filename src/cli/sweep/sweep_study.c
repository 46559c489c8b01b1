#include "cli/sweep/sweep_study.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "checkpoint.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_table.h"
#include "formats/framework.h"
#include "io/remark.h"
#include "io/space_load.h"
#include "plan/sweep_more.h"
#include "report/sweep_data.h"
#include "session/completion.h"
#include "spec/alias.h"
#include "spec/compat.h"
#include "spec/field.h"
#include "spec/value_text.h"

const char *const calc_sweep_frameworks[] = {"any", "none", CALC_FRAMEWORK_NAMES NULL};

const calc_opt calc_sweep_opts[] = {CALC_SWEEP_OPT_LIST(CALC_OPT_ROW){0}};

const calc_arg calc_sweep_args[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .optional = true,
                      .doc = "the model, as for calc run, or several with commas between them"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM, .optional = true, .doc = "the machine, likewise"),
    CALC_ARG_DOCUMENT(
        "SPACE", CALC_KIND_EXEC, .optional = true,
        .doc = "an execution in which fields may have many values: a path, \"-\" or a name in "
               "executions/spaces/; alone if it names models and machines itself"),
    {0}};

_Static_assert(CALC_DIGEST_TEXT == sizeof(((calc_study_document *)NULL)->sha256),
               "a study has room for digests");
_Static_assert(CALC_REMARK_SIZE == sizeof(((calc_study_document *)NULL)->remark),
               "a study has room for remarks");

/* What the bytes of a document say of it. @param name  for people */
static void describe(calc_study_document *said, const char *name, const calc_text *text)
{
    snprintf(said->name, sizeof said->name, "%.*s", (int)sizeof said->name - 1, name);
    calc_digest_text(text->data, text->length, said->sha256);
    strcpy(said->calibrated, calc_remark_read(text).calibrated);
}

/* calc_study_source.read. @param context  inputs that were read already; NULL: all are loaded */
static calc_status read_document(void *context, calc_kind kind, const char *name, bool pool,
                                 void *object, calc_study_document *said, calc_errors *errors)
{
    const calc_inputs *read = pool ? NULL : context;
    calc_input own = {0};
    calc_status status = CALC_OK;
    if (read) {
        memcpy(object, kind == CALC_KIND_APP ? (const void *)&read->app : &read->system,
               calc_table_of(kind)->size);
    } else {
        status = calc_input_load(&own, kind, object, name, errors);
    }
    if (status == CALC_OK) {
        const calc_input *input = read ? &read->input[kind] : &own;
        describe(said, input->name, &input->text);
        calc_input_remark(input, kind, object, said->remark);
    }
    calc_text_free(&own.text);
    return status;
}

static calc_status load_file(calc_sweep_study *study, calc_space_entries *file, const char *space,
                             calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX], name[256];
    calc_status status = calc_find(CALC_KIND_EXEC, space, path, errors);
    status = status == CALC_OK ? calc_space_load(file, path, errors) : status;
    if (status == CALC_OK) {
        study->document = calc_make(++study->documents, sizeof *study->document);
        describe(study->document, calc_find_name(path, name, sizeof name), &file->text);
    }
    return status;
}

calc_status calc_sweep_study_load(calc_sweep_study *study, const calc_args *args,
                                  calc_errors *errors)
{
    const char *const *argument = args->argument;
    size_t count = args->argument_count;
    const char *space = count == 1 ? argument[0] : count > 2 ? argument[2] : NULL;
    calc_study_source source = {.app = count == 0  ? "gpt3-175B"
                                       : count > 1 ? argument[0]
                                                   : NULL,
                                .system = count == 0  ? "h100_80g_nvl8"
                                          : count > 1 ? argument[1]
                                                      : NULL,
                                .standard = count == 0,
                                .read = read_document,
                                .find = calc_find_document};
    calc_space_option *use = calc_make(args->use_count + 1, sizeof *use);
    for (size_t i = 0; i < args->use_count; i++) {
        use[i] = (calc_space_option){calc_sweep_opts[args->use[i].opt].name, args->use[i].value};
    }
    source.use = use;
    source.uses = args->use_count;
    calc_status status = space ? load_file(study, &source.file, space, errors) : CALC_OK;
    status = status == CALC_OK ? calc_study_load(study, &source, errors) : status;
    calc_space_entries_free(&source.file);
    free(use);
    return status;
}

#define TRILLION 1e12

/* A positive amount; 0 if there is none, negative if the value is wrong. */
static double amount_of(const calc_args *args, calc_sweep_opt opt, const char *unit)
{
    return calc_study_amount(calc_opt_value(args, (int)opt), unit);
}

const char *calc_sweep_tokens_complaint(const calc_args *args)
{
    double tokens = amount_of(args, CALC_SWEEP_OPT_TOKENS, "tokens");
    double days = amount_of(args, CALC_SWEEP_OPT_DAYS, "days");
    return tokens < 0                ? "--tokens: expected a number of tokens: 15T, 300B"
           : days < 0                ? "--days: expected a time: 60, 36h"
           : days > 0 && tokens == 0 ? "--days goes with --tokens, which it limits the time of"
                                     : NULL;
}

static void write_row(calc_output *out, const calc_sweep_study *study, const calc_found *best,
                      double trillions)
{
    calc_sweep_found found;
    char design[160];
    calc_sweep_found_run(study, best, &found);
    const calc_stats *s = &found.stats;
    calc_designs_describe(&study->builder, found.design, design, sizeof design);
    double price = s->usd_per_trillion_tokens * trillions;
    calc_output_printf(out, "%10s  %14s  %14s  %8" PRId64 "  %s\n",
                       calc_human_number(s->days_per_trillion_tokens * trillions),
                       calc_human_number(s->proc_hours_per_trillion_tokens * trillions),
                       isnan(price) ? "no price" : calc_human_number(price), found.exec.num_procs,
                       design);
}

void calc_sweep_tokens_write(calc_output *out, const calc_sweep_study *study,
                             const calc_sweep_result *result, const calc_sweep_rows *rows,
                             const calc_args *args)
{
    double tokens = amount_of(args, CALC_SWEEP_OPT_TOKENS, "tokens");
    bool groups = result->groups_count > 1;
    if (!(tokens > 0) ||
        !(groups ? calc_sweep_found_best_of_all(result) != NULL : rows->count > 0)) {
        return;
    }
    calc_output_printf(out, "\nTraining on %s tokens with the %s:\n%10s  %14s  %14s  %8s  design\n",
                       calc_opt_value(args, CALC_SWEEP_OPT_TOKENS),
                       groups ? "best of each group" : "first row of each design", "days",
                       "proc.-hours", "USD", "procs");
    for (size_t i = 0; i < (groups ? result->groups_count : rows->count); i++) {
        const calc_found *layout =
            groups ? calc_sweep_found_best(&result->group[i]) : rows->row[i].layout;
        bool told = !layout;
        for (size_t k = 0; k < i && !told && !groups; k++) {
            const calc_found *before = rows->row[k].layout;
            told = before && before->design == layout->design;
        }
        if (!told) {
            write_row(out, study, layout, tokens / TRILLION);
        }
    }
}

void calc_sweep_read_write_remarks(calc_output *out, const calc_sweep_study *study)
{
    for (size_t i = 0; i <= study->documents; i++) {
        char own[CALC_REMARK_SIZE];
        const char *text = calc_sweep_remark(study, i, own);
        if (*text) {
            calc_output_printf(out, "%s\n", text);
        }
    }
}

void calc_sweep_read_put(calc_put *put, const calc_sweep_study *study, const calc_args *args)
{
    calc_put_array(put, "read", CALC_PUT_LINE);
    for (size_t i = 0; i < study->documents; i++) {
        calc_putf(put, "{name: %s, sha256: %s}", study->document[i].name,
                  study->document[i].sha256);
    }
    calc_putf(put, "], command: [%s, %s", "calc", "sweep");
    for (size_t i = 0; i < args->argument_count; i++) {
        calc_put_text(put, NULL, args->argument[i]);
    }
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &calc_sweep_opts[args->use[i].opt];
        if (args->use[i].opt < (int)CALC_SWEEP_OPT_FRONT) { /* options that define the space and the
                                                             * objectives */
            calc_putf(put, "%s, %s", CALC_TEXT(32, "--%s", opt->name), args->use[i].value);
        }
    }
    calc_put_close(put);
}

/* The command line of a part: the words from which calc sweep --merge knows the sweep. */
bool calc_sweep_save_defines(int opt)
{
    return opt < (int)CALC_SWEEP_OPT_FRONT || opt == (int)CALC_SWEEP_OPT_NO_PRUNE;
}

/* The words that define the space, each with its '\0'. */
static calc_text words_of(const calc_args *args)
{
    calc_text text = {0};
    calc_output *out = calc_write_to_memory(&text);
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &args->command->opts[args->use[i].opt];
        if (calc_sweep_save_defines(args->use[i].opt)) {
            calc_output_printf(out, "--%s%s%s", opt->name, opt->value ? "=" : "",
                               args->use[i].value);
            calc_output_write(out, "", 1);
        }
    }
    calc_output_write(out, "--", sizeof "--");
    for (size_t i = 0; i < args->argument_count; i++) {
        calc_output_write(out, args->argument[i], strlen(args->argument[i]) + 1);
    }
    (void)calc_is_yes(calc_output_close(out, NULL));
    return text;
}

const char *calc_sweep_save_complaint(const calc_args *args, int ranks)
{
    bool all = calc_opt_value(args, CALC_SWEEP_OPT_ALL) != NULL;
    bool shard = calc_opt_value(args, CALC_SWEEP_OPT_SHARD) != NULL;
    bool checkpoint = calc_opt_value(args, CALC_SWEEP_OPT_CHECKPOINT) != NULL;
    bool from_stdin = false;
    for (size_t i = 0; i < args->argument_count; i++) {
        from_stdin |= strcmp(args->argument[i], "-") == 0;
    }
    if (shard && checkpoint) {
        return "--shard makes --out FILE its checkpoint: leave --checkpoint out";
    }
    if (shard && (!calc_opt_value(args, CALC_SWEEP_OPT_OUT) ||
                  calc_opt_is_stdout(args, CALC_SWEEP_OPT_OUT))) {
        return "--shard needs --out FILE for its part of the result";
    }
    if (calc_opt_value(args, CALC_SWEEP_OPT_RESUME) && !shard && !checkpoint) {
        return "--resume needs --checkpoint FILE or --shard";
    }
    if (all && (shard || checkpoint || ranks > 1)) {
        return "--all needs a sweep in one piece: no --checkpoint, no --shard, no mpirun";
    }
    if (shard &&
        (calc_opt_value(args, CALC_SWEEP_OPT_HTML) || calc_opt_value(args, CALC_SWEEP_OPT_JSON) ||
         calc_opt_value(args, CALC_SWEEP_OPT_CSV))) {
        return "--html, --json and --csv need the whole sweep: leave --shard out";
    }
    if (shard && ranks > 1) {
        return "--shard and mpirun both divide the sweep: use one of them";
    }
    return shard && from_stdin ? "--shard needs files: calc sweep --merge reads them again" : NULL;
}

static void warn_of(const calc_error *error)
{
    calc_say("warning: %s: %s; the sweep goes on and tries again\n", error->file, error->text);
}

calc_status calc_sweep_save_load(calc_sweep_save *save, const calc_args *args, calc_errors *errors)
{
    const char *shard = calc_opt_value(args, CALC_SWEEP_OPT_SHARD);
    size_t cursor = 0;
    const char *part;
    save->is_part = shard != NULL;
    save->every_s = calc_opt_real(args, CALC_SWEEP_OPT_EVERY);
    save->saving.path =
        calc_opt_value(args, shard ? CALC_SWEEP_OPT_OUT : CALC_SWEEP_OPT_CHECKPOINT);
    save->saving.unsaved = warn_of;
    save->saving.resume = calc_opt_value(args, CALC_SWEEP_OPT_RESUME) != NULL;
    const calc_text words = words_of(args);
    save->saving.words_size = words.length;
    save->saving.words = words.data;
    save->part = calc_make(args->use_count + 1, sizeof *save->part);
    while ((part = calc_opt_next(args, CALC_SWEEP_OPT_PART, &cursor))) {
        save->part[save->parts++] = part;
    }
    return calc_shard_parse(&save->saving.shard, shard ? shard : "1/1", errors);
}

CALC_FREES(calc_sweep_save_free, calc_sweep_save, of->saving.words, of->part)

calc_status calc_sweep_save_run(const calc_sweep_save *save, const calc_sweep_study *study,
                                const calc_sweep_options *options, calc_ranks *ranks,
                                calc_sweep_result *result, calc_errors *errors)
{
    if (save->parts > 0) {
        calc_sweep_mark sweep = calc_sweep_mark_of(&study->space, &study->designs, options);
        return calc_parts_merge(save->part, save->parts, &sweep, options, result, errors);
    }
    calc_sweep_options own = *options;
    own.checkpoint_s = save->every_s;
    return calc_ranks_sweep(ranks, &study->space, &study->designs, &own, &save->saving, result,
                            errors);
}

/* Seconds between two updates, and width of the bar in columns. */
#define BAR_INTERVAL_S 0.2
#define PLAIN_INTERVAL_S 5.0
enum { BAR_WIDTH = 24 };

/* A thread: whatever the work does, a second signal ends calc, and so does time. */
static void *guard(void *context)
{
    calc_sweep_watch *watch = context;
    const struct timespec grace = {.tv_sec = CALC_SWEEP_WATCH_GRACE_S};
    int signal;
    if (sigwait(&watch->signals, &signal) == 0 && !atomic_load(&watch->ended)) {
        atomic_store(&watch->interrupted, true);
        if (!watch->alone) {
            sigwait(&watch->signals, &signal);
        } else {
            sigtimedwait(&watch->signals, NULL, &grace);
        }
        if (!atomic_load(&watch->ended)) {
            pthread_sigmask(SIG_UNBLOCK, &watch->signals, NULL);
            raise(signal);
        }
    }
    return NULL;
}

void calc_sweep_watch_begin(calc_sweep_watch *watch, const char *how, double limit_s, bool alone)
{
    bool plain = strcmp(how, "plain") == 0;
    bool bar = strcmp(how, "auto") == 0 && isatty(STDERR_FILENO);
    *watch = (calc_sweep_watch){.show = plain ? CALC_SWEEP_SHOW_PLAIN
                                        : bar ? CALC_SWEEP_SHOW_BAR
                                              : CALC_SWEEP_SHOW_NOTHING,
                                .limit_s = limit_s,
                                .start_s = calc_clock_s(CLOCK_MONOTONIC),
                                .alone = alone};
    watch->shown_s = watch->start_s;
    /* Blocked signals stay pending; waiting for them needs neither a handler nor a global variable.
     * Threads that start now inherit the mask. */
    sigemptyset(&watch->signals);
    sigaddset(&watch->signals, SIGINT);
    sigaddset(&watch->signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &watch->signals, &watch->mask);
    watch->is_guarded = pthread_create(&watch->guard, NULL, guard, watch) == 0;
    if (!watch->is_guarded) { /* then they end calc as they would without a watch */
        pthread_sigmask(SIG_SETMASK, &watch->mask, NULL);
    }
}

static void show(const calc_sweep_watch *watch, const calc_sweep_progress *progress,
                 double elapsed_s)
{
    const calc_sweep_counts *counts = &progress->counts;
    char best[2 * CALC_HUMAN_MAX] = "";
    char seen[CALC_HUMAN_MAX], rate[CALC_HUMAN_MAX], left[CALC_HUMAN_MAX] = "?";
    calc_human_count_in((double)counts->total, seen);
    calc_human_count_in(elapsed_s > 0 ? (double)counts->evaluated / elapsed_s : 0, rate);
    if (watch->share > 0) {
        double left_s = elapsed_s * (1 - watch->share) / watch->share;
        left_s < 1     ? snprintf(left, sizeof left, "0 s")
        : left_s < 600 ? snprintf(left, sizeof left, "%.0f s", left_s)
                       : snprintf(left, sizeof left, "%.0f min", left_s / 60);
    }
    if (!isnan(progress->best)) {
        const char *unit = progress->best_unit;
        snprintf(best, sizeof best, "  best %s%s%s", calc_human_number(progress->best),
                 unit ? " " : "", unit ? unit : "");
    }
    char text[6 * CALC_HUMAN_MAX];
    const bool bar_too = watch->show == CALC_SWEEP_SHOW_BAR;
    const int columns = calc_paint_columns() - (int)sizeof "[] ";
    int length = snprintf(text, sizeof text, "%3.0f %%  %s left%s  %s layouts", 100 * watch->share,
                          left, best, seen);
    if (!bar_too || columns - length > BAR_WIDTH) { /* what is left of a wide terminal's line */
        length += snprintf(text + length, sizeof text - (size_t)length, "  %s evaluations/s", rate);
    }
    if (bar_too) {
        /* A line that fills the terminal would begin another. */
        const int room = columns - length;
        const int width = room > BAR_WIDTH ? BAR_WIDTH : room > 0 ? room : 0;
        char bar[BAR_WIDTH + 1] = "";
        memset(bar, '.', (size_t)width);
        memset(bar, '#', (size_t)(watch->share * width));
        fprintf(stderr, "\r[%s] %.*s\033[K", bar, columns > 0 ? columns : 0, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
    fflush(stderr);
}

bool calc_sweep_watch_progress(void *context, const calc_sweep_progress *progress)
{
    calc_sweep_watch *watch = context;
    double at_s = calc_clock_s(CLOCK_MONOTONIC);
    double interval_s = watch->show == CALC_SWEEP_SHOW_BAR ? BAR_INTERVAL_S : PLAIN_INTERVAL_S;
    watch->share = progress->total > 0 ? fmin(progress->done / progress->total, 1) : 0;
    watch->timed_out = at_s - watch->start_s >= watch->limit_s;
    if (watch->show != CALC_SWEEP_SHOW_NOTHING && at_s - watch->shown_s >= interval_s) {
        watch->shown_s = at_s;
        show(watch, progress, at_s - watch->start_s);
    }
    return atomic_load(&watch->interrupted) || watch->timed_out;
}

void calc_sweep_watch_hide(calc_sweep_watch *watch)
{
    if (watch->show == CALC_SWEEP_SHOW_BAR && watch->shown_s > watch->start_s) {
        fputs("\r\033[K", stderr);
    }
    watch->show = CALC_SWEEP_SHOW_NOTHING;
}

void calc_sweep_watch_end(calc_sweep_watch *watch)
{
    calc_sweep_watch_hide(watch);
    if (watch->is_guarded) {
        const struct timespec no_time = {0};
        atomic_store(&watch->ended, true);
        pthread_kill(watch->guard, SIGINT); /* wakes it; the process does not get it */
        pthread_join(watch->guard, NULL);
        while (sigtimedwait(&watch->signals, NULL, &no_time) > 0) {
            /* too late to stop anything */
        }
    }
    pthread_sigmask(SIG_SETMASK, &watch->mask, NULL);
}

/* What is said to a command, for the library. */
static calc_completion completion_of(const calc_inputs *in, const char *const *set,
                                     size_t set_count, calc_residuals *measured)
{
    const calc_input *said = &in->input[CALC_KIND_EXEC];
    return (calc_completion){.source = {.app = "model",
                                        .system = "system",
                                        .read = read_document,
                                        .context = (void *)in,
                                        .find = calc_find_document,
                                        .find_context = (void *)in}, /* which told the names */
                             .measured = calc_known_runs_try(measured),
                             .text = said->text.data,
                             .length = said->text.length,
                             .path = said->path,
                             .set = set,
                             .set_count = set_count,
                             .procs = in->procs,
                             .batch = in->batch,
                             .compat = in->compat,
                             .framework = in->framework,
                             .runs = in->runs,
                             .runs_context = in->runs_context,
                             .system = &in->system};
}

static void tell_one(void *context, const calc_exec *exec, calc_axis axis)
{
    (void)context;
    const calc_field *field = calc_axis_field(axis);
    const char *also = axis < CALC_AXIS_EXEC_COUNT ? field->also[0] : NULL;
    char value[CALC_VALUE_TEXT];
    calc_say(" %s=%s", also ? also : field->key,
             calc_value_text(field, (const char *)exec + calc_axis_offset(axis), value));
}

/* Names the fields that were chosen; or says why there is no layout. */
static void tell(const calc_inputs *in, const calc_completed *c)
{
    bool alone = *c->batch, found = c->found;
    if (*c->procs) {
        calc_say("no %s said: --procs %s%s%s is taken\n",
                 alone ? "layout is" : "number of processors is", c->procs,
                 alone ? " --batch " : "", c->batch);
    }
    if (in->who) {
        calc_say("%s: ", in->who);
    }
    if (found) {
        calc_say("layout completed as calc sweep%s%s would:", c->framework ? " --for " : "",
                 c->framework ? c->framework : "");
        calc_say(calc_completed_each(c, tell_one, NULL) ? "\n" : " with defaults alone\n");
    } else {
        calc_sweep_infeasible(&c->study, &c->result);
    }
}

static calc_status complete(calc_inputs *in, const char *const *set, size_t set_count,
                            calc_errors *errors)
{
    calc_residuals measured = {0};
    calc_completed c = {0};
    calc_input *input = &in->input[CALC_KIND_EXEC];
    const calc_completion said = completion_of(in, set, set_count, &measured);
    calc_status status = calc_completion_find(&c, &said, errors);
    if (status == CALC_OK && !in->silent) {
        tell(in, &c);
    }
    if (status == CALC_OK && !c.found) {
        status = calc_errors_add(errors, CALC_ERR_INFEASIBLE, CALC_KIND_NONE, NULL, NULL,
                                 "no layout has the values that are said");
    }
    in->exec = c.exec;
    in->fits = c.fits;
    strcpy(in->exec.software, c.study.space.software);
    if (!input->name[0]) {
        snprintf(input->name, sizeof input->name, "as calc sweep would start");
    }
    calc_completed_free(&c);
    calc_residuals_free(&measured);
    return status;
}

calc_status calc_sweep_front_of(const calc_inputs *in, const char *const *set, size_t set_count,
                                const char *objectives, size_t most, calc_exec **found,
                                size_t *count, calc_errors *errors)
{
    calc_residuals measured = {0};
    calc_completion said = completion_of(in, set, set_count, &measured);
    said.objectives = objectives;
    calc_status status = calc_completion_front(&said, most, found, count, errors);
    calc_residuals_free(&measured);
    return status;
}

void calc_sweep_completes_with(calc_inputs *inputs, const char *procs, const char *batch)
{
    inputs->complete = complete;
    inputs->procs = procs;
    inputs->batch = batch;
    inputs->compat = NULL;
}

void calc_sweep_completes(calc_inputs *inputs, const calc_args *args, int procs, int batch,
                          const char *compat)
{
    calc_sweep_completes_with(inputs, calc_opt_value(args, procs), calc_opt_value(args, batch));
    inputs->compat = compat;
}
