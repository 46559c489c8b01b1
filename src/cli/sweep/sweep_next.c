#include "cli/sweep/sweep_next.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "plan/why.h"
#include "spec/field.h"

enum { TEXT_SIZE = 512, SHOWN = 3 };

/* The least gain worth a line. */
static const double least_gain = 0.01;

/* The one axis in which two layouts differ; CALC_AXIS_COUNT: none or several do. */
static calc_axis one_axis(const calc_exec *a, const calc_exec *b)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    calc_axis found = CALC_AXIS_COUNT;
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        int type = (int)table->rows[axis].type;
        if (type != CALC_TYPE_NOTE && type != CALC_TYPE_OBJECT &&
            calc_axis_get(a, (calc_axis)axis) != calc_axis_get(b, (calc_axis)axis)) {
            if (found != CALC_AXIS_COUNT) {
                return CALC_AXIS_COUNT;
            }
            found = (calc_axis)axis;
        }
    }
    return found;
}

/* Whether a space searches a value of an axis: of those of which only the last legal one is taken,
 * the last. */
static bool is_searched(const calc_space *space, calc_axis axis, int64_t value)
{
    const calc_values *v = &space->axis[axis];
    return calc_space_has(space, axis, value) && (!v->last || value == v->value[v->count - 1]);
}

static bool runs(const calc_sweep_study *study, const calc_app *app, const calc_system *system,
                 const calc_exec *exec)
{
    const calc_sweep_options *o = &study->options;
    bool does = true;
    return !o->runs || (calc_is_yes(o->runs(o->runs_context, app, system, exec, &does)) && does);
}

/* The best changes, of a field each. */
static void write_changes(calc_output *out, const calc_sweep_study *study, const calc_app *app,
                          const calc_system *system, const calc_exec *exec, const calc_why *why)
{
    char text[TEXT_SIZE] = "";
    bool told[CALC_AXIS_COUNT] = {false};
    int shown = 0;
    for (size_t i = 0; i < why->count && shown < SHOWN; i++) {
        const calc_why_change *change = &why->change[i];
        double gain = calc_why_gain(why, change->value);
        calc_axis axis = gain >= least_gain ? one_axis(exec, &change->exec) : CALC_AXIS_COUNT;
        if (axis == CALC_AXIS_COUNT || told[axis] ||
            is_searched(&study->space, axis, calc_axis_get(&change->exec, axis)) ||
            !runs(study, app, system, &change->exec)) {
            continue;
        }
        calc_append(text, TEXT_SIZE, "%s%s: %.1f %% %s",
                    shown > 0 ? ", " : "not searched: ", change->text, 100 * gain,
                    why->up ? "more" : "less time");
        told[axis] = true;
        shown++;
    }
    if (shown > 0) {
        calc_append(text, TEXT_SIZE, " (--axis searches it)");
        calc_output_text(out, "  ");
        calc_help_wrapped(out, text, 2);
    }
}

/* Narrower matrix multiplications: another way to train, which somebody has to want. */
static void write_formats(calc_output *out, const calc_sweep_study *study, const calc_app *app,
                          const calc_system *system, const calc_exec *exec)
{
    static const calc_format formats[] = {CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT4};
    char text[TEXT_SIZE] = "";
    calc_stats before, after;
    calc_run(app, system, exec, CALC_COMPAT_NONE, &before);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        calc_errors errors = {0};
        calc_exec narrow = *exec;
        narrow.strategy.matrix_datatype = formats[i];
        narrow.strategy.scaling =
            formats[i] == CALC_FORMAT_FLOAT4 ? CALC_SCALING_BLOCK : exec->strategy.scaling;
        if (exec->strategy.matrix_datatype != CALC_FORMAT_AUTO ||
            calc_check(app, system, &narrow, &errors) != CALC_OK ||
            calc_run(app, system, &narrow, CALC_COMPAT_NONE, &after) != CALC_VERDICT_OK ||
            !runs(study, app, system, &narrow)) {
            continue;
        }
        const char *name =
            calc_table_of(CALC_KIND_EXEC)->rows[CALC_AXIS_matrix_datatype].choices[formats[i]];
        calc_append(text, TEXT_SIZE, "%s%s %.1f %% less time",
                    *text ? ", " : "the same in narrower numbers: ", name,
                    100 * (1 - after.total_time / before.total_time));
    }
    if (*text) {
        calc_append(text, TEXT_SIZE, " (--set matrix_datatype=float8)");
        calc_output_text(out, "  ");
        calc_help_wrapped(out, text, 2);
    }
}

calc_status calc_sweep_next_write(calc_output *out, const calc_sweep_study *study,
                                  const calc_found *layout)
{
    calc_app app;
    calc_system system;
    const calc_exec exec = calc_found_exec(layout);
    if (study->options.compat != CALC_COMPAT_NONE || !exec.training) {
        return CALC_OK;
    }
    calc_why *why = malloc(sizeof *why);
    if (!why) {
        return CALC_ERR_NOMEM;
    }
    study->designs.get(study->designs.context, layout->design, &app, &system);
    calc_why_find(&app, &system, &exec, why);
    write_changes(out, study, &app, &system, &exec, why);
    write_formats(out, study, &app, &system, &exec);
    free(why);
    return CALC_OK;
}
