#include "cli/plan/plan_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/start.h"
#include "formats/refusal.h"
#include "io/json_save.h"
#include "model/stages/placed.h"
#include "plan/planner_place.h"
#include "spec/stage_list.h"

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
        sum += p->layered ? 0 : c->recompute_blocks;
        for (int i = c->part; p->layered && i < c->part + c->parts; i++) {
            const calc_strategy *s = &p->recipe_exec[p->part[i].recipe].strategy;
            bool full = s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
            sum += full ? p->part[i].dense + p->part[i].moe : 0;
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
    calc_stage_stats *stats = calloc(*count + 1, sizeof *stats);
    calc_plan_row *stage = calloc(*count, sizeof *stage);
    calc_placed *placed = malloc(sizeof *placed);
    if (!stats || !stage || !placed) {
        calc_end_without_memory(); /* a table without its rows would be another answer */
    }
    calc_each_stage(&t->app, system, &e, CALC_COMPAT_NONE, stats, *count);
    calc_placed_of(&t->app, system, &e, CALC_COMPAT_NONE, NULL, placed);
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
        const calc_fits_query query = {&t->app, stage[i].system, exec,
                                       calc_fits_family(&t->known, stage[i].name, fitted),
                                       stage[i].stats.mem_tier1};
        least = fmin(least, calc_fits_share(&t->known, &query));
    }
    free(stage);
    return least;
}

calc_status calc_plan_rows_runs(const void *task, int chip, const calc_exec *exec, bool *runs)
{
    const calc_plan_task *t = task;
    return calc_export_starts(&t->app, &t->chip[chip].system, exec, runs);
}

const calc_planner_found *calc_plan_rows_start(const calc_plan_task *t,
                                               const calc_planner_result *r, size_t *rank)
{
    for (*rank = 1; *rank <= r->count + r->starts; ++*rank) {
        const calc_planner_found *f = *rank > r->count ? &r->start : &r->found[*rank - 1];
        if (calc_start_exists(&t->app, &t->chip[f->chip].system, &f->exec) &&
            calc_fits_is_sure(calc_plan_rows_fits(t, f->chip, &f->exec))) {
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
        uint8_t *chip = &list->run[i].chip;
        *chip = *chip > 0 ? *chip : (uint8_t)calc_stage_list_chip(list, t->chip[f->chip].name);
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
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "system", s->name);
        calc_put_number(put, "mem_tier1_capacity", s->system->chip.mem1.capacity_bytes);
        calc_put_number(put, "recomputed_blocks", s->recomputed);
        calc_put_number(put, "idle", s->idle);
        if (isfinite(s->message_s)) {
            calc_put_number(put, "message_time", s->message_s);
        }
        calc_put_struct(put, "stats", CALC_KIND_STAGE, &s->stats);
        calc_put_close(put);
    }
    calc_put_close(put);
    free(stage);
}

/* ---- With stages that are all alike ---------------------------------------------------------- */

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

/* ---- The memory that is planned for ---------------------------------------------------------- */

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

void calc_plan_room_take(calc_plan_task *t)
{
    const calc_exec exec = typical(t);
    bool all = calc_opt_value(t->args, CALC_PLAN_OPT_ALL_MEMORY) != NULL;
    memcpy(t->planned, t->chip, sizeof t->planned);
    for (int i = 0; i < t->chips && !all; i++) {
        double *bytes = &t->planned[i].system.chip.mem1.capacity_bytes;
        const calc_fits_query query = {
            .app = &t->app,
            .system = &t->chip[i].system,
            .exec = &exec,
            .family = calc_fits_family(&t->known, t->chip[i].name, t->fitted[i]),
            .need_bytes = *bytes};
        *bytes = fmin(*bytes, calc_fits_of(&t->known, &query).sure_bytes);
    }
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
    calc_output_text(out, "Planned within ");
    for (int i = 0; i < t->chips; i++) {
        calc_output_printf(out, "%s%.2f of the %.2f GiB of %s", i > 0 ? ", " : "",
                           has_bytes(&t->planned[i]) / 0x1p30, has_bytes(&t->chip[i]) / 0x1p30,
                           t->chip[i].name);
    }
    calc_output_text(out, ", which is 90 % sure to fit; --all-memory: all.\n");
}

void calc_plan_room_lack(const calc_plan_task *t, const calc_planner_result *r)
{
    char needs[CALC_HUMAN_MAX], has[CALC_HUMAN_MAX];
    bool left = plan_room_left(t);
    calc_say("calc plan: no layout fits");
    if (r->candidates == 0) {
        calc_say(": no layout of this many processors and this batch is legal\n");
    } else if (r->has_bytes > 0) {
        const calc_exec *e = &r->lacking;
        calc_say(": the nearest%s, tensor_par %lld, pipeline_par %lld, data_par %lld, needs %s",
                 t->listed ? " whose layers are alike" : "", (long long)e->strategy.tensor_par,
                 (long long)e->pipeline_par, (long long)e->strategy.data_par,
                 calc_human_bytes(r->needs_bytes, needs));
        if (!t->listed) {
            calc_say(" on stage %d, which has", r->lacking_stage);
        }
        calc_say("%s %s%s\n", t->listed ? " of" : "", calc_human_bytes(r->has_bytes, has),
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
    p.curve = false;
    p.progress = NULL;
    p.runs = NULL;
    return t->listed ? calc_planner_layers_run(&p, out, errors) : calc_planner_run(&p, out, errors);
}
