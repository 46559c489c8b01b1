#include "cli/rl/rl_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/breakdown.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_study.h"

enum { FRONT = 16, SPLITS = 16 };

char *calc_rl_layout_text(const calc_exec *exec, char *text, size_t size)
{
    const calc_strategy *s = &exec->strategy;
    calc_stage_words_sizes(exec, true, text, size);
    if (exec->training) {
        char recompute[64];
        calc_stage_words_recomputed(exec, recompute, sizeof recompute);
        calc_append(text, size, "%smbs=%jd", text[0] ? " " : "", exec->microbatch_size);
        if (s->zero_stage > 0) {
            calc_append(text, size, " zero=%jd", s->zero_stage);
        }
        if (strcmp(recompute, "none") != 0) {
            calc_append(text, size, " recompute %s", recompute);
        }
    } else if (!text[0]) {
        calc_append(text, size, exec->num_procs > 0 ? "tp=1" : "-"); /* it may not run */
    }
    return text;
}

/* Adds a choice where it is among the best of its placement; of those that read alike the best. */
static void keep(calc_rl_found *f, size_t first, const calc_rl_choice *choice)
{
    for (size_t i = first; i < f->count; i++) {
        calc_rl_choice *old = &f->choice[i];
        if (strcmp(old->actor_text, choice->actor_text) == 0 &&
            strcmp(old->rollout_text, choice->rollout_text) == 0) {
            if (old->step.step_time <= choice->step.step_time) {
                return;
            }
            memmove(old, old + 1, (--f->count - i) * sizeof *old);
        }
    }
    size_t at = f->count;
    while (at > first && f->choice[at - 1].step.step_time > choice->step.step_time) {
        at--;
    }
    if (at - first >= f->top) {
        return;
    }
    if (f->count - first < f->top) {
        f->choice = calc_longer(f->choice, ++f->count, sizeof *f->choice);
    }
    memmove(&f->choice[at + 1], &f->choice[at], (f->count - at - 1) * sizeof *f->choice);
    f->choice[at] = *choice;
}

/* The layouts of a role; one that does not run has none, and counts as one. */
typedef struct layouts {
    calc_exec *exec;
    size_t count;
} layouts;

/* Engines that are quick where few sequences are left: the front of a batch as small as there are
 * processors, behind that of the whole batch. */
static calc_status add_quick(const calc_rl_task *task, const calc_rl_member *m, layouts *out,
                             calc_errors *errors)
{
    layouts quick = {NULL, 0};
    const char **set = calc_make(m->set_count + 1, sizeof *set);
    const char *batch = CALC_TEXT(48, "inference.batch=%.0f",
                                  task->problem.chips[task->problem.seat[CALC_JOB_ROLLOUT].pool]);
    for (size_t i = 0; i < m->set_count; i++) {
        set[i] = m->set[i];
    }
    set[m->set_count] = batch;
    calc_status status = calc_sweep_front_of(m->inputs, set, m->set_count + 1, NULL, FRONT,
                                             &quick.exec, &quick.count, errors);
    if (status == CALC_OK && quick.count > 0) {
        out->exec = calc_longer(out->exec, out->count + quick.count, sizeof *out->exec);
        for (size_t i = 0; i < quick.count; i++) {
            quick.exec[i].inference.batch = out->exec[0].inference.batch;
            out->exec[out->count++] = quick.exec[i];
        }
    }
    free(quick.exec);
    free(set);
    return status;
}

static calc_status find_layouts(const calc_rl_task *task, calc_job_role_index role, layouts *out,
                                calc_errors *errors)
{
    const calc_rl_member *m = &task->member[role];
    *out = (layouts){NULL, 1};
    if (!task->problem.seat[role].runs || !m->inputs->procs) { /* a whole document: it alone */
        return CALC_OK;
    }
    calc_status status = calc_sweep_front_of(m->inputs, (const char *const *)m->set, m->set_count,
                                             role == CALC_JOB_ROLLOUT ? NULL : "sample_rate,mem1",
                                             FRONT, &out->exec, &out->count, errors);
    return role == CALC_JOB_ROLLOUT && status == CALC_OK ? add_quick(task, m, out, errors) : status;
}

/* Gives a layout to a role and to those that share its documents. */
static void seat_layout(calc_rl_task *task, calc_job_role_index role, const layouts *of, size_t i)
{
    for (int other = 0; other < CALC_JOB_ROLES && of->exec; other++) {
        if (task->member[other].inputs && task->member[other].inputs == task->member[role].inputs) {
            task->problem.seat[other].exec = &of->exec[i];
        }
    }
}

static void note_nearest(calc_rl_found *found, const calc_rl_choice *choice)
{
    double lack_bytes = 0;
    for (int i = 0; i < CALC_RL_PHASES; i++) {
        const calc_rl_phase *p = &choice->step.phase[i];
        lack_bytes = p->runs ? fmax(lack_bytes, p->need_bytes - p->capacity_bytes) : lack_bytes;
    }
    if (lack_bytes > 0 && (found->lack_bytes == 0 || lack_bytes < found->lack_bytes)) {
        found->lack_bytes = lack_bytes;
        found->nearest = *choice;
    }
}

/* Every pair. */
static calc_status try_pairs(calc_rl_task *task, int64_t rollout_chips, const layouts *actor,
                             const layouts *rollout, calc_rl_found *found)
{
    size_t first = found->count;
    calc_status status = CALC_OK;
    for (size_t i = 0; i < actor->count * rollout->count && status == CALC_OK; i++) {
        calc_rl_choice choice = {.rollout_chips = rollout_chips, .steps_off = task->job.steps_off};
        calc_errors ignored = {0};
        seat_layout(task, CALC_JOB_ACTOR, actor, i / rollout->count);
        seat_layout(task, CALC_JOB_ROLLOUT, rollout, i % rollout->count);
        status = calc_rl_step_of(&task->problem, &choice.step, &ignored);
        if (status == CALC_ERR_RULE) { /* this layout does not take these sequences */
            status = CALC_OK;
            continue;
        }
        found->tried++;
        const calc_rl_seat *seat = task->problem.seat;
        bool apart = seat[CALC_JOB_ACTOR].runs && seat[CALC_JOB_ROLLOUT].runs &&
                     seat[CALC_JOB_ACTOR].pool != seat[CALC_JOB_ROLLOUT].pool;
        choice.rollout_chips =
            apart ? (int64_t)task->problem.chips[seat[CALC_JOB_ROLLOUT].pool] : rollout_chips;
        if (seat[CALC_JOB_ACTOR].runs) {
            choice.actor = *seat[CALC_JOB_ACTOR].exec;
        }
        if (seat[CALC_JOB_ROLLOUT].runs) {
            choice.rollout = *seat[CALC_JOB_ROLLOUT].exec;
        }
        calc_rl_layout_text(&choice.actor, choice.actor_text, sizeof choice.actor_text);
        calc_rl_layout_text(&choice.rollout, choice.rollout_text, sizeof choice.rollout_text);
        if (status == CALC_OK && !choice.step.feasible) {
            note_nearest(found, &choice);
        } else if (status == CALC_OK) {
            keep(found, first, &choice);
        }
    }
    return status;
}

/* A placement; apart also one step off, where the job does not say it. Without a layout that can
 * run it has no choice. */
static calc_status try_placement(const calc_rl_words *words, int64_t rollout_chips,
                                 calc_rl_found *found, calc_errors *errors)
{
    calc_rl_words own = *words;
    calc_rl_task *task = calc_make(1, sizeof *task);
    layouts actor = {0}, rollout = {0};
    own.rollout_procs = rollout_chips > 0 ? rollout_chips : own.rollout_procs;
    int before = errors->count;
    calc_status status = calc_rl_task_read(task, &own, errors);
    if (status == CALC_OK && rollout_chips == 0 && task->job.pools_count == 0) {
        task->job.steps_off = 0; /* the only way on the same processors */
    }
    status = status == CALC_OK ? calc_rl_task_load(task, &own, errors) : status;
    if ((status == CALC_ERR_RULE || status == CALC_ERR_INFEASIBLE) && words->silent) {
        errors->count = before; /* no layout runs on so many processors */
        status = CALC_OK;
    } else if (status == CALC_OK) {
        status = find_layouts(task, CALC_JOB_ACTOR, &actor, errors);
        status =
            status == CALC_OK ? find_layouts(task, CALC_JOB_ROLLOUT, &rollout, errors) : status;
        int64_t last = rollout_chips > 0 && task->job.steps_off == 0 ? 1 : task->job.steps_off;
        for (; task->job.steps_off <= last && status == CALC_OK; task->job.steps_off++) {
            status = try_pairs(task, rollout_chips, &actor, &rollout, found);
        }
    }
    calc_rl_task_locate(task, &own, errors);
    free(actor.exec);
    free(rollout.exec);
    calc_rl_task_free(task);
    free(task);
    return status;
}

/* Numbers of processors for the engines: eighths of all. */
static size_t splits_of(int64_t procs, int64_t split[SPLITS])
{
    enum { PARTS = 8 };
    size_t count = 0;
    for (int64_t i = 1; i < PARTS; i++) {
        int64_t chips = procs * i / PARTS;
        if (chips > 0 && chips < procs && (count == 0 || split[count - 1] != chips)) {
            split[count++] = chips;
        }
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    const calc_rl_choice *x = a, *y = b;
    double difference_s = x->step.step_time - y->step.step_time;
    int64_t chips = x->rollout_chips - y->rollout_chips, off = x->steps_off - y->steps_off;
    return difference_s != 0 ? (difference_s > 0) - (difference_s < 0)
           : chips != 0      ? (chips > 0) - (chips < 0)
                             : (off > 0) - (off < 0);
}

calc_status calc_rl_search(const calc_rl_words *words, calc_rl_found *found, calc_errors *errors)
{
    calc_rl_task *task = calc_make(1, sizeof *task);
    int64_t split[SPLITS];
    calc_status status = calc_rl_task_read(task, words, errors);
    calc_rl_task_locate(task, words, errors);
    bool fixed = task->job.pools_count > 0 || !calc_job_runs(&task->job, CALC_JOB_ROLLOUT) ||
                 !calc_job_runs(&task->job, CALC_JOB_ACTOR);
    calc_rl_task_free(task);
    free(task);
    calc_rl_words own = *words;
    own.silent = true;
    calc_sweep_watch watch;
    calc_sweep_watch_begin(&watch, "auto", INFINITY, true);
    if (status == CALC_OK) {
        status = try_placement(fixed ? words : &own, 0, found, errors);
    }
    size_t count = words->procs > 0 && !fixed ? splits_of(words->procs, split) : 0;
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        const calc_sweep_progress progress = {
            .counts = {.evaluated = found->tried, .total = found->tried},
            .done = (double)(i + 1),
            .total = (double)(count + 1),
            .best = NAN};
        if (calc_sweep_watch_progress(&watch, &progress)) {
            calc_say("stopped: %zu of %zu placements were searched\n", i + 1, count + 1);
            break;
        }
        status = try_placement(&own, split[i], found, errors);
    }
    calc_sweep_watch_end(&watch);
    if (found->count > 0) {
        CALC_SORT(found->choice, found->count, compare);
    }
    return status;
}

CALC_FREES(calc_rl_found_free, calc_rl_found, of->choice)
