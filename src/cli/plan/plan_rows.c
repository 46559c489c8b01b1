#include "cli/plan/plan_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formats/refusal.h"
#include "io/json_save.h"
#include "model/stages/placed.h"
#include "spec/stage_list.h"

const calc_system *calc_plan_system(const calc_plan_task *t, const calc_planner_found *f)
{
    return &t->chip[f->chip].system;
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
    calc_stage_stats *stats = calloc(*count + 1, sizeof *stats);
    calc_plan_row *stage = *count > 0 ? calloc(*count, sizeof *stage) : NULL;
    calc_placed *placed = malloc(sizeof *placed);
    if (stats && stage && placed) {
        calc_each_stage(&t->app, system, &e, CALC_COMPAT_NONE, stats, *count);
        calc_placed_of(&t->app, system, &e, CALC_COMPAT_NONE, NULL, placed);
        fill(t, chip, &exec->stages, placed, stats, *count, stage);
    } else {
        free(stage);
        stage = NULL;
        *count = 0;
    }
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

const char *calc_plan_rows_mark(const calc_plan_task *t, int chip, const calc_exec *exec)
{
    return calc_export_starts(&t->app, &t->chip[chip].system, exec) ? " " : "!";
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
