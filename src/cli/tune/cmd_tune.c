#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_infeasible.h"
#include "cli/tune/tune_measured.h"
#include "cli/tune/tune_table.h"
#include "cli/tune/tune_write.h"
#include "report/page.h"

const char *const calc_tune_memories[] = {"calc", "probes", NULL};
const char *const calc_tune_progress[] = {"auto", "plain", "none", NULL};
const calc_opt calc_tune_opts[] = {CALC_TUNE_OPT_LIST(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .doc = "the model"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM, .doc = "the machine"),
    CALC_ARG_DOCUMENT("SPACE", CALC_KIND_EXEC, .optional = true,
                      .doc =
                          "an execution in which fields may have many values, as for calc sweep"),
    {0}};
static const char *const examples[] = {
    "calc tune llama2-70B h100_sxm --procs 64 --batch 512",
    "calc tune llama2-70B h100_sxm --procs 64 --batch 512 --measured runs.csv",
    "calc tune llama2-70B h100_sxm --procs 64 --batch 512 --measured runs.csv --next --picks 4",
    "calc tune llama2-70B h200 --procs 64 --batch 512 --measured r.csv --command './run.sh {exe}'",
    "calc tune llama2-70B h100_sxm --procs 64 --batch 512 --simulate 1",
    NULL};

/* The executions that the answer names. */
static calc_status write_layouts(const calc_tune_task *t, const calc_tune_decision *d,
                                 calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_status status = CALC_OK;
    for (size_t i = 0; i < d->picks && !d->stop && status == CALC_OK; i++) {
        status = calc_tune_loop_write(t, d->pick[i], path, errors);
    }
    return status == CALC_OK && d->best != SIZE_MAX ? calc_tune_loop_write(t, d->best, path, errors)
                                                    : status;
}

/* --next: for programs. */
static void write_next(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d)
{
    char path[CALC_FIND_PATH_MAX], id[CALC_TUNE_ID_SIZE];
    for (size_t i = 0; i < d->picks && !d->stop; i++) {
        calc_output_printf(out, "%s %s\n", calc_tune_layouts_id(&t->layouts, d->pick[i], id),
                           calc_tune_loop_path(t, d->pick[i], path));
    }
}

static calc_status write_text(const calc_tune_task *t, const calc_tune_decision *d,
                              calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_output_open(&out, "-", errors);
    if (status != CALC_OK) {
        return status;
    }
    if (t->way == CALC_TUNE_WAY_NEXT) {
        write_next(out, t, d);
    } else {
        status = calc_tune_table_write(out, t, d, errors);
    }
    return calc_output_end(out, status, errors);
}

static calc_exit tell(const calc_tune_task *t, const calc_tune_decision *d, calc_tune_pause pause,
                      calc_errors *errors)
{
    bool taken = calc_opt_is_stdout(t->args, CALC_TUNE_OPT_JSON) ||
                 calc_opt_is_stdout(t->args, CALC_TUNE_OPT_CSV) ||
                 calc_opt_is_stdout(t->args, CALC_TUNE_OPT_HTML);
    calc_status status = t->way == CALC_TUNE_WAY_SIMULATE ? CALC_OK : write_layouts(t, d, errors);
    calc_status files = calc_tune_write(t, d, errors);
    status = status == CALC_OK ? files : status;
    if (status == CALC_OK && !taken) {
        (void)!write_text(t, d, errors);
    }
    if (t->way == CALC_TUNE_WAY_NEXT && d->stop) {
        fprintf(stderr, "calc: it is time to stop: without --next calc tune says why\n");
    } else if (pause == CALC_TUNE_PAUSE_SIGNAL) {
        fprintf(stderr, "calc: interrupted; the same command goes on\n");
    } else if (pause == CALC_TUNE_PAUSE_MOST && !d->stop) {
        fprintf(stderr, "calc: --most %zu measurements are made\n", t->most);
    }
    return calc_complain_errors(errors);
}

static calc_exit decide(calc_tune_task *t, calc_errors *errors)
{
    calc_tune_decision d = {0};
    calc_tune_pause pause = CALC_TUNE_PAUSE_ASKED;
    calc_exit code = calc_tune_measured_read(t, errors) == CALC_OK &&
                             calc_tune_task_learn(t, errors) == CALC_OK &&
                             calc_tune_loop(t, &d, &pause, errors) == CALC_OK
                         ? tell(t, &d, pause, errors)
                         : calc_complain_errors(errors);
    calc_tune_decision_free(&d);
    return code;
}

static calc_exit tune(calc_tune_task *t, const calc_args *args, calc_errors *errors)
{
    calc_sweep_watch watch;
    if (calc_opt_value(args, CALC_TUNE_OPT_HTML) && calc_page_check(errors) != CALC_OK) {
        return calc_complain_errors(errors);
    }
    if (calc_tune_task_load(t, args, errors) != CALC_OK) {
        return calc_complain_errors(errors);
    }
    calc_sweep_watch_begin(&watch, calc_opt_value(args, CALC_TUNE_OPT_PROGRESS), HUGE_VAL);
    calc_status status = calc_tune_task_sweep(t, &watch, errors);
    calc_sweep_watch_end(&watch);
    if (status != CALC_OK) {
        return calc_complain_errors(errors);
    }
    if (t->interrupted) {
        fprintf(stderr,
                "calc: interrupted before all layouts were looked at: nothing is decided\n");
        return CALC_EXIT_SYSTEM;
    }
    if (t->layouts.count == 0) {
        calc_sweep_infeasible(&t->study, &t->result);
        return CALC_EXIT_INFEASIBLE;
    }
    return decide(t, errors);
}

static calc_exit run(const calc_args *args)
{
    calc_tune_task *t = calloc(1, sizeof *t);
    calc_errors errors = {0};
    const char *complaint = calc_tune_task_complaint(args);
    if (!t) {
        (void)!calc_errors_no_memory(&errors);
        return calc_complain_errors(&errors);
    }
    t->journal.file = -1;
    calc_exit code =
        complaint ? calc_complain_usage(args->command, complaint) : tune(t, args, &errors);
    calc_tune_task_free(t);
    free(t);
    return code;
}

const calc_command calc_cmd_tune = {
    .name = "tune",
    .summary = "choose layouts to measure, in which order, and when to stop",
    .detail =
        "Takes the best layouts of a sweep as candidates and combines their predictions with "
        "measurements. Similar layouts share their prediction errors, so each measurement also "
        "corrects the others. Shows the expected range of every candidate, the chance that it is "
        "the best, and the layouts to try next, until a faster layout is unlikely (docs/tune.md). "
        "The state is the file of --measured. With --next, an empty answer means stop.",
    .args = rows,
    .opts = calc_tune_opts,
    .examples = examples,
    .run = run,
};
