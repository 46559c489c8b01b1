#include "cli/rl/rl_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/draw/stage_words.h"
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

char *calc_rl_layout_text(const calc_exec *exec, char *text, size_t size)
{
    const calc_strategy *s = &exec->strategy;
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"tp", s->tensor_par},
                 {"cp", s->context_par},
                 {"ep", s->expert_par},
                 {"pp", exec->pipeline_par},
                 {"dp", s->data_par}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].value > 1) {
            calc_append(text, size, "%s%s=%lld", text[0] ? " " : "", sizes[i].name,
                        (long long)sizes[i].value);
        }
    }
    if (exec->training) {
        char recompute[64];
        calc_stage_words_recomputed(exec, recompute, sizeof recompute);
        calc_append(text, size, "%smbs=%lld", text[0] ? " " : "", (long long)exec->microbatch_size);
        if (s->zero_stage > 0) {
            calc_append(text, size, " zero=%lld", (long long)s->zero_stage);
        }
        if (strcmp(recompute, "none") != 0) {
            calc_append(text, size, " recompute %s", recompute);
        }
    } else if (!text[0]) {
        calc_append(text, size, exec->num_procs > 0 ? "tp=1" : "-"); /* it may not run */
    }
    return text;
}

/* ---- For people ------------------------------------------------------------------------------ */

static const char *algorithm_of(const calc_job *job)
{
#define TEXT(name, text, ...) text,
    static const char *const names[] = {CALC_JOB_ALGORITHM_LIST(TEXT)};
#undef TEXT
    return names[job->algorithm];
}

static bool is_apart(const calc_rl_task *task)
{
    const calc_rl_seat *seat = task->problem.seat;
    return seat[CALC_JOB_ROLLOUT].runs && seat[CALC_JOB_ACTOR].runs &&
           seat[CALC_JOB_ROLLOUT].pool != seat[CALC_JOB_ACTOR].pool;
}

static const calc_inputs *first_inputs(const calc_rl_task *task)
{
    int role = 0;
    while (!task->member[role].inputs) {
        role++;
    }
    return task->member[role].inputs;
}

static void write_answer(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    char a[CALC_HUMAN_MAX], b[CALC_HUMAN_MAX], c[CALC_HUMAN_MAX], placement[96];
    const calc_inputs *in = first_inputs(task);
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
                           calc_human_integer((double)task->chips[i], a), task->pool_system[i]);
    }
    if (s->staleness > 0) {
        calc_append(placement, sizeof placement, ", %.0f step%s off", s->staleness,
                    s->staleness > 1 ? "s" : "");
    }
    calc_output_printf(out, ", %s\n", placement);
    calc_output_printf(out, "A step of %s sequences takes %s: %s tokens/s, %s per processor\n",
                       calc_human_integer(s->sequences, a), calc_human_seconds(s->step_time, b),
                       calc_human_integer(s->tokens_per_s, c),
                       calc_human_integer(s->tokens_per_s_per_chip, (char[CALC_HUMAN_MAX]){0}));
}

static calc_rl_phase_index longest(const calc_rl_step *s)
{
    int best = 0;
    for (int i = 1; i < CALC_RL_PHASES; i++) {
        best = s->phase[i].time_s > s->phase[best].time_s ? i : best;
    }
    return (calc_rl_phase_index)best;
}

/* What waits for what, and what binds. */
static void write_waits(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    char a[CALC_HUMAN_MAX], p[CALC_HUMAN_MAX], b[CALC_HUMAN_MAX];
    calc_rl_phase_index most = longest(s);
    bool overlapped = is_apart(task) && s->staleness > 0;
    if (overlapped) {
        bool trainer = s->train_time > s->generate_time;
        calc_output_printf(out, "The %s binds: %s against %s of the %s\n",
                           trainer ? "trainer" : "rollout",
                           calc_human_seconds(fmax(s->train_time, s->generate_time), a),
                           calc_human_seconds(fmin(s->train_time, s->generate_time), b),
                           trainer ? "rollout" : "trainer");
    } else {
        calc_output_printf(out, "The longest phase is the %s, %s\n", calc_rl_phase_name(most),
                           calc_human_percent(s->phase[most].time_s / s->step_time, p));
    }
    if (is_apart(task) && s->train_wait > 0) {
        calc_output_printf(out, "The trainer waits %s for the rollout, %s of the step\n",
                           calc_human_seconds(s->train_wait, a),
                           calc_human_percent(s->train_wait / s->step_time, p));
    }
    if (is_apart(task) && s->rollout_wait > 0) {
        calc_output_printf(out, "The engines wait %s for the trainer, %s of the step\n",
                           calc_human_seconds(s->rollout_wait, a),
                           calc_human_percent(s->rollout_wait / s->step_time, p));
    }
    if (s->tail_time > 0) {
        calc_output_printf(
            out, "For %s of the rollout, %s, less than a tenth of its sequences run\n",
            calc_human_seconds(s->tail_time, a), calc_human_percent(s->tail_share, p));
    }
    if (s->floor_time > 0) {
        calc_output_printf(out,
                           "The longest response, %s tokens, takes %s by itself: more engines "
                           "do not shorten it\n",
                           calc_human_integer(s->longest, b), calc_human_seconds(s->floor_time, a));
    }
}

/* What adds up to the step, and what runs beside it. */
static void write_phases(calc_output *out, const calc_paint *paint, const calc_rl_step *s)
{
    const char *label[CALC_RL_PHASES + 2];
    double time_s[CALC_RL_PHASES + 2], sum_s = s->overhead_time;
    char a[CALC_HUMAN_MAX];
    size_t count = 0;
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        const calc_rl_phase *p = &s->phase[i];
        label[count] = calc_rl_phase_name((calc_rl_phase_index)i);
        time_s[count] = p->runs && !p->beside ? p->time_s : 0;
        sum_s += time_s[count++];
    }
    label[count] = "waiting, as lengths vary";
    time_s[count++] = s->step_time - sum_s > 1e-9 * s->step_time ? s->step_time - sum_s : 0;
    label[count] = "everything else";
    time_s[count++] = s->overhead_time;
    calc_output_text(out, "\nTime of one step\n");
    calc_breakdown_write_parts(out, paint, label, time_s, count, s->step_time);
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        if (s->phase[i].runs && s->phase[i].beside) {
            calc_output_printf(out, "  beside it: %s, %s\n",
                               calc_rl_phase_name((calc_rl_phase_index)i),
                               calc_human_seconds(s->phase[i].time_s, a));
        }
    }
}

static void write_memory(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    char a[CALC_HUMAN_MAX], b[CALC_HUMAN_MAX];
    calc_output_printf(out, "\n%-23s%-12s%14s%14s\n", "Memory of a processor", "pool", "needed",
                       "there is");
    for (size_t pool = 0; pool < task->pools; pool++) {
        for (int i = 0; i < CALC_RL_PHASES; i++) {
            const calc_rl_phase *p = &s->phase[i];
            if (p->runs && p->pool == pool && p->need_bytes > 0) {
                calc_output_printf(out, "  %-21s%-12.12s%14s%14s%s\n",
                                   calc_rl_phase_name((calc_rl_phase_index)i),
                                   task->pool_name[pool], calc_human_bytes(p->need_bytes, a),
                                   calc_human_bytes(p->capacity_bytes, b),
                                   p->need_bytes > p->capacity_bytes ? "  does not fit" : "");
            }
        }
    }
}

static void write_layouts(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    char text[256], a[CALC_HUMAN_MAX], b[CALC_HUMAN_MAX];
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
                           calc_human_counted(s->engines, "engine", text),
                           calc_human_integer(s->requests, a), calc_human_integer(s->running, b),
                           calc_human_seconds(s->decode_step_time, (char[CALC_HUMAN_MAX]){0}));
    }
}

static void write_gains(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    char a[CALC_HUMAN_MAX];
    calc_output_text(out, "\nOne more processor\n");
    for (size_t pool = 0; pool < task->pools; pool++) {
        calc_output_printf(out, "  %-12.12s%s\n", task->pool_name[pool],
                           s->gain_s[pool] > 0 ? calc_human_seconds(-s->gain_s[pool], a)
                                               : "nothing waits for this pool");
    }
}

void calc_rl_write_text(calc_output *out, const calc_paint *paint, const calc_rl_task *task,
                        const calc_rl_step *s)
{
    write_answer(out, task, s);
    for (size_t i = 0; i < s->reasons; i++) {
        calc_output_printf(out, "It cannot run: %s\n", s->reason[i]);
    }
    write_waits(out, task, s);
    write_phases(out, paint, s);
    write_memory(out, task, s);
    write_layouts(out, task, s);
    write_gains(out, task, s);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_roles(calc_put *put, const calc_rl_task *task)
{
    char text[256];
    calc_put_object(put, "roles", CALC_PUT_LINES);
    for (int i = 0; i < CALC_JOB_ROLES; i++) {
        const calc_rl_seat *seat = &task->problem.seat[i];
        if (seat->runs) {
            calc_put_object(put, calc_job_role_name((calc_job_role_index)i), CALC_PUT_LINE);
            calc_put_text(put, "model", task->member[i].inputs->input[CALC_KIND_APP].name);
            calc_put_text(put, "pool", task->pool_name[seat->pool]);
            calc_put_text(put, "layout", calc_rl_layout_text(seat->exec, text, sizeof text));
            calc_put_close(put);
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
    calc_put_count(put, "format", 1);
    calc_put_text(put, "algorithm", algorithm_of(&task->job));
    calc_put_flag(put, "feasible", s->feasible);
    calc_put_array(put, "reasons", CALC_PUT_LINES);
    for (size_t i = 0; i < s->reasons; i++) {
        calc_put_text(put, NULL, s->reason[i]);
    }
    calc_put_close(put);
    calc_put_array(put, "pools", CALC_PUT_LINES);
    for (size_t i = 0; i < task->pools; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "name", task->pool_name[i]);
        calc_put_text(put, "system", task->pool_system[i]);
        calc_put_count(put, "chips", task->chips[i]);
        calc_put_number(put, "one_more_chip_s", -s->gain_s[i]);
        calc_put_close(put);
    }
    calc_put_close(put);
    put_roles(put, task);
    calc_put_object(put, "phases", CALC_PUT_LINES);
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        const calc_rl_phase *p = &s->phase[i];
        if (p->runs) {
            calc_put_object(put, calc_rl_phase_key((calc_rl_phase_index)i), CALC_PUT_LINE);
            calc_put_text(put, "pool", task->pool_name[p->pool]);
            calc_put_number(put, "time", p->time_s);
            calc_put_flag(put, "beside", p->beside);
            calc_put_number(put, "memory", p->need_bytes > 0 ? p->need_bytes : NAN);
            calc_put_number(put, "capacity", p->need_bytes > 0 ? p->capacity_bytes : NAN);
            calc_put_close(put);
        }
    }
    calc_put_close(put);
    calc_put_object(put, "statistics", CALC_PUT_LINES);
    put_statistics(put, s);
    calc_put_close(put);
}

void calc_rl_write_json(calc_output *out, const calc_rl_task *task, const calc_rl_step *s)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    put_step(&put, task, s);
    calc_put_end(&put);
}

/* ---- The page -------------------------------------------------------------------------------- */

static void put_option(calc_put *put, const char *name, const char *value)
{
    if (value) {
        calc_put_text(put, NULL, name);
        calc_put_text(put, NULL, value);
    }
}

void calc_rl_write_page(calc_output *out, const calc_rl_words *words, const calc_rl_task *task,
                        const calc_rl_step *s)
{
    const char *const names[] = {words->app, words->system, words->job};
    calc_put put = calc_page_begin(out, CALC_PAGE_RL);
    calc_put_array(&put, "names", CALC_PUT_LINE);
    for (int i = 0; i < 3 && names[i]; i++) {
        calc_put_text(&put, NULL, names[i]);
    }
    calc_put_close(&put);
    calc_put_array(&put, "command", CALC_PUT_LINE);
    calc_put_text(&put, NULL, "calc");
    calc_put_text(&put, NULL, "rl");
    for (int i = 0; i < 3 && names[i]; i++) {
        calc_put_text(&put, NULL, names[i]);
    }
    put_option(&put, "--procs", words->procs);
    put_option(&put, "--rollout-procs", words->rollout_procs);
    for (size_t i = 0; i < words->set_count; i++) {
        put_option(&put, "--set", words->set[i]);
    }
    calc_put_close(&put);
    calc_put_object(&put, "step", CALC_PUT_LINES);
    put_step(&put, task, s);
    calc_put_close(&put);
    calc_page_end(&put, CALC_PAGE_RL);
}

/* ---- What a search found --------------------------------------------------------------------- */

static void placement_text(const calc_rl_choice *c, char *text, size_t size)
{
    if (c->rollout_chips > 0) {
        snprintf(text, size, "%.0f + %lld, %lld off", c->step.chips - (double)c->rollout_chips,
                 (long long)c->rollout_chips, (long long)c->steps_off);
    } else {
        snprintf(text, size, "%.0f%s", c->step.chips, c->steps_off > 0 ? ", off" : "");
    }
}

void calc_rl_write_found(calc_output *out, const calc_rl_words *words, const calc_rl_found *found)
{
    char tried[CALC_HUMAN_MAX];
    calc_output_printf(out, "%s on %s: %s steps evaluated, the best of each placement that fits\n",
                       words->app, words->system, calc_human_integer((double)found->tried, tried));
    if (found->count == 0) {
        char where[64];
        calc_output_text(out, "nothing fits");
        if (found->lack_bytes > 0) {
            placement_text(&found->nearest, where, sizeof where);
            calc_output_printf(out, "; the nearest, %s processors: %s", where,
                               found->nearest.step.reason[0]);
        }
        calc_output_text(out, "\n");
        return;
    }
    calc_output_printf(out, "\n%-18s%10s%12s%8s  %-35s %s\n", "train + rollout", "step",
                       "tok/s/chip", "tail", "actor", "engines");
    for (size_t i = 0; i < found->count; i++) {
        const calc_rl_choice *c = &found->choice[i];
        char where[64], time[CALC_HUMAN_MAX], tail[CALC_HUMAN_MAX], actor[128], engine[128];
        placement_text(c, where, sizeof where);
        calc_output_printf(out, "%-18s%10s%12.0f%8s  %-35s %s\n", where,
                           calc_human_seconds(c->step.step_time, time),
                           c->step.tokens_per_s_per_chip,
                           calc_human_percent(c->step.tail_time / c->step.step_time, tail),
                           calc_rl_layout_text(&c->actor, actor, sizeof actor),
                           calc_rl_layout_text(&c->rollout, engine, sizeof engine));
    }
}

void calc_rl_put_found(calc_output *out, const calc_rl_found *found)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_count(&put, "format", 1);
    calc_put_count(&put, "tried", (int64_t)found->tried);
    calc_put_array(&put, "found", CALC_PUT_LINES);
    for (size_t i = 0; i < found->count; i++) {
        const calc_rl_choice *c = &found->choice[i];
        char text[128];
        calc_put_object(&put, NULL, CALC_PUT_LINE);
        calc_put_count(&put, "rollout_chips", c->rollout_chips);
        calc_put_count(&put, "steps_off", c->steps_off);
        calc_put_text(&put, "actor", calc_rl_layout_text(&c->actor, text, sizeof text));
        calc_put_text(&put, "rollout", calc_rl_layout_text(&c->rollout, text, sizeof text));
        put_statistics(&put, &c->step);
        calc_put_close(&put);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}
