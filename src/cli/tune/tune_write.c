#include "cli/tune/tune_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/shell/start.h"
#include "cli/sweep/sweep_read.h"
#include "cli/tune/tune_table.h"
#include "io/json_put.h"
#include "report/page.h"
#include "report/sweep_data.h"
#include "spec/field.h"

/* ---- Choices of a layout --------------------------------------------------------------------- */

static const char *const choices[] = {"tensor_par",      "pipeline_par", "data_par",
                                      "context_par",     "expert_par",   "pipeline_interleaving",
                                      "microbatch_size", "zero_stage"};
enum { CHOICES = sizeof choices / sizeof *choices };

/* In that order. @return what it recomputes */
static const char *choices_of(const calc_exec *e, int64_t value[CHOICES])
{
    const calc_strategy *s = &e->strategy;
    const int64_t is[CHOICES] = {s->tensor_par,
                                 e->pipeline_par,
                                 s->data_par,
                                 s->context_par > 0 ? s->context_par : 1,
                                 s->expert_par > 0 ? s->expert_par : 1,
                                 e->pipeline_interleaving,
                                 e->microbatch_size,
                                 s->zero_stage};
    memcpy(value, is, sizeof is);
    return calc_table_find(calc_table_of(CALC_KIND_EXEC), "activation_recompute")
        ->choices[s->activation_recompute];
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_id(calc_put *put, const char *key, const calc_tune_task *t, size_t candidate)
{
    char id[CALC_TUNE_ID_SIZE];
    calc_put_text(put, key, calc_tune_layouts_id(&t->layouts, candidate, id));
}

/* What runs a layout, and what starts it. */
static void put_commands(calc_put *put, const calc_tune_task *t, size_t candidate)
{
    char path[CALC_FIND_PATH_MAX];
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
    calc_tune_loop_path(t, candidate, path);
    calc_start_put(put, &(calc_start){.args = t->args,
                                      .set = CALC_TUNE_OPT_SET,
                                      .app = &t->app,
                                      .system = &t->system,
                                      .exec = &exec,
                                      .names = {t->args->argument[0], t->args->argument[1], path}});
}

/* Whether an option says how the answer is told, and changes nothing in it. */
static bool is_telling(int opt)
{
    static const calc_tune_opt telling[] = {
        CALC_TUNE_OPT_NEXT, CALC_TUNE_OPT_TOP,     CALC_TUNE_OPT_JSON,    CALC_TUNE_OPT_CSV,
        CALC_TUNE_OPT_HTML, CALC_TUNE_OPT_THREADS, CALC_TUNE_OPT_PROGRESS};
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
        if (opt == (int)telling[i]) {
            return true;
        }
    }
    return false;
}

/* The command that decides this. */
static void put_command(calc_put *put, const calc_args *args)
{
    calc_put_array(put, "command", CALC_PUT_LINE);
    calc_put_text(put, NULL, "calc");
    calc_put_text(put, NULL, "tune");
    for (size_t i = 0; i < args->argument_count; i++) {
        calc_put_text(put, NULL, args->argument[i]);
    }
    for (size_t i = 0; i < args->use_count; i++) {
        const calc_opt *opt = &calc_tune_opts[args->use[i].opt];
        char name[64];
        snprintf(name, sizeof name, "--%s", opt->name);
        if (!is_telling(args->use[i].opt)) {
            calc_put_text(put, NULL, name);
            if (opt->value) {
                calc_put_text(put, NULL, args->use[i].value);
            }
        }
    }
    calc_put_close(put);
}

static void put_asked(calc_put *put, const calc_tune_task *t)
{
    calc_put_text(put, "application", t->app_name);
    calc_put_text(put, "system", t->system_name);
    calc_sweep_put_remarks(put, &t->study);
    calc_put_text(put, "chooser", calc_tune_chooser_word(t->options.chooser));
    calc_put_count(put, "seed", (int64_t)t->options.seed);
    calc_put_number(put, "worth", t->options.worth);
    calc_put_number(put, "stop_below", t->options.stop);
    calc_put_number(put, "noise", t->options.noise);
}

static void put_decision(calc_put *put, const calc_tune_task *t, const calc_tune_decision *d)
{
    char path[CALC_FIND_PATH_MAX];
    calc_put_count(put, "contenders", (int64_t)d->contenders);
    calc_put_number(put, "left_out", d->left_out);
    calc_put_number(put, "chance", d->chance);
    calc_put_flag(put, "stop", d->stop);
    if (d->best != SIZE_MAX) {
        put_id(put, "best", t, d->best);
        calc_put_number(put, "best_s", d->best_s);
        if (t->way != CALC_TUNE_WAY_SIMULATE) { /* which writes no executions */
            calc_put_object(put, "start", CALC_PUT_LINE);
            put_commands(put, t, d->best);
            calc_put_close(put);
        }
    }
    calc_put_array(put, "next", CALC_PUT_LINES);
    for (size_t i = 0; i < d->picks && !d->stop; i++) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_id(put, "layout", t, d->pick[i]);
        calc_put_text(put, "exe", calc_tune_loop_path(t, d->pick[i], path));
        put_commands(put, t, d->pick[i]);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_measured(calc_put *put, const calc_tune_task *t, const calc_tune_decision *d)
{
    calc_put_array(put, "measured", CALC_PUT_LINES);
    for (size_t i = 0; i < t->measurements; i++) {
        const calc_tune_measurement *m = &t->measurement[i];
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_id(put, "layout", t, m->candidate);
        calc_put_text(put, "outcome", calc_tune_end_word(m->end));
        calc_put_number(put, "step_s", m->end == CALC_TUNE_END_FINE ? m->step_s : (double)NAN);
        calc_put_number(put, "memory_bytes", m->memory_bytes);
        calc_put_number(put, "surprise", d->surprise[i]);
        if (t->truth_s) {
            calc_put_number(put, "true_s", t->truth_s[m->candidate]);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void put_layout(calc_put *put, const calc_tune_task *t, const calc_tune_decision *d,
                       size_t candidate)
{
    const calc_tune_candidate *c = &t->layouts.candidate[candidate];
    const calc_tune_outlook *o = &d->outlook[candidate];
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
    int64_t value[CHOICES];
    const char *recompute = choices_of(&exec, value);
    calc_put_object(put, NULL, CALC_PUT_LINE);
    put_id(put, "layout", t, candidate);
    calc_put_count(put, "rank", (int64_t)candidate + 1);
    for (int i = 0; i < CHOICES; i++) {
        calc_put_count(put, choices[i], value[i]);
    }
    calc_put_text(put, "activation_recompute", recompute);
    calc_put_number(put, "predicted_s", c->step_s);
    calc_put_number(put, "p5_s", o->p5_s);
    calc_put_number(put, "p50_s", o->p50_s);
    calc_put_number(put, "p95_s", o->p95_s);
    calc_put_number(put, "predicted_bytes", c->memory_bytes);
    calc_put_number(put, "p50_bytes", o->memory_p50_bytes);
    calc_put_number(put, "capacity_bytes", c->capacity_bytes);
    calc_put_number(put, "p_best", o->best);
    calc_put_number(put, "p_fits", o->fits);
    calc_put_number(put, "gain", o->gain);
    calc_put_number(put, "measured_s", calc_tune_order_mean(t, candidate));
    calc_put_close(put);
}

static void put_truth(calc_put *put, const calc_tune_task *t, const calc_tune_decision *d)
{
    double regret, best_s;
    bool found = calc_tune_order_regret(t, d, &best_s, &regret);
    calc_put_object(put, "truth", CALC_PUT_LINE);
    calc_put_count(put, "seed", (int64_t)t->truth_seed);
    calc_put_number(put, "best_s", best_s);
    calc_put_number(put, "regret", found ? regret : (double)NAN);
    calc_put_close(put);
}

static void write_json(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                       const size_t *order)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    put_asked(&put, t);
    calc_put_count(&put, "candidates", (int64_t)t->layouts.count);
    put_decision(&put, t, d);
    put_command(&put, t->args);
    if (t->way == CALC_TUNE_WAY_SIMULATE) {
        put_truth(&put, t, d);
    }
    if (t->options.kernels) {
        calc_tune_operators_put(&put, &t->operators);
    }
    put_measured(&put, t, d);
    calc_put_array(&put, "layouts", CALC_PUT_LINES);
    for (size_t i = 0; i < t->layouts.count; i++) {
        put_layout(&put, t, d, order[i]);
    }
    calc_put_close(&put);
    calc_put_end(&put);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void write_number(calc_output *out, double value)
{
    calc_output_printf(out, isfinite(value) ? ",%.17g" : ",", value);
}

static void write_row(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                      size_t candidate)
{
    const calc_exec exec = calc_tune_layouts_exec(&t->layouts, candidate);
    const calc_tune_candidate *c = &t->layouts.candidate[candidate];
    const calc_tune_outlook *o = &d->outlook[candidate];
    int64_t value[CHOICES];
    const char *recompute = choices_of(&exec, value);
    char id[CALC_TUNE_ID_SIZE];
    calc_output_printf(out, "%s,%zu", calc_tune_layouts_id(&t->layouts, candidate, id),
                       candidate + 1);
    for (int i = 0; i < CHOICES; i++) {
        calc_output_printf(out, ",%lld", (long long)value[i]);
    }
    calc_output_printf(out, ",%s", recompute);
    const double number[] = {c->step_s,
                             o->p5_s,
                             o->p50_s,
                             o->p95_s,
                             o->best,
                             o->fits,
                             o->gain,
                             c->memory_bytes / 0x1p30,
                             o->memory_p50_bytes / 0x1p30,
                             calc_tune_order_mean(t, candidate)};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        write_number(out, number[i]);
    }
    calc_output_text(out, "\n");
}

static void write_csv(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                      const size_t *order)
{
    calc_output_text(out, "layout,rank");
    for (int i = 0; i < CHOICES; i++) {
        calc_output_printf(out, ",%s", choices[i]);
    }
    calc_output_text(out, ",activation_recompute,predicted_s,p5_s,p50_s,p95_s,p_best,p_fits,gain,"
                          "predicted_gib,p50_gib,measured_s\n");
    for (size_t i = 0; i < t->layouts.count; i++) {
        write_row(out, t, d, order[i]);
    }
}

/* ---- The page -------------------------------------------------------------------------------- */

static void write_page(calc_output *out, const calc_tune_task *t, const calc_tune_decision *d,
                       const size_t *order)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_TUNE);
    calc_put_key(&put, "tune");
    write_json(out, t, d, order);
    calc_page_end(&put, CALC_PAGE_TUNE);
}

void calc_tune_write_page_of(calc_output *out, const calc_text *json)
{
    calc_put put = calc_page_begin(out, CALC_PAGE_TUNE);
    calc_put_key(&put, "tune");
    calc_output_write(out, json->data, json->length);
    calc_page_end(&put, CALC_PAGE_TUNE);
}

/* ---- Files ----------------------------------------------------------------------------------- */

calc_status calc_tune_write(const calc_tune_task *t, const calc_tune_decision *d,
                            calc_errors *errors)
{
    static const struct {
        calc_tune_opt opt;
        void (*write)(calc_output *, const calc_tune_task *, const calc_tune_decision *,
                      const size_t *);
    } files[] = {{CALC_TUNE_OPT_JSON, write_json},
                 {CALC_TUNE_OPT_CSV, write_csv},
                 {CALC_TUNE_OPT_HTML, write_page}};
    size_t *order = calc_tune_order_make(t, d);
    if (!order) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = calc_opt_value(t->args, (int)files[i].opt);
        calc_output *out;
        if (path && calc_output_open(&out, path, errors) == CALC_OK) {
            files[i].write(out, t, d, order);
            (void)!calc_output_close(out, errors);
        }
    }
    free(order);
    return calc_errors_first(errors);
}
