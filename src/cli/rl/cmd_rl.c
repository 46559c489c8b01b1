#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/rl/rl_search.h"
#include "cli/rl/rl_task.h"
#include "cli/rl/rl_write.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"
#include "formats/launch.h"
#include "formats/refusal.h"
#include "io/json_save.h"
#include "report/page.h"

static const char *const when[] = {"auto", "always", "never", NULL};

#define OPTIONS(X)                                                                                 \
    X(SET, "set", "FIELD=VALUE",                                                                   \
      .doc = "override a field of the job (prompts=64, response.mean=2000, "                       \
             "actor.micro_tokens=8192), "                                                          \
             "or of the documents of a role (actor.tp=4, rollout.inference.engine=vllm-0.11); "    \
             "without a role, the actor's layout, and models and machines of all",                 \
      .repeated = true)                                                                            \
    X(PROCS, "procs", "N", .doc = "processors of all pools, where the job does not say them")      \
    X(ROLLOUT_PROCS, "rollout-procs", "N",                                                         \
      .doc = "of them a pool of its own for the engines; without this they share all processors "  \
             "with the trainer")                                                                   \
    X(SWEEP, "sweep", NULL,                                                                        \
      .doc = "search placements and layouts: all roles together or the engines apart, every pair " \
             "of layouts of actor and engines from the fronts of calc sweep")                      \
    X(TOP, "top", "N", .doc = "with --sweep: how many of each placement to list", .preset = "1")   \
    X(COLOR, "color", "WHEN", .section = "Display", .doc = "colour the summary", .choices = when,  \
      .preset = "auto")                                                                            \
    X(JSON, "json", "FILE", .section = "Files",                                                    \
      .doc = "write roles, phases and statistics as one JSON object")                              \
    X(HTML, "html", "FILE",                                                                        \
      .doc = "write the step as a page: its pools in time, the memory of every phase")             \
    X(SAVE_ACTOR, "save-actor", "FILE",                                                            \
      .doc = "write the actor's layout, with --sweep the best one, as an execution: "              \
             "--set actor.execution=FILE")                                                         \
    X(SAVE_ROLLOUT, "save-rollout", "FILE", .doc = "write the engines' layout likewise")           \
    X(SAVE_VERL, "save-verl", "FILE",                                                              \
      .doc = "write the script with which verl starts the job; what it cannot say is named")       \
    X(SAVE_SLIME, "save-slime", "FILE", .doc = "the same for slime")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP,
                      .doc = "the model of roles that name none: a path, or a name in models/"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM,
                      .doc =
                          "the machine of pools that name none: likewise, or a name in systems/"),
    {.name = "JOB",
     .optional = true,
     .doc = "the job: a path, \"-\" for standard input, or a name in executions/jobs/ "
            "(docs/post-training.md)"},
    {0}};
static const char *const examples[] = {
    "calc rl qwen3-8B h100_sxm --procs 16 --set prompts=128 --set samples=16",
    "calc rl qwen3-32B h100_sxm grpo --procs 64",
    "calc rl qwen3-32B h100_sxm grpo --procs 64 --rollout-procs 32 --set steps_off=1",
    "calc rl qwen3-32B h100_sxm grpo --procs 64 --sweep",
    "calc rl llama3-8B h200 ppo --procs 8 --json -",
    "calc rl qwen3-8B h100_sxm grpo --procs 16 --save-verl run.sh",
    NULL};

/* One file, or standard output. */
typedef void writer(calc_output *out, const void *what);

static calc_status write_file(const char *path, writer *write, const void *what,
                              calc_errors *errors)
{
    calc_output *out;
    if (!path || !what) {
        return CALC_OK;
    }
    calc_status status = calc_output_open(&out, path, errors);
    if (status == CALC_OK) {
        write(out, what);
        status = calc_output_close(out, errors);
    }
    return status;
}

static void write_exec(calc_output *out, const void *exec)
{
    calc_json_save(out, CALC_KIND_EXEC, exec, 0);
    calc_output_text(out, "\n");
}

static calc_status save_layouts(const calc_args *args, const calc_exec *actor,
                                const calc_exec *rollout, calc_errors *errors)
{
    calc_status status =
        write_file(calc_opt_value(args, OPT_SAVE_ACTOR), write_exec, actor, errors);
    return status == CALC_OK
               ? write_file(calc_opt_value(args, OPT_SAVE_ROLLOUT), write_exec, rollout, errors)
               : status;
}

/* ---- Launch files ---------------------------------------------------------------------------- */

/* A script, and whose it is. */
typedef struct script {
    const calc_job_launch_format *format;
    const calc_job_launch *launch;
    const calc_settings *settings;
    const char *model;
} script;

static void write_script(calc_output *out, const void *what)
{
    const script *s = what;
    calc_job_launch_write(out, s->format, s->launch, s->settings, s->model);
}

/* Of whom something is told. */
typedef struct telling {
    const calc_framework *framework;
    size_t reasons; /* for which it cannot run the job */
} telling;

static void tell_refused(void *context, const char *reason)
{
    telling *t = context;
    calc_say("%s cannot run this: %s\n", t->framework->title, reason);
    t->reasons++;
}

static void tell_lost(void *context, const char *field, const char *value, bool layout)
{
    telling *t = context;
    calc_say(layout ? "%s cannot run this: it is not told %s = %s\n" : "not in %s: %s = %s\n",
             t->framework->title, field, value);
    t->reasons += layout;
}

/* The job with its layouts and the processors of its pools. */
static void gather(const calc_rl_task *task, calc_job_launch *launch)
{
    const calc_rl_seat *seat = task->problem.seat;
    memset(launch, 0, sizeof *launch);
    launch->job = task->job;
    launch->actor = *seat[CALC_JOB_ACTOR].exec;
    launch->rollout = *seat[CALC_JOB_ROLLOUT].exec;
    launch->job.pools_count = (int64_t)task->pools;
    for (size_t i = 0; i < task->pools; i++) {
        calc_job_pool *pool = &launch->job.pools[i];
        snprintf(pool->name, sizeof pool->name, "%s", task->pool_name[i]);
        pool->chips = task->chips[i];
    }
}

/* @param refused  set if the framework cannot run the actor's layout: nothing is written */
static calc_status save_script(const calc_rl_task *task, const calc_framework *framework,
                               const char *path, bool *refused, calc_errors *errors)
{
    enum { NODE = 8 };
    const calc_rl_seat *seat = task->problem.seat;
    telling told = {framework, 0};
    if (!path) {
        return CALC_OK;
    }
    if (!seat[CALC_JOB_ACTOR].runs || !seat[CALC_JOB_ROLLOUT].runs) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                               "%s starts jobs with an actor and a rollout", framework->title);
    }
    calc_job_launch *launch = malloc(sizeof *launch);
    if (!launch) {
        return calc_errors_no_memory(errors);
    }
    calc_settings settings = {0};
    const calc_app *app = seat[CALC_JOB_ACTOR].app;
    const script s = {calc_job_launch_format_of(framework), launch, &settings,
                      task->member[CALC_JOB_ACTOR].inputs->input[CALC_KIND_APP].name};
    gather(task, launch);
    calc_status status = calc_job_launch_settings(s.format, launch, app, NODE, &settings, errors);
    if (status == CALC_OK && launch->actor.strategy.zero_stage < 2) {
        size_t count;
        status = calc_errors_status(errors, calc_export_refused(&calc_framework_megatron, app,
                                                                &launch->actor, tell_refused, &told,
                                                                &count));
    }
    if (status == CALC_OK) {
        status = calc_errors_status(
            errors, calc_job_launch_lost(s.format, launch, app, &settings, tell_lost, &told));
    }
    if (status == CALC_OK && told.reasons == 0) {
        status = write_file(path, write_script, &s, errors);
    }
    *refused = *refused || told.reasons > 0;
    calc_settings_free(&settings);
    free(launch);
    return status;
}

/* ---- One step -------------------------------------------------------------------------------- */

typedef struct answer {
    const calc_args *args;
    const calc_rl_words *words;
    const calc_rl_task *task;
    const calc_rl_step *step;
} answer;

static void write_json(calc_output *out, const void *what)
{
    const answer *a = what;
    calc_rl_write_json(out, a->task, a->step);
}

static void write_page(calc_output *out, const void *what)
{
    const answer *a = what;
    calc_rl_write_page(out, a->words, a->task, a->step);
}

static void write_text(calc_output *out, const void *what)
{
    const answer *a = what;
    const calc_paint paint = calc_paint_stdout(calc_opt_value(a->args, OPT_COLOR));
    calc_rl_write_text(out, &paint, a->task, a->step);
}

static calc_exit evaluate(const calc_args *args, calc_rl_task *task, const calc_rl_words *words,
                          calc_errors *errors)
{
    calc_rl_step step;
    const answer a = {args, words, task, &step};
    const calc_rl_seat *seat = task->problem.seat;
    bool stdout_is_taken =
        calc_opt_is_stdout(args, OPT_JSON) || calc_opt_is_stdout(args, OPT_HTML) ||
        calc_opt_is_stdout(args, OPT_SAVE_VERL) || calc_opt_is_stdout(args, OPT_SAVE_SLIME);
    bool refused = false;
    calc_status status = calc_rl_task_read(task, words, errors);
    status = status == CALC_OK ? calc_rl_task_load(task, words, errors) : status;
    status = status == CALC_OK ? calc_rl_step_of(&task->problem, &step, errors) : status;
    if (status == CALC_OK) {
        status = write_file(calc_opt_value(args, OPT_JSON), write_json, &a, errors);
    }
    if (status == CALC_OK) {
        status = write_file(calc_opt_value(args, OPT_HTML), write_page, &a, errors);
    }
    if (status == CALC_OK) {
        status =
            save_layouts(args, seat[CALC_JOB_ACTOR].runs ? seat[CALC_JOB_ACTOR].exec : NULL,
                         seat[CALC_JOB_ROLLOUT].runs ? seat[CALC_JOB_ROLLOUT].exec : NULL, errors);
    }
    if (status == CALC_OK && !stdout_is_taken) {
        status = write_file("-", write_text, &a, errors);
    }
    if (status == CALC_OK) {
        status = save_script(task, &calc_framework_verl, calc_opt_value(args, OPT_SAVE_VERL),
                             &refused, errors);
    }
    if (status == CALC_OK) {
        status = save_script(task, &calc_framework_slime, calc_opt_value(args, OPT_SAVE_SLIME),
                             &refused, errors);
    }
    calc_rl_task_locate(task, words, errors);
    if (status != CALC_OK) {
        return calc_complain_failure(errors);
    }
    for (size_t i = 0; i < step.reasons; i++) {
        if (stdout_is_taken || !isatty(STDOUT_FILENO)) {
            calc_say("infeasible: %s\n", step.reason[i]);
        }
    }
    return step.feasible && !refused ? CALC_EXIT_OK : CALC_EXIT_INFEASIBLE;
}

/* ---- A search -------------------------------------------------------------------------------- */

static void write_found_json(calc_output *out, const void *what)
{
    calc_rl_put_found(out, what);
}

typedef struct listing {
    const calc_rl_words *words;
    const calc_rl_found *found;
} listing;

static void write_found(calc_output *out, const void *what)
{
    const listing *l = what;
    calc_rl_write_found(out, l->words, l->found);
}

static calc_exit search(const calc_args *args, const calc_rl_words *words, calc_errors *errors)
{
    double top;
    calc_rl_found found = {0};
    if (!calc_opt_number(calc_opt_value(args, OPT_TOP), true, 1, 1000, &top)) {
        return calc_complain_usage(args->command, "--top: expected a number from 1 to 1000");
    }
    found.top = (size_t)top;
    calc_status status = calc_rl_search(words, &found, errors);
    bool some = found.count > 0;
    if (status == CALC_OK) {
        status = write_file(calc_opt_value(args, OPT_JSON), write_found_json, &found, errors);
    }
    if (status == CALC_OK && some) {
        status = save_layouts(args, &found.choice[0].actor, &found.choice[0].rollout, errors);
    }
    if (status == CALC_OK && !calc_opt_is_stdout(args, OPT_JSON)) {
        const listing l = {words, &found};
        status = write_file("-", write_found, &l, errors);
    }
    calc_rl_found_free(&found);
    if (status != CALC_OK) {
        return calc_complain_failure(errors);
    }
    return some ? CALC_EXIT_OK : CALC_EXIT_INFEASIBLE;
}

/* @return the mistake; NULL: none */
static const char *check_streams(const calc_args *args)
{
    int out = calc_opt_is_stdout(args, OPT_JSON) + calc_opt_is_stdout(args, OPT_HTML) +
              calc_opt_is_stdout(args, OPT_SAVE_ACTOR) +
              calc_opt_is_stdout(args, OPT_SAVE_ROLLOUT) + calc_opt_is_stdout(args, OPT_SAVE_VERL) +
              calc_opt_is_stdout(args, OPT_SAVE_SLIME);
    bool scripts = calc_opt_value(args, OPT_SAVE_VERL) || calc_opt_value(args, OPT_SAVE_SLIME);
    return out > 1
               ? "only one of --json, --html and the files that are saved can be standard output"
           : calc_opt_value(args, OPT_HTML) && calc_opt_value(args, OPT_SWEEP)
               ? "--html is of one job: --save-actor and --save-rollout of --sweep write layouts "
                 "that it can name"
           : scripts && calc_opt_value(args, OPT_SWEEP)
               ? "--save-verl and --save-slime are of one job; --save-actor and --save-rollout "
                 "of --sweep write layouts that it can name"
               : calc_inputs_check_stdin(args);
}

static calc_exit run(const calc_args *args)
{
    const char *complaint = check_streams(args);
    if (complaint) {
        return calc_complain_usage(args->command, complaint);
    }
    calc_errors errors = {0};
    calc_rl_task *task = calloc(1, sizeof *task);
    const char **set = calloc(args->use_count + 1, sizeof *set);
    if (!task || !set) {
        free(task);
        free(set);
        calc_end_without_memory();
    }
    calc_rl_words words = {.app = args->argument[0],
                           .system = args->argument[1],
                           .job = args->argument_count > 2 ? args->argument[2] : NULL,
                           .procs = calc_opt_value(args, OPT_PROCS),
                           .rollout_procs = calc_opt_value(args, OPT_ROLLOUT_PROCS),
                           .set = set};
    size_t cursor = 0;
    while ((set[words.set_count] = calc_opt_next(args, OPT_SET, &cursor))) {
        words.set_count++;
    }
    bool drawn = !calc_opt_value(args, OPT_HTML) || calc_page_check(&errors) == CALC_OK;
    calc_exit result = !drawn                            ? calc_complain_failure(&errors)
                       : calc_opt_value(args, OPT_SWEEP) ? search(args, &words, &errors)
                                                         : evaluate(args, task, &words, &errors);
    calc_rl_task_free(task);
    free(task);
    free(set);
    return result;
}

const calc_command calc_cmd_rl = {
    .name = "rl",
    .summary = "predict a step of reinforcement learning",
    .detail =
        "Predicts time and memory of a step of reinforcement learning: engines that generate "
        "responses, passes of reference, critic and teacher, the update, and what lies between "
        "them, on the same processors or in pools. Layouts that are not said are as calc sweep "
        "would start with. A job that does not fit is shown too, with the reasons.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
