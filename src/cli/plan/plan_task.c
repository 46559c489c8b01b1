#include "cli/plan/plan_task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "base/error.h"
#include "calibrate/standard_errors.h"
#include "cli/plan/plan_rows.h"
#include "cli/shell/complain.h"
#include "cli/shell/known_runs.h"
#include "cli/shell/list.h"
#include "defaults.h"
#include "formats/refusal.h"
#include "session/study_load.h"

/* ---- Model and chips ------------------------------------------------------------------------- */

static void load_app(calc_plan_task *t, calc_errors *errors)
{
    calc_input input = {0};
    calc_status status =
        calc_input_load(&input, CALC_KIND_APP, &t->app, t->args->argument[0], errors);
    snprintf(t->app_name, sizeof t->app_name, "%s", input.name);
    if (status == CALC_OK) {
        calc_input_remark(&input, CALC_KIND_APP, &t->app, t->remark[0]);
    }
    calc_text_free(&input.text);
}

static void load_chip(calc_plan_task *t, const char *word, calc_errors *errors)
{
    calc_input input = {0};
    if (t->chips == CALC_MAX_CHIPS) {
        calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                        "at most %d kinds of processors in one pipeline", CALC_MAX_CHIPS);
        return;
    }
    calc_planner_chip *chip = &t->chip[t->chips];
    calc_status status = calc_input_load(&input, CALC_KIND_SYSTEM, &chip->system, word, errors);
    if (status == CALC_OK) {
        /* What an execution names must be found again: a path as it is, if it is short enough. */
        snprintf(chip->name, sizeof chip->name, "%.31s",
                 strlen(word) < sizeof chip->name ? word : input.name);
        chip->most_procs = INT64_MAX;
        calc_standard_errors fitted;
        calc_standard_errors_read(&fitted, &input.text);
        snprintf(t->fitted[t->chips], sizeof t->fitted[0], "%s", fitted.machine);
        t->chips++;
        calc_input_remark(&input, CALC_KIND_SYSTEM, &chip->system, t->remark[t->chips]);
    }
    calc_text_free(&input.text);
}

static void load_chips(calc_plan_task *t, calc_errors *errors)
{
    calc_list list = {0};
    if (!calc_list_split(&list, t->args->argument[1])) {
        calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                        "name one machine at least, for example h100_sxm", "SYS %s",
                        *t->args->argument[1] ? "has an empty name" : "is empty");
    }
    for (size_t i = 0; i < list.count; i++) {
        load_chip(t, list.item[i], errors);
    }
    for (int i = 1; i < t->chips; i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(t->chip[i].name, t->chip[k].name) == 0) {
                calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, NULL,
                                "%s is named twice", t->chip[i].name);
            }
        }
    }
}

static calc_status bad_cap(const char *word, const char *text, calc_errors *errors)
{
    return calc_errors_at(errors, CALC_ERR_RANGE, "--chips", 0, 0,
                          "give NAME:NUMBER of every SYS, for example a800:128,h800:160",
                          "\"%.100s\" %s", word, text);
}

/* --chips a800:128,h800 */
static void take_caps(calc_plan_task *t, calc_errors *errors)
{
    const char *text = calc_opt_value(t->args, CALC_PLAN_OPT_CHIPS);
    bool seen[CALC_MAX_CHIPS] = {false};
    calc_list list = {0};
    if (text && !calc_list_split(&list, text)) {
        bad_cap(text, "has an empty name", errors);
    }
    for (size_t k = 0; k < list.count; k++) {
        char word[CALC_LIST_SIZE];
        snprintf(word, sizeof word, "%s", list.item[k]);
        char *colon = strrchr(word, ':');
        double most = -1;
        int i = 0;
        if (colon && !calc_opt_number(colon + 1, true, -1, 1e9, &most)) {
            bad_cap(word, "has no number of processors behind its colon", errors);
            continue;
        }
        if (most == 0) {
            bad_cap(word, "has no processors", errors);
        }
        *(colon ? colon : word + strlen(word)) = '\0';
        while (i < t->chips && strcmp(t->chip[i].name, word) != 0) {
            i++;
        }
        if (i == t->chips) {
            bad_cap(word, "is no SYS of this plan", errors);
        } else if (seen[i]) {
            bad_cap(word, "is given twice", errors);
        } else {
            seen[i] = true;
            t->chip[i].most_procs = most > 0 ? (int64_t)most : INT64_MAX;
        }
    }
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static void set_axis(calc_plan_task *t, const char *key, const char *item, const char *name,
                     calc_errors *errors)
{
    const calc_axis_text text = {.key = key, .item = &item, .count = 1, .name = name};
    (void)!calc_axis_set(&t->space, &t->builder, &text, errors);
}

/* Model and machines are changed at once; what is of the layout is an axis of one value. */
static void take_set(calc_plan_task *t, const char *text, calc_errors *errors)
{
    calc_exec none = {0};
    calc_field_ref where = {.kind = CALC_KIND_NONE};
    calc_app app = t->app;
    calc_system system = t->chip[0].system;
    calc_errors ignored = {0};
    if (!calc_is_yes(calc_set(&app, &system, &none, text, &where, &ignored)) ||
        where.kind == CALC_KIND_EXEC) {
        (void)!calc_axis_assign_one(&t->space, &t->builder, text, errors);
        return;
    }
    t->app = where.kind == CALC_KIND_APP ? app : t->app;
    for (int i = 0; i < t->chips && where.kind == CALC_KIND_SYSTEM; i++) {
        (void)!calc_set(&app, &t->chip[i].system, &none, text, &where, errors);
    }
}

static void take_procs(calc_plan_task *t, calc_errors *errors)
{
    const char *procs = calc_opt_value(t->args, CALC_PLAN_OPT_PROCS);
    char sum[32];
    int64_t all = 0;
    for (int i = 0; i < t->chips; i++) {
        bool capped = t->chip[i].most_procs < INT64_MAX && all >= 0;
        all = capped ? all + t->chip[i].most_procs : -1;
    }
    if (procs) {
        set_axis(t, "num_procs", procs, "--procs", errors);
        calc_values *v = &t->space.axis[CALC_AXIS_num_procs];
        if (all > 0 && errors->count == 0 && v->count > 0 && v->value[v->count - 1] > all) {
            calc_errors_at(errors, CALC_ERR_RANGE, "--procs", 0, 0, "lower it, or raise --chips",
                           "%lld processors, but the chips are %lld together",
                           (long long)v->value[v->count - 1], (long long)all);
        }
        return;
    }
    if (all > 0) {
        snprintf(sum, sizeof sum, "%lld", (long long)all);
        set_axis(t, "num_procs", sum, "--chips", errors);
    } else {
        calc_errors_at(errors, CALC_ERR_FIELD, "--procs", 0, 0, "for example --procs 512",
                       "nothing says how many processors there are");
    }
}

/* A plan that no framework can run is of little use. */
static void take_runnable(calc_plan_task *t)
{
    const char *how = calc_opt_value(t->args, CALC_PLAN_OPT_RECOMPUTE);
    bool told = true;
    t->planner.ends_alone = true;
    for (int i = 0; i < t->chips; i++) {
        const calc_system *system = &t->chip[i].system;
        told = told && calc_export_says(system, CALC_HOW_RECOMPUTED);
        t->planner.ends_alone = t->planner.ends_alone && calc_export_says(system, CALC_HOW_STAGES);
    }
    t->planner.alike_on_chip = how ? strcmp(how, "chip") == 0 : !told;
}

/* --layers: the axes give the strategies that layers may have. */
static void take_layers(calc_plan_task *t, calc_errors *errors)
{
    if (t->chips > 1) {
        calc_errors_at(errors, CALC_ERR_UNSUPPORTED, "--layers", 0, 0,
                       "plan each machine by itself",
                       "layers are listed on processors of one kind, not on %d: what a layer of "
                       "one kind of split takes differs from chip to chip, and so does its list",
                       t->chips);
    }
    const calc_values *trained = &t->space.axis[CALC_AXIS_trained];
    if (trained->all ||
        (trained->count > 0 && trained->value[trained->count - 1] != CALC_TRAINED_ALL)) {
        calc_errors_at(errors, CALC_ERR_UNSUPPORTED, "--layers", 0, 0, "leave --layers out",
                       "frozen weights of layers that are listed are not modelled");
    }
}

static void take_space(calc_plan_task *t, calc_errors *errors)
{
    if (calc_space_init(&t->space) != CALC_OK) {
        calc_errors_no_memory(errors);
        return;
    }
    t->space.batch_is_maximum = false;
    for (size_t i = 0; i < t->args->use_count; i++) {
        const calc_opt_use *use = &t->args->use[i];
        if (use->opt == CALC_PLAN_OPT_SET) {
            take_set(t, use->value, errors);
        } else if (use->opt == CALC_PLAN_OPT_AXIS) {
            (void)!calc_axis_assign(&t->space, &t->builder, use->value, errors);
        }
    }
    if (calc_designs_add_app(&t->builder, t->app_name, &t->app) != CALC_OK ||
        calc_designs_add_system(&t->builder, t->chip[0].name, &t->chip[0].system) != CALC_OK) {
        calc_errors_no_memory(errors);
    }
    take_procs(t, errors);
    const char *batch = calc_opt_value(t->args, CALC_PLAN_OPT_BATCH);
    if (batch) {
        set_axis(t, "batch_size", batch, "--batch", errors);
    } else if (t->space.axis[CALC_AXIS_batch_size].count == 0) {
        calc_errors_at(errors, CALC_ERR_FIELD, "--batch", 0, 0, "for example --batch 512",
                       "nothing says how large the batch is");
    }
    if (!t->planner.recompute && t->space.axis[CALC_AXIS_activation_recompute].standard) {
        set_axis(t, "activation_recompute", "none", "--recompute", errors);
    }
    if (t->listed) {
        take_layers(t, errors);
    }
    if (errors->count == 0 && calc_defaults_modern(&t->space, &t->builder) != CALC_OK) {
        calc_errors_no_memory(errors);
    }
    (void)!calc_study_software(&t->space, calc_find_document, NULL, errors);
    if (errors->count == 0) {
        (void)!calc_designs_make(&t->builder, &t->planner.design, errors);
    }
}

/* --balance-only: one layout. */
static void take_only(calc_plan_task *t, const char *argument, calc_errors *errors)
{
    calc_input input = {0};
    calc_status status = calc_input_load(&input, CALC_KIND_EXEC, &t->only, argument, errors);
    if (status == CALC_OK) {
        snprintf(t->exec_name, sizeof t->exec_name, "%s", input.name);
        status = calc_inputs_set(t->args, CALC_PLAN_OPT_SET, &t->app, &t->chip[0].system, &t->only,
                                 errors);
    }
    if (status == CALC_OK) {
        t->only.stages = (calc_stage_list){0};
        t->only.first_stage_blocks = t->only.last_stage_blocks = 0;
        t->only.pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
        calc_resolve(&t->app, &t->chip[0].system, &t->only);
        (void)!calc_check(&t->app, &t->chip[0].system, &t->only, errors);
        t->planner.only = &t->only;
        calc_errors_locate(errors, CALC_KIND_EXEC, input.text.data, input.text.length, input.path);
    }
    calc_text_free(&input.text);
}

static void take_number(calc_plan_task *t, calc_plan_opt opt, bool whole, double lo, double hi,
                        double *out, calc_errors *errors)
{
    const char *text = calc_opt_value(t->args, (int)opt);
    char name[64];
    snprintf(name, sizeof name, "--%s", calc_plan_opts[opt].name);
    if (text && !calc_opt_number(text, whole, lo, hi, out)) {
        calc_errors_at(errors, CALC_ERR_RANGE, name, 0, 0, NULL,
                       "expected a %snumber from %.15g to %.15g, found \"%.100s\"",
                       whole ? "whole " : "", lo, hi, text);
    }
}

calc_status calc_plan_task_load(calc_plan_task *t, const calc_args *args, calc_errors *errors)
{
    const char *only = calc_opt_value(args, CALC_PLAN_OPT_BALANCE_ONLY);
    double top = 5, threads = 0;
    t->args = args;
    t->listed = calc_opt_value(args, CALC_PLAN_OPT_LAYERS) != NULL;
    load_app(t, errors);
    load_chips(t, errors);
    (void)calc_known_runs_try(&t->known);
    if (errors->count > 0) {
        return calc_errors_first(errors);
    }
    take_caps(t, errors);
    const char *recompute = calc_opt_value(args, CALC_PLAN_OPT_RECOMPUTE);
    t->planner.recompute = !recompute || strcmp(recompute, "none") != 0;
    if (only) {
        take_only(t, only, errors);
    } else {
        take_space(t, errors);
    }
    take_number(t, CALC_PLAN_OPT_TOP, true, 1, 1000, &top, errors);
    take_number(t, CALC_PLAN_OPT_THREADS, true, 1, 4096, &threads, errors);
    take_number(t, CALC_PLAN_OPT_JOIN, false, 0, 1, &t->planner.join_latency_s, errors);
    t->planner.app = &t->app;
    t->planner.chips = t->chips;
    t->planner.chip = t->planned;
    t->planner.space = &t->space;
    t->planner.keep_order = calc_opt_value(args, CALC_PLAN_OPT_KEEP_ORDER) != NULL;
    t->planner.top = (size_t)top;
    t->planner.threads = (int)threads;
    t->planner.runs = calc_plan_rows_runs;
    t->planner.runs_context = t;
    t->planner.curve = true;
    take_runnable(t);
    calc_plan_room_take(t);
    return calc_errors_first(errors);
}

void calc_plan_task_free(calc_plan_task *t)
{
    calc_residuals_free(&t->known);
    calc_space_free(&t->space);
    calc_designs_builder_free(&t->builder);
}
