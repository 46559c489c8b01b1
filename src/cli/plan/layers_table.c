#include "cli/plan/layers_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draw/human.h"
#include "cli/draw/layer_words.h"
#include "cli/draw/scatter.h"
#include "cli/draw/stage_words.h"
#include "cli/plan/plan_rows.h"
#include "cli/plan/plan_table.h"
#include "model/cost/state.h"
#include "model/stages/reshard.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

enum {
    LAYERS_WIDTH = 60,
    POINTS = 8 /* of a curve that are written */
};

char *calc_layers_table_words(const calc_plan_task *t, const calc_exec *exec, char *text)
{
    calc_exec e = *exec;
    if (e.layers.count == 0) {
        e.layers = (calc_layer_list){.count = 1,
                                     .ends = calc_layer_as_exec,
                                     .run = {{(int16_t)t->app.num_blocks, calc_layer_as_exec}}};
    }
    return calc_layer_words(&e, text);
}

/* ---- The layouts ----------------------------------------------------------------------------- */

static void write_row(calc_output *out, const calc_plan_task *t, const calc_planner_found *f,
                      size_t rank)
{
    const calc_exec *e = &f->exec;
    char time[CALC_HUMAN_MAX], mfu[CALC_HUMAN_MAX], words[CALC_LAYER_WORDS_SIZE];
    calc_layers_table_words(t, e, words);
    bool cut = strlen(words) > LAYERS_WIDTH;
    calc_output_printf(out, "%4zu %4lld %3lld %6.0f %6lld %11s %7s %8.2f", rank,
                       (long long)e->pipeline_par, (long long)e->pipeline_interleaving,
                       f->stats.num_microbatches, (long long)calc_layer_list_sequences(e),
                       calc_human_seconds(f->stats.total_time, time),
                       calc_human_percent(f->stats.model_flops_utilization, mfu),
                       f->stats.proc_mem_tier1_cap_req / 0x1p30);
    double fits = calc_plan_rows_fits(t, 0, e);
    calc_output_printf(out, "%8s  %.*s%s\n", isnan(fits) ? "" : calc_human_percent(fits, mfu),
                       LAYERS_WIDTH, words, cut ? " ..." : "");
}

/* ---- The best: its layers -------------------------------------------------------------------- */

static void write_strategy(calc_output *out, const char *name, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    long long zero = s->zero_stage > 0 ? s->zero_stage : s->optimizer_sharding;
    char again[160];
    calc_stage_words_recomputed(e, again, sizeof again);
    calc_output_printf(out, "%-12s %4lld %4lld %4lld %5lld %6lld %5lld  %s\n", name,
                       (long long)s->tensor_par,
                       (long long)(s->context_par > 1 ? s->context_par : 1),
                       (long long)(s->expert_par > 1 ? s->expert_par : 1), (long long)s->data_par,
                       (long long)e->microbatch_size, zero, again);
}

/* Runs one by one, with the ends; without a list what all have. */
static void write_layers(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    const calc_layer_list *list = &f->exec.layers;
    int64_t first = 0;
    char name[32];
    calc_output_text(out, "layers         TP   CP   EP    DP  micro  ZeRO  recompute\n");
    for (int32_t i = 0; i < list->count; i++) {
        const calc_exec e = calc_layer_list_exec(&f->exec, &list->run[i].strategy);
        int64_t last = first + list->run[i].blocks - 1;
        snprintf(name, sizeof name, last > first ? "%lld to %lld" : "%lld", (long long)first,
                 (long long)last);
        write_strategy(out, name, &e);
        first = last + 1;
    }
    if (list->count > 0) {
        const calc_exec e = calc_layer_list_exec(&f->exec, &list->ends);
        write_strategy(out, "ends", &e);
    } else {
        snprintf(name, sizeof name, "0 to %lld", (long long)t->app.num_blocks - 1);
        write_strategy(out, name, &f->exec);
    }
    calc_output_text(out, "\n");
}

/* ---- Value of the plan ----------------------------------------------------------------------- */

static void write_uniform(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    const calc_planner_found *f = &r->found[0];
    char time[CALC_HUMAN_MAX], percent[CALC_HUMAN_MAX], words[CALC_LAYER_WORDS_SIZE];
    if (!r->uniform) {
        calc_output_text(out, "No layout whose layers are all alike fits.\n");
    } else if (f->exec.layers.count == 0) {
        calc_output_text(out, "No list of layers is quicker than this, whose layers are alike.\n");
    } else {
        double more = r->uniform_stats.total_time / f->stats.total_time - 1;
        calc_output_printf(out, "With layers that are all alike the best takes %s, %s more: %s.\n",
                           calc_human_seconds(r->uniform_stats.total_time, time),
                           calc_human_percent(more, percent),
                           calc_layers_table_words(t, &r->uniform_exec, words));
    }
}

static void write_more(calc_output *out, const calc_planner_result *r,
                       const calc_planner_result *more)
{
    char time[CALC_HUMAN_MAX], percent[CALC_HUMAN_MAX];
    if (!more || more->count == 0) {
        return;
    }
    double s = fmin(more->found[0].stats.total_time, r->found[0].stats.total_time);
    calc_output_printf(out, "One GiB more on every processor would save %s: %s.\n",
                       calc_human_percent(1 - s / r->found[0].stats.total_time, percent),
                       calc_human_seconds(s, time));
}

/* Some points of the curve: its ends, the last one that fits, and others between. */
static void write_curve(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    size_t shown = r->points < POINTS ? r->points : POINTS;
    char time[CALC_HUMAN_MAX], words[CALC_LAYER_WORDS_SIZE];
    if (r->points < 2) {
        return;
    }
    calc_output_printf(out, "\nIts lists with other memory: %zu, of them\n", r->points);
    calc_output_text(out, "     GiB        step  layers\n");
    for (size_t i = 0; i < shown; i++) {
        const calc_planner_layers_point *p = &r->curve[i * (r->points - 1) / (shown - 1)];
        calc_layers_table_words(t, &p->exec, words);
        bool cut = strlen(words) > LAYERS_WIDTH;
        calc_output_printf(out, "%8.2f %11s  %.*s%s\n", p->needs_bytes / 0x1p30,
                           calc_human_seconds(p->step_s, time), LAYERS_WIDTH, words,
                           cut ? " ..." : "");
    }
}

void calc_layers_table_write(calc_output *out, const calc_plan_task *t,
                             const calc_planner_result *r, const calc_planner_result *more)
{
    const calc_planner_found *f = &r->found[0];
    char number[3][CALC_HUMAN_MAX];
    calc_output_printf(out, "%s on %s: %s layouts of %s kinds, layers of %s listed\n\n",
                       t->app_name, t->chip[0].name,
                       calc_human_integer((double)r->layouts, number[0]),
                       calc_human_integer((double)r->candidates, number[1]),
                       calc_human_integer((double)r->balanced, number[2]));
    calc_output_text(out,
                     "rank   PP  VP micros   seqs        step     MFU      GiB P(fits)  layers\n");
    for (size_t i = 0; i < r->count; i++) {
        write_row(out, t, &r->found[i], i + 1);
    }
    calc_plan_room_write(out, t);
    calc_output_text(out, r->complete ? "\n" : "Stopped early: there may be better.\n\n");
    write_layers(out, t, f);
    calc_plan_table_stages(out, t, f);
    write_uniform(out, t, r);
    write_more(out, r, more);
    calc_plan_table_gap(out, f, fmax(0, 1 - r->bound_s / f->stats.total_time), "list of layers");
    write_curve(out, t, r);
}

/* ---- A picture ------------------------------------------------------------------------------- */

void calc_layers_plot_write(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_scatter_point *point = calloc(r->points + 1, sizeof *point);
    const calc_scatter_axis x = {"memory", false, calc_human_bytes};
    const calc_scatter_axis y = {"step", false, calc_human_seconds};
    if (point && r->points > 1 && calc_opt_value(t->args, CALC_PLAN_OPT_PLOT)) {
        for (size_t i = 0; i < r->points; i++) {
            point[i] = (calc_scatter_point){r->curve[i].needs_bytes, r->curve[i].step_s, 0};
        }
        const calc_paint paint = calc_paint_stdout("auto");
        calc_output_text(out, "\nStep over the memory that a processor needs:\n");
        calc_scatter_write(out, &paint, point, r->points, &x, &y, CALC_SCATTER_MIN_COLUMNS * 2);
    }
    free(point);
}

/* ---- Its layers as JSON ---------------------------------------------------------------------- */

static void put_strategy(calc_put *put, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    char again[160];
    calc_stage_words_recomputed(e, again, sizeof again);
    calc_put_count(put, "tensor_par", s->tensor_par);
    calc_put_count(put, "context_par", s->context_par > 1 ? s->context_par : 1);
    calc_put_count(put, "expert_par", s->expert_par > 1 ? s->expert_par : 1);
    calc_put_count(put, "data_par", s->data_par);
    calc_put_count(put, "microbatch_size", e->microbatch_size);
    calc_put_count(put, "zero_stage", calc_zero_stage(s));
    calc_put_text(put, "recompute", again);
}

/* From layers to the next, and with gradients back, of a micro-batch [s]. */
static double rearranging_s(const calc_plan_task *t, const calc_exec *a, const calc_exec *b)
{
    calc_reshard x = calc_reshard_of(&t->app, &t->chip[0].system, a, b);
    return x.fw_s + x.bw_s;
}

void calc_layers_runs_put(calc_put *put, const calc_plan_task *t, const calc_exec *exec)
{
    calc_exec plain = *exec;
    calc_layer_list list = exec->layers;
    if (list.count == 0) {
        list = (calc_layer_list){.count = 1,
                                 .ends = calc_layer_as_exec,
                                 .run = {{(int16_t)t->app.num_blocks, calc_layer_as_exec}}};
    }
    plain.layers = (calc_layer_list){0};
    const calc_layer_strategy end[] = {calc_layer_list_end(&t->app, &list, false),
                                       calc_layer_list_end(&t->app, &list, true)};
    const calc_exec embedding = calc_layer_list_exec(&plain, &end[0]);
    const calc_exec head = calc_layer_list_exec(&plain, &end[1]);
    calc_exec before = embedding;
    calc_put_array(put, "layers", CALC_PUT_LINES);
    for (int32_t i = 0; i < list.count; i++) {
        const calc_exec e = calc_layer_list_exec(&plain, &list.run[i].strategy);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_count(put, "blocks", list.run[i].blocks);
        put_strategy(put, &e);
        calc_put_number(put, "rearranging_time", rearranging_s(t, &before, &e));
        calc_put_close(put);
        before = e;
    }
    calc_put_close(put);
    calc_put_object(put, "ends", CALC_PUT_LINE);
    put_strategy(put, &head);
    calc_put_number(put, "rearranging_time", rearranging_s(t, &before, &head));
    calc_put_close(put);
}
