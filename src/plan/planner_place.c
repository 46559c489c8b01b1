#include "plan/planner_place.h"

#include <string.h>

#include "spec/stage_list.h"

/* ---- Places ---------------------------------------------------------------------------------- */

/* A walk over places: the kinds so far, and the stages that are left. */
typedef struct walk {
    const calc_planner *planner;
    int64_t procs; /* of a stage */
    calc_planner_visit *visit;
    void *context;
    calc_planner_place place;
} walk;

static bool is_used(const calc_planner_place *place, int chip)
{
    for (int i = 0; i < place->kinds; i++) {
        if (place->chip[i] == chip) {
            return true;
        }
    }
    return false;
}

static bool place_rest(walk *w, int64_t stages)
{
    calc_planner_place *p = &w->place;
    if (stages == 0) {
        return w->visit(w->context, p);
    }
    int first = w->planner->keep_order && p->kinds > 0 ? p->chip[p->kinds - 1] + 1 : 0;
    for (int chip = first; chip < w->planner->chips; chip++) {
        if (is_used(p, chip)) {
            continue;
        }
        int64_t most = w->planner->chip[chip].most_procs / w->procs;
        most = most < stages ? most : stages;
        int at = p->kinds++;
        p->chip[at] = chip;
        for (int64_t n = 1; n <= most; n++) {
            p->stages[at] = (int32_t)n;
            if (!place_rest(w, stages - n)) {
                return false;
            }
        }
        p->kinds--;
    }
    return true;
}

bool calc_planner_places(const calc_planner *planner, const calc_exec *exec,
                         calc_planner_visit *visit, void *context)
{
    walk w = {.planner = planner,
              .procs = exec->num_procs / exec->pipeline_par,
              .visit = visit,
              .context = context};
    return place_rest(&w, exec->pipeline_par);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

bool calc_planner_layouts_of(const calc_planner *planner, const calc_exec *exec,
                             calc_planner_layouts *l)
{
    const calc_stage_run none = {1, CALC_STAGE_AS_EXEC, 0, CALC_STAGE_AS_EXEC, 0, 0};
    const calc_stage_run full = {
        1, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, CALC_ACTIVATION_RECOMPUTE_FULL, 0, 0};
    bool any = false;
    calc_errors ignored = {0};
    l->none = calc_stage_list_exec(exec, &none);
    l->full = calc_stage_list_exec(exec, &full);
    l->full.recompute_blocks = 0;
    l->recompute = planner->recompute;
    for (int i = 0; i < planner->chips; i++) {
        const calc_system *system = &planner->chip[i].system;
        l->legal[i] = calc_check(planner->app, system, &l->none, &ignored) == CALC_OK;
        any = any || l->legal[i];
        if (!l->legal[i]) {
            continue;
        }
        l->recompute =
            l->recompute && calc_check(planner->app, system, &l->full, &ignored) == CALC_OK;
        calc_layout_of(planner->app, system, &l->none, CALC_COMPAT_NONE, NULL, &l->of_none[i]);
        calc_layout_of(planner->app, system, &l->full, CALC_COMPAT_NONE, NULL, &l->of_full[i]);
    }
    for (int i = 0; i < planner->chips; i++) {
        l->chip[i] = l->recompute ? (calc_balance_chip){&l->of_full[i], NULL, &l->of_none[i]}
                                  : (calc_balance_chip){&l->of_none[i], NULL, NULL};
    }
    return any;
}

const char *calc_planner_problem(const calc_planner *planner, const calc_planner_layouts *l,
                                 const calc_planner_place *place,
                                 calc_balance_chip chip[CALC_MAX_CHIPS], calc_balance_problem *out)
{
    int of_stage[CALC_BALANCE_STAGES];
    int stage = 0;
    if (l->none.pipeline_schedule == CALC_PIPELINE_SCHEDULE_ZB_V ||
        l->none.pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V) {
        return "under ZB-V or DualPipeV has both ends of the model on its stages, which a list of "
               "stages does not say";
    }
    for (int i = 0; i < place->kinds; i++) {
        chip[i] = l->chip[place->chip[i]];
        if (!l->legal[place->chip[i]]) {
            return "that one of the chips cannot run";
        }
        for (int n = 0; n < place->stages[i] && stage < CALC_BALANCE_STAGES; n++) {
            of_stage[stage++] = i;
        }
    }
    const char *why = calc_balance_of_layouts(chip, place->kinds, of_stage, out);
    if (why) {
        return why;
    }
    out->alike_on_chip = planner->alike_on_chip;
    int stages = (int)out->shape.stages;
    for (int at = 0; at < stages * out->shape.chunks; at++) {
        int here = of_stage[calc_balance_stage_of(&out->shape, at)];
        int last = (int)(stages * out->shape.chunks) - 1;
        int next = at < last ? of_stage[calc_balance_stage_of(&out->shape, at + 1)] : here;
        int before = at > 0 ? of_stage[calc_balance_stage_of(&out->shape, at - 1)] : here;
        double join_s = planner->join_latency_s * chip[here].full->exposed;
        out->place[at].fw_s += next != here ? join_s : 0;
        out->place[at].agrad_s += before != here ? join_s : 0;
    }
    return NULL;
}

/* ---- Divisions ------------------------------------------------------------------------------- */

/* Names for the stages of several chips; a run on one chip needs none. */
static void name_chips(const calc_planner *planner, const calc_planner_place *place,
                       calc_stage_list *list, uint8_t number[CALC_MAX_CHIPS])
{
    for (int i = 0; i < place->kinds; i++) {
        /* With the largest number of chips the first is the run's own system, without a name. */
        bool named = place->kinds > 1 && (i > 0 || place->kinds < CALC_MAX_CHIPS);
        const calc_planner_chip *chip = &planner->chip[place->chip[i]];
        number[i] = named ? (uint8_t)calc_stage_list_chip(list, chip->name) : 0;
        if (number[i] > 0) {
            list->system[number[i] - 1] = &chip->system;
        }
    }
}

calc_exec calc_planner_exec_of(const calc_planner *planner, const calc_planner_layouts *l,
                               const calc_planner_place *place, const calc_balance_problem *problem,
                               const calc_balance_share *share)
{
    calc_exec e = l->none;
    calc_stage_run run[CALC_MAX_PLACES];
    uint8_t number[CALC_MAX_CHIPS] = {0};
    int64_t places = problem->shape.stages * problem->shape.chunks;
    name_chips(planner, place, &e.stages, number);
    e.stages.join_latency_s = place->kinds > 1 ? planner->join_latency_s : 0;
    for (int64_t at = 0; at < places && at < CALC_MAX_PLACES; at++) {
        const calc_balance_share *s = &share[at];
        int again = s->full[0] + s->full[1];
        int stage = calc_balance_stage_of(&problem->shape, (int)at);
        run[at] = (calc_stage_run){
            .places = 1,
            .blocks = (int16_t)(s->layers[0] + s->layers[1]),
            .recompute_blocks = (int16_t)again,
            .recompute = again > 0 ? CALC_ACTIVATION_RECOMPUTE_FULL : CALC_STAGE_AS_EXEC,
            .chip = number[problem->stage[stage].chip],
        };
    }
    if (!calc_stage_list_pack(run, places, &e.stages)) {
        e.stages.count = 0; /* more runs than a list has */
    }
    return e;
}
