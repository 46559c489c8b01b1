/* Writes a step of reinforcement learning: for people, and as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/rl/rl_search.h"
#include "cli/rl/rl_task.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"
#include "formats/export.h"
#include "formats/launch.h"
#include "io/json_put.h"
#include "report/page.h"
#include "rl/step.h"

/* The members of a step that are statistics. */
static const struct {
    const char *name;
    size_t offset;
} stats[] = {
#define STAT(name, unit, doc) {#name, offsetof(calc_rl_step, name)},
    CALC_RL_STAT_LIST(STAT)
#undef STAT
};

static const char *algorithm_of(const calc_job *job)
{
    return calc_table_find(calc_job_table(), "algorithm")->choices[job->algorithm];
}

static bool is_apart(const calc_rl_task *task)
{
    const calc_rl_seat *seat = task->problem.seat;
    return seat[CALC_JOB_ROLLOUT].runs && seat[CALC_JOB_ACTOR].runs &&
           seat[CALC_JOB_ROLLOUT].pool != seat[CALC_JOB_ACTOR].pool;
}

static void write_answer(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    char placement[96];
    int first = 0;
    while (!task->member[first].inputs) {
        first++;
    }
    const calc_inputs *in = task->member[first].inputs;
    bool apart = is_apart(task);
    const calc_rl_seat *seat = task->problem.seat;
    bool both = seat[CALC_JOB_ROLLOUT].runs && seat[CALC_JOB_ACTOR].runs;
    snprintf(placement, sizeof placement, "%s%s",
             apart                         ? "apart"
             : both                        ? "colocated"
             : seat[CALC_JOB_ROLLOUT].runs ? "the rollout alone"
                                           : "no rollout",
             s->staleness > 0 || !both ? "" : ", synchronous");
    calc_output_printf(out, "%s, %s on", in->input[CALC_KIND_APP].name, algorithm_of(&task->job));
    for (size_t i = 0; i < task->pools; i++) {
        calc_output_printf(out, "%s %s x %s", i ? " +" : "",
                           calc_human_integer((double)task->chips[i]), task->pool_system[i]);
    }
    if (s->staleness > 0) {
        calc_append(placement, sizeof placement, ", %.0f step%s off", s->staleness,
                    s->staleness > 1 ? "s" : "");
    }
    calc_output_printf(out, ", %s\n", placement);
    calc_output_printf(out, "A step of %s sequences takes %s: %s tokens/s, %s per processor\n",
                       calc_human_integer(s->sequences), calc_human_seconds(s->step_time),
                       calc_human_integer(s->tokens_per_s),
                       calc_human_integer(s->tokens_per_s_per_chip));
}

/* What waits for what, and what binds. */
static void write_waits(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    int most = 0;
    for (int i = 1; i < CALC_RL_PHASES; i++) {
        most = s->phase[i].time_s > s->phase[most].time_s ? i : most;
    }
    bool overlapped = is_apart(task) && s->staleness > 0;
    if (overlapped) {
        bool trainer = s->train_time > s->generate_time;
        calc_output_printf(out, "The %s binds: %s against %s of the %s\n",
                           trainer ? "trainer" : "rollout",
                           calc_human_seconds(fmax(s->train_time, s->generate_time)),
                           calc_human_seconds(fmin(s->train_time, s->generate_time)),
                           trainer ? "rollout" : "trainer");
    } else {
        calc_output_printf(out, "The longest phase is the %s, %s\n",
                           calc_rl_phase_name((calc_rl_phase_index)most),
                           calc_human_percent(s->phase[most].time_s / s->step_time));
    }
    const double wait_s[] = {s->train_wait, s->rollout_wait};
    for (size_t i = 0; i < 2; i++) {
        if (is_apart(task) && wait_s[i] > 0) {
            calc_output_printf(out, "The %s %s for the %s, %s of the step\n",
                               i ? "engines wait" : "trainer waits", calc_human_seconds(wait_s[i]),
                               i ? "trainer" : "rollout",
                               calc_human_percent(wait_s[i] / s->step_time));
        }
    }
    if (s->tail_time > 0) {
        calc_output_printf(out,
                           "For %s of the rollout, %s, less than a tenth of its sequences run\n",
                           calc_human_seconds(s->tail_time), calc_human_percent(s->tail_share));
    }
    if (s->floor_time > 0) {
        calc_output_printf(out,
                           "The longest response, %s tokens, takes %s by itself, on any engines\n",
                           calc_human_integer(s->longest), calc_human_seconds(s->floor_time));
    }
}

/* What adds up to the step, and what runs beside it. */
static void write_phases(calc_output *out, const calc_paint *paint, const calc_rl_step *s)
{
    const char *label[CALC_RL_PHASES + 1];
    double time_s[CALC_RL_PHASES + 1], sum_s = 0;
    size_t count = 0;
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        const calc_rl_phase *p = &s->phase[i];
        label[count] = calc_rl_phase_name((calc_rl_phase_index)i);
        time_s[count] = p->runs && !p->beside ? p->time_s : 0;
        sum_s += time_s[count++];
    }
    label[count] = "waiting, as lengths vary";
    time_s[count++] = s->step_time - sum_s > 1e-9 * s->step_time ? s->step_time - sum_s : 0;
    calc_output_text(out, "\nTime of one step\n");
    calc_breakdown_write_parts(out, paint, label, time_s, count, s->step_time);
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        if (s->phase[i].runs && s->phase[i].beside) {
            calc_output_printf(out, "  beside it: %s, %s\n",
                               calc_rl_phase_name((calc_rl_phase_index)i),
                               calc_human_seconds(s->phase[i].time_s));
        }
    }
}

static void write_memory(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    calc_output_printf(out, "\n%-23s%-12s%14s%14s\n", "Memory of a processor", "pool", "needed",
                       "there is");
    for (size_t pool = 0; pool < task->pools; pool++) {
        for (int i = 0; i < CALC_RL_PHASES; i++) {
            const calc_rl_phase *p = &s->phase[i];
            if (p->runs && p->pool == pool && p->need_bytes > 0) {
                calc_output_printf(out, "  %-21s%-12.12s%14s%14s%s\n",
                                   calc_rl_phase_name((calc_rl_phase_index)i),
                                   task->pool_name[pool], calc_human_bytes(p->need_bytes),
                                   calc_human_bytes(p->capacity_bytes),
                                   p->need_bytes > p->capacity_bytes ? "  does not fit" : "");
            }
        }
    }
}

static void write_layouts(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    char text[256];
    calc_output_text(out, "\nRoles\n");
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        const calc_rl_seat *seat = &task->problem.seat[i];
        if (!seat->runs) {
            continue;
        }
        calc_output_printf(out, "  %-12s%-12.12s%-24.24s%s\n",
                           calc_job_role_name((calc_job_role_index)i), task->pool_name[seat->pool],
                           task->member[i].inputs->input[CALC_KIND_APP].name,
                           calc_rl_layout_text(seat->exec, text, sizeof text));
    }
    if (s->engines > 0) {
        calc_output_printf(out, "  %s of %s sequences, %s at once; a decoding step of them %s\n",
                           calc_human_counted_in(s->engines, "engine", text),
                           calc_human_integer(s->requests), calc_human_integer(s->running),
                           calc_human_seconds(s->decode_step_time));
    }
}

/* What calc rl answers. */
typedef struct answer {
    const calc_rl_words *words;
    const calc_rl_task *task;
    const calc_rl_step *step;
    calc_paint paint;
} answer;

static calc_status write_text(calc_output *out, void *what, calc_errors *errors)
{
    const answer *a = what;
    const calc_rl_task *task = a->task;
    const calc_rl_step *s = a->step;
    (void)errors;
    write_answer(out, task, s);
    for (size_t i = 0; i < s->reasons; i++) {
        calc_output_printf(out, "It cannot run: %s\n", s->reason[i]);
    }
    write_waits(out, task, s);
    write_phases(out, &a->paint, s);
    write_memory(out, task, s);
    write_layouts(out, task, s);
    calc_output_text(out, "\nOne more processor\n");
    for (size_t pool = 0; pool < task->pools; pool++) {
        calc_output_printf(out, "  %-12.12s%s\n", task->pool_name[pool],
                           s->gain_s[pool] > 0 ? calc_human_seconds(-s->gain_s[pool])
                                               : "nothing waits for this pool");
    }
    return CALC_OK;
}

static void put_roles(calc_put *put, const calc_rl_task *task)
{
    char text[256];
    calc_put_object(put, "roles", CALC_PUT_LINES);
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        const calc_rl_seat *seat = &task->problem.seat[i];
        if (seat->runs) {
            calc_put_object(put, calc_job_role_name((calc_job_role_index)i), CALC_PUT_LINE);
            calc_putf(put, "model: %s, pool: %s, layout: %s}",
                      task->member[i].inputs->input[CALC_KIND_APP].name,
                      task->pool_name[seat->pool],
                      calc_rl_layout_text(seat->exec, text, sizeof text));
        }
    }
    calc_put_close(put);
}

static void put_statistics(calc_put *put, const calc_rl_step *s)
{
    for (size_t i = 0; i < sizeof stats / sizeof *stats; i++) {
        const char *at = (const char *)s + stats[i].offset;
        calc_put_number(put, stats[i].name, *(const double *)(const void *)at);
    }
}

/* The members of a step, in an open object. */
static void put_step(calc_put *put, const calc_rl_task *task, const calc_rl_step *s)
{
    calc_putf(put, "algorithm: %s, feasible?: %d, reasons: [\n", algorithm_of(&task->job),
              s->feasible);
    for (size_t i = 0; i < s->reasons; i++) {
        calc_put_text(put, NULL, s->reason[i]);
    }
    calc_putf(put, "], pools: [\n");
    for (size_t i = 0; i < task->pools; i++) {
        calc_putf(put, "{name: %s, system: %s, chips: %jd, one_more_chip_s: %g}",
                  task->pool_name[i], task->pool_system[i], task->chips[i], -s->gain_s[i]);
    }
    calc_put_close(put);
    put_roles(put, task);
    calc_put_object(put, "phases", CALC_PUT_LINES);
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        const calc_rl_phase *p = &s->phase[i];
        if (p->runs) {
            bool needs = p->need_bytes > 0;
            calc_put_object(put, calc_rl_phase_key((calc_rl_phase_index)i), CALC_PUT_LINE);
            calc_putf(put, "pool: %s, time: %g, beside?: %d, memory: %g, capacity: %g}",
                      task->pool_name[p->pool], p->time_s, p->beside,
                      needs ? p->need_bytes : (double)NAN, needs ? p->capacity_bytes : (double)NAN);
        }
    }
    calc_put_close(put);
    calc_put_object(put, "statistics", CALC_PUT_LINES);
    put_statistics(put, s);
    calc_put_close(put);
}

static void put_count(calc_put *put, const char *name, int64_t value)
{
    if (value > 0) {
        calc_putf(put, "%s, %s", name, CALC_TEXT(24, "%jd", value));
    }
}

/* The page of --html: the same, with a drawing of each pool and of the memory of each phase. */
static void write_page(calc_output *out, const void *what)
{
    const answer *a = what;
    const calc_rl_words *words = a->words;
    const char *const names[] = {words->app, words->system, words->job};
    calc_put put = calc_page_begin(out, CALC_PAGE_RL);
    calc_put_array(&put, "names", CALC_PUT_LINE);
    for (int i = 0; i < 3 && names[i]; i++) {
        calc_put_text(&put, NULL, names[i]);
    }
    calc_putf(&put, "], command: [%s, %s", "calc", "rl");
    for (int i = 0; i < 3 && names[i]; i++) {
        calc_put_text(&put, NULL, names[i]);
    }
    put_count(&put, "--procs", words->procs);
    put_count(&put, "--rollout-procs", words->rollout_procs);
    for (size_t i = 0; i < words->set_count; i++) {
        calc_putf(&put, "%s, %s", "--set", words->set[i]);
    }
    calc_put_close(&put);
    calc_put_object(&put, "step", CALC_PUT_LINES);
    put_step(&put, a->task, a->step);
    calc_put_close(&put);
    calc_page_end(&put, CALC_PAGE_RL);
}

static void placement_text(const calc_rl_choice *c, char *text, size_t size)
{
    if (c->rollout_chips > 0) {
        snprintf(text, size, "%.0f + %jd, %jd off", c->step.chips - (double)c->rollout_chips,
                 c->rollout_chips, c->steps_off);
    } else {
        snprintf(text, size, "%.0f%s", c->step.chips, c->steps_off > 0 ? ", off" : "");
    }
}

/* The placements and layouts that a search found, a row each. */
static calc_status calc_rl_write_found(calc_output *out, void *what, calc_errors *errors)
{
    (void)errors;
    const calc_rl_found *found = what;
    calc_output_printf(out, "%s on %s: %s steps evaluated, the best of each placement that fits\n",
                       found->words->app, found->words->system,
                       calc_human_integer((double)found->tried));
    if (found->count == 0) {
        char where[64];
        calc_output_text(out, "nothing fits");
        if (found->lack_bytes > 0) {
            placement_text(&found->nearest, where, sizeof where);
            calc_output_printf(out, "; the nearest, %s processors: %s", where,
                               found->nearest.step.reason[0]);
        }
        calc_output_text(out, "\n");
        return CALC_OK;
    }
    calc_listing_column column[] = {CALC_COLUMN("train + rollout", .left = true),
                                    CALC_COLUMN("step"),
                                    CALC_COLUMN("tok/s/chip", .order = 1),
                                    CALC_COLUMN("tail", .order = 2),
                                    CALC_COLUMN("engines", .left = true),
                                    CALC_COLUMN("actor", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    for (size_t i = 0; i < found->count; i++) {
        const calc_rl_choice *c = &found->choice[i];
        char text[128];
        placement_text(c, text, sizeof text);
        calc_listing_add(&l, text);
        calc_listing_add(&l, calc_human_seconds(c->step.step_time));
        calc_listing_addf(&l, "%.0f", c->step.tokens_per_s_per_chip);
        calc_listing_add(&l, calc_human_percent(c->step.tail_time / c->step.step_time));
        calc_listing_add(&l, c->rollout_text);
        calc_listing_add(&l, c->actor_text);
    }
    calc_output_text(out, "\n");
    calc_listing_end(&l, out);
    return CALC_OK;
}

static void calc_rl_put_found(calc_output *out, const void *what)
{
    const calc_rl_found *found = what;
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_put_count(&put, "tried", (int64_t)found->tried);
    calc_put_array(&put, "found", CALC_PUT_LINES);
    for (size_t i = 0; i < found->count; i++) {
        const calc_rl_choice *c = &found->choice[i];
        calc_putf(&put, "{rollout_chips: %jd, steps_off: %jd, actor: %s, rollout: %s",
                  c->rollout_chips, c->steps_off, c->actor_text, c->rollout_text);
        put_statistics(&put, &c->step);
        calc_put_close(&put);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

#define OPTIONS(X)                                                                                 \
    X(SET, "set", "FIELD=VALUE",                                                                   \
      .doc = "override a field of the job (prompts=64, response.mean=2000, "                       \
             "actor.micro_tokens=8192), "                                                          \
             "or of the documents of a role (actor.tp=4, rollout.inference.engine=vllm-0.11); "    \
             "without a role, the actor's layout, and models and machines of all",                 \
      .repeated = true)                                                                            \
    X(PROCS, "procs", "N", CALC_OPT_IS_WHOLE(1, 1e9),                                              \
      .doc = "processors of all pools, where the job does not say them")                           \
    X(ROLLOUT_PROCS, "rollout-procs", "N", CALC_OPT_IS_WHOLE(1, 1e9),                              \
      .doc = "of them a pool of its own for the engines; without this they share all processors "  \
             "with the trainer")                                                                   \
    X(SWEEP, "sweep", NULL,                                                                        \
      .doc = "search placements and layouts: all roles together or the engines apart, every pair " \
             "of layouts of actor and engines from the fronts of calc sweep")                      \
    X(TOP, "top", "N", CALC_OPT_IS_WHOLE(1, 1000),                                                 \
      .doc = "with --sweep: how many of each placement to list", .preset = "1")                    \
    CALC_OPT_COLOR(X)                                                                              \
    X(JSON, "json", "FILE", .output = true, .section = "Files",                                    \
      .doc = "write roles, phases and statistics as one JSON object")                              \
    X(HTML, "html", "FILE", .output = true,                                                        \
      .doc = "write the step as a page: its pools in time, the memory of every phase")             \
    X(SAVE_ACTOR, "save-actor", "FILE", .output = true,                                            \
      .doc = "write the actor's layout, with --sweep the best one, as an execution: "              \
             "--set actor.execution=FILE")                                                         \
    X(SAVE_ROLLOUT, "save-rollout", "FILE", .output = true,                                        \
      .doc = "write the engines' layout likewise")                                                 \
    X(SAVE_VERL, "save-verl", "FILE", .output = true,                                              \
      .doc = "write the script with which verl starts the job; what it cannot say is named")       \
    X(SAVE_SLIME, "save-slime", "FILE", .output = true, .doc = "the same for slime")

CALC_OPTIONS(OPTIONS);
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
    if (!path || !what) {
        return CALC_OK;
    }
    calc_output *out = calc_write_to(path);
    write(out, what);
    return calc_output_close(out, errors);
}

static calc_status save_layouts(const calc_args *args, const calc_exec *actor,
                                const calc_exec *rollout, calc_errors *errors)
{
    calc_status status =
        calc_save_to(calc_opt_value(args, OPT_SAVE_ACTOR), CALC_KIND_EXEC, actor, errors);
    return status == CALC_OK ? calc_save_to(calc_opt_value(args, OPT_SAVE_ROLLOUT), CALC_KIND_EXEC,
                                            rollout, errors)
                             : status;
}

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
    calc_job_launch *launch = calc_make(1, sizeof *launch);
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
    status = status == CALC_OK
                 ? calc_errors_status(errors, calc_job_launch_lost(s.format, launch, app, &settings,
                                                                   tell_lost, &told))
                 : status;
    status = status == CALC_OK && told.reasons == 0 ? write_file(path, write_script, &s, errors)
                                                    : status;
    *refused = *refused || told.reasons > 0;
    calc_settings_free(&settings);
    free(launch);
    return status;
}

static void write_json(calc_output *out, const void *what)
{
    const answer *a = what;
    /* One JSON object: the job's roles, phases, statistics. */
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    put_step(&put, a->task, a->step);
    calc_put_end(&put);
}

static calc_exit evaluate(const calc_args *args, calc_rl_task *task, const calc_rl_words *words,
                          calc_errors *errors)
{
    calc_rl_step step;
    answer a = {words, task, &step, calc_paint_stdout(calc_opt_value(args, OPT_COLOR))};
    const calc_rl_seat *seat = task->problem.seat;
    bool stdout_is_taken = calc_opt_takes_stdout(args);
    bool refused = false;
    bool fine = calc_rl_task_read(task, words, errors) == CALC_OK &&
                calc_rl_task_load(task, words, errors) == CALC_OK &&
                calc_rl_step_of(&task->problem, &step, errors) == CALC_OK &&
                write_file(calc_opt_value(args, OPT_JSON), write_json, &a, errors) == CALC_OK &&
                write_file(calc_opt_value(args, OPT_HTML), write_page, &a, errors) == CALC_OK &&
                save_layouts(args, seat[CALC_JOB_ACTOR].runs ? seat[CALC_JOB_ACTOR].exec : NULL,
                             seat[CALC_JOB_ROLLOUT].runs ? seat[CALC_JOB_ROLLOUT].exec : NULL,
                             errors) == CALC_OK &&
                (stdout_is_taken || calc_fold_print(write_text, &a, errors) == CALC_OK) &&
                save_script(task, &calc_framework_verl, calc_opt_value(args, OPT_SAVE_VERL),
                            &refused, errors) == CALC_OK &&
                save_script(task, &calc_framework_slime, calc_opt_value(args, OPT_SAVE_SLIME),
                            &refused, errors) == CALC_OK;
    calc_rl_task_locate(task, words, errors);
    if (!fine) {
        return calc_complain_failure(errors);
    }
    for (size_t i = 0; i < step.reasons; i++) {
        if (stdout_is_taken || !isatty(STDOUT_FILENO)) {
            calc_say("infeasible: %s\n", step.reason[i]);
        }
    }
    return step.feasible && !refused ? CALC_EXIT_OK : CALC_EXIT_INFEASIBLE;
}

static calc_exit search(const calc_args *args, const calc_rl_words *words, calc_errors *errors)
{
    calc_rl_found found = {.words = words, .top = (size_t)calc_opt_real(args, OPT_TOP)};
    bool fine = calc_rl_search(words, &found, errors) == CALC_OK, some = found.count > 0;
    fine =
        fine &&
        write_file(calc_opt_value(args, OPT_JSON), calc_rl_put_found, &found, errors) == CALC_OK &&
        (!some ||
         save_layouts(args, &found.choice[0].actor, &found.choice[0].rollout, errors) == CALC_OK) &&
        (calc_opt_takes_stdout(args) ||
         calc_fold_print(calc_rl_write_found, &found, errors) == CALC_OK);
    calc_rl_found_free(&found);
    return !fine ? calc_complain_failure(errors) : some ? CALC_EXIT_OK : CALC_EXIT_INFEASIBLE;
}

/* @return the mistake; NULL: none */
static const char *check_streams(const calc_args *args)
{
    bool scripts = calc_opt_value(args, OPT_SAVE_VERL) || calc_opt_value(args, OPT_SAVE_SLIME);
    return calc_opt_value(args, OPT_HTML) && calc_opt_value(args, OPT_SWEEP)
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
    calc_rl_task *task = calc_make(1, sizeof *task);
    const char **set = calc_make(args->use_count + 1, sizeof *set);
    calc_rl_words words = {.app = args->argument[0],
                           .system = args->argument[1],
                           .job = args->argument_count > 2 ? args->argument[2] : NULL,
                           .procs = (int64_t)calc_opt_real(args, OPT_PROCS),
                           .rollout_procs = (int64_t)calc_opt_real(args, OPT_ROLLOUT_PROCS),
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
    CALC_COMMAND_PARTS};
