#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/rl/rl_task.h"
#include "cli/rl/rl_write.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"

static const char *const when[] = {"auto", "always", "never", NULL};

#define OPTIONS(X)                                                                                 \
    X(SET, "set", "FIELD=VALUE",                                                                   \
      .doc =                                                                                       \
          "override a field of the job (prompts=64, response.mean=2000, actor.micro_tokens=8k), "  \
          "or of the documents of a role (actor.tp=4, rollout.inference.engine=vllm-0.11); "       \
          "without a role, the actor's layout, and models and machines of all",                    \
      .repeated = true)                                                                            \
    X(PROCS, "procs", "N", .doc = "processors of all pools, where the job does not say them")      \
    X(ROLLOUT_PROCS, "rollout-procs", "N",                                                         \
      .doc = "of them a pool of its own for the engines; without this they share all processors "  \
             "with the trainer")                                                                   \
    X(COLOR, "color", "WHEN", .section = "Display", .doc = "colour the summary", .choices = when,  \
      .preset = "auto")                                                                            \
    X(JSON, "json", "FILE", .section = "Files",                                                    \
      .doc = "write roles, phases and statistics as one JSON object")

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
    "calc rl llama3-8B h200 ppo --procs 8 --json -", NULL};

static calc_status write_files(const calc_args *args, const calc_rl_task *task,
                               const calc_rl_step *step, calc_errors *errors)
{
    calc_output *out;
    const char *json = calc_opt_value(args, OPT_JSON);
    if (json) {
        calc_status status = calc_output_open(&out, json, errors);
        if (status == CALC_OK) {
            calc_rl_write_json(out, task, step);
            status = calc_output_close(out, errors);
        }
        if (status != CALC_OK || calc_opt_is_stdout(args, OPT_JSON)) {
            return status;
        }
    }
    const calc_paint paint = calc_paint_stdout(calc_opt_value(args, OPT_COLOR));
    calc_status status = calc_output_open(&out, "-", errors);
    if (status == CALC_OK) {
        calc_rl_write_text(out, &paint, task, step);
        status = calc_output_close(out, errors);
    }
    return status;
}

static calc_exit evaluate(const calc_args *args, calc_rl_task *task, const calc_rl_words *words,
                          calc_errors *errors)
{
    calc_rl_step step;
    calc_status status = calc_rl_task_read(task, words, errors);
    status = status == CALC_OK ? calc_rl_task_load(task, words, errors) : status;
    status = status == CALC_OK ? calc_rl_step_of(&task->problem, &step, errors) : status;
    if (status == CALC_OK) {
        status = write_files(args, task, &step, errors);
    }
    calc_rl_task_locate(task, errors);
    if (status != CALC_OK) {
        return calc_complain_failure(errors);
    }
    for (size_t i = 0; i < step.reasons; i++) {
        if (calc_opt_is_stdout(args, OPT_JSON) || !isatty(STDOUT_FILENO)) {
            calc_say("infeasible: %s\n", step.reason[i]);
        }
    }
    return step.feasible ? CALC_EXIT_OK : CALC_EXIT_INFEASIBLE;
}

static calc_exit run(const calc_args *args)
{
    calc_errors errors = {0};
    calc_rl_task *task = calloc(1, sizeof *task);
    const char **set = calloc(args->use_count + 1, sizeof *set);
    calc_rl_words words = {.app = args->argument[0],
                           .system = args->argument[1],
                           .job = args->argument_count > 2 ? args->argument[2] : NULL,
                           .procs = calc_opt_value(args, OPT_PROCS),
                           .rollout_procs = calc_opt_value(args, OPT_ROLLOUT_PROCS),
                           .set = set};
    if (!task || !set) {
        calc_end_without_memory();
    }
    size_t cursor = 0;
    while ((set[words.set_count] = calc_opt_next(args, OPT_SET, &cursor))) {
        words.set_count++;
    }
    calc_exit result = evaluate(args, task, &words, &errors);
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
