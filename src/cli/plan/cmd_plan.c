#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/milp.h"
#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/plan/plan_task.h"
#include "cli/run/run_outcome.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_study.h"
#include "io/json_put.h"
#include "plan/planner_place.h"
#include "report/page.h"

static const calc_plan_opt files[] = {CALC_PLAN_OPT_JSON, CALC_PLAN_OPT_CSV,
                                      CALC_PLAN_OPT_SAVE_BEST, CALC_PLAN_OPT_HTML};
enum { FILES = sizeof files / sizeof *files };

/* The same with stages that are all alike; null if that does not fit. */
static void put_even(calc_put *put, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_exec exec;
    calc_stats stats;
    if (!calc_plan_even(t, f, &exec, &stats)) {
        calc_put_raw(put, "even", "null");
        return;
    }
    calc_putf(put, "even: {\ntotal_time: %g, mem_tier1: %g, recomputed?: %d", stats.total_time,
              stats.proc_mem_tier1_cap_req, calc_plan_even_recomputed(&exec));
    calc_plan_rows_put(put, t, f->chip, &exec);
    calc_put_close(put);
}

static void put_found(calc_put *put, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_putf(put, "{\nsystem: %s", t->chip[f->chip].name);
    calc_start_put(put, &(calc_start){.args = t->args,
                                      .set = CALC_PLAN_OPT_SET,
                                      .app = &t->app,
                                      .system = &t->chip[f->chip].system,
                                      .exec = &f->exec,
                                      .names = {t->args->argument[0], t->chip[f->chip].name, "-"}});
    calc_putf(put, "planned_time: %g, bound_time: %g, proven?: %d, fits: %g", f->planned_s,
              f->bound_s, f->proven, calc_plan_rows_fits(t, f->chip, &f->exec));
    calc_put_struct(put, "execution", CALC_KIND_EXEC, &f->exec);
    calc_put_struct(put, "stats", CALC_KIND_STATS, &f->stats);
    calc_plan_rows_put(put, t, f->chip, &f->exec);
    if (t->listed) {
        calc_layers_runs_put(put, t, &f->exec);
    } else {
        put_even(put, t, f);
    }
    calc_put_close(put);
}

/* What there is beside, of a plan of layers: how many layouts are alike, the best of them, and what
 * other memory would make of the best. */
static void put_layers(calc_put *put, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_put_count(put, "layouts", (int64_t)r->layouts);
    if (r->uniform) {
        char words[CALC_LAYER_WORDS_SIZE];
        calc_putf(put, "uniform_time: %g, uniform_layers: %s", r->uniform_stats.total_time,
                  calc_layers_table_words(t, &r->uniform_exec, words));
    }
    calc_put_array(put, "curve", CALC_PUT_LINES);
    for (size_t i = 0; i < r->points; i++) {
        const calc_planner_layers_point *p = &r->curve[i];
        char words[CALC_LAYER_WORDS_SIZE];
        calc_putf(put, "{mem_tier1: %g, total_time: %g, layers: %s}", p->needs_bytes, p->step_s,
                  calc_layer_words(&p->exec, words));
    }
    calc_put_close(put);
}

static void write_json(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_putf(&put, "application: %s, systems: [", t->app_name);
    for (int i = 0; i < t->chips; i++) {
        calc_put_text(&put, NULL, t->chip[i].name);
    }
    calc_putf(&put, "], remarks: [");
    for (int i = 0; i <= t->chips; i++) {
        if (*t->remark[i]) {
            calc_put_text(&put, NULL, t->remark[i]);
        }
    }
    calc_putf(&put, "], candidates: %zu, balanced: %zu, complete?: %d, bound_time: %g",
              r->candidates, r->balanced, r->complete, fmin(r->bound_s, r->found[0].bound_s));
    if (t->listed) {
        put_layers(&put, t, r);
    }
    calc_put_struct(&put, "model", CALC_KIND_APP, &t->app);
    calc_put_array(&put, "machines", CALC_PUT_LINES);
    for (int i = 0; i < t->chips; i++) {
        calc_put_struct(&put, NULL, CALC_KIND_SYSTEM, &t->chip[i].system);
    }
    calc_putf(&put, "], found: [\n");
    for (size_t i = 0; i < r->count; i++) {
        put_found(&put, t, &r->found[i]);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

static void write_csv(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_output_text(out, "rank,system,tensor_par,pipeline_par,data_par,context_par,expert_par,"
                          "pipeline_interleaving,microbatch_size,total_time,bound_time,"
                          "model_flops_utilization,mem_tier1,complete,blocks,chips,recompute");
    calc_output_text(out, t->listed ? ",layers,ends\n" : "\n");
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_found *f = &r->found[i];
        const calc_exec *e = &f->exec;
        const calc_strategy *s = &e->strategy;
        char text[CALC_STAGE_WORDS_SIZE];
        bool listed = e->stages.count > 0;
        calc_output_printf(out, "%zu,%s,%jd,%jd,%jd,%jd,%jd,%jd,%jd", i + 1, t->chip[f->chip].name,
                           s->tensor_par, e->pipeline_par, s->data_par,
                           calc_ranks_or_one(s->context_par), calc_ranks_or_one(s->expert_par),
                           e->pipeline_interleaving, e->microbatch_size);
        calc_output_printf(out, ",%.17g,%.17g,%.17g,%.17g,%s", f->stats.total_time, f->bound_s,
                           f->stats.model_flops_utilization, f->stats.proc_mem_tier1_cap_req,
                           r->complete ? "true" : "false");
        calc_output_printf(out, ",\"%s\"", listed ? calc_stage_words_blocks(e, text) : "");
        calc_output_printf(out, ",\"%s\"",
                           listed ? calc_stage_words_chips(e, t->chip[f->chip].name, text) : "");
        calc_output_printf(out, ",\"%s\"", listed ? calc_stage_words_recompute(e, text) : "");
        if (t->listed) {
            char words[CALC_LAYER_WORDS_SIZE];
            calc_output_printf(out, ",\"%s\"", calc_layer_words(e, words));
            calc_output_printf(out, ",\"%s\"", calc_layer_words_ends(e, words));
        }
        calc_output_text(out, "\n");
    }
}

static void write_best(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    size_t rank;
    const calc_planner_found *start = t->listed ? NULL : calc_plan_rows_start(t, r, &rank);
    const calc_exec named = calc_plan_rows_named(t, start ? start : &r->found[0]);
    calc_json_save(out, CALC_KIND_EXEC, &named, 0);
    calc_output_text(out, "\n");
}

/* The inputs of a run of the best layout. */
static void fill(calc_run_outcome *o, const calc_plan_task *t, const calc_planner_found *best)
{
    calc_input *input = o->inputs.input;
    calc_stage_list *list = &o->inputs.exec.stages;
    const calc_system *system = &t->chip[best->chip].system;
    o->inputs.app = t->app;
    o->inputs.system = *system;
    o->inputs.exec = best->exec;
    for (int32_t i = 0; i < list->chips; i++) {
        list->system[i] = list->system[i] == system ? &o->inputs.system : list->system[i];
    }
    snprintf(input[CALC_KIND_APP].name, sizeof input->name, "%s", t->app_name);
    snprintf(input[CALC_KIND_SYSTEM].name, sizeof input->name, "%s", t->chip[best->chip].name);
    snprintf(input[CALC_KIND_EXEC].name, sizeof input->name, "plan");
}

/* The page has what --json writes, and of the best what calc run --html writes. */
static calc_status write_page(const char *path, const calc_plan_task *t,
                              const calc_planner_result *r, calc_errors *errors)
{
    calc_text json = {0};
    calc_run_outcome *o = calc_make(1, sizeof *o);
    calc_output *out = calc_write_to_memory(&json);
    write_json(out, t, r);
    (void)calc_is_yes(calc_output_close(out, NULL));
    fill(o, t, &r->found[0]);
    calc_status status = calc_run_outcome_evaluate(o, true, errors);
    calc_run_outcome_stages(o);
    o->stage_count = o->stage_known;
    status = status == CALC_OK ? calc_run_page_write(path, o, &json, errors) : status;
    calc_text_free(&json);
    calc_run_outcome_free(o);
    free(o);
    return status;
}

/* Write those that are asked for. Every one is tried.
 * @param result  with one layout at least
 * @return CALC_OK, or the status of the first error */
static calc_status calc_plan_write(const calc_plan_task *t, const calc_planner_result *r,
                                   calc_errors *errors)
{
    static void (*const write[FILES])(calc_output *, const calc_plan_task *,
                                      const calc_planner_result *) = {write_json, write_csv,
                                                                      write_best, NULL};
    for (int i = 0; i < FILES; i++) {
        const char *path = calc_opt_value(t->args, (int)files[i]);
        if (path && !write[i]) {
            (void)!write_page(path, t, r, errors);
        } else if (path) {
            calc_output *out = calc_write_to(path);
            write[i](out, t, r);
            (void)!calc_output_close(out, errors);
        }
    }
    return calc_errors_first(errors);
}

/* The problem of the layout, with the limits that its memory has at first. */
static calc_planner_bench *bench_of(const calc_plan_task *t, const calc_planner_found *f,
                                    calc_errors *errors)
{
    calc_planner_bench *b = calc_make(1, sizeof *b);
    calc_planner_layouts_of(&t->planner, &f->base, &b->layouts);
    const char *why =
        calc_planner_problem(&t->planner, &b->layouts, &f->place, b->chip, &b->problem);
    if (why) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
                        "no program can be made of a layout %s", why);
        free(b);
        return NULL;
    }
    return b;
}

static bool write_text(void *out, const char *text, size_t length)
{
    calc_output_write(out, text, length);
    return true;
}

/* --mps: write the program and its names. Nothing without the option. */
static calc_status calc_plan_judge_mps(const calc_plan_task *t, const calc_planner_found *f,
                                       calc_errors *errors)
{
    const char *path = calc_opt_value(t->args, CALC_PLAN_OPT_MPS);
    calc_milp milp = {0};
    calc_planner_bench *b = path ? bench_of(t, f, errors) : NULL;
    if (!b) {
        return calc_errors_first(errors);
    }
    calc_status status = calc_milp_build(&b->problem, &milp, errors);
    if (status == CALC_OK) {
        calc_output *out = calc_write_to(path);
        calc_mps_program(&milp, write_text, out);
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK && strcmp(path, "-") != 0) {
        calc_output *names = calc_write_to(CALC_TEXT(4096, "%s.names.csv", path));
        calc_mps_names(&milp, write_text, names);
        status = calc_output_close(names, errors);
    }
    calc_milp_free(&milp);
    free(b);
    return status;
}

/* --solver: solve it, and report the result beside the result of the search. */

static calc_status calc_plan_judge_write(calc_output *out, const calc_plan_task *t,
                                         const calc_planner_found *f, calc_errors *errors)
{
    const char *name = calc_opt_value(t->args, CALC_PLAN_OPT_SOLVER);
    calc_planner_bench *b = name ? bench_of(t, f, errors) : NULL;
    if (!b) {
        return calc_errors_first(errors);
    }
    calc_balance_solution *solved = calc_make(1, sizeof *solved);
    const calc_balance_options search = {.evaluations = 0};
    calc_status status = calc_solver_divide(
        &b->problem, calc_opt_real(t->args, CALC_PLAN_OPT_TIME_LIMIT), solved, errors);
    if (status == CALC_OK && calc_balance_solve(&b->problem, &search, &b->solution) == CALC_OK) {
        calc_output_printf(out, "The pipeline by the search: %s%s; ",
                           calc_human_seconds(b->solution.answer.step_s),
                           b->solution.proven ? ", proven" : "");
        if (solved->feasible) {
            calc_output_printf(out, "by %s: %s, %s.\n", name,
                               calc_human_seconds(solved->answer.step_s),
                               solved->proven ? "proven" : "not proven in this time");
        } else {
            calc_output_printf(out, "%s found nothing in this time, and no less than %s.\n", name,
                               calc_human_seconds(fmax(solved->bound_s, 0)));
        }
    }
    free(solved);
    free(b);
    return calc_errors_first(errors);
}

const char *const calc_plan_recompute[] = {"stage", "chip", "none", NULL};
const char *const calc_plan_solvers[] = {"glpsol", NULL};
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
    "calc plan llama2-7B a100_sxm_40g --procs 8 --batch 64 --per-layer --save-best layered.json",
    NULL};

/* calc_planner.progress. */
static bool watch(void *context, const calc_planner_progress *p)
{
    calc_sweep_progress now = {.done = (double)p->balanced,
                               .total = (double)p->candidates,
                               .best = isfinite(p->best_s) ? p->best_s : (double)NAN,
                               .best_unit = "s"};
    now.counts.total = p->candidates;
    now.counts.evaluated = p->balanced;
    return calc_sweep_watch_progress(context, &now);
}

/* Checks --per-layer against options for plans of stages only. */
static const char *layers_complaint(const calc_args *args)
{
    static const struct {
        calc_plan_opt opt;
        const char *text;
    } without[] = {
        {CALC_PLAN_OPT_BALANCE_ONLY,
         "--per-layer searches layouts: give --procs and --batch instead "
         "of --balance-only"},
        {CALC_PLAN_OPT_CHIPS, "--per-layer is for processors of one kind, --chips for several"},
        {CALC_PLAN_OPT_KEEP_ORDER, "--per-layer is for processors of one kind, --keep-order for "
                                   "several"},
        {CALC_PLAN_OPT_PLOT, "--plot draws stages: with --per-layer the last table has the step "
                             "over the memory"},
        {CALC_PLAN_OPT_SOLVER, "--solver divides layers that are alike: it does not go with "
                               "--per-layer"},
        {CALC_PLAN_OPT_MPS, "--mps has a program of layers that are alike: it does not go with "
                            "--per-layer"},
    };
    bool layers = calc_opt_value(args, CALC_PLAN_OPT_PER_LAYER) != NULL;
    const char *recompute = calc_opt_value(args, CALC_PLAN_OPT_RECOMPUTE);
    for (size_t i = 0; i < sizeof without / sizeof *without && layers; i++) {
        if (calc_opt_value(args, (int)without[i].opt)) {
            return without[i].text;
        }
    }
    return layers && recompute && strcmp(recompute, "none") != 0
               ? "--recompute says it of stages, --per-layer of each layer: none is all that goes "
                 "with "
                 "it"
               : NULL;
}

/* What people read. @param more  with --per-layer: what a GiB more on every processor would give */
static void write_table(const calc_plan_task *t, const calc_planner_result *r,
                        const calc_planner_result *more, calc_errors *errors)
{
    calc_output *out = calc_write_to("-");
    for (int i = 0; i <= t->chips; i++) {
        if (*t->remark[i]) {
            calc_output_printf(out, "%s\n", t->remark[i]);
        }
    }
    if (t->listed) {
        calc_layers_table_write(out, t, r, more);
    } else {
        calc_plan_table_write(out, t, r);
        (void)!calc_plan_plot_write(out, t, &r->found[0], errors);
        (void)!calc_plan_judge_write(out, t, &r->found[0], errors);
    }
    (void)!calc_output_close(out, errors);
}

static calc_exit plan(calc_plan_task *t, calc_errors *errors)
{
    calc_planner_result r = {0}, more = {0};
    bool quiet = calc_opt_takes_stdout(t->args);
    calc_sweep_watch w;
    calc_sweep_watch_begin(&w, calc_opt_value(t->args, CALC_PLAN_OPT_PROGRESS), HUGE_VAL, true);
    t->planner.time_limit_s = calc_opt_real(t->args, CALC_PLAN_OPT_TIME_LIMIT);
    t->planner.within = 0.03;
    t->planner.progress = watch;
    t->planner.context = &w;
    calc_status status = t->listed ? calc_planner_layers_run(&t->planner, &r, errors)
                                   : calc_planner_run(&t->planner, &r, errors);
    calc_sweep_watch_hide(&w);
    bool found = status == CALC_OK && r.count > 0, whole = r.complete;
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
    calc_sweep_watch_end(&w);
    return errors->count > 0                       ? calc_complain_errors(errors)
           : atomic_load(&w.interrupted) && !whole ? CALC_EXIT_INTERRUPTED
           : found                                 ? CALC_EXIT_OK
                                                   : CALC_EXIT_INFEASIBLE;
}

static calc_exit run(const calc_args *args)
{
    calc_plan_task *t = calc_make(1, sizeof *t);
    calc_errors errors = {0};
    const char *complaint = layers_complaint(args);
    bool drawn = !calc_opt_value(args, CALC_PLAN_OPT_HTML) || calc_page_check(&errors) == CALC_OK;
    calc_exit code = complaint ? calc_complain_usage(args->command, complaint)
                     : drawn && calc_plan_task_load(t, args, &errors) == CALC_OK
                         ? plan(t, &errors)
                         : calc_complain_errors(&errors);
    calc_residuals_free(&t->known);
    calc_space_free(&t->space);
    calc_designs_builder_free(&t->builder);
    free(t);
    return code;
}

const calc_command calc_cmd_plan = {
    .name = "plan",
    .summary = "find layouts whose stages differ: uneven layers, recomputation, mixed chips",
    .detail = "Searches the same layouts as calc sweep, and for each of them the layers of every "
              "stage, how many of them recompute, and the chip of the stage. The result is an "
              "execution that lists its stages (docs/plan.md); calc run gives the same step time "
              "for it. With --per-layer every layer gets a strategy of its own (docs/layers.md).",
    .args = rows,
    .opts = calc_plan_opts,
    .examples = examples,
    .run = run,
};
