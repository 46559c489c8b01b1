#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/plan/layers_table.h"
#include "cli/plan/plan_rows.h"
#include "cli/plan/plan_table.h"
#include "cli/plan/plan_write.h"
#include "cli/shell/complain.h"
#include "cli/sweep/sweep_watch.h"
#include "report/page.h"

const char *const calc_plan_recompute[] = {"stage", "chip", "none", NULL};
const char *const calc_plan_progress[] = {"auto", "plain", "none", NULL};
const char *const calc_plan_solvers[] = {"glpk", NULL};
const calc_opt calc_plan_opts[] = {CALC_PLAN_OPT_LIST(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .doc = "the model"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM,
                      .doc = "the machines, with commas between them: a800,h800"),
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

/* Checks --layers against options for plans of stages only. */
static const char *layers_complaint(const calc_args *args)
{
    static const struct {
        calc_plan_opt opt;
        const char *text;
    } without[] = {
        {CALC_PLAN_OPT_BALANCE_ONLY, "--layers searches layouts: give --procs and --batch instead "
                                     "of --balance-only"},
        {CALC_PLAN_OPT_CHIPS, "--layers is for processors of one kind, --chips for several"},
        {CALC_PLAN_OPT_KEEP_ORDER, "--layers is for processors of one kind, --keep-order for "
                                   "several"},
        {CALC_PLAN_OPT_SOLVER, "--solver divides layers that are alike: it does not go with "
                               "--layers"},
        {CALC_PLAN_OPT_MPS, "--mps has a program of layers that are alike: it does not go with "
                            "--layers"},
    };
    bool layers = calc_opt_value(args, CALC_PLAN_OPT_LAYERS) != NULL;
    const char *recompute = calc_opt_value(args, CALC_PLAN_OPT_RECOMPUTE);
    for (size_t i = 0; i < sizeof without / sizeof *without && layers; i++) {
        if (calc_opt_value(args, (int)without[i].opt)) {
            return without[i].text;
        }
    }
    if (layers && recompute && strcmp(recompute, "none") != 0) {
        return "--recompute says it of stages, --layers of each layer: none is all that goes with "
               "it";
    }
    return NULL;
}

/* What people read. @param more  with --layers: what a GiB more on every processor would give */
static void write_table(const calc_plan_task *t, const calc_planner_result *r,
                        const calc_planner_result *more, calc_errors *errors)
{
    calc_output *out;
    if (calc_output_open(&out, "-", errors) != CALC_OK) {
        return;
    }
    for (int i = 0; i <= t->chips; i++) {
        if (*t->remark[i]) {
            calc_output_printf(out, "%s\n", t->remark[i]);
        }
    }
    if (t->listed) {
        calc_layers_table_write(out, t, r, more);
        calc_layers_plot_write(out, t, r);
    } else {
        calc_plan_table_write(out, t, r);
        (void)!calc_plan_plot_write(out, t, &r->found[0], errors);
        (void)!calc_plan_judge_write(out, t, &r->found[0], errors);
    }
    (void)!calc_output_close(out, errors);
}

static calc_exit plan(calc_plan_task *t, calc_sweep_watch *w, calc_errors *errors)
{
    calc_planner_result r = {0}, more = {0};
    bool quiet = calc_plan_write_stdouts(t->args) > 0;
    calc_status status = t->listed ? calc_planner_layers_run(&t->planner, &r, errors)
                                   : calc_planner_run(&t->planner, &r, errors);
    calc_sweep_watch_end(w);
    bool found = status == CALC_OK && r.count > 0;
    for (size_t i = 0; i < r.count + r.starts; i++) {
        calc_planner_found *f = i < r.count ? &r.found[i] : &r.start;
        calc_plan_room_give(t, f->chip, &f->exec, &f->stats);
    }
    if (status == CALC_OK && !found) {
        calc_plan_room_lack(t, &r);
    } else if (found && calc_plan_write(t, &r, errors) == CALC_OK &&
               calc_plan_judge_mps(t, &r.found[0], errors) == CALC_OK && !quiet &&
               (!t->listed || !r.complete || /* then there is no time for it */
                calc_plan_rows_more(t, NULL, &more, errors) == CALC_OK)) {
        write_table(t, &r, &more, errors);
    }
    calc_planner_result_free(&more);
    calc_planner_result_free(&r);
    return errors->count > 0              ? calc_complain_errors(errors)
           : atomic_load(&w->interrupted) ? CALC_EXIT_INTERRUPTED
           : found                        ? CALC_EXIT_OK
                                          : CALC_EXIT_INFEASIBLE;
}

static calc_exit plan_watched(calc_plan_task *t, calc_errors *errors)
{
    calc_sweep_watch w;
    const char *limit = calc_opt_value(t->args, CALC_PLAN_OPT_TIME_LIMIT);
    double limit_s = HUGE_VAL;
    if (limit && (!calc_opt_number(limit, false, 0, HUGE_VAL, &limit_s) || limit_s <= 0)) {
        return calc_complain_usage(t->args->command, "--time-limit needs seconds, more than 0");
    }
    if (calc_plan_write_stdouts(t->args) > 1) {
        return calc_complain_usage(
            t->args->command,
            "only one of --out, --csv, --save-best, --html and --mps can be standard output");
    }
    calc_sweep_watch_begin(&w, calc_opt_value(t->args, CALC_PLAN_OPT_PROGRESS), HUGE_VAL, true);
    t->planner.time_limit_s = isfinite(limit_s) ? limit_s : 0;
    t->planner.progress = watch;
    t->planner.context = &w;
    return plan(t, &w, errors);
}

static calc_exit run(const calc_args *args)
{
    calc_plan_task *t = calloc(1, sizeof *t);
    calc_errors errors = {0};
    if (!t) {
        (void)!calc_errors_no_memory(&errors);
        return calc_complain_errors(&errors);
    }
    const char *complaint = layers_complaint(args);
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
