#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_table.h"
#include "cli/tune/tune_task.h"
#include "report/page.h"

/* A row that is under way. */
typedef struct reading {
    calc_tune_task *t;
    const calc_tune_row *row;
    const char *path; /* of the state */
    calc_errors *errors;
} reading;

static calc_status complain(const reading *r, calc_status status, const char *hint,
                            const char *text)
{
    const calc_tune_row *row = r->row;
    int column = row->layout_column > 0 ? row->layout_column : row->exe_column;
    return calc_errors_at(r->errors, status, r->path, row->line, column, hint, "%s", text);
}

/* The execution in a file, as one of the candidates or beside them. */
static calc_status take_exec(const reading *r, const char *path, size_t *index)
{
    calc_tune_task *t = r->t;
    calc_input input = {0};
    calc_exec exec;
    char text[160];
    bool any = t->layouts.count > 0;
    const calc_exec like = any ? calc_tune_layouts_exec(&t->layouts, 0) : (calc_exec){0};
    calc_status status = calc_input_load(&input, CALC_KIND_EXEC, &exec, path, r->errors);
    if (status == CALC_OK) {
        calc_resolve(&t->app, &t->system, &exec);
        status = calc_check(&t->app, &t->system, &exec, r->errors);
        calc_errors_locate(r->errors, CALC_KIND_EXEC, input.text.data, input.text.length,
                           input.path);
    }
    calc_text_free(&input.text);
    if (status != CALC_OK) {
        return status;
    }
    if (exec.stages.chips > 0 || !exec.training) {
        return complain(r, CALC_ERR_UNSUPPORTED, NULL,
                        "calc tune is for training on processors of one kind");
    }
    if (any && (like.batch_size != exec.batch_size || like.num_procs != exec.num_procs)) {
        snprintf(text, sizeof text,
                 "that layout has %jd processors and a batch of %jd, the candidates %jd and "
                 "%jd",
                 exec.num_procs, exec.batch_size, like.num_procs, like.batch_size);
        return complain(r, CALC_ERR_RULE, "times of a step are of the same work", text);
    }
    return calc_tune_layouts_add(&t->layouts, &exec, index)
               ? CALC_OK
               : complain(r, CALC_ERR_RULE, "calc run says why",
                          "that layout cannot run on this machine");
}

/* A layout that is not among the candidates may be one that was written when it was. */
static calc_status take_written(const reading *r, size_t *index)
{
    char path[CALC_FIND_PATH_MAX];
    const char *id = r->row->layout;
    bool plain = id[strspn(id, "0123456789abcdefABCDEF")] == '\0';
    bool there = plain &&
                 snprintf(path, sizeof path, "%s/%s.json", r->t->folder, id) < (int)sizeof path &&
                 access(path, R_OK) == 0;
    char text[CALC_FIND_PATH_MAX + 96], own[CALC_TUNE_ID_SIZE];
    if (!there) {
        snprintf(text, sizeof text, "layout %.40s is not among the candidates", id);
        return complain(r, CALC_ERR_NOT_FOUND,
                        "more --candidates, or name the file of its execution in a column exe",
                        text);
    }
    calc_status status = take_exec(r, path, index);
    if (status == CALC_OK && calc_tune_layouts_find(&r->t->layouts, id, index) == 0) {
        snprintf(text, sizeof text, "%.200s is another layout by now, %s", path,
                 calc_tune_layouts_id(&r->t->layouts, *index, own));
        return complain(r, CALC_ERR_RULE, "correct the identity, or name the file in a column exe",
                        text);
    }
    return status;
}

static calc_status take_layout(const reading *r, size_t *index)
{
    const calc_tune_row *row = r->row;
    if (*row->exe) {
        bool is_path = strchr(row->exe, '/') || strstr(row->exe, ".json");
        return is_path && access(row->exe, R_OK) != 0
                   ? complain(r, CALC_ERR_NOT_FOUND,
                              "paths are seen from the folder that calc runs in",
                              "exe: there is no such file")
                   : take_exec(r, row->exe, index);
    }
    size_t found = calc_tune_layouts_find(&r->t->layouts, row->layout, index);
    return found == 1  ? CALC_OK
           : found > 1 ? complain(r, CALC_ERR_FIELD, "write all 16 digits",
                                  "several layouts begin with these digits")
                       : take_written(r, index);
}

/* Read the file of --measured, if there is one, and open it for more with --command. Layouts that
 * are not among the candidates become ones: those of a file, and those that were written into the
 * folder before. All errors are collected.
 * @param task  with its candidates
 * @return CALC_OK, or the status of the first error */
static calc_status tune_measured_read(calc_tune_task *t, calc_errors *errors)
{
    const char *path = calc_opt_value(t->args, CALC_TUNE_OPT_MEASURED);
    bool absent = t->way == CALC_TUNE_WAY_NEXT || t->way == CALC_TUNE_WAY_COMMAND;
    if (!path) {
        return CALC_OK;
    }
    calc_status status = calc_tune_rows_read(&t->rows, path, absent, errors);
    for (size_t i = 0; i < t->rows.count && status != CALC_ERR_NOMEM; i++) {
        const calc_tune_row *row = &t->rows.row[i];
        const reading r = {t, row, path, errors};
        calc_tune_measurement m = {
            .end = row->end, .step_s = row->step_s, .memory_bytes = row->memory_bytes};
        calc_status one = take_layout(&r, &m.candidate);
        double room_gib = t->system.chip.mem1.capacity_bytes / 0x1p30;
        if (one == CALC_OK && row->memory_bytes / 0x1p30 > room_gib) {
            one = calc_errors_at(errors, CALC_ERR_RANGE, path, row->line, 0, "a GiB is 1,024 MiB",
                                 "memory_gib: %s has %g GiB, found \"%s\"", t->system_name,
                                 room_gib, row->memory);
        }
        if (one == CALC_OK) {
            calc_tune_task_add(t, &m, row->line);
        }
        status = status == CALC_OK ? one : status;
    }
    status = status == CALC_OK && t->way == CALC_TUNE_WAY_COMMAND
                 ? calc_tune_journal_open(&t->journal, path, &t->rows, errors)
                 : status;
    return status;
}

const char *const calc_tune_memories[] = {"calc", "probes", NULL};
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

static void write_text(const calc_tune_task *t, const calc_tune_decision *d, calc_errors *errors)
{
    calc_output *out = calc_write_to("-");
    if (t->way == CALC_TUNE_WAY_NEXT) {
        /* --next: for programs. */
        char path[CALC_FIND_PATH_MAX], id[CALC_TUNE_ID_SIZE];
        for (size_t i = 0; i < d->picks && !d->stop; i++) {
            calc_output_printf(out, "%s %s\n", calc_tune_layouts_id(&t->layouts, d->pick[i], id),
                               calc_tune_loop_path(t, d->pick[i], path));
        }
    } else {
        calc_tune_table_write(out, t, d);
    }
    (void)!calc_output_close(out, errors);
}

static calc_exit tell(const calc_tune_task *t, const calc_tune_decision *d, calc_tune_pause pause,
                      calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_status status = CALC_OK;
    bool saves = t->way != CALC_TUNE_WAY_SIMULATE; /* the executions that the answer names */
    for (size_t i = 0; i < d->picks && !d->stop && saves && status == CALC_OK; i++) {
        status = calc_tune_loop_write(t, d->pick[i], path, errors);
    }
    status = status == CALC_OK && saves && d->best != SIZE_MAX
                 ? calc_tune_loop_write(t, d->best, path, errors)
                 : status;
    calc_status files = calc_tune_write(t, d, errors);
    status = status == CALC_OK ? files : status;
    if (status == CALC_OK && !calc_opt_takes_stdout(t->args)) {
        write_text(t, d, errors);
    }
    if (t->way == CALC_TUNE_WAY_NEXT && d->stop) {
        calc_say("calc: it is time to stop: without --next calc tune says why\n");
    } else if (pause == CALC_TUNE_PAUSE_SIGNAL) {
        calc_say("calc: interrupted; the same command goes on\n");
    } else if (pause == CALC_TUNE_PAUSE_MOST && !d->stop) {
        calc_say("calc: --most %zu measurements are made\n", t->most);
    }
    calc_exit code = calc_complain_errors(errors);
    return code == CALC_EXIT_OK && pause == CALC_TUNE_PAUSE_SIGNAL ? CALC_EXIT_INTERRUPTED : code;
}

static calc_exit decide(calc_tune_task *t, calc_errors *errors)
{
    calc_tune_decision d = {0};
    calc_tune_pause pause = CALC_TUNE_PAUSE_ASKED;
    calc_exit code = tune_measured_read(t, errors) == CALC_OK &&
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
        return calc_complain_failure(errors);
    }
    if (calc_tune_task_load(t, args, errors) != CALC_OK) {
        return calc_complain_failure(errors);
    }
    calc_sweep_watch_begin(&watch, calc_opt_value(args, CALC_TUNE_OPT_PROGRESS), HUGE_VAL, true);
    calc_status status = calc_tune_task_sweep(t, &watch, errors);
    calc_sweep_watch_end(&watch);
    if (status != CALC_OK) {
        return calc_complain_failure(errors);
    }
    if (t->interrupted) {
        calc_say("calc: interrupted before all layouts were looked at: nothing is decided\n");
        return CALC_EXIT_INTERRUPTED;
    }
    if (t->layouts.count == 0) {
        calc_sweep_infeasible(&t->study, &t->result);
        return CALC_EXIT_INFEASIBLE;
    }
    return decide(t, errors);
}

static calc_exit run(const calc_args *args)
{
    calc_tune_task *t = calc_make(1, sizeof *t);
    calc_errors errors = {0};
    const char *complaint = calc_tune_task_complaint(args);
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
