#include "cli/plan/plan_room.h"

#include <math.h>
#include <string.h>

/* What comparable runs have in common: the one layout, or of the space what layouts begin with. */
static calc_exec typical(const calc_plan_task *t)
{
    calc_exec e = {0};
    if (t->planner.only) {
        return *t->planner.only;
    }
    for (int a = 0; a < CALC_AXIS_COUNT; a++) {
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

bool calc_plan_room_left(const calc_plan_task *t)
{
    bool left = false;
    for (int i = 0; i < t->chips; i++) {
        left = left || has_bytes(&t->planned[i]) < has_bytes(&t->chip[i]);
    }
    return left;
}

void calc_plan_room_write(calc_output *out, const calc_plan_task *t)
{
    if (!calc_plan_room_left(t)) {
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
