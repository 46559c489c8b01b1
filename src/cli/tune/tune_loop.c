#include "cli/tune/tune_loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "io/json_save.h"
#include "tune/truth.h"

enum {
    FAILURES = 3 /* one after the other from the first on: the command is wrong, not layouts */
};

/* ---- Executions ------------------------------------------------------------------------------ */

char *calc_tune_loop_path(const calc_tune_task *t, size_t candidate, char *path)
{
    char id[CALC_TUNE_ID_SIZE];
    snprintf(path, CALC_FIND_PATH_MAX, "%s/%s.json", t->folder,
             calc_tune_layouts_id(&t->layouts, candidate, id));
    return path;
}

calc_status calc_tune_loop_write(const calc_tune_task *t, size_t candidate, char *path,
                                 calc_errors *errors)
{
    calc_output *out;
    if (mkdir(t->folder, 0777) != 0 && errno != EEXIST) {
        return calc_errors_at(errors, CALC_ERR_IO, t->folder, 0, 0,
                              "--out names a folder; the one that it is in must be there", "%s",
                              strerror(errno));
    }
    calc_tune_loop_path(t, candidate, path);
    calc_status status = calc_output_open(&out, path, errors);
    if (status == CALC_OK) {
        const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
        calc_json_save(out, CALC_KIND_EXEC, &exec, 0);
        calc_output_text(out, "\n");
        status = calc_output_close(out, errors);
    }
    return status;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* A command that has done nothing but fail is more likely wrong than every layout. */
static bool only_fails(const calc_tune_task *t)
{
    size_t failed = 0;
    for (size_t i = 0; i < t->measurements; i++) {
        failed += t->measurement[i].end == CALC_TUNE_END_FAILED;
    }
    return failed == t->measurements && failed >= FAILURES;
}

static void tell(const calc_tune_task *t, const calc_tune_trial *trial)
{
    char measured[CALC_HUMAN_MAX], predicted[CALC_HUMAN_MAX];
    if (strcmp(calc_opt_value(t->args, CALC_TUNE_OPT_PROGRESS), "none") == 0) {
        return;
    }
    calc_human_seconds(t->layouts.candidate[trial->candidate].step_s, predicted);
    if (trial->end == CALC_TUNE_END_FINE) {
        calc_say("%4zu  %s  %s, predicted %s\n", t->measurements, trial->layout,
                 calc_human_seconds(trial->step_s, measured), predicted);
    } else {
        calc_say("%4zu  %s  %s%s%s\n", t->measurements, trial->layout,
                 calc_tune_end_word(trial->end), *trial->note ? ": " : "", trial->note);
    }
}

/* Called with what a program has measured: it is written before anything else happens. */
static calc_status keep(void *context, const calc_tune_trial *trial, calc_errors *errors)
{
    calc_tune_task *t = context;
    const calc_tune_measurement m = {.candidate = trial->candidate,
                                     .end = trial->end,
                                     .step_s = trial->step_s,
                                     .memory_bytes = trial->memory_bytes};
    calc_status status =
        calc_tune_journal_add(&t->journal, trial->layout, trial->end, trial->step_s,
                              trial->memory_bytes, trial->note, errors);
    status = status == CALC_OK ? calc_tune_task_add(t, &m, 0, errors) : status;
    if (status == CALC_OK) {
        tell(t, trial);
    }
    return status;
}

static calc_status measure(calc_tune_task *t, const size_t *pick, size_t picks, calc_errors *errors)
{
    calc_tune_trial *trial = calloc(picks, sizeof *trial);
    char(*path)[CALC_FIND_PATH_MAX] = malloc(picks * sizeof *path);
    char id[CALC_TUNE_PICKS][CALC_TUNE_ID_SIZE];
    if (!trial || !path) {
        free(trial);
        free(path);
        return calc_errors_no_memory(errors);
    }
    calc_status status = CALC_OK;
    for (size_t i = 0; i < picks && status == CALC_OK; i++) {
        status = calc_tune_loop_write(t, pick[i], path[i], errors);
        trial[i] = (calc_tune_trial){.candidate = pick[i],
                                     .exe = path[i],
                                     .layout = calc_tune_layouts_id(&t->layouts, pick[i], id[i])};
    }
    if (status == CALC_OK) {
        status = calc_tune_program_run(&t->program, trial, picks, keep, t, &t->interrupted, errors);
    }
    free(trial);
    free(path);
    if (status == CALC_OK && only_fails(t)) {
        status = calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL,
                                 "mend it, and remove the rows of its failures from --measured",
                                 "--command: all %zu runs failed", t->measurements);
    }
    return status;
}

/* ---- A simulated truth ----------------------------------------------------------------------- */

static calc_status begin_truth(calc_tune_task *t, calc_errors *errors)
{
    size_t count = t->layouts.count;
    t->truth_s = calloc(count + 1, sizeof *t->truth_s);
    t->truth_bytes = calloc(count + 1, sizeof *t->truth_bytes);
    if (!t->truth_s || !t->truth_bytes) {
        return calc_errors_no_memory(errors);
    }
    calc_rng_init(&t->noise, t->truth_seed, 1);
    return calc_tune_truth(&t->prior, t->layouts.candidate, count, t->truth_seed, t->truth_s,
                           t->truth_bytes, errors);
}

static calc_status simulate(calc_tune_task *t, const size_t *pick, size_t picks,
                            calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (size_t i = 0; i < picks && status == CALC_OK; i++) {
        size_t k = pick[i];
        calc_tune_measurement m = calc_tune_truth_measure(
            t->layouts.candidate, k, t->truth_s[k], t->truth_bytes[k], t->options.noise, &t->noise);
        status = calc_tune_task_add(t, &m, 0, errors);
    }
    return status;
}

/* ---- The loop -------------------------------------------------------------------------------- */

static calc_status decide(const calc_tune_task *t, calc_tune_decision *d, calc_errors *errors)
{
    calc_tune_decision_free(d);
    *d = (calc_tune_decision){0};
    return calc_tune_decide(d, t->layouts.candidate, t->layouts.count, t->measurement,
                            t->measurements, &t->options, errors);
}

static bool is_ended(const calc_tune_task *t, const calc_tune_decision *d, calc_tune_pause *pause)
{
    bool asks = t->way == CALC_TUNE_WAY_ASK || t->way == CALC_TUNE_WAY_NEXT;
    *pause = t->interrupted               ? CALC_TUNE_PAUSE_SIGNAL
             : d->stop || d->picks == 0   ? CALC_TUNE_PAUSE_STOP
             : t->measurements >= t->most ? CALC_TUNE_PAUSE_MOST
                                          : CALC_TUNE_PAUSE_ASKED;
    return asks || *pause != CALC_TUNE_PAUSE_ASKED;
}

/* Signals wait while programs run, so that what they measured is kept and they are ended. */
static void hold_signals(calc_tune_program *program)
{
    sigemptyset(&program->signals);
    sigaddset(&program->signals, SIGINT);
    sigaddset(&program->signals, SIGTERM);
    sigaddset(&program->signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &program->signals, &program->mask);
}

calc_status calc_tune_loop(calc_tune_task *t, calc_tune_decision *d, calc_tune_pause *pause,
                           calc_errors *errors)
{
    bool simulates = t->way == CALC_TUNE_WAY_SIMULATE;
    bool runs = t->way == CALC_TUNE_WAY_COMMAND;
    const struct timespec no_time = {0};
    calc_status status = simulates ? begin_truth(t, errors) : CALC_OK;
    if (runs) {
        hold_signals(&t->program);
    }
    while (status == CALC_OK) {
        status = decide(t, d, errors);
        t->interrupted =
            runs && sigtimedwait(&t->program.signals, NULL, &no_time) > 0 ? true : t->interrupted;
        if (status != CALC_OK || is_ended(t, d, pause)) {
            break;
        }
        size_t left = t->most - t->measurements;
        size_t picks = d->picks < left ? d->picks : left;
        status = (simulates ? simulate : measure)(t, d->pick, picks, errors);
    }
    if (runs) {
        sigprocmask(SIG_SETMASK, &t->program.mask, NULL);
    }
    return status;
}
