#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/plan/plan_task.h"
#include "cli/run/simulation.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/inputs.h"
#include "model/stages/placed.h"
#include "spec/layer_list.h"
#include "spec/rules.h"
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

/* Step, utilisation, memory, and how sure it is to fit. */
static void add_outcome(calc_listing *l, const calc_plan_task *t, const calc_planner_found *f)
{
    const double fits = calc_plan_rows_fits(t, f->chip, &f->exec);
    calc_listing_add(l, calc_human_seconds(f->stats.total_time));
    calc_listing_add(l, calc_human_percent(f->stats.model_flops_utilization));
    calc_listing_addf(l, "%.2f", f->stats.proc_mem_tier1_cap_req / 0x1p30);
    calc_listing_add(l, isnan(fits) ? "" : calc_human_percent(fits));
}

static void add_row(calc_listing *l, const calc_plan_task *t, const calc_planner_found *f,
                    size_t rank, bool runs)
{
    const calc_exec *e = &f->exec;
    const calc_strategy *s = &e->strategy;
    char words[CALC_STAGE_WORDS_SIZE];
    calc_listing_addf(l, "%zu%s\t%jd\t%jd\t%jd\t%jd\t%jd\t%jd\t%jd", rank, runs ? " " : "!",
                      s->tensor_par, e->pipeline_par, s->data_par,
                      calc_ranks_or_one(s->context_par), calc_ranks_or_one(s->expert_par),
                      e->pipeline_interleaving, e->microbatch_size);
    add_outcome(l, t, f);
    calc_listing_add(l, t->chips > 1 ? chips_text(t, f, words) : "");
    calc_listing_add(l, blocks_text(t, f, words));
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
    enum { CP = 4, VP = 6, ON = 12 };
    calc_listing_column column[] = {CALC_COLUMN("# "),
                                    CALC_COLUMN("TP"),
                                    CALC_COLUMN("PP"),
                                    CALC_COLUMN("DP"),
                                    CALC_COLUMN("CP"),
                                    CALC_COLUMN("EP"),
                                    CALC_COLUMN("VP"),
                                    CALC_COLUMN("MB"),
                                    CALC_COLUMN("step"),
                                    CALC_COLUMN("MFU", .order = 2),
                                    CALC_COLUMN("GiB"),
                                    CALC_COLUMN("P(fits)", .order = 1),
                                    CALC_COLUMN("on", .left = true),
                                    CALC_COLUMN("blocks of the stages", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    bool refused = false;
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_found *f = &r->found[i];
        bool runs = calc_start_exists(&t->app, &t->chip[f->chip].system, &f->exec);
        add_row(&l, t, f, i + 1, runs);
        refused = refused || !runs;
    }
    for (size_t k = CP; k <= VP && r->count > 0; k++) {
        column[k].hidden = !column[k].varies && strcmp(calc_listing_cell(&l, 0, k), "1") == 0;
    }
    column[ON].hidden = t->chips == 1;
    calc_listing_end(&l, out);
    calc_plan_room_write(out, t);
    if (refused) {
        calc_output_text(out, "!: no framework runs it there: calc export says why.\n");
    }
    write_start(out, t, r);
}

static double room_of(const calc_plan_row *s)
{
    return s->system->chip.mem1.capacity_bytes - s->stats.mem_tier1;
}

static void write_stages(calc_output *out, const calc_plan_row *stage, size_t count)
{
    calc_listing_column column[] = {CALC_COLUMN("stage", .left = true),
                                    CALC_COLUMN("chip", .left = true),
                                    CALC_COLUMN("blocks"),
                                    CALC_COLUMN("recompute"),
                                    CALC_COLUMN("micro-batch"),
                                    CALC_COLUMN("idle"),
                                    CALC_COLUMN("GiB"),
                                    CALC_COLUMN("room")};
    calc_listing l = CALC_LISTING(column, 1);
    for (size_t i = 0, end; i < count; i = end) {
        const calc_plan_row *s = &stage[i];
        double least_bytes = room_of(s);
        double most_bytes = s->stats.mem_tier1;
        for (end = i + 1; end < count; end++) {
            const calc_plan_row *b = &stage[end];
            if (s->stats.blocks != b->stats.blocks || s->stats.fw_time != b->stats.fw_time ||
                s->stats.bw_time != b->stats.bw_time || s->system != b->system ||
                s->recomputed != b->recomputed) {
                break;
            }
            least_bytes = fmin(least_bytes, room_of(b));
            most_bytes = fmax(most_bytes, b->stats.mem_tier1);
        }
        calc_listing_addf(&l, end - i > 1 ? "%zu to %zu" : "%zu", i, end - 1);
        calc_listing_add(&l, s->name);
        calc_listing_addf(&l, "%.4g\t%.4g\t%s\t%s\t%.2f\t%.2f", s->stats.blocks, s->recomputed,
                          calc_human_seconds(s->stats.fw_time + s->stats.bw_time),
                          calc_human_percent(s->idle), most_bytes / 0x1p30, least_bytes / 0x1p30);
    }
    calc_listing_end(&l, out);
}

static void write_even(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_exec exec;
    calc_stats stats;
    if (f->exec.pipeline_par == 1) {
        return;
    }
    if (!calc_plan_even(t, f, &exec, &stats)) {
        calc_output_printf(out, "With %s this layout does not fit.\n", calc_plan_even_words(f));
        return;
    }
    double more = stats.total_time / f->stats.total_time - 1;
    char text[4 * CALC_HUMAN_MAX] = "";
    calc_append(text, sizeof text, "With %s%s%s it takes %s: %s more.", calc_plan_even_words(f),
                exec.pipeline_balance == CALC_PIPELINE_BALANCE_ENDS
                    ? " (embedding and head count as blocks)"
                    : "",
                calc_plan_even_recomputed(&exec) ? ", all recomputed," : "",
                calc_human_seconds(stats.total_time), calc_human_percent(more));
    calc_help_wrapped(out, text, 0);
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
    int64_t count = calc_stage_list_expand(&e.stages, place);
    calc_stage_run *run = &place[fullest];
    if (count == 0 || t->listed || !t->planner.recompute || calc_planner_keeps_part(&e) ||
        run->recompute_blocks >= run->blocks) {
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
    calc_output_printf(out, "One layer more recomputed there frees %s and adds %s to the step.\n",
                       calc_human_bytes(fmax(0, before->mem_tier1 - stage[fullest].mem_tier1)),
                       calc_human_percent(fmax(0, stats.total_time / f->stats.total_time - 1)));
}

/* The slowest stage, and the one with the least free memory. */
static void write_binding(calc_output *out, const calc_plan_task *t, const calc_planner_found *f,
                          const calc_plan_row *stage, size_t count)
{
    size_t slowest = 0;
    size_t fullest = 0;
    for (size_t i = 0; i < count; i++) {
        slowest = stage[i].idle < stage[slowest].idle ? i : slowest;
        fullest = room_of(&stage[i]) < room_of(&stage[fullest]) ? i : fullest;
    }
    const char *bytes = calc_human_bytes(room_of(&stage[fullest]));
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
    if (!calc_planner_keeps_part(&only)) {
        only.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    }
    if (calc_is_yes(calc_plan_rows_more(t, &only, &r, NULL)) && r.count > 0) {
        double gain = 1 - r.found[0].stats.total_time / f->stats.total_time;
        calc_output_printf(out, "One GiB more on every processor would save %s.\n",
                           calc_human_percent(fmax(gain, 0)));
    }
    calc_planner_result_free(&r);
}

/* The stages of a layout one by one, and what binds it. */
static void calc_plan_table_stages(calc_output *out, const calc_plan_task *t,
                                   const calc_planner_found *f)
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

/* By how much the planner's step is off. @param gap  no `what` is quicker by a larger share;
 * 1: that is not known */
static void calc_plan_table_gap(calc_output *out, const calc_planner_found *f, double gap,
                                const char *what)
{
    char text[4 * CALC_HUMAN_MAX] = "";
    calc_append(text, sizeof text, "Planned %s, calc run says %s", calc_human_seconds(f->planned_s),
                calc_human_seconds(f->stats.total_time));
    if (gap < 1) {
        calc_append(text, sizeof text, "; no %s is quicker by more than %s", what,
                    calc_human_percent(gap));
    }
    calc_help_wrapped(out, calc_append(text, sizeof text, "."), 0);
}

void calc_plan_table_write(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_output_printf(out, "%s on", t->app_name);
    for (int i = 0; i < t->chips; i++) {
        calc_output_printf(out, "%s %s", i > 0 ? "," : "", t->chip[i].name);
    }
    calc_output_printf(out, ": %s layouts and places, %s balanced\n\n",
                       calc_human_integer((double)r->candidates),
                       calc_human_integer((double)r->balanced));
    write_rows(out, t, r);
    if (!r->complete && r->bound_s <= 0) {
        calc_output_text(out,
                         "Stopped early: not all layouts were listed; others may be quicker.\n");
    } else if (!r->complete && isfinite(r->bound_s)) {
        double gap = fmax(0, 1 - r->bound_s / r->found[0].stats.total_time);
        calc_output_printf(out, "Stopped early: what was not balanced is quicker by %s at most.\n",
                           calc_human_percent(gap));
    }
    const calc_planner_found *f = &r->found[0];
    calc_output_text(out, "\nThe best, stage by stage\n");
    calc_plan_table_stages(out, t, f);
    write_even(out, t, f);
    write_more_memory(out, t, f);
    calc_plan_table_gap(out, f, 1 - f->bound_s / f->stats.total_time, "division of this layout");
}

calc_status calc_plan_plot_write(calc_output *out, const calc_plan_task *t,
                                 const calc_planner_found *f, calc_errors *errors)
{
    calc_stats even;
    calc_exec exec;
    if (!calc_opt_value(t->args, CALC_PLAN_OPT_PLOT)) {
        return CALC_OK;
    }
    calc_inputs *in = calc_make(1, sizeof *in);
    in->app = t->app;
    in->system = t->chip[f->chip].system;
    const calc_paint paint = calc_paint_stdout("auto");
    calc_status status = CALC_OK;
    if (calc_plan_even(t, f, &exec, &even)) {
        calc_output_printf(out, "\nWith %s:\n", calc_plan_even_words(f));
        in->exec = exec;
        status = calc_plot_write(out, &paint, in, errors);
    }
    if (status == CALC_OK) {
        calc_output_text(out, "\nAs planned:\n");
        in->exec = f->exec;
        status = calc_plot_write(out, &paint, in, errors);
    }
    free(in);
    return status;
}

enum { POINTS = 8 /* of a curve that are written */ };

/* The list of an execution; without one, that of layers which are all as it says. */
static calc_layer_list list_of(const calc_plan_task *t, const calc_exec *exec)
{
    return exec->layers.count > 0
               ? exec->layers
               : (calc_layer_list){.count = 1,
                                   .ends = calc_layer_as_exec,
                                   .run = {{(int16_t)t->app.num_blocks, calc_layer_as_exec}}};
}

char *calc_layers_table_words(const calc_plan_task *t, const calc_exec *exec, char *text)
{
    calc_exec e = *exec;
    e.layers = list_of(t, exec);
    return calc_layer_words(&e, text);
}

static void write_layers_rows(calc_output *out, const calc_plan_task *t,
                              const calc_planner_result *r)
{
    calc_listing_column column[] = {CALC_COLUMN("#"),
                                    CALC_COLUMN("PP"),
                                    CALC_COLUMN("VP"),
                                    CALC_COLUMN("micros"),
                                    CALC_COLUMN("seqs"),
                                    CALC_COLUMN("step"),
                                    CALC_COLUMN("MFU", .order = 1),
                                    CALC_COLUMN("GiB"),
                                    CALC_COLUMN("P(fits)"),
                                    CALC_COLUMN("layers", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    char words[CALC_LAYER_WORDS_SIZE];
    for (size_t i = 0; i < r->count; i++) {
        const calc_exec *e = &r->found[i].exec;
        calc_listing_addf(&l, "%zu\t%jd\t%jd\t%.0f\t%jd", i + 1, e->pipeline_par,
                          e->pipeline_interleaving, r->found[i].stats.num_microbatches,
                          calc_layer_list_sequences(e));
        add_outcome(&l, t, &r->found[i]);
        calc_listing_add(&l, calc_layers_table_words(t, e, words));
    }
    calc_listing_end(&l, out);
}

static void add_strategy(calc_listing *l, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    char again[160];
    calc_stage_words_recomputed(e, again, sizeof again);
    calc_listing_addf(l, "%jd\t%jd\t%jd\t%jd\t%jd\t%jd\t%s", s->tensor_par,
                      calc_ranks_or_one(s->context_par), calc_ranks_or_one(s->expert_par),
                      s->data_par, e->microbatch_size, calc_zero_stage(s), again);
}

/* Runs one by one, with the ends; without a list what all have. */
static void write_layers(calc_output *out, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_listing_column column[] = {CALC_COLUMN("layers", .left = true),
                                    CALC_COLUMN("TP"),
                                    CALC_COLUMN("CP"),
                                    CALC_COLUMN("EP"),
                                    CALC_COLUMN("DP"),
                                    CALC_COLUMN("micro"),
                                    CALC_COLUMN("ZeRO"),
                                    CALC_COLUMN("recompute", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    const calc_layer_list *list = &f->exec.layers;
    int64_t first = 0;
    for (int32_t i = 0; i < list->count; i++) {
        const calc_exec e = calc_layer_list_exec(&f->exec, &list->run[i].strategy);
        int64_t last = first + list->run[i].blocks - 1;
        calc_listing_addf(&l, last > first ? "%lld to %lld" : "%lld", (long long)first,
                          (long long)last);
        add_strategy(&l, &e);
        first = last + 1;
    }
    const calc_exec ends = list->count > 0 ? calc_layer_list_exec(&f->exec, &list->ends) : f->exec;
    calc_listing_addf(&l, list->count > 0 ? "ends" : "0 to %jd", t->app.num_blocks - 1);
    add_strategy(&l, &ends);
    calc_listing_end(&l, out);
    calc_output_text(out, "\n");
}

static void write_uniform(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    const calc_planner_found *f = &r->found[0];
    char words[CALC_LAYER_WORDS_SIZE];
    if (!r->uniform) {
        calc_output_text(out, "No layout whose layers are all alike fits.\n");
    } else if (f->exec.layers.count == 0) {
        calc_output_text(out, "No list of layers is quicker than this, whose layers are alike.\n");
    } else {
        double more = r->uniform_stats.total_time / f->stats.total_time - 1;
        char text[CALC_LAYER_WORDS_SIZE + 128];
        snprintf(text, sizeof text,
                 "With layers that are all alike the best takes %s, %s more: %s.",
                 calc_human_seconds(r->uniform_stats.total_time), calc_human_percent(more),
                 calc_layers_table_words(t, &r->uniform_exec, words));
        calc_help_wrapped(out, text, 0);
    }
}

/* Some points of the curve: its ends, the last one that fits, and others between. */
static void write_curve(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_listing_column column[] = {CALC_COLUMN("GiB"), CALC_COLUMN("step"),
                                    CALC_COLUMN("layers", .left = true, .cut = true)};
    calc_listing l = CALC_LISTING(column, 1);
    size_t shown = r->points < POINTS ? r->points : POINTS;
    char words[CALC_LAYER_WORDS_SIZE];
    if (r->points < 2) {
        return;
    }
    calc_output_printf(out, "\nIts lists with other memory: %zu, of them\n", r->points);
    for (size_t i = 0; i < shown; i++) {
        const calc_planner_layers_point *p = &r->curve[i * (r->points - 1) / (shown - 1)];
        calc_listing_addf(&l, "%.2f\t%s", p->needs_bytes / 0x1p30, calc_human_seconds(p->step_s));
        calc_listing_add(&l, calc_layers_table_words(t, &p->exec, words));
    }
    calc_listing_end(&l, out);
}

void calc_layers_table_write(calc_output *out, const calc_plan_task *t,
                             const calc_planner_result *r, const calc_planner_result *more)
{
    const calc_planner_found *f = &r->found[0];
    calc_output_printf(out, "%s on %s: %s layouts of %s kinds, layers of %s listed\n\n",
                       t->app_name, t->chip[0].name, calc_human_integer((double)r->layouts),
                       calc_human_integer((double)r->candidates),
                       calc_human_integer((double)r->balanced));
    write_layers_rows(out, t, r);
    calc_plan_room_write(out, t);
    calc_output_text(out, r->complete ? "\n" : "Stopped early: there may be better.\n\n");
    write_layers(out, t, f);
    calc_plan_table_stages(out, t, f);
    write_uniform(out, t, r);
    if (more && more->count > 0) {
        double s = fmin(more->found[0].stats.total_time, f->stats.total_time);
        calc_output_printf(out, "One GiB more on every processor would save %s: %s.\n",
                           calc_human_percent(1 - s / f->stats.total_time), calc_human_seconds(s));
    }
    calc_plan_table_gap(out, f, fmax(0, 1 - r->bound_s / f->stats.total_time), "list of layers");
    write_curve(out, t, r);
}

static void put_strategy(calc_put *put, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    char again[160];
    calc_stage_words_recomputed(e, again, sizeof again);
    calc_putf(put,
              "tensor_par: %jd, context_par: %jd, expert_par: %jd, data_par: %jd, microbatch_size: "
              "%jd, zero_stage: %jd, recompute: %s",
              s->tensor_par, calc_ranks_or_one(s->context_par), calc_ranks_or_one(s->expert_par),
              s->data_par, e->microbatch_size, calc_zero_stage(s), again);
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
    const calc_layer_list list = list_of(t, exec);
    plain.layers = (calc_layer_list){0};
    const calc_layer_strategy end[] = {calc_layer_list_end(&t->app, &list, false),
                                       calc_layer_list_end(&t->app, &list, true)};
    const calc_exec embedding = calc_layer_list_exec(&plain, &end[0]);
    const calc_exec head = calc_layer_list_exec(&plain, &end[1]);
    calc_exec before = embedding;
    calc_put_array(put, "layers", CALC_PUT_LINES);
    for (int32_t i = 0; i < list.count; i++) {
        const calc_exec e = calc_layer_list_exec(&plain, &list.run[i].strategy);
        calc_putf(put, "{blocks: %d", list.run[i].blocks);
        put_strategy(put, &e);
        calc_putf(put, "rearranging_time: %g}", rearranging_s(t, &before, &e));
        before = e;
    }
    calc_putf(put, "], ends: {");
    put_strategy(put, &head);
    calc_putf(put, "rearranging_time: %g}", rearranging_s(t, &before, &head));
}
