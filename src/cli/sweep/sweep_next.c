#include "cli/sweep/sweep_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "plan/sweep_more.h"
#include "plan/why.h"
#include "spec/value_text.h"

enum { REASON_SIZE = 192, MOST_COUNTED = 5000000 };

/* The size of the largest network among all designs, in words. */
static const char *largest_network(const calc_sweep_study *study, char text[REASON_SIZE])
{
    calc_app app;
    calc_system system;
    int64_t size = 0;
    for (uint64_t d = 0; d < study->designs.count; d++) {
        study->designs.get(study->designs.context, d, &app, &system);
        for (int64_t i = 0; i < system.networks_count; i++) {
            if (system.networks[i].size > size) {
                size = system.networks[i].size;
                snprintf(text, REASON_SIZE,
                         "at most %jd processors are on a network: --procs %jd, or --set "
                         "networks[%jd].size",
                         size, size, i);
            }
        }
    }
    return text;
}

/* Advice if a single reason excludes all layouts; NULL: no short advice. */
static const char *help_with(const calc_sweep_study *study, const calc_sweep_counts *counts,
                             char text[REASON_SIZE])
{
    bool served = study->space.inference.phase != CALC_INFERENCE_PHASE_NONE;
    bool narrow = !calc_space_has(&study->space, CALC_AXIS_weight_datatype, CALC_FORMAT_AUTO);
    if (counts->total > 0 && counts->rejected[CALC_VERDICT_MEM1_CAPACITY] == counts->total) {
        return served && narrow ? "use more processors"
               : served ? "use more processors, or narrower weights (--axis weight_datatype=float8)"
                        : "use more processors, or a narrower optimizer (--axis "
                          "optimizer_moment_datatype=bfloat16)";
    }
    if (counts->total > 0 && counts->rejected[CALC_VERDICT_NETWORK_SIZE] == counts->total) {
        return largest_network(study, text);
    }
    return counts->rejected[CALC_VERDICT_OVERLOADED] > 0 && counts->feasible == 0
               ? "use more processors"
               : NULL;
}

/* Names the layout that needs the least memory and its need, and the number of processors that
 * would help. */
static void write_need(const calc_sweep_need *need, const calc_space *space, const char *otherwise)
{
    const calc_exec *e = &need->least.exec;
    const calc_stats *s = &need->least.stats;
    calc_say("; the least needs %s of %s: tp/pp/dp %jd/%jd/%jd, micro-batch %jd; hint: --set "
             "mem1.GiB=%.0f lets it run",
             calc_human_bytes(s->proc_mem_tier1_cap_req), calc_human_bytes(s->mem_tier1_capacity),
             e->strategy.tensor_par, e->pipeline_par, e->strategy.data_par, e->microbatch_size,
             ceil(s->proc_mem_tier1_cap_req / 0x1p30));
    const char *before = ", ";
    for (size_t i = 0; need->spares && calc_sweep_need_axes[i] > 0; i++) {
        calc_axis axis = calc_sweep_need_axes[i];
        if (!calc_sweep_need_has(need, space, axis)) {
            const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
            const char *exec = (const char *)&need->sparing.exec;
            char value[CALC_VALUE_TEXT];
            calc_say("%s--axis %s=%s", before, field->key,
                     calc_value_text(field, exec + field->offset, value));
            before = " ";
        }
    }
    calc_say("%s", *before == ' ' ? " another one" : "");
    if (need->num_procs > 0) {
        calc_say(", --procs %jd another one", need->num_procs);
    } else if (otherwise) {
        calc_say("; %s", otherwise);
    }
}

/* Layouts skipped by bounds are counted by their reason, where that takes a second at most. */
static calc_sweep_counts count_all(const calc_sweep_study *study, const calc_sweep_result *result)
{
    const calc_sweep_counts *counts = &result->counts;
    calc_sweep_counts all = *counts;
    calc_errors errors = {0};
    calc_found best;
    bool found;
    if (!result->partial && counts->skipped > 0 && counts->total <= MOST_COUNTED &&
        study->options.constraints == 0 &&
        calc_sweep_found_search(study, true, &all, &found, &best, &errors) != CALC_OK) {
        return *counts;
    }
    return all;
}

/* How near layouts come to a condition on a statistic that meet all others; or, if none does, among
 * all that can run. */
static void write_nearest(const calc_sweep_study *study, calc_constraint *others, size_t index)
{
    const calc_constraint *c = &study->options.constraint[index];
    bool up = c->relation == CALC_RELATION_GE || c->relation == CALC_RELATION_GT;
    bool down = c->relation == CALC_RELATION_LE || c->relation == CALC_RELATION_LT;
    calc_sweep_study with = *study;
    calc_found nearest;
    calc_errors errors = {0};
    bool found = false;
    if (c->kind != CALC_KIND_STATS || !(up || down)) {
        return;
    }
    size_t count = 0;
    for (size_t i = 0; i < study->options.constraints; i++) {
        others[count] = study->options.constraint[i];
        count += i != index;
    }
    const char *text = CALC_TEXT(128, "%s:%s", c->field->key, up ? "up" : "down");
    with.options.constraint = others;
    with.options.constraints = count;
    if (calc_objective_parse(&with.options.top_by, text, &errors) != CALC_OK ||
        calc_sweep_found_search(&with, false, NULL, &found, &nearest, &errors) != CALC_OK) {
        return;
    }
    bool alone = !found && count > 0;
    with.options.constraints = 0;
    if (alone &&
        calc_sweep_found_search(&with, false, NULL, &found, &nearest, &errors) != CALC_OK) {
        return;
    }
    if (!found) {
        return;
    }
    calc_sweep_found run;
    calc_sweep_found_run(study, &nearest, &run);
    double value = calc_constraint_value(c, &run.exec, &run.stats);
    const char *unit = c->field->unit ? c->field->unit : "";
    double scaled = value / (c->field->scale > 0 ? c->field->scale : 1);
    const char *best = strcmp(unit, "s") == 0       ? calc_human_seconds(value)
                       : strcmp(unit, "bytes") == 0 ? calc_human_bytes(value)
                                                    : calc_human_number(scaled);
    calc_say("\n  %s is %s at best%s: tp/pp/dp %jd/%jd/%jd on %jd processors", c->field->key, best,
             alone ? " without the other conditions" : "", run.exec.strategy.tensor_par,
             run.exec.pipeline_par, run.exec.strategy.data_par, run.exec.num_procs);
}

/* The same of every condition, where that does not take long. */
static void write_conditions(const calc_sweep_study *study, const calc_sweep_result *result)
{
    size_t count = study->options.constraints;
    calc_constraint *others = calc_make(count, sizeof *others);
    for (size_t i = 0; i < count && calc_sweep_repeats(study, result, (double)count); i++) {
        write_nearest(study, others, i);
    }
    free(others);
}

void calc_sweep_infeasible(const calc_sweep_study *study, const calc_sweep_result *result)
{
    const calc_sweep_counts all = count_all(study, result);
    const calc_sweep_counts *counts = &all;
    char text[REASON_SIZE];
    calc_errors errors = {0};
    if (counts->total == 0 && calc_sweep_empty(study, &errors)) {
        calc_say("infeasible: no layout of the space is legal:\n");
        (void)calc_complain_errors(&errors);
        return;
    }
    const char *hint = help_with(study, counts, text);
    calc_say("infeasible: none of %s layouts can run", calc_human_integer((double)counts->total));
    const char *glue = ": ";
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        if (counts->rejected[v] > 0) {
            calc_say("%s%s %s", glue, calc_verdict_text((calc_verdict)v),
                     calc_human_integer((double)counts->rejected[v]));
            glue = ", ";
        }
    }
    if (counts->filtered > 0) {
        calc_say("%s--where %s", glue, calc_human_integer((double)counts->filtered));
        glue = ", ";
    }
    if (counts->refused > 0) {
        calc_say("%s--for %s %s", glue, study->options.runs_name,
                 calc_human_integer((double)counts->refused));
        glue = ", ";
    }
    if (counts->skipped > 0) {
        calc_say("%sskipped%s %s", glue,
                 study->options.constraints > 0 ? " by --where or bounds" : "",
                 calc_human_integer((double)counts->skipped));
    }
    calc_sweep_need need;
    calc_errors ignored = {0};
    if (counts->refused > 0 && study->options.constraints == 0) {
        calc_say("; hint: --for none shows what %s",
                 study->options.runs_context ? "it does not run" : "no framework runs");
    } else if (calc_is_yes(calc_sweep_need_find(&need, study, result, &ignored)) && need.known) {
        write_need(&need, &study->space, hint);
    } else if (hint) {
        calc_say("; hint: %s", hint);
    }
    write_conditions(study, result);
    calc_say("\n");
}

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

static bool runs(const calc_sweep_study *study, const calc_app *app, const calc_system *system,
                 const calc_exec *exec)
{
    const calc_sweep_options *o = &study->options;
    bool does = true;
    int known = 0;
    return !o->runs ||
           (calc_is_yes(o->runs(o->runs_context, app, system, exec, &known, &does)) && does);
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
        if (axis == CALC_AXIS_COUNT || told[axis]) {
            continue;
        }
        const calc_values *v = &study->space.axis[axis]; /* of some only the last legal one */
        int64_t value = calc_axis_get(&change->exec, axis);
        if ((calc_space_has(&study->space, axis, value) &&
             (!v->last || value == v->value[v->count - 1])) ||
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

/* Narrower matrix multiplications, where they save time: another way to train, which somebody has
 * to want. */
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
            after.total_time >= before.total_time || !runs(study, app, system, &narrow)) {
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

void calc_sweep_next_write(calc_output *out, const calc_sweep_study *study,
                           const calc_found *layout)
{
    calc_app app;
    calc_system system;
    const calc_exec exec = calc_found_exec(layout);
    if (study->options.compat != CALC_COMPAT_NONE || !exec.training) {
        return;
    }
    calc_why *why = calc_make(1, sizeof *why);
    study->designs.get(study->designs.context, layout->design, &app, &system);
    calc_why_find(&app, &system, &exec, why);
    write_changes(out, study, &app, &system, &exec, why);
    write_formats(out, study, &app, &system, &exec);
    free(why);
}
