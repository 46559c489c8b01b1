#include "cli/plan/plan_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "cli/draw/stage_words.h"
#include "plan/planner_balance.h"
#include "spec/stage_list.h"

static const calc_system *system_of(const calc_plan_task *t, const calc_planner_found *f)
{
    return &t->chip[f->chip].system;
}

/* Blocks of a layout's stages, listed or not. */
static char *blocks_text(const calc_plan_task *t, const calc_planner_found *f,
                         char text[CALC_STAGE_WORDS_SIZE])
{
    if (f->exec.stages.count > 0) {
        return calc_stage_words_blocks(&f->exec, text);
    }
    calc_stage_stats stage[CALC_MAX_PLACES];
    size_t count = calc_each_stage(&t->app, system_of(t, f), &f->exec, CALC_COMPAT_NONE, stage,
                                   CALC_MAX_PLACES);
    count = count < CALC_MAX_PLACES ? count : CALC_MAX_PLACES;
    text[0] = '\0';
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && stage[end].blocks == stage[i].blocks; end++) {
        }
        calc_append(text, CALC_STAGE_WORDS_SIZE, i > 0 ? ", " : "");
        if (end - i > 1) {
            calc_append(text, CALC_STAGE_WORDS_SIZE, "%zux", end - i);
        }
        calc_append(text, CALC_STAGE_WORDS_SIZE, "%.4g", stage[i].blocks);
    }
    return text;
}

/* What the stages are on: their chunks are all on the same. */
static char *chips_text(const calc_plan_task *t, const calc_planner_found *f,
                        char text[CALC_STAGE_WORDS_SIZE])
{
    calc_exec first = f->exec;
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t count = calc_stage_list_expand(&f->exec.stages, place);
    if (count == 0) {
        snprintf(text, CALC_STAGE_WORDS_SIZE, "%s", t->chip[f->chip].name);
        return text;
    }
    count = count < first.pipeline_par ? count : first.pipeline_par;
    (void)calc_stage_list_pack(place, count, &first.stages);
    return calc_stage_words_chips(&first, t->chip[f->chip].name, text);
}

/* ---- The layouts ----------------------------------------------------------------------------- */

enum { BLOCKS_WIDTH = 40 };

static void write_row(calc_output *out, const calc_plan_task *t, const calc_planner_found *f,
                      size_t rank)
{
    const calc_exec *e = &f->exec;
    const calc_strategy *s = &e->strategy;
    char time[CALC_HUMAN_MAX], mfu[CALC_HUMAN_MAX], blocks[CALC_STAGE_WORDS_SIZE];
    char chips[CALC_STAGE_WORDS_SIZE];
    calc_output_printf(out, "%4zu %4lld %4lld %5lld", rank, (long long)s->tensor_par,
                       (long long)e->pipeline_par, (long long)s->data_par);
    calc_output_printf(out, " %3lld %4lld", (long long)(s->context_par > 0 ? s->context_par : 1),
                       (long long)(s->expert_par > 0 ? s->expert_par : 1));
    calc_output_printf(out, " %3lld %3lld %11s %7s %8.2f  ", (long long)e->pipeline_interleaving,
                       (long long)e->microbatch_size, calc_human_seconds(f->stats.total_time, time),
                       calc_human_percent(f->stats.model_flops_utilization, mfu),
                       f->stats.proc_mem_tier1_cap_req / 0x1p30);
    blocks_text(t, f, blocks);
    bool cut = strlen(blocks) > BLOCKS_WIDTH;
    calc_output_printf(out, "%.*s%s", BLOCKS_WIDTH, blocks, cut ? " ..." : "");
    if (t->chips > 1) {
        calc_output_printf(out, "  on %s", chips_text(t, f, chips));
    }
    calc_output_text(out, "\n");
}

static void write_rows(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_output_text(out, "rank   TP   PP    DP  CP   EP  VP  MB        step     MFU      GiB  "
                          "blocks of the stages\n");
    for (size_t i = 0; i < r->count; i++) {
        write_row(out, t, &r->found[i], i + 1);
    }
}

/* ---- The best: its stages -------------------------------------------------------------------- */

/* The run of the list that a stage's first chunk is of; of stages that are alike none. */
static calc_stage_run run_of(const calc_exec *e, size_t stage)
{
    calc_stage_run place[CALC_MAX_PLACES];
    if (e->stages.count == 0) {
        return (calc_stage_run){1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0,
                                0};
    }
    calc_stage_list_expand(&e->stages, place);
    return place[stage];
}

/* Layers that a stage recomputes in full, in all its chunks. */
static double recomputed(const calc_exec *e, size_t stage, double blocks)
{
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t count = calc_stage_list_expand(&e->stages, place);
    double sum = 0;
    if (count == 0) {
        bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
        return !full ? 0 : e->recompute_blocks > 0 ? (double)e->recompute_blocks : blocks;
    }
    for (int64_t i = (int64_t)stage; i < count; i += e->pipeline_par) {
        sum += place[i].recompute_blocks > 0 ? place[i].recompute_blocks : 0;
    }
    return sum;
}

static const calc_system *chip_of(const calc_plan_task *t, const calc_planner_found *f,
                                  size_t stage, const char **name)
{
    calc_stage_run run = run_of(&f->exec, stage);
    *name = run.chip > 0 ? f->exec.stages.name[run.chip - 1] : t->chip[f->chip].name;
    return calc_stage_list_system(system_of(t, f), &f->exec, &run);
}

static bool same_row(const calc_stage_stats *a, const calc_stage_stats *b)
{
    return a->blocks == b->blocks && a->fw_time == b->fw_time && a->bw_time == b->bw_time;
}

static void write_stages(calc_output *out, const calc_plan_task *t, const calc_planner_found *f,
                         const calc_stage_stats *stage, size_t count)
{
    double slowest_s = 0;
    for (size_t i = 0; i < count; i++) {
        slowest_s = fmax(slowest_s, stage[i].fw_time + stage[i].bw_time);
    }
    calc_output_text(out, "stage    chip              blocks recompute   micro-batch      idle  "
                          "     GiB      room\n");
    for (size_t i = 0, end; i < count; i = end) {
        const char *name;
        const char *next;
        char place[32], time[CALC_HUMAN_MAX], idle[CALC_HUMAN_MAX];
        const calc_system *system = chip_of(t, f, i, &name);
        double again = recomputed(&f->exec, i, stage[i].blocks);
        double least_bytes = system->chip.mem1.capacity_bytes - stage[i].mem_tier1;
        double most_bytes = stage[i].mem_tier1;
        for (end = i + 1; end < count && same_row(&stage[i], &stage[end]) &&
                          chip_of(t, f, end, &next) == system &&
                          recomputed(&f->exec, end, stage[end].blocks) == again;
             end++) {
            least_bytes =
                fmin(least_bytes, system->chip.mem1.capacity_bytes - stage[end].mem_tier1);
            most_bytes = fmax(most_bytes, stage[end].mem_tier1);
        }
        double pass_s = stage[i].fw_time + stage[i].bw_time;
        snprintf(place, sizeof place, end - i > 1 ? "%zu to %zu" : "%zu", i, end - 1);
        calc_output_printf(out, "%-8s %-16.16s %7.4g %9.4g %13s %9s %9.2f %9.2f\n", place, name,
                           stage[i].blocks, again, calc_human_seconds(pass_s, time),
                           calc_human_percent(1 - pass_s / slowest_s, idle), most_bytes / 0x1p30,
                           least_bytes / 0x1p30);
    }
}

/* ---- What it is worth ------------------------------------------------------------------------ */

bool calc_plan_table_even(const calc_plan_task *t, const calc_planner_found *f, calc_exec *exec,
                          calc_stats *stats)
{
    /* Stages on different chips are never alike. */
    return f->place.kinds == 1 &&
           calc_planner_even(&t->planner, &f->base, f->place.chip[0], exec, stats);
}

static void write_even(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_exec exec;
    calc_stats stats;
    char time[CALC_HUMAN_MAX];
    if (f->exec.pipeline_par == 1 || f->exec.stages.chips > 1) {
        return;
    }
    if (!calc_plan_table_even(t, f, &exec, &stats)) {
        calc_output_text(out, "With stages that are all alike this layout does not fit.\n");
        return;
    }
    double more = stats.total_time / f->stats.total_time - 1;
    char percent[CALC_HUMAN_MAX];
    calc_output_printf(
        out, "With stages that are all alike%s%s it takes %s: %s more.\n",
        exec.pipeline_balance == CALC_PIPELINE_BALANCE_ENDS
            ? " (embedding and head count as blocks)"
            : "",
        exec.strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL ? ", all recomputed,"
                                                                             : "",
        calc_human_seconds(stats.total_time, time), calc_human_percent(more, percent));
}

/* One layer more recomputed on the stage with least room: what it frees and costs. */
static void write_more_recompute(calc_output *out, const calc_plan_task *t,
                                 const calc_planner_found *f, size_t fullest,
                                 const calc_stage_stats *before)
{
    const calc_system *system = system_of(t, f);
    calc_stage_run place[CALC_MAX_PLACES];
    calc_stage_stats stage[CALC_MAX_PLACES];
    calc_exec e = f->exec;
    calc_stats stats;
    calc_errors ignored = {0};
    char bytes[CALC_HUMAN_MAX], percent[CALC_HUMAN_MAX];
    int64_t count = calc_stage_list_expand(&e.stages, place);
    calc_stage_run *run = &place[fullest];
    if (count == 0 || !t->planner.recompute || run->recompute_blocks >= run->blocks) {
        return;
    }
    run->recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    run->recompute_blocks = (int16_t)(run->recompute_blocks > 0 ? run->recompute_blocks + 1 : 1);
    if (!calc_stage_list_pack(place, count, &e.stages) ||
        calc_check(&t->app, system, &e, &ignored) != CALC_OK) {
        return;
    }
    calc_run(&t->app, system, &e, CALC_COMPAT_NONE, &stats);
    calc_each_stage(&t->app, system, &e, CALC_COMPAT_NONE, stage, CALC_MAX_PLACES);
    calc_output_printf(
        out, "One layer more recomputed there frees %s and adds %s to the step.\n",
        calc_human_bytes(fmax(0, before->mem_tier1 - stage[fullest].mem_tier1), bytes),
        calc_human_percent(fmax(0, stats.total_time / f->stats.total_time - 1), percent));
}

/* The stage that all others wait for, and the one that has least room. */
static void write_binding(calc_output *out, const calc_plan_task *t, const calc_planner_found *f,
                          const calc_stage_stats *stage, size_t count)
{
    size_t slowest = 0;
    size_t fullest = 0;
    const char *name;
    for (size_t i = 0; i < count; i++) {
        double a = chip_of(t, f, i, &name)->chip.mem1.capacity_bytes - stage[i].mem_tier1;
        double b =
            chip_of(t, f, fullest, &name)->chip.mem1.capacity_bytes - stage[fullest].mem_tier1;
        slowest =
            stage[i].fw_time + stage[i].bw_time > stage[slowest].fw_time + stage[slowest].bw_time
                ? i
                : slowest;
        fullest = a < b ? i : fullest;
    }
    double room =
        chip_of(t, f, fullest, &name)->chip.mem1.capacity_bytes - stage[fullest].mem_tier1;
    char bytes[CALC_HUMAN_MAX];
    calc_output_printf(out, "All wait for stage %zu; least room has stage %zu: %s.\n", slowest,
                       fullest, calc_human_bytes(room, bytes));
    write_more_recompute(out, t, f, fullest, &stage[fullest]);
}

/* One GiB more on every chip: balanced again. */
static void write_more_memory(calc_output *out, const calc_plan_task *t,
                              const calc_planner_found *f)
{
    calc_planner p = t->planner;
    calc_planner_chip chip[CALC_MAX_CHIPS];
    calc_planner_result r;
    calc_exec only = f->exec;
    memcpy(chip, t->chip, sizeof chip);
    for (int i = 0; i < t->chips; i++) {
        chip[i].system.chip.mem1.capacity_bytes += 0x1p30;
    }
    only.stages = (calc_stage_list){0};
    only.first_stage_blocks = only.last_stage_blocks = only.recompute_blocks = 0;
    only.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    p.chip = chip;
    p.only = &only;
    p.top = 1;
    p.progress = NULL;
    if (calc_planner_run(&p, &r, NULL) == CALC_OK && r.count > 0) {
        double gain = 1 - r.found[0].stats.total_time / f->stats.total_time;
        char percent[CALC_HUMAN_MAX];
        calc_output_printf(out, "One GiB more on every processor would save %s.\n",
                           calc_human_percent(fmax(gain, 0), percent));
    }
    calc_planner_result_free(&r);
}

static void write_best(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_stage_stats *stage = calloc(CALC_BALANCE_STAGES, sizeof *stage);
    size_t count = stage ? calc_each_stage(&t->app, system_of(t, f), &f->exec, CALC_COMPAT_NONE,
                                           stage, CALC_BALANCE_STAGES)
                         : 0;
    char planned[CALC_HUMAN_MAX], time[CALC_HUMAN_MAX], percent[CALC_HUMAN_MAX];
    count = count < CALC_BALANCE_STAGES ? count : CALC_BALANCE_STAGES;
    calc_output_text(out, "\nThe best, stage by stage\n");
    if (count > 0) {
        write_stages(out, t, f, stage, count);
        calc_output_text(out, "\n");
        write_binding(out, t, f, stage, count);
    }
    write_even(out, t, f);
    write_more_memory(out, t, f);
    calc_output_printf(out, "Planned %s, calc run says %s",
                       calc_human_seconds(f->planned_s, planned),
                       calc_human_seconds(f->stats.total_time, time));
    calc_output_printf(
        out, "; no division of this layout is quicker by more than %s.\n",
        calc_human_percent(f->proven ? 0 : 1 - f->bound_s / f->stats.total_time, percent));
    free(stage);
}

void calc_plan_table_write(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    char number[2][CALC_HUMAN_MAX], percent[CALC_HUMAN_MAX];
    calc_output_printf(out, "%s on", t->app_name);
    for (int i = 0; i < t->chips; i++) {
        calc_output_printf(out, "%s %s", i > 0 ? "," : "", t->chip[i].name);
    }
    calc_output_printf(out, ": %s layouts and places, %s balanced\n\n",
                       calc_human_integer((double)r->candidates, number[0]),
                       calc_human_integer((double)r->balanced, number[1]));
    write_rows(out, t, r);
    if (!r->complete && isfinite(r->bound_s)) {
        double gap = fmax(0, 1 - r->bound_s / r->found[0].stats.total_time);
        calc_output_printf(out, "Stopped early: what was not balanced is quicker by %s at most.\n",
                           calc_human_percent(gap, percent));
    }
    write_best(out, t, &r->found[0]);
}
