#include "cli/plan/plan_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/layer_words.h"
#include "cli/draw/stage_words.h"
#include "cli/plan/layers_table.h"
#include "cli/plan/plan_page.h"
#include "cli/plan/plan_rows.h"
#include "cli/shell/start.h"
#include "io/json_save.h"

static const calc_plan_opt files[] = {CALC_PLAN_OPT_OUT, CALC_PLAN_OPT_CSV, CALC_PLAN_OPT_SAVE_BEST,
                                      CALC_PLAN_OPT_HTML};
enum { FILES = sizeof files / sizeof *files };

/* The program is written elsewhere (plan_judge.h). */
static int on_stdout(const calc_args *args)
{
    int taken = calc_opt_is_stdout(args, CALC_PLAN_OPT_MPS);
    for (int i = 0; i < FILES; i++) {
        taken += calc_opt_is_stdout(args, (int)files[i]);
    }
    return taken;
}

const char *calc_plan_write_complaint(const calc_args *args)
{
    return on_stdout(args) > 1
               ? "only one of --out, --csv, --save-best, --html and --mps can be standard output"
               : NULL;
}

bool calc_plan_write_takes_stdout(const calc_args *args)
{
    return on_stdout(args) > 0;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The same with stages that are all alike; null if that does not fit. */
static void put_even(calc_put *put, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_exec exec;
    calc_stats stats;
    if (!calc_plan_even(t, f, &exec, &stats)) {
        calc_put_raw(put, "even", "null");
        return;
    }
    calc_put_object(put, "even", CALC_PUT_LINES);
    calc_put_number(put, "total_time", stats.total_time);
    calc_put_number(put, "mem_tier1", stats.proc_mem_tier1_cap_req);
    calc_put_flag(put, "recomputed", calc_plan_even_recomputed(&exec));
    calc_plan_rows_put(put, t, f->chip, &exec);
    calc_put_close(put);
}

static void put_found(calc_put *put, const calc_plan_task *t, const calc_planner_found *f)
{
    calc_put_object(put, NULL, CALC_PUT_LINES);
    calc_put_text(put, "system", t->chip[f->chip].name);
    calc_start_put(put, &(calc_start){.args = t->args,
                                      .set = CALC_PLAN_OPT_SET,
                                      .app = &t->app,
                                      .system = &t->chip[f->chip].system,
                                      .exec = &f->exec,
                                      .names = {t->args->argument[0], t->chip[f->chip].name, "-"}});
    calc_put_number(put, "planned_time", f->planned_s);
    calc_put_number(put, "bound_time", f->bound_s);
    calc_put_flag(put, "proven", f->proven);
    calc_put_number(put, "fits", calc_plan_rows_fits(t, f->chip, &f->exec));
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
        calc_put_number(put, "uniform_time", r->uniform_stats.total_time);
        calc_put_text(put, "uniform_layers", calc_layers_table_words(t, &r->uniform_exec, words));
    }
    calc_put_array(put, "curve", CALC_PUT_LINES);
    for (size_t i = 0; i < r->points; i++) {
        const calc_planner_layers_point *p = &r->curve[i];
        char words[CALC_LAYER_WORDS_SIZE];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_number(put, "mem_tier1", p->needs_bytes);
        calc_put_number(put, "total_time", p->step_s);
        calc_put_text(put, "layers", calc_layer_words(&p->exec, words));
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void write_json(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_text(&put, "application", t->app_name);
    calc_put_array(&put, "systems", CALC_PUT_LINE);
    for (int i = 0; i < t->chips; i++) {
        calc_put_text(&put, NULL, t->chip[i].name);
    }
    calc_put_close(&put);
    calc_put_count(&put, "candidates", (int64_t)r->candidates);
    calc_put_count(&put, "balanced", (int64_t)r->balanced);
    calc_put_flag(&put, "complete", r->complete);
    calc_put_number(&put, "bound_time", fmin(r->bound_s, r->found[0].bound_s));
    if (t->listed) {
        put_layers(&put, t, r);
    }
    calc_put_struct(&put, "model", CALC_KIND_APP, &t->app);
    calc_put_array(&put, "machines", CALC_PUT_LINES);
    for (int i = 0; i < t->chips; i++) {
        calc_put_struct(&put, NULL, CALC_KIND_SYSTEM, &t->chip[i].system);
    }
    calc_put_close(&put);
    calc_put_array(&put, "found", CALC_PUT_LINES);
    for (size_t i = 0; i < r->count; i++) {
        put_found(&put, t, &r->found[i]);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_csv(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    calc_output_text(out, "rank,system,tensor_par,pipeline_par,data_par,context_par,expert_par,"
                          "pipeline_interleaving,microbatch_size,total_time,bound_time,"
                          "model_flops_utilization,mem_tier1,blocks,chips,recompute");
    calc_output_text(out, t->listed ? ",layers,ends\n" : "\n");
    for (size_t i = 0; i < r->count; i++) {
        const calc_planner_found *f = &r->found[i];
        const calc_exec *e = &f->exec;
        const calc_strategy *s = &e->strategy;
        char text[CALC_STAGE_WORDS_SIZE];
        bool listed = e->stages.count > 0;
        calc_output_printf(out, "%zu,%s,%lld,%lld,%lld,%lld,%lld,%lld,%lld", i + 1,
                           t->chip[f->chip].name, (long long)s->tensor_par,
                           (long long)e->pipeline_par, (long long)s->data_par,
                           (long long)(s->context_par > 0 ? s->context_par : 1),
                           (long long)(s->expert_par > 0 ? s->expert_par : 1),
                           (long long)e->pipeline_interleaving, (long long)e->microbatch_size);
        calc_output_printf(out, ",%.17g,%.17g,%.17g,%.17g", f->stats.total_time, f->bound_s,
                           f->stats.model_flops_utilization, f->stats.proc_mem_tier1_cap_req);
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

/* ---- Files ----------------------------------------------------------------------------------- */

static void write_best(calc_output *out, const calc_plan_task *t, const calc_planner_result *r)
{
    size_t rank;
    const calc_planner_found *start = t->listed ? NULL : calc_plan_rows_start(t, r, &rank);
    const calc_exec named = calc_plan_rows_named(t, start ? start : &r->found[0]);
    calc_json_save(out, CALC_KIND_EXEC, &named, 0);
    calc_output_text(out, "\n");
}

/* The page has what --out writes, and of the best what calc run --html writes. */
static calc_status write_page(const char *path, const calc_plan_task *t,
                              const calc_planner_result *r, calc_errors *errors)
{
    const calc_planner_found *f = &r->found[0];
    calc_output *out;
    calc_text json = {0};
    calc_status status = calc_output_open_memory(&out, &json, errors);
    if (status == CALC_OK) {
        write_json(out, t, r);
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK) {
        status = calc_plan_page_write(path,
                                      &(calc_plan_page_best){.app_name = t->app_name,
                                                             .system_name = t->chip[f->chip].name,
                                                             .app = &t->app,
                                                             .system = &t->chip[f->chip].system,
                                                             .exec = &f->exec},
                                      &json, errors);
    }
    calc_text_free(&json);
    return status;
}

calc_status calc_plan_write(const calc_plan_task *t, const calc_planner_result *r,
                            calc_errors *errors)
{
    static void (*const write[FILES])(calc_output *, const calc_plan_task *,
                                      const calc_planner_result *) = {write_json, write_csv,
                                                                      write_best, NULL};
    for (int i = 0; i < FILES; i++) {
        const char *path = calc_opt_value(t->args, (int)files[i]);
        calc_output *out;
        if (path && !write[i]) {
            (void)!write_page(path, t, r, errors);
        } else if (path && calc_output_open(&out, path, errors) == CALC_OK) {
            write[i](out, t, r);
            (void)!calc_output_close(out, errors);
        }
    }
    return calc_errors_first(errors);
}
