#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/plan/layers_plan.h"
#include "cli/plan/plan_judge.h"
#include "cli/plan/plan_plot.h"
#include "cli/plan/plan_room.h"
#include "cli/plan/plan_table.h"
#include "cli/plan/plan_write.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_watch.h"
#include "report/page.h"

const char *const calc_plan_recompute[] = {"stage", "chip", "none", NULL};
const char *const calc_plan_progress[] = {"auto", "plain", "none", NULL};
const char *const calc_plan_solvers[] = {"glpk", "highs", NULL};
const calc_opt calc_plan_opts[] = {CALC_PLAN_OPT_LIST(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .doc = "the model"),
    {.name = "SYS", .doc = "the machines, with commas between them: a800,h800"},
    {0}};
static const char *const examples[] = {
    "calc plan llama3-405B h100_sxm --procs 1024 --batch 512",
    "calc plan llama2-70B a800,h800 --chips a800:128,h800:160 --procs 256 --batch 1024",
    "calc plan deepseek-v3-671B h800 --balance-only deepseek-v3_2048 --set pipeline_schedule=1f1b",
    "calc plan llama2-7B a100_sxm_40g --procs 8 --batch 64 --layers --save-best layered.json",
    NULL};

/* calc_planner.progress. */
static bool watch(void *context, const calc_planner_progress *p)
{
    calc_sweep_progress now = {.done = (double)p->balanced,
                               .total = (double)p->candidates,
                               .best = isfinite(p->best_s) ? p->best_s : (double)NAN};
    now.counts.total = p->candidates;
    now.counts.evaluated = p->balanced;
    return calc_sweep_watch_progress(context, &now);
}

/* Reports, if nothing fits, which stage needs how much memory. */
static void tell_lack(const calc_plan_task *t, const calc_planner_result *r)
{
    char needs[CALC_HUMAN_MAX], has[CALC_HUMAN_MAX];
    fprintf(stderr, "calc plan: no layout fits");
    if (r->candidates == 0) {
        fprintf(stderr, ": no layout of this many processors and this batch is legal\n");
    } else if (r->has_bytes > 0) {
        const calc_exec *e = &r->lacking;
        fprintf(stderr,
                ": the nearest, tensor_par %lld, pipeline_par %lld, data_par %lld, needs %s on "
                "stage %d, which has %s%s\n",
                (long long)e->strategy.tensor_par, (long long)e->pipeline_par,
                (long long)e->strategy.data_par, calc_human_bytes(r->needs_bytes, needs),
                r->lacking_stage, calc_human_bytes(r->has_bytes, has),
                calc_plan_room_left(t) ? " to be 90 % sure" : "");
        fprintf(stderr, "  hint: more processors, a smaller micro-batch, or more memory%s\n",
                calc_plan_room_left(t) ? "; --all-memory fills all there is" : "");
    } else {
        fprintf(stderr, "\n");
    }
}

static calc_exit plan(calc_plan_task *t, calc_sweep_watch *w, calc_errors *errors)
{
    calc_planner_result r = {0};
    calc_output *out;
    bool quiet = calc_plan_write_takes_stdout(t->args);
    calc_status status = calc_planner_run(&t->planner, &r, errors);
    calc_sweep_watch_end(w);
    for (size_t i = 0; i < r.count; i++) {
        calc_plan_room_give(t, r.found[i].chip, &r.found[i].exec, &r.found[i].stats);
    }
    calc_exit code = CALC_EXIT_OK;
    if (status != CALC_OK) {
        code = calc_complain_errors(errors);
    } else if (r.count == 0) {
        tell_lack(t, &r);
        code = CALC_EXIT_INFEASIBLE;
    } else if (calc_plan_write(t, &r, errors) != CALC_OK ||
               calc_plan_judge_mps(t, &r.found[0], errors) != CALC_OK ||
               (!quiet && calc_output_open(&out, "-", errors) != CALC_OK)) {
        code = calc_complain_errors(errors);
    } else if (!quiet) {
        calc_plan_table_write(out, t, &r);
        (void)!calc_plan_plot_write(out, t, &r.found[0], errors);
        (void)!calc_plan_judge_write(out, t, &r.found[0], errors);
        (void)!calc_output_close(out, errors);
        code = errors->count > 0 ? calc_complain_errors(errors) : code;
    }
    calc_planner_result_free(&r);
    return code;
}

static calc_exit plan_watched(calc_plan_task *t, calc_errors *errors)
{
    calc_sweep_watch w;
    const char *limit = calc_opt_value(t->args, CALC_PLAN_OPT_TIME_LIMIT);
    double limit_s = HUGE_VAL;
    if (limit && (!calc_opt_number(limit, false, 0, HUGE_VAL, &limit_s) || limit_s <= 0)) {
        return calc_complain_usage(t->args->command, "--time-limit needs seconds, more than 0");
    }
    const char *complaint = calc_plan_write_complaint(t->args);
    if (complaint) {
        return calc_complain_usage(t->args->command, complaint);
    }
    calc_sweep_watch_begin(&w, calc_opt_value(t->args, CALC_PLAN_OPT_PROGRESS), limit_s);
    t->planner.progress = t->layers.progress = watch;
    t->planner.context = t->layers.context = &w;
    return t->listed ? calc_plan_layers(t, &w, errors) : plan(t, &w, errors);
}

static calc_exit run(const calc_args *args)
{
    calc_plan_task *t = calloc(1, sizeof *t);
    calc_errors errors = {0};
    if (!t) {
        (void)!calc_errors_no_memory(&errors);
        return calc_complain_errors(&errors);
    }
    const char *complaint = calc_plan_layers_complaint(args);
    bool drawn = !calc_opt_value(args, CALC_PLAN_OPT_HTML) || calc_page_check(&errors) == CALC_OK;
    calc_exit code = complaint ? calc_complain_usage(args->command, complaint)
                     : drawn && calc_plan_task_load(t, args, &errors) == CALC_OK
                         ? plan_watched(t, &errors)
                         : calc_complain_errors(&errors);
    calc_plan_task_free(t);
    free(t);
    return code;
}

const calc_command calc_cmd_plan = {
    .name = "plan",
    .summary = "find layouts whose stages differ: uneven layers, recomputation, mixed chips",
    .detail = "Searches the same layouts as calc sweep, and for each of them the layers of every "
              "stage, how many of them recompute, and the chip of the stage. The result is an "
              "execution that lists its stages (docs/plan.md); calc run gives the same step time "
              "for it. With --layers every layer gets a strategy of its own (docs/layers.md).",
    .args = rows,
    .opts = calc_plan_opts,
    .examples = examples,
    .run = run,
};
