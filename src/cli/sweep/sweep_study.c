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
#include "calibrate/calibration.h"
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
#include "session/study_load.h"
#include "spec/absent.h"
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

/* Who reads the documents of a study. */
typedef struct reading {
    const calc_inputs *read; /* what was read already; NULL: names are loaded */
    calc_input pool;         /* of a prefill pool */
} reading;

static void calc_sweep_read_note(calc_sweep_study *study, const char *name, const calc_text *text,
                                 const char *remark);

static calc_status add(calc_sweep_study *study, const calc_input *input, calc_kind kind,
                       const void *object, calc_errors *errors)
{
    char remark[CALC_REMARK_SIZE];
    calc_designs_builder *b = &study->builder;
    calc_status status = kind == CALC_KIND_APP ? calc_designs_add_app(b, input->name, object)
                                               : calc_designs_add_system(b, input->name, object);
    calc_sweep_read_note(study, input->name, &input->text,
                         calc_input_remark(input, kind, object, remark));
    return calc_errors_status(errors, status);
}

static calc_status add_document(void *context, calc_sweep_study *study, calc_kind kind,
                                const char *name, calc_errors *errors)
{
    const calc_inputs *read = ((const reading *)context)->read;
    union {
        calc_app app;
        calc_system system;
    } object;
    if (read) {
        bool app = kind == CALC_KIND_APP;
        return add(study, &read->input[kind], kind,
                   app ? (const void *)&read->app : (const void *)&read->system, errors);
    }
    calc_input input = {0};
    calc_status status = calc_input_load(&input, kind, &object, name, errors);
    status = status == CALC_OK ? add(study, &input, kind, &object, errors) : status;
    calc_text_free(&input.text);
    return status;
}

static const char *load_pool(void *context, const char *name, calc_system *system,
                             calc_errors *errors)
{
    calc_input *pool = &((reading *)context)->pool;
    return calc_input_load(pool, CALC_KIND_SYSTEM, system, name, errors) == CALC_OK ? pool->name
                                                                                    : NULL;
}

static calc_status load_file(calc_sweep_study *study, calc_space_entries *file, const char *space,
                             calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_status status = calc_find(CALC_KIND_EXEC, space, path, errors);
    char name[256];
    status = status == CALC_OK ? calc_space_load(file, path, errors) : status;
    if (status == CALC_OK) {
        calc_sweep_read_note(study, calc_find_name(path, name, sizeof name), &file->text, "");
    }
    return status;
}

calc_status calc_sweep_study_load(calc_sweep_study *study, const calc_args *args,
                                  const calc_inputs *read, calc_errors *errors)
{
    const char *const *argument = args->argument;
    size_t count = args->argument_count;
    const char *space = count == 1 ? argument[0] : count > 2 ? argument[2] : NULL;
    reading documents = {.read = read, .pool = {.text = {0}}};
    calc_study_source source = {.app = read || count == 0 ? "gpt3-175B"
                                       : count > 1        ? argument[0]
                                                          : NULL,
                                .system = read || count == 0 ? "h100_80g_nvl8"
                                          : count > 1        ? argument[1]
                                                             : NULL,
                                .standard = !read && count == 0,
                                .document = add_document,
                                .prefill = load_pool,
                                .context = &documents,
                                .find = calc_find_document,
                                .find_context = (void *)read}; /* which told the names */
    calc_space_option *use = calc_make(args->use_count + 1, sizeof *use);
    for (size_t i = 0; i < args->use_count; i++) {
        use[i] = (calc_space_option){calc_sweep_opts[args->use[i].opt].name, args->use[i].value};
    }
    source.use = use;
    source.uses = args->use_count;
    calc_status status = space ? load_file(study, &source.file, space, errors) : CALC_OK;
    status = status == CALC_OK ? calc_study_load(study, &source, errors) : status;
    calc_space_entries_free(&source.file);
    calc_text_free(&documents.pool.text);
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
                             const calc_sweep_result *result, const calc_args *args)
{
    double tokens = amount_of(args, CALC_SWEEP_OPT_TOKENS, "tokens");
    if (!(tokens > 0) || !calc_sweep_found_best_of_all(result)) {
        return;
    }
    calc_output_printf(
        out, "\nTraining on %s tokens with the best%s:\n%10s  %14s  %14s  %8s  design\n",
        calc_opt_value(args, CALC_SWEEP_OPT_TOKENS),
        result->groups_count > 1 ? " of each group" : "", "days", "proc.-hours", "USD", "procs");
    for (size_t g = 0; g < result->groups_count; g++) {
        const calc_found *best = calc_sweep_found_best(&result->group[g]);
        if (best) {
            write_row(out, study, best, tokens / TRILLION);
        }
    }
}

_Static_assert(CALC_DIGEST_TEXT == sizeof(((calc_study_document *)NULL)->sha256),
               "a study has room for digests");
_Static_assert(CALC_REMARK_SIZE == sizeof(((calc_study_document *)NULL)->remark),
               "a study has room for remarks");

/* Record the bytes of a document.
 * @param name    for people
 * @param remark  what to know before using its numbers; "": nothing */
static void calc_sweep_read_note(calc_sweep_study *study, const char *name, const calc_text *text,
                                 const char *remark)
{
    study->document = calc_longer(study->document, study->documents + 1, sizeof *study->document);
    calc_study_document *document = &study->document[study->documents++];
    snprintf(document->name, sizeof document->name, "%.*s", (int)sizeof document->name - 1, name);
    calc_digest_text(text->data, text->length, document->sha256);
    snprintf(document->remark, sizeof document->remark, "%s", remark);
    calc_standard_errors fitted;
    calc_standard_errors_read(&fitted, text);
    snprintf(document->calibrated, sizeof document->calibrated, "%s", fitted.machine);
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
        char word[32];
        if (args->use[i].opt < (int)CALC_SWEEP_OPT_FRONT) { /* options that define the space and the
                                                             * objectives */
            snprintf(word, sizeof word, "--%s", opt->name);
            calc_putf(put, "%s, %s", word, args->use[i].value);
        }
    }
    calc_put_close(put);
}

/* The command line of a part: the words from which calc sweep --merge knows the sweep. */
bool calc_sweep_save_defines(int opt)
{
    switch (opt) {
    case CALC_SWEEP_OPT_AXIS:
    case CALC_SWEEP_OPT_SET:
    case CALC_SWEEP_OPT_PROCS:
    case CALC_SWEEP_OPT_BATCH:
    case CALC_SWEEP_OPT_TOKENS:
    case CALC_SWEEP_OPT_DAYS:
    case CALC_SWEEP_OPT_BUDGET:
    case CALC_SWEEP_OPT_OBJECTIVES:
    case CALC_SWEEP_OPT_TOP:
    case CALC_SWEEP_OPT_TOP_BY:
    case CALC_SWEEP_OPT_PER:
    case CALC_SWEEP_OPT_WHERE:
    case CALC_SWEEP_OPT_COMPAT:
    case CALC_SWEEP_OPT_FOR:
    case CALC_SWEEP_OPT_NO_PRUNE:
        return true;
    default:
        return false;
    }
}

/* Append the pieces as one word. @param at  NULL: only count. @return its bytes */
static size_t put_word(char *at, const char *a, const char *b, const char *c, const char *d)
{
    const char *piece[] = {a, b, c, d};
    size_t size = 0;
    for (size_t i = 0; i < sizeof piece / sizeof *piece; i++) {
        size_t length = strlen(piece[i]);
        if (at) {
            memcpy(at + size, piece[i], length);
        }
        size += length;
    }
    if (at) {
        at[size] = '\0';
    }
    return size + 1;
}

/* The words that define the space. @param out  NULL: only count. @return bytes of them all */
static size_t put_words(char *out, const calc_args *args)
{
    size_t size = 0;
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &args->command->opts[args->use[i].opt];
        if (calc_sweep_save_defines(args->use[i].opt)) {
            size += put_word(out ? out + size : NULL, "--", opt->name, opt->value ? "=" : "",
                             args->use[i].value);
        }
    }
    size += put_word(out ? out + size : NULL, "--", "", "", "");
    for (size_t i = 0; i < args->argument_count; i++) {
        size += put_word(out ? out + size : NULL, args->argument[i], "", "", "");
    }
    return size;
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
    if (shard && calc_opt_value(args, CALC_SWEEP_OPT_HTML)) {
        return "--html needs the whole sweep: leave --shard out";
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
    save->saving.words_size = put_words(NULL, args);
    save->saving.words = calc_make(1, save->saving.words_size);
    save->part = calc_make(args->use_count + 1, sizeof *save->part);
    put_words(save->saving.words, args);
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

void calc_sweep_watch_end(calc_sweep_watch *watch)
{
    if (watch->show == CALC_SWEEP_SHOW_BAR && watch->shown_s > watch->start_s) {
        fputs("\r\033[K", stderr);
    }
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

enum { OTHERS = 5 /* options beside --set */ };

/* What is said, as options of a sweep; owns the words of the document. */
typedef struct said {
    calc_args args;
    char **word;
    size_t words;
} said;

/* "exe.tensor_par=8" of an entry of the document; a set of several is joined by plus signs. */
static char *word_of(const calc_space_entry *entry)
{
    size_t size = strlen("exe.=") + strlen(entry->key) + 1;
    for (size_t i = 0; i < entry->count; i++) {
        size += strlen(entry->item[i]) + 1;
    }
    char *word = calc_make(1, size);
    snprintf(word, size, "exe.%s=", entry->key);
    for (size_t i = 0; i < entry->count; i++) {
        calc_append(word, size, "%s%s", i ? "+" : "", entry->item[i]);
    }
    return word;
}

/* Fields of the document that say "auto", and the note on its source, leave the choice open. An
 * option goes before the field that it sets. */
static bool is_open(const calc_inputs *in, const calc_space_entry *entry)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    const calc_alias *alias = calc_alias_find(table, entry->key);
    const char *key = alias ? alias->field : entry->key;
    const calc_field *field = calc_table_find(table, key);
    bool note = field && field->type == CALC_TYPE_NOTE && !(field->flags & CALC_SOFTWARE);
    return note || strcmp(entry->item[0], "auto") == 0 ||
           (in->procs && strcmp(key, "num_procs") == 0) ||
           (in->batch && strcmp(key, "batch_size") == 0);
}

/* @param objectives  of the front; NULL: the default */
static calc_status read_said(said *s, const calc_inputs *in, const char *const *set,
                             size_t set_count, const char *objectives, calc_errors *errors)
{
    const calc_input *input = &in->input[CALC_KIND_EXEC];
    calc_space_entries file = {0};
    calc_status status = CALC_OK;
    if (input->text.data) {
        status = calc_space_parse(&file, input->text.data, input->text.length, input->path, errors);
    }
    status =
        status == CALC_OK && in->batch && strpbrk(in->batch, ",:*")
            ? calc_errors_at(errors, CALC_ERR_TYPE, NULL, 0, 0, "one number: 1536, or 4Mitokens",
                             "--batch: expected a number of sequences, found \"%.40s\"", in->batch)
            : status;
    s->args.command = &calc_cmd_sweep;
    s->word = calc_make(file.count + 1, sizeof *s->word);
    s->args.use = calc_make(file.count + set_count + OTHERS, sizeof *s->args.use);
    for (size_t i = 0; i < file.count; i++) {
        if (!is_open(in, &file.entry[i])) {
            char *word = s->word[s->words++] = word_of(&file.entry[i]);
            s->args.use[s->args.use_count++] = (calc_opt_use){CALC_SWEEP_OPT_SET, word};
        }
    }
    for (size_t i = 0; i < set_count; i++) {
        const char *equals = strchr(set[i], '=');
        s->args.use[s->args.use_count] = (calc_opt_use){CALC_SWEEP_OPT_SET, set[i]};
        s->args.use_count += !equals || strcmp(equals, "=auto") != 0;
    }
    const calc_opt_use others[] = {{CALC_SWEEP_OPT_PROCS, in->procs},
                                   {CALC_SWEEP_OPT_BATCH, in->batch},
                                   {CALC_SWEEP_OPT_COMPAT, in->compat},
                                   {CALC_SWEEP_OPT_FOR, in->framework},
                                   {CALC_SWEEP_OPT_OBJECTIVES, objectives}};
    for (size_t i = 0; i < OTHERS; i++) {
        s->args.use[s->args.use_count] = others[i];
        s->args.use_count += others[i].value != NULL;
    }
    calc_space_entries_free(&file);
    return status;
}

/* Whether a sweep chooses the value of a field: nobody says it, and there are several. */
static bool is_chosen(const calc_values *values)
{
    return values->standard && !values->last && (values->all || values->count > 1);
}

/* Names the fields that were chosen, apart from sizes of 1 and what is as if it were absent. */
static void tell(const calc_sweep_study *study, const calc_exec *exec, const char *framework)
{
    bool any = false;
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    char value[CALC_VALUE_TEXT];
    calc_exec plain;
    calc_absent_fill(table, &plain);
    plain.strategy.attention_type = exec->strategy.attention_type; /* the model's */
    calc_say("layout completed as calc sweep%s%s would:", framework ? " --for " : "",
             framework ? framework : "");
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_field *field = &table->rows[axis];
        int64_t chosen = calc_axis_get(exec, (calc_axis)axis);
        bool small = field->type == CALC_TYPE_INT && chosen <= 1;
        if (is_chosen(&study->space.axis[axis]) && !small &&
            chosen != calc_axis_get(&plain, (calc_axis)axis)) {
            any = true;
            const calc_alias *alias = calc_alias_of(table, field->key);
            calc_say(" %s=%s", alias ? alias->key : field->key,
                     calc_value_text(field, (const char *)exec + field->offset, value));
        }
    }
    for (int axis = CALC_AXIS_EXEC_COUNT; axis < CALC_AXIS_COUNT; axis++) {
        if (is_chosen(&study->space.axis[axis])) {
            any = true;
            calc_say(" %s=%jd", calc_axis_field((calc_axis)axis)->key,
                     calc_axis_get(exec, (calc_axis)axis));
        }
    }
    calc_say(any ? "\n" : " with defaults alone\n");
}

/* The layout to start with; if none can run, the one that needs the least memory.
 * @param fits  set to whether it can run
 * @return whether there is one */
static bool choose(const calc_sweep_study *study, calc_sweep_result *result, calc_exec *exec,
                   bool *fits)
{
    calc_residuals measured = {0};
    calc_errors ignored = {0};
    calc_sweep_need need;
    calc_sweep_found_systems(study, result);
    const calc_found *start =
        calc_sweep_rows_advise(calc_known_runs_try(&measured), study, result).start.layout;
    bool found = *fits = start != NULL;
    if (start) {
        *exec = calc_found_exec(start);
    } else if (calc_is_yes(calc_sweep_need_find(&need, study, result, &ignored)) && need.known) {
        found = true;
        *exec = need.least.exec;
    }
    calc_residuals_free(&measured);
    return found;
}

/* Sweep; what is said may be of no framework. */
static calc_status sweep(calc_sweep_study *study, calc_sweep_result *result, calc_errors *errors)
{
    calc_sweep_options *o = &study->options;
    calc_status status = calc_sweep(&study->space, &study->designs, o, result, errors);
    if (status == CALC_OK && !calc_sweep_found_best_of_all(result) && o->runs) {
        o->runs = NULL;
        calc_sweep_result_free(result);
        status = calc_sweep(&study->space, &study->designs, o, result, errors);
    }
    return status;
}

/* @param refused  set, and nothing said, if in->runs() refuses the layout; NULL: it was asked */
static calc_status search(calc_sweep_study *study, calc_inputs *in, bool *refused,
                          calc_errors *errors)
{
    calc_sweep_result result = {0};
    calc_status status = sweep(study, &result, errors);
    bool found = status == CALC_OK && choose(study, &result, &in->exec, &in->fits);
    if (found && refused && in->runs) {
        bool runs;
        int known = 0;
        status = in->runs(in->runs_context, &in->app, &in->system, &in->exec, &known, &runs);
        *refused = status == CALC_OK && !runs;
        if (*refused) {
            calc_sweep_result_free(&result);
            return CALC_OK;
        }
    }
    if (status == CALC_OK && in->who && !in->silent) {
        calc_say("%s: ", in->who);
    }
    if (found && !in->silent) {
        tell(study, &in->exec, refused ? NULL : in->framework);
    } else if (status == CALC_OK && !found) {
        if (!in->silent) {
            calc_sweep_infeasible(study, &result);
        }
        status = calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                                 "no layout has the values that are said");
    }
    calc_sweep_result_free(&result);
    return status;
}

static void free_said(said *s)
{
    free(s->args.use);
    for (size_t i = 0; i < s->words; i++) {
        free(s->word[i]);
    }
    free(s->word);
}

static calc_status complete_for(calc_inputs *in, const char *const *set, size_t set_count,
                                bool *refused, calc_errors *errors)
{
    said s = {0};
    calc_sweep_study study = {0};
    calc_input *input = &in->input[CALC_KIND_EXEC];
    calc_status status = read_said(&s, in, set, set_count, NULL, errors);
    status = status == CALC_OK ? calc_sweep_study_load(&study, &s.args, in, errors) : status;
    if (in->runs && !refused) {
        study.options.runs = in->runs;
        study.options.runs_context = in->runs_context;
    }
    status = status == CALC_OK ? search(&study, in, refused, errors) : status;
    strcpy(in->exec.software, study.space.software);
    if (!input->name[0]) {
        snprintf(input->name, sizeof input->name, "as calc sweep would start");
    }
    calc_study_free(&study);
    free_said(&s);
    return status;
}

/* As calc run does, unless the program that it is for refuses that; then among what this runs.
 * Where nothing is said, on the smallest power of two of processors, from a node on, on which a
 * layout can run, with four sequences for each. */
static calc_status complete(calc_inputs *in, const char *const *set, size_t set_count,
                            calc_errors *errors)
{
    enum { NODE = 8, MOST = 4096, EACH = 4 };
    const char *framework = in->framework;
    bool refused = false, silent = in->silent;
    bool alone = !in->procs && !in->batch && set_count == 0 && !in->input[CALC_KIND_EXEC].text.data;
    int64_t node = in->system.networks[0].size;
    char procs[24], batch[24];
    calc_status status = CALC_OK;
    in->fits = !alone;
    for (int64_t n = node < NODE ? node : NODE; !in->fits && n <= MOST; n *= 2) {
        calc_errors found = {0};
        snprintf(procs, sizeof procs, "%" PRId64, n);
        snprintf(batch, sizeof batch, "%" PRId64, EACH * n);
        in->procs = procs;
        in->batch = batch;
        in->silent = true;
        (void)!complete_for(in, set, set_count, NULL, &found);
    }
    in->silent = silent;
    if (alone && !silent) {
        calc_say("no layout is said: --procs %s --batch %s is taken\n", in->procs, in->batch);
    }
    if (in->runs) {
        in->framework = NULL;
        status = complete_for(in, set, set_count, &refused, errors);
        in->framework = framework;
    }
    if (!in->runs || refused) {
        status = complete_for(in, set, set_count, NULL, errors);
    }
    in->procs = alone ? NULL : in->procs;
    in->batch = alone ? NULL : in->batch;
    return status;
}

/* The layouts of a front, the one to start with first. */
static void take_front(const calc_sweep_study *study, calc_sweep_result *result, size_t most,
                       calc_exec **found, size_t *count)
{
    const calc_front *front = &result->group[0].front;
    size_t shown = front->count < most ? front->count : most;
    *found = calc_make(shown + 1, sizeof **found);
    bool fits;
    *count = choose(study, result, &(*found)[0], &fits);
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_spread(i, shown, front->count);
        (*found)[(*count)++] = calc_found_exec(&front->item[at]);
    }
}

calc_status calc_sweep_front_of(const calc_inputs *in, const char *const *set, size_t set_count,
                                const char *objectives, size_t most, calc_exec **found,
                                size_t *count, calc_errors *errors)
{
    said s = {0};
    calc_sweep_study study = {0};
    calc_sweep_result result = {0};
    *found = NULL;
    *count = 0;
    calc_status status = read_said(&s, in, set, set_count, objectives, errors);
    status = status == CALC_OK ? calc_sweep_study_load(&study, &s.args, in, errors) : status;
    status = status == CALC_OK ? sweep(&study, &result, errors) : status;
    if (status == CALC_OK && result.groups_count > 0) {
        take_front(&study, &result, most, found, count);
    }
    calc_sweep_result_free(&result);
    calc_study_free(&study);
    free_said(&s);
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
