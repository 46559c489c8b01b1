#include "cli/plan/plan_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/draw/stage_words.h"
#include "cli/plan/plan_rows.h"
#include "cli/run/plot.h"
#include "cli/shell/complain.h"
#include "cli/shell/start.h"
#include "spec/stage_list.h"

/* Blocks of a layout's stages, listed or not. */
static char *blocks_text(const calc_plan_task *t, const calc_planner_found *f,
                         char text[CALC_STAGE_WORDS_SIZE])
{
    if (f->exec.stages.count > 0) {
        return calc_stage_words_blocks(&f->exec, text);
    }
    calc_stage_stats stage[CALC_MAX_PLACES];
    size_t count = calc_each_stage(&t->app, &t->chip[f->chip].system, &f->exec, CALC_COMPAT_NONE,
                                   stage, CALC_MAX_PLACES);
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
                      size_t rank, bool runs)
{
    const calc_exec *e = &f->exec;
    const calc_strategy *s = &e->strategy;
    char time[CALC_HUMAN_MAX], mfu[CALC_HUMAN_MAX], blocks[CALC_STAGE_WORDS_SIZE];
    char chips[CALC_STAGE_WORDS_SIZE];
    calc_output_printf(out, "%4zu%s%4lld %4lld %5lld", rank, runs ? " " : "!",
                       (long long)s->tensor_par, (long long)e->pipeline_par,
                       (long long)s->data_par);
    calc_output_printf(out, " %3lld %4lld", (long long)(s->context_par > 0 ? s->context_par : 1),
                       (long long)(s->expert_par > 0 ? s->expert_par : 1));
    calc_output_printf(out, " %3lld %3lld %11s %7s %8.2f", (long long)e->pipeline_interleaving,
                       (long long)e->microbatch_size, calc_human_seconds(f->stats.total_time, time),
                       calc_human_percent(f->stats.model_flops_utilization, mfu),
                       f->stats.proc_mem_tier1_cap_req / 0x1p30);
    double fits = calc_plan_rows_fits(t, f->chip, e);
    calc_output_printf(out, "%8s  ", isnan(fits) ? "" : calc_human_percent(fits, mfu));
    blocks_text(t, f, blocks);
    bool cut = strlen(blocks) > BLOCKS_WIDTH;
    calc_output_printf(out, "%.*s%s", BLOCKS_WIDTH, blocks, cut ? " ..." : "");
    if (t->chips > 1) {
        calc_output_printf(out, "  on %s", chips_text(t, f, chips));
    }
    calc_output_text(out, "\n");
}

/* The layout to start with, and the command that runs it. */
static void write_start(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    size_t rank;
    const char *saved = calc_opt_value(t->args, CALC_PLAN_OPT_SAVE_BEST);
    const calc_planner_found *start = calc_plan_rows_start(t, r, &rank);
    const calc_planner_found *f = start ? start : &r->found[0];
    if (!start) {
        calc_output_printf(out,
                           saved
                               ? "  none is sure to fit and runs in a framework: %s has the best\n"
                               : "  none is sure to fit and runs in a framework%s\n",
                           saved ? saved : "");
    } else if (rank > 1) {
        calc_output_printf(out, "  %zu", rank);
    } else if (rank == 0) {
        double behind = f->stats.total_time / r->found[0].stats.total_time - 1;
        calc_output_printf(out, "  %d/%d/%d, %.1f %% behind,", (int)f->exec.strategy.tensor_par,
                           (int)f->exec.pipeline_par, (int)f->exec.strategy.data_par, 100 * behind);
    }
    if (start && rank != 1) {
        calc_output_printf(out, " is the first that is sure to fit and that a framework runs%s%s\n",
                           saved ? ": " : "", saved ? saved : "");
    }
    calc_output_text(out, saved ? "  run it: " : "  run it with --save-best FILE: ");
    calc_start_write(out, &(calc_start){.args = t->args,
                                        .set = CALC_PLAN_OPT_SET,
                                        .app = &t->app,
                                        .system = &t->chip[f->chip].system,
                                        .exec = &f->exec,
                                        .names = {t->args->argument[0], t->chip[f->chip].name,
                                                  saved ? saved : "FILE"}});
}

static void write_rows(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    bool refused = false;
    calc_output_text(out,
                     "rank   TP   PP    DP  CP   EP  VP  MB        step     MFU      GiB P(fits)  "
                     "blocks of the stages\n");
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_found *f = &r->found[i];
        bool runs = calc_start_exists(&t->app, &t->chip[f->chip].system, &f->exec);
        write_row(out, t, f, i + 1, runs);
        refused = refused || !runs;
    }
    calc_plan_room_write(out, t);
    if (refused) {
        calc_output_text(out, "!: no framework runs it there: calc export says why.\n");
    }
    write_start(out, t, r);
}

/* ---- The best: its stages -------------------------------------------------------------------- */

static bool same_row(const calc_plan_row *a, const calc_plan_row *b)
{
    return a->stats.blocks == b->stats.blocks && a->stats.fw_time == b->stats.fw_time &&
           a->stats.bw_time == b->stats.bw_time && a->system == b->system &&
           a->recomputed == b->recomputed;
}

static double room_of(const calc_plan_row *s)
{
    return s->system->chip.mem1.capacity_bytes - s->stats.mem_tier1;
}

static void write_stages(calc_output *out, const calc_plan_row *stage, size_t count)
{
    calc_output_text(out, "stage    chip              blocks recompute   micro-batch      idle  "
                          "     GiB      room\n");
    for (size_t i = 0, end; i < count; i = end) {
        const calc_plan_row *s = &stage[i];
        char place[32], time[CALC_HUMAN_MAX], idle[CALC_HUMAN_MAX];
        double least_bytes = room_of(s);
        double most_bytes = s->stats.mem_tier1;
        for (end = i + 1; end < count && same_row(s, &stage[end]); end++) {
            least_bytes = fmin(least_bytes, room_of(&stage[end]));
            most_bytes = fmax(most_bytes, stage[end].stats.mem_tier1);
        }
        snprintf(place, sizeof place, end - i > 1 ? "%zu to %zu" : "%zu", i, end - 1);
        calc_output_printf(out, "%-8s %-16.16s %7.4g %9.4g %13s %9s %9.2f %9.2f\n", place, s->name,
                           s->stats.blocks, s->recomputed,
                           calc_human_seconds(s->stats.fw_time + s->stats.bw_time, time),
                           calc_human_percent(s->idle, idle), most_bytes / 0x1p30,
                           least_bytes / 0x1p30);
    }
}

/* ---- Value of the plan ----------------------------------------------------------------------- */

static void write_even(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_exec exec;
    calc_stats stats;
    char time[CALC_HUMAN_MAX];
    if (f->exec.pipeline_par == 1) {
        return;
    }
    if (!calc_plan_even(t, f, &exec, &stats)) {
        calc_output_printf(out, "With %s this layout does not fit.\n", calc_plan_even_words(f));
        return;
    }
    double more = stats.total_time / f->stats.total_time - 1;
    char percent[CALC_HUMAN_MAX];
    calc_output_printf(out, "With %s%s%s it takes %s: %s more.\n", calc_plan_even_words(f),
                       exec.pipeline_balance == CALC_PIPELINE_BALANCE_ENDS
                           ? " (embedding and head count as blocks)"
                           : "",
                       calc_plan_even_recomputed(&exec) ? ", all recomputed," : "",
                       calc_human_seconds(stats.total_time, time),
                       calc_human_percent(more, percent));
}

/* Recomputing one layer more on the stage with the least free memory: memory freed and time
 * added. */
static void write_more_recompute(calc_output *out, const calc_plan_task *t,
                                 const calc_planner_found *f, size_t fullest,
                                 const calc_stage_stats *before)
{
    const calc_system *system = &t->chip[f->chip].system;
    calc_stage_run place[CALC_MAX_PLACES];
    calc_stage_stats stage[CALC_MAX_PLACES];
    calc_exec e = f->exec;
    calc_stats stats;
    calc_errors ignored = {0};
    char bytes[CALC_HUMAN_MAX], percent[CALC_HUMAN_MAX];
    int64_t count = calc_stage_list_expand(&e.stages, place);
    calc_stage_run *run = &place[fullest];
    if (count == 0 || t->listed || !t->planner.recompute || run->recompute_blocks >= run->blocks) {
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

/* The slowest stage, and the one with the least free memory. */
static void write_binding(calc_output *out, const calc_plan_task *t, const calc_planner_found *f,
                          const calc_plan_row *stage, size_t count)
{
    size_t slowest = 0;
    size_t fullest = 0;
    char bytes[CALC_HUMAN_MAX];
    for (size_t i = 0; i < count; i++) {
        slowest = stage[i].idle < stage[slowest].idle ? i : slowest;
        fullest = room_of(&stage[i]) < room_of(&stage[fullest]) ? i : fullest;
    }
    calc_human_bytes(room_of(&stage[fullest]), bytes);
    if (count > 1) {
        calc_output_printf(out, "All wait for stage %zu; least room has stage %zu: %s.\n", slowest,
                           fullest, bytes);
    } else {
        calc_output_printf(out, "There is room for %s more.\n", bytes);
    }
    write_more_recompute(out, t, f, fullest, &stage[fullest].stats);
}

/* One GiB more on every chip: balanced again. */
static void write_more_memory(calc_output *out, const calc_plan_task *t,
                              const calc_planner_found *f)
{
    calc_planner_result r;
    calc_exec only = f->exec;
    only.stages = (calc_stage_list){0};
    only.first_stage_blocks = only.last_stage_blocks = only.recompute_blocks = 0;
    only.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    if (calc_is_yes(calc_plan_rows_more(t, &only, &r, NULL)) && r.count > 0) {
        double gain = 1 - r.found[0].stats.total_time / f->stats.total_time;
        char percent[CALC_HUMAN_MAX];
        calc_output_printf(out, "One GiB more on every processor would save %s.\n",
                           calc_human_percent(fmax(gain, 0), percent));
    }
    calc_planner_result_free(&r);
}

void calc_plan_table_stages(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    size_t count;
    calc_plan_row *stage = calc_plan_rows_make(t, f->chip, &f->exec, &count);
    if (count > 0) {
        write_stages(out, stage, count);
        calc_output_text(out, "\n");
        write_binding(out, t, f, stage, count);
    }
    free(stage);
}

void calc_plan_table_gap(calc_output *out, const calc_planner_found *f, double gap,
                         const char *what)
{
    char planned[CALC_HUMAN_MAX], time[CALC_HUMAN_MAX], percent[CALC_HUMAN_MAX];
    calc_output_printf(out, "Planned %s, calc run says %s",
                       calc_human_seconds(f->planned_s, planned),
                       calc_human_seconds(f->stats.total_time, time));
    if (gap < 1) {
        calc_output_printf(out, "; no %s is quicker by more than %s", what,
                           calc_human_percent(gap, percent));
    }
    calc_output_text(out, ".\n");
}

static void write_best(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_output_text(out, "\nThe best, stage by stage\n");
    calc_plan_table_stages(out, t, f);
    write_even(out, t, f);
    write_more_memory(out, t, f);
    calc_plan_table_gap(out, f, 1 - f->bound_s / f->stats.total_time, "division of this layout");
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

/* ---- A drawing ------------------------------------------------------------------------------- */

static calc_status draw(calc_output *out, calc_inputs *in, const calc_stats *stats,
                        calc_errors *errors)
{
    calc_report report = {.inputs = in, .stats = stats, .paint = calc_paint_stdout("auto")};
    calc_simulation *s = calloc(1, sizeof *s);
    if (!s) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = calc_simulation_run(s, in, errors);
    status = status == CALC_OK ? calc_plot_write(out, &report, s, errors) : status;
    calc_simulation_free(s);
    free(s);
    return status;
}

calc_status calc_plan_plot_write(calc_output *out, const calc_plan_task *t,
                                 const calc_planner_found *f, calc_errors *errors)
{
    calc_stats even;
    calc_exec exec;
    calc_inputs *in = calc_opt_value(t->args, CALC_PLAN_OPT_PLOT) ? calloc(1, sizeof *in) : NULL;
    if (!in) {
        return CALC_OK;
    }
    in->app = t->app;
    in->system = t->chip[f->chip].system;
    calc_status status = CALC_OK;
    if (calc_plan_even(t, f, &exec, &even)) {
        calc_output_printf(out, "\nWith %s:\n", calc_plan_even_words(f));
        in->exec = exec;
        status = draw(out, in, &even, errors);
    }
    if (status == CALC_OK) {
        calc_output_text(out, "\nAs planned:\n");
        in->exec = f->exec;
        status = draw(out, in, &f->stats, errors);
    }
    free(in);
    return status;
}
