#include "cli/plan/plan_task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/help.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "defaults.h"
#include "formats/export.h"
#include "io/json_put.h"
#include "model/stages/placed.h"
#include "plan/planner_place.h"
#include "session/study_load.h"
#include "spec/stage_list.h"

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
        bool path = calc_find_is_path(word) && strlen(word) < sizeof chip->name;
        snprintf(chip->name, sizeof chip->name, "%.31s", path ? word : input.name);
        chip->most_procs = INT64_MAX;
        snprintf(t->fitted[t->chips], sizeof t->fitted[0], "%s",
                 calc_remark_read(&input.text).calibrated);
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
                        "name one machine at least, for example h100_sxm", "SYS has an empty name");
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
    calc_list list = {0}, own = {0};
    (void)calc_list_split(&own, t->args->argument[1]);
    if (text && !calc_list_split(&list, text)) {
        bad_cap(text, "has an empty name", errors);
    }
    for (size_t k = 0; k < list.count; k++) {
        char *word = CALC_TEXT(CALC_LIST_SIZE, "%s", list.item[k]);
        char *colon = strrchr(word, ':');
        double most = -1;
        int i = 0;
        if (colon && !calc_decimal_read(colon + 1, true, -1, 1e9, &most)) {
            bad_cap(word, "has no number of processors behind its colon", errors);
            continue;
        }
        if (most == 0) {
            bad_cap(word, "has no processors", errors);
        }
        *(colon ? colon : word + strlen(word)) = '\0';
        while (i < t->chips && strcmp(t->chip[i].name, word) != 0 &&
               strcmp(own.item[i], word) != 0) {
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
        (void)!calc_axis_assign(&t->space, &t->builder, true, text, errors);
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
                           "%jd processors, but the chips are %jd together", v->value[v->count - 1],
                           all);
        }
        return;
    }
    if (all > 0) {
        set_axis(t, "num_procs", CALC_TEXT(32, "%jd", all), "--chips", errors);
    } else {
        calc_errors_at(errors, CALC_ERR_FIELD, "--procs", 0, 0, "for example --procs 512",
                       "nothing says how many processors there are");
    }
}

/* --per-layer: the axes give the strategies that layers may have. */
static void take_layers(calc_plan_task *t, calc_errors *errors)
{
    if (t->chips > 1) {
        calc_errors_at(errors, CALC_ERR_UNSUPPORTED, "--per-layer", 0, 0,
                       "plan each machine by itself",
                       "layers are listed on processors of one kind, not on %d: what a layer of "
                       "one kind of split takes differs from chip to chip, and so does its list",
                       t->chips);
    }
    const calc_values *trained = &t->space.axis[CALC_AXIS_trained];
    if (trained->all ||
        (trained->count > 0 && trained->value[trained->count - 1] != CALC_TRAINED_ALL)) {
        calc_errors_at(errors, CALC_ERR_UNSUPPORTED, "--per-layer", 0, 0, "leave --per-layer out",
                       "lists of layers are searched for training of all weights alone");
    }
}

static void take_space(calc_plan_task *t, calc_errors *errors)
{
    (void)calc_is_yes(calc_space_init(&t->space));
    t->space.batch_is_maximum = false;
    for (size_t i = 0; i < t->args->use_count; i++) {
        const calc_opt_use *use = &t->args->use[i];
        if (use->opt == CALC_PLAN_OPT_SET) {
            take_set(t, use->value, errors);
        } else if (use->opt == CALC_PLAN_OPT_AXIS) {
            (void)!calc_axis_assign(&t->space, &t->builder, false, use->value, errors);
        }
    }
    if (t->space.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        calc_errors_at(errors, CALC_ERR_UNSUPPORTED, "--set inference.phase", 0, 0,
                       "calc sweep finds layouts that serve", "stages are planned for training");
        return;
    }
    (void)calc_is_yes(calc_designs_add_app(&t->builder, t->app_name, &t->app));
    (void)calc_is_yes(calc_designs_add_system(&t->builder, t->chip[0].name, &t->chip[0].system));
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
    if (errors->count == 0) {
        (void)calc_is_yes(calc_defaults_modern(&t->space, &t->builder));
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

/* Blocks that a stage recomputes in full, in all its chunks. */
static double recomputed(const calc_placed *p, size_t stage, double blocks)
{
    const calc_exec *e = p->exec;
    double sum = 0;
    if (!p->listed) {
        bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
        return !full ? 0 : e->recompute_blocks > 0 ? (double)e->recompute_blocks : blocks;
    }
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_placed_chunk *c = &p->chunk[k * p->stages + (int64_t)stage];
        sum += p->layered || calc_planner_keeps_part(e) ? 0 : c->recompute_blocks;
        for (int i = c->part; p->layered && i < c->part + c->parts; i++) {
            const calc_strategy *s = &p->recipe_exec[p->part[i].recipe].strategy;
            bool full = s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
            sum += full ? p->part[i].class.dense + p->part[i].class.moe : 0;
        }
    }
    return sum;
}

static void fill(const calc_plan_task *t, int chip, const calc_stage_list *list,
                 const calc_placed *p, const calc_stage_stats *s, size_t count, calc_plan_row *out)
{
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t places = calc_stage_list_expand(list, place);
    double slowest_s = 0;
    for (size_t i = 0; i < count; i++) {
        slowest_s = fmax(slowest_s, s[i].fw_time + s[i].bw_time);
    }
    for (size_t i = 0; i < count; i++) {
        calc_placed_stage at;
        int on = places > 0 ? place[i].chip : 0;
        calc_placed_stage_of(p, (int64_t)i, &at);
        out[i] = (calc_plan_row){
            .system = on > 0 ? list->system[on - 1] : p->system,
            .name = on > 0 ? list->name[on - 1] : t->chip[chip].name,
            .recomputed = recomputed(p, i, s[i].blocks),
            .idle = 1 - (s[i].fw_time + s[i].bw_time) / slowest_s,
            .message_s = i + 1 < count ? at.links.message_s : (double)NAN,
            .stats = s[i],
        };
    }
}

calc_plan_row *calc_plan_rows_make(const calc_plan_task *t, int chip, const calc_exec *exec,
                                   size_t *count)
{
    const calc_system *system = &t->chip[chip].system;
    calc_exec e = *exec;
    calc_resolve(&t->app, system, &e);
    *count = calc_each_stage(&t->app, system, &e, CALC_COMPAT_NONE, NULL, 0);
    if (*count == 0) {
        return NULL;
    }
    calc_stage_stats *stats = calc_make(*count + 1, sizeof *stats);
    calc_plan_row *stage = calc_make(*count, sizeof *stage);
    calc_placed *placed = calc_make(1, sizeof *placed);
    calc_each_stage(&t->app, system, &e, CALC_COMPAT_NONE, stats, *count);
    calc_placed_of(&t->app, system, &e, CALC_COMPAT_NONE, NULL, NULL, placed);
    fill(t, chip, &exec->stages, placed, stats, *count, stage);
    free(stats);
    free(placed);
    return stage;
}

double calc_plan_rows_fits(const calc_plan_task *t, int chip, const calc_exec *exec)
{
    size_t count;
    calc_plan_row *stage = calc_plan_rows_make(t, chip, exec, &count);
    double least = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        const char *fitted = "";
        for (int k = 0; k < t->chips; k++) {
            fitted = strcmp(t->chip[k].name, stage[i].name) == 0 ? t->fitted[k] : fitted;
        }
        const calc_fits_query query = {&t->app,
                                       stage[i].system,
                                       exec,
                                       calc_fits_family(&t->known, stage[i].name, fitted),
                                       stage[i].stats.mem_tier1,
                                       NULL};
        least = fmin(least, calc_fits_share(&t->known, &query));
    }
    free(stage);
    return least;
}

/* calc_planner.runs. @param task  a calc_plan_task */
static bool calc_plan_rows_runs(const void *task, int chip, const calc_exec *exec)
{
    const calc_plan_task *t = task;
    return calc_start_exists(&t->app, &t->chip[chip].system, exec);
}

const calc_planner_found *calc_plan_rows_start(const calc_plan_task *t,
                                               const calc_planner_result *r, size_t *rank)
{
    for (*rank = 1; *rank <= r->count + r->starts; ++*rank) {
        const calc_planner_found *f = *rank > r->count ? &r->start : &r->found[*rank - 1];
        if (calc_start_exists(&t->app, &t->chip[f->chip].system, &f->exec) &&
            !(calc_plan_rows_fits(t, f->chip, &f->exec) < CALC_FITS_SURE)) {
            *rank = *rank > r->count ? 0 : *rank;
            return f;
        }
    }
    return NULL;
}

calc_exec calc_plan_rows_named(const calc_plan_task *t, const calc_planner_found *f)
{
    calc_exec e = f->exec;
    calc_stage_list *list = &e.stages;
    if (!t->listed && list->count == 0) {
        list->count = 1;
        list->run[0] = (calc_stage_run){(int16_t)e.pipeline_par,
                                        CALC_STAGE_AS_EXEC,
                                        CALC_STAGE_AS_EXEC,
                                        CALC_STAGE_AS_EXEC,
                                        0,
                                        0};
    }
    for (int32_t i = 0; i < list->count && !t->listed; i++) {
        int16_t *chip = &list->run[i].chip;
        *chip = *chip > 0 ? *chip : (int16_t)calc_stage_list_chip(list, t->chip[f->chip].name);
    }
    return e;
}

void calc_plan_rows_put(calc_put *put, const calc_plan_task *t, int chip, const calc_exec *exec)
{
    size_t count;
    calc_plan_row *stage = calc_plan_rows_make(t, chip, exec, &count);
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        const calc_plan_row *s = &stage[i];
        calc_putf(put, "{system: %s, mem_tier1_capacity: %g, recomputed_blocks: %g, idle: %g",
                  s->name, s->system->chip.mem1.capacity_bytes, s->recomputed, s->idle);
        if (isfinite(s->message_s)) {
            calc_put_number(put, "message_time", s->message_s);
        }
        calc_put_struct(put, "stats", CALC_KIND_STAGE, &s->stats);
        calc_put_close(put);
    }
    calc_put_close(put);
    free(stage);
}

/* Where the chips stand, with as many blocks on every place, the first ones with what is left. */
static bool even_places(const calc_app *app, const calc_exec *exec, bool full, calc_exec *out)
{
    calc_stage_run place[CALC_MAX_PLACES];
    int64_t count = calc_stage_list_expand(&exec->stages, place);
    *out = *exec;
    for (int64_t i = 0; i < count; i++) {
        place[i].blocks = (int16_t)(app->num_blocks / count + (i < app->num_blocks % count));
        place[i].recompute = full ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_STAGE_AS_EXEC;
        place[i].recompute_blocks = full ? place[i].blocks : 0;
    }
    return count > 0 && calc_stage_list_pack(place, count, &out->stages);
}

bool calc_plan_even(const calc_plan_task *t, const calc_planner_found *f, calc_exec *exec,
                    calc_stats *stats)
{
    const calc_system *system = &t->chip[f->chip].system;
    if (f->place.kinds == 1) {
        return calc_planner_even(&t->planner, &f->base, f->place.chip[0], exec, stats);
    }
    for (int full = 0; full <= (int)t->planner.recompute; full++) {
        calc_errors ignored = {0};
        if (even_places(&t->app, &f->exec, full, exec) &&
            calc_check(&t->app, system, exec, &ignored) == CALC_OK &&
            calc_run(&t->app, system, exec, CALC_COMPAT_NONE, stats) == CALC_VERDICT_OK) {
            return true; /* recomputation is slower where memory does not ask for it */
        }
    }
    return false;
}

const char *calc_plan_even_words(const calc_planner_found *f)
{
    return f->place.kinds > 1 ? "equally many blocks on every stage" : "stages that are all alike";
}

bool calc_plan_even_recomputed(const calc_exec *even)
{
    return even->stages.count > 0
               ? even->stages.run[0].recompute_blocks > 0
               : even->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
}

/* What comparable runs have in common: the one layout, or of the space what layouts begin with. */
static calc_exec typical(const calc_plan_task *t)
{
    calc_exec e = {0};
    if (t->planner.only) {
        return *t->planner.only;
    }
    for (int a = 0; a < CALC_AXIS_EXEC_COUNT; a++) {
        const calc_values *v = &t->space.axis[a];
        if (v->count > 0) {
            calc_axis_put(&e, (calc_axis)a, v->value[0]);
        }
    }
    return e;
}

calc_status calc_plan_task_load(calc_plan_task *t, const calc_args *args, calc_errors *errors)
{
    const char *only = calc_opt_value(args, CALC_PLAN_OPT_BALANCE_ONLY);
    t->args = args;
    t->listed = calc_opt_value(args, CALC_PLAN_OPT_PER_LAYER) != NULL;
    calc_input input = {0};
    if (calc_input_load(&input, CALC_KIND_APP, &t->app, args->argument[0], errors) == CALC_OK) {
        calc_input_remark(&input, CALC_KIND_APP, &t->app, t->remark[0]);
    }
    snprintf(t->app_name, sizeof t->app_name, "%s", input.name);
    calc_text_free(&input.text);
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
    t->planner.join_latency_s = calc_opt_real(args, CALC_PLAN_OPT_JOIN);
    t->planner.app = &t->app;
    t->planner.chips = t->chips;
    t->planner.chip = t->planned;
    t->planner.space = &t->space;
    t->planner.keep_order = calc_opt_value(args, CALC_PLAN_OPT_KEEP_ORDER) != NULL;
    t->planner.top = (size_t)calc_opt_real(args, CALC_PLAN_OPT_TOP);
    t->planner.threads = (int)calc_opt_real(args, CALC_PLAN_OPT_THREADS);
    t->planner.runs = calc_plan_rows_runs;
    t->planner.runs_context = t;
    t->planner.curve = true;
    /* A plan that no framework can run is of little use. */
    bool told = true;
    t->planner.ends_alone = true;
    for (int i = 0; i < t->chips; i++) {
        const calc_system *system = &t->chip[i].system;
        told = told && calc_export_says(system, CALC_HOW_RECOMPUTED);
        t->planner.ends_alone = t->planner.ends_alone && calc_export_says(system, CALC_HOW_STAGES);
    }
    t->planner.alike_on_chip = recompute ? strcmp(recompute, "chip") == 0 : !told;
    const calc_exec exec = typical(t);
    bool all = calc_opt_value(args, CALC_PLAN_OPT_ALL_MEMORY) != NULL;
    memcpy(t->planned, t->chip, sizeof t->planned);
    for (int i = 0; i < t->chips && !all; i++) { /* as much memory as is planned for */
        double *bytes = &t->planned[i].system.chip.mem1.capacity_bytes;
        const calc_fits_query query = {
            .app = &t->app,
            .system = &t->chip[i].system,
            .exec = &exec,
            .family = calc_fits_family(&t->known, t->chip[i].name, t->fitted[i]),
            .need_bytes = *bytes};
        *bytes = fmin(*bytes, calc_fits_of(&t->known, &query).sure_bytes);
    }
    return calc_errors_first(errors);
}

void calc_plan_room_give(const calc_plan_task *t, int chip, calc_exec *exec, calc_stats *stats)
{
    calc_stage_list *list = &exec->stages;
    for (int k = 0; k < list->chips; k++) {
        for (int i = 0; i < t->chips; i++) {
            list->system[k] =
                list->system[k] == &t->planned[i].system ? &t->chip[i].system : list->system[k];
        }
    }
    calc_run(&t->app, &t->chip[chip].system, exec, CALC_COMPAT_NONE, stats);
}

static double has_bytes(const calc_planner_chip *chip)
{
    return chip->system.chip.mem1.capacity_bytes;
}

/* Whether some of the memory is left free. */
static bool plan_room_left(const calc_plan_task *t)
{
    bool left = false;
    for (int i = 0; i < t->chips; i++) {
        left = left || has_bytes(&t->planned[i]) < has_bytes(&t->chip[i]);
    }
    return left;
}

void calc_plan_room_write(calc_output *out, const calc_plan_task *t)
{
    if (!plan_room_left(t)) {
        return;
    }
    char text[2048] = "Planned within ";
    for (int i = 0; i < t->chips; i++) {
        calc_append(text, sizeof text, "%s%.2f of the %.2f GiB of %s", i > 0 ? ", " : "",
                    has_bytes(&t->planned[i]) / 0x1p30, has_bytes(&t->chip[i]) / 0x1p30,
                    t->chip[i].name);
    }
    calc_append(text, sizeof text, ", which is 90 %% sure to fit; --all-memory: all.");
    calc_help_wrapped(out, text, 0);
}

void calc_plan_room_lack(const calc_plan_task *t, const calc_planner_result *r)
{
    bool left = plan_room_left(t);
    calc_say(r->complete ? "calc plan: no layout fits"
                         : "calc plan: stopped early, and none found so far fits");
    if (r->candidates == 0 && r->complete) {
        calc_say(": no layout of this many processors and this batch is legal\n");
    } else if (r->has_bytes > 0) {
        const calc_exec *e = &r->lacking;
        calc_say(": the nearest%s, tensor_par %jd, pipeline_par %jd, data_par %jd, needs %s",
                 t->listed ? " whose layers are alike" : "", e->strategy.tensor_par,
                 e->pipeline_par, e->strategy.data_par, calc_human_bytes(r->needs_bytes));
        if (!t->listed) {
            calc_say(" on stage %d, which has", r->lacking_stage);
        }
        calc_say("%s %s%s\n", t->listed ? " of" : "", calc_human_bytes(r->has_bytes),
                 left ? " to be 90 % sure" : "");
        calc_say("  hint: more processors, a smaller micro-batch, or more memory%s\n",
                 left ? "; --all-memory fills all there is" : "");
    } else {
        calc_say("\n");
    }
}

calc_status calc_plan_rows_more(const calc_plan_task *t, const calc_exec *only,
                                calc_planner_result *out, calc_errors *errors)
{
    calc_planner p = t->planner;
    calc_planner_chip chip[CALC_MAX_CHIPS];
    memcpy(chip, t->planned, sizeof chip);
    for (int i = 0; i < t->chips; i++) {
        chip[i].system.chip.mem1.capacity_bytes += 0x1p30;
    }
    p.chip = chip;
    p.only = only;
    p.top = 1;
    p.within = 0;
    p.curve = false;
    p.progress = NULL;
    p.runs = NULL;
    return t->listed ? calc_planner_layers_run(&p, out, errors) : calc_planner_run(&p, out, errors);
}
