#include "cli/plan/plan_even.h"

#include "base/error.h"
#include "plan/planner_balance.h"
#include "spec/stage_list.h"

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
