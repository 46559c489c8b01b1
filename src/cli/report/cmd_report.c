#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/plan/plan_write.h"
#include "cli/run/run_outcome.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/tune/tune_table.h"
#include "cli/validate/validate_write.h"
#include "io/written.h"
#include "report/page.h"

#define OPTIONS(X)                                                                                 \
    X(OUT, "out", "FILE", .doc = "write the page to a file; \"-\" is standard output",             \
      .preset = "-")                                                                               \
    X(SET, "set", "FIELD=VALUE", .doc = "with APP SYS EXE: override a field, as for calc run",     \
      .repeated = true)

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    {.name = "RESULT",
     .repeated = true,
     .doc =
         "what calc run --json, calc sweep --out, calc plan --out, calc tune --json or calc "
         "validate --json wrote; beside that of a sweep also what --summary wrote, in any order; "
         "\"-\" for standard input. Or APP SYS EXE, as for calc run"},
    {0}};
static const char *const examples[] = {
    "calc report best.json summary.json --out front.html", "calc report run.json --out run.html",
    "calc report deepseek-v3-671B h800 deepseek-v3_2048 --out run.html", NULL};

/* A page in progress; too large for the stack because of the documents. */
typedef struct task {
    const calc_args *args;
    calc_written result, other; /* the second: the counts of the first, or nothing */
    calc_run_outcome outcome;
} task;

/* ---- A run ----------------------------------------------------------------------------------- */

static calc_status write_outcome(task *t, const calc_text *json, calc_errors *errors)
{
    calc_run_outcome *o = &t->outcome;
    calc_status status = calc_run_outcome_stages(o, errors);
    o->stage_count = o->compat == CALC_COMPAT_NONE ? o->stage_known : 0;
    return status == CALC_OK
               ? calc_run_page_write(calc_opt_value(t->args, OPT_OUT), o, json, NULL, errors)
               : status;
}

/* What the rules say is about the document. */
static void place(const task *t, calc_errors *errors)
{
    for (int i = 0; i < errors->count; i++) {
        if (!errors->item[i].file[0]) {
            calc_error_place(&errors->item[i], t->args->argument[0], 0, 0);
        }
    }
}

/* The document lacks systems that stages name, and the system file's statements about itself: the
 * file is read again, if it still exists. */
static calc_status find_systems(const calc_written_run *run, calc_inputs *in, calc_errors *errors)
{
    calc_input *system = &in->input[CALC_KIND_SYSTEM];
    calc_errors ignored = {0};
    snprintf(system->name, sizeof system->name, "%s", run->system_name);
    bool piped = strcmp(run->system_file, "-") == 0;
    if (piped || !*run->system_file ||
        !calc_is_yes(calc_find(CALC_KIND_SYSTEM, run->system_file, system->path, &ignored)) ||
        !calc_is_yes(calc_text_read(&system->text, system->path, &ignored))) {
        system->path[0] = '\0';
    }
    in->exec.software_read = true; /* what it gave is written */
    return calc_inputs_systems(&in->exec, &in->system, system->path, &in->other, errors);
}

static calc_status write_run(task *t, calc_errors *errors)
{
    calc_written_run *run = &t->result.run;
    calc_run_outcome *o = &t->outcome;
    o->inputs.app = run->app;
    o->inputs.system = run->system;
    o->inputs.exec = run->exec;
    o->compat = run->compat;
    o->exact = isfinite(run->stats.pipeline_closed_form_error);
    calc_status status = find_systems(run, &o->inputs, errors);
    status = status == CALC_OK
                 ? calc_check(&o->inputs.app, &o->inputs.system, &o->inputs.exec, errors)
                 : status;
    status = status == CALC_OK ? calc_run_outcome_evaluate(o, false, errors) : status;
    status = status == CALC_OK
                 ? calc_run_outcome_same(o, &run->stats, "", "calc run --html", errors)
                 : status;
    place(t, errors);
    return status == CALC_OK ? write_outcome(t, &t->result.text, errors) : status;
}

/* APP SYS EXE: the same as calc run --html. */
static calc_status write_inputs(task *t, calc_errors *errors)
{
    calc_run_outcome *o = &t->outcome;
    size_t cursor = 0;
    o->set = calloc(t->args->use_count + 1, sizeof *o->set);
    if (!o->set) {
        return calc_errors_no_memory(errors);
    }
    while ((o->set[o->set_count] = calc_opt_next(t->args, OPT_SET, &cursor))) {
        o->set_count++;
    }
    calc_status status =
        calc_inputs_load(&o->inputs, t->args->argument, o->set, o->set_count, errors);
    status = status == CALC_OK ? calc_run_outcome_command(o, t->args->argument, errors) : status;
    status = status == CALC_OK ? calc_run_outcome_evaluate(o, false, errors) : status;
    return status == CALC_OK ? write_outcome(t, NULL, errors) : status;
}

/* ---- A plan ---------------------------------------------------------------------------------- */

static calc_status write_plan(task *t, calc_errors *errors)
{
    calc_written_run *run = &t->result.run;
    const calc_written_plan *plan = &t->result.plan;
    const calc_plan_page_best best = {.app_name = plan->app_name,
                                      .system_name = plan->name[plan->chip],
                                      .app = &run->app,
                                      .system = &plan->machine[plan->chip],
                                      .exec = &run->exec,
                                      .written = &run->stats};
    calc_status status = calc_check(best.app, best.system, best.exec, errors);
    if (status == CALC_OK) {
        const char *path = calc_opt_value(t->args, OPT_OUT);
        status = calc_plan_page_write(path, &best, &t->result.text, errors);
    }
    place(t, errors);
    return status;
}

/* ---- A sweep, a validation, a decision ------------------------------------------------------- */

static void write_sweep(calc_output *out, const task *t)
{
    bool counts = t->args->argument_count > 1;
    calc_sweep_page_write_written(out, &t->result.text, counts ? &t->other.text : NULL);
}

static void write_decision(calc_output *out, const task *t)
{
    calc_tune_write_page_of(out, &t->result.text);
}

static void write_validation(calc_output *out, const task *t)
{
    calc_validate_write_page_of(out, &t->result.text);
}

static calc_status write_file(const task *t, void (*write)(calc_output *out, const task *t),
                              calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_output_open(&out, calc_opt_value(t->args, OPT_OUT), errors);
    if (status == CALC_OK) {
        write(out, t);
        status = calc_output_close(out, errors);
    }
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static calc_status complain_other(const task *t, const calc_written *document, const char *path,
                                  calc_errors *errors)
{
    bool alone = t->args->argument_count == 1;
    calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                    "give what calc sweep --out wrote, and beside it what --summary wrote of the "
                    "same sweep",
                    "what %s wrote makes no page %s", calc_written_command(document->kind),
                    alone ? "alone" : "of two documents");
    calc_error_place(&errors->item[errors->count - 1], path, 0, 0);
    return CALC_ERR_UNSUPPORTED;
}

/* One document, or the two of a sweep in any order. */
static calc_status read_results(task *t, calc_errors *errors)
{
    const char *const *path = t->args->argument;
    bool two = t->args->argument_count == 2;
    calc_status status = calc_written_read(&t->result, path[0], errors);
    if (status == CALC_OK && two) {
        status = calc_written_read(&t->other, path[1], errors);
    }
    if (status == CALC_OK && two && t->result.kind == CALC_WRITTEN_SUMMARY) {
        calc_written first = t->result;
        t->result = t->other;
        t->other = first;
    }
    if (status != CALC_OK) {
        return status;
    }
    if (two && t->result.kind != CALC_WRITTEN_SWEEP) {
        return complain_other(t, &t->result, path[0], errors);
    }
    if (two && t->other.kind != CALC_WRITTEN_SUMMARY) {
        return complain_other(t, &t->other, path[1], errors);
    }
    return t->result.kind == CALC_WRITTEN_SUMMARY ? complain_other(t, &t->result, path[0], errors)
                                                  : CALC_OK;
}

static calc_status write_results(task *t, calc_errors *errors)
{
    calc_status status = read_results(t, errors);
    if (status != CALC_OK) {
        return status;
    }
    switch (t->result.kind) {
    case CALC_WRITTEN_RUN:
        return write_run(t, errors);
    case CALC_WRITTEN_PLAN:
        return write_plan(t, errors);
    case CALC_WRITTEN_SWEEP:
        return write_file(t, write_sweep, errors);
    case CALC_WRITTEN_TUNE:
        return write_file(t, write_decision, errors);
    default:
        return write_file(t, write_validation, errors);
    }
}

static const char *check_arguments(const calc_args *args)
{
    size_t cursor = 0;
    bool inputs = args->argument_count == CALC_INPUTS;
    if (args->argument_count > CALC_INPUTS) {
        return "expected one RESULT, the two of a sweep, or APP SYS EXE";
    }
    if (!inputs && calc_opt_next(args, OPT_SET, &cursor)) {
        return "--set goes with APP SYS EXE";
    }
    size_t in = 0;
    for (size_t i = 0; i < args->argument_count; i++) {
        in += strcmp(args->argument[i], "-") == 0;
    }
    return in > 1 ? "only one argument can be standard input" : NULL;
}

static calc_exit run(const calc_args *args)
{
    const char *complaint = check_arguments(args);
    if (complaint) {
        return calc_complain_usage(args->command, complaint);
    }
    task *t = calloc(1, sizeof *t);
    if (!t) {
        calc_say("calc: %s\n", calc_status_text(CALC_ERR_NOMEM));
        return CALC_EXIT_SYSTEM;
    }
    t->args = args;
    calc_errors errors = {0};
    calc_status status = calc_page_check(&errors);
    if (status == CALC_OK && args->argument_count == CALC_INPUTS) {
        (void)!write_inputs(t, &errors);
    } else if (status == CALC_OK) {
        (void)!write_results(t, &errors);
    }
    calc_run_outcome_free(&t->outcome);
    calc_written_free(&t->result);
    calc_written_free(&t->other);
    free(t);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_report = {
    .name = "report",
    .summary = "make an HTML page from the output of earlier commands",
    .detail =
        "Writes the page that --html of calc run, calc sweep, calc plan, calc tune and calc "
        "validate writes, from the JSON that these commands wrote; the document says which. But "
        "for a sweep it is the same page, to the byte. What calc sweep wrote holds the front and "
        "the best only, so the page has these points and splits. With APP SYS EXE: as calc run "
        "--html.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
