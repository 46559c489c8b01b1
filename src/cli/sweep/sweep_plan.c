#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/shell/help.h"
#include "cli/sweep/sweep_study.h"
#include "cli/sweep/sweep_table.h"
#include "estimate.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/value_text.h"

enum { MOST_BARS = 10, LEAST_COLUMNS = 40 /* also on narrower terminals */ };

static double sample_s(const calc_sweep_found *found)
{
    return found->stats.total_time / (double)found->exec.batch_size;
}

static void write_bar(calc_output *out, const calc_paint *paint, const calc_sweep_found *found,
                      size_t rank, double full_s, int columns, bool seen[CALC_STACK_KINDS])
{
    enum { LEFT = 5, SIZES = 13, RIGHT = 11 };
    double time_s[CALC_STACK_KINDS];
    const calc_exec *e = &found->exec;
    calc_breakdown_kinds(&found->stats, time_s);
    for (int kind = 0; kind < CALC_STACK_KINDS; kind++) {
        time_s[kind] /= (double)e->batch_size;
        seen[kind] = seen[kind] || time_s[kind] > 0;
    }
    calc_output_printf(out, "%*zu %*s ", LEFT, rank, SIZES,
                       CALC_TEXT(80, "%" PRId64 "/%" PRId64 "/%" PRId64, e->strategy.tensor_par,
                                 e->pipeline_par, e->strategy.data_par));
    calc_stack_write(out, paint, time_s, full_s, columns - LEFT - SIZES - RIGHT - 2);
    calc_output_printf(out, "%*s\n", RIGHT, calc_human_seconds(sample_s(found)));
}

void calc_sweep_plot_write(calc_output *out, const calc_paint *paint, const calc_sweep_study *study,
                           const calc_sweep_result *result, int columns)
{
    const calc_front *top = &result->group[0].top;
    calc_sweep_found found[MOST_BARS];
    bool seen[CALC_STACK_KINDS] = {false};
    double full_s = 0;
    size_t count = top->count < MOST_BARS ? top->count : MOST_BARS;
    columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
    if (result->groups_count > 1 || study->space.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        calc_sweep_found_run(study, &top->item[i], &found[i]);
        full_s = sample_s(&found[i]) > full_s ? sample_s(&found[i]) : full_s;
    }
    if (!(full_s > 0)) {
        return;
    }
    calc_output_printf(out, "\nTime of a sample, best by %s:\n    #      tp/pp/dp\n",
                       study->options.top_by.field->key);
    for (size_t i = 0; i < count; i++) {
        write_bar(out, paint, &found[i], i + 1, full_s, columns, seen);
    }
    calc_stack_write_key(out, paint, seen, columns);
}

enum { TEXT_SIZE = 4096, VALUES_SHOWN = 4 };

/* Whether value `i` of many is shown: only the first few and the last are. */
static bool is_shown(size_t i, size_t count)
{
    return count <= VALUES_SHOWN + 1 || i < VALUES_SHOWN - 1 || i == count - 1;
}

static void add_value(char *out, calc_axis axis, int64_t value)
{
    calc_exec exec = {0};
    char text[CALC_VALUE_TEXT];
    calc_axis_put(&exec, axis, value);
    calc_value_text(calc_axis_field(axis), (const char *)&exec + calc_axis_offset(axis), text);
    calc_append(out, TEXT_SIZE, "%s", *text ? text : "none");
}

static void add_gap(char *out, size_t i, size_t count)
{
    bool gap = i > 0 && !is_shown(i - 1, count);
    calc_append(out, TEXT_SIZE, "%s", i == 0 ? " " : gap ? ",...," : ",");
}

/* The values of an axis, each behind a blank or a comma. */
static void add_values(char *out, const calc_space *space, calc_axis axis)
{
    const calc_values *values = &space->axis[axis];
    if (values->all) {
        calc_append(out, TEXT_SIZE, values->last ? " the last legal one" : " *");
    }
    if (values->last && values->count > 0) {
        calc_append(out, TEXT_SIZE, " ");
        add_value(out, axis, values->value[values->count - 1]);
        calc_append(out, TEXT_SIZE, " where it can be");
        return;
    }
    for (size_t i = 0; i < values->count; i++) {
        if (is_shown(i, values->count)) {
            add_gap(out, i, values->count);
            add_value(out, axis, values->value[i]);
        }
    }
    if (!is_shown(VALUES_SHOWN, values->count)) {
        calc_append(out, TEXT_SIZE, " (%zu)", values->count);
    }
}

static void add_exec_axis(char *out, const calc_space *space, calc_axis axis)
{
    bool maximum = axis == CALC_AXIS_batch_size && space->batch_is_maximum;
    bool each = axis == CALC_AXIS_batch_size && space->batch_is_of_replica;
    calc_append(out, TEXT_SIZE, "%s%s%s", *out ? "; " : "", calc_axis_field((calc_axis)axis)->key,
                each      ? " of a replica"
                : maximum ? " up to"
                          : "");
    add_values(out, space, axis);
}

/* Axes that nobody asked for: every legal value, or an absent optional field. */
static bool is_silent(const calc_space *space, calc_axis axis)
{
    const calc_values *values = &space->axis[axis];
    calc_exec exec;
    if (values->count != 1 || !calc_axis_is_optional(axis)) {
        return values->count == 0 && !calc_axis_is_optional(axis);
    }
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &exec);
    return values->value[0] == calc_axis_get(&exec, axis);
}

static void add_design_axis(char *out, const calc_design_axis *axis)
{
    calc_append(out, TEXT_SIZE, "%s%s", *out ? "; " : "", axis->path);
    for (size_t i = 0; i < axis->count; i++) {
        const calc_field *field = axis->ref.field;
        if (!is_shown(i, axis->count)) {
            continue;
        }
        add_gap(out, i, axis->count);
        if (field->type == CALC_TYPE_ENUM) {
            calc_append(out, TEXT_SIZE, "%s", field->choices[(size_t)axis->value[i]]);
        } else {
            calc_append(out, TEXT_SIZE, "%s", CALC_NUMBER(axis->value[i]));
        }
    }
    if (!is_shown(VALUES_SHOWN, axis->count)) {
        calc_append(out, TEXT_SIZE, " (%zu)", axis->count);
    }
}

/* The requests served, if the layouts serve. */
static void add_inference(char *out, const calc_space *space)
{
    for (int i = CALC_AXIS_EXEC_COUNT; i < CALC_AXIS_COUNT; i++) {
        const calc_axis axis = (calc_axis)i;
        const calc_field *field = calc_axis_field(axis);
        const calc_values *v = &space->axis[axis];
        const char *member = (const char *)&space->inference + field->offset;
        if (v->count <= 1 && calc_absent_is(field, member)) {
            continue;
        }
        bool one = v->count <= 1 && field->type != CALC_TYPE_OBJECT;
        calc_append(out, TEXT_SIZE, "%sinference.%s%s", *out ? "; " : "", field->key,
                    one ? " " : "");
        if (field->type == CALC_TYPE_SYSTEM || field->type == CALC_TYPE_ENGINE) {
            calc_append(out, TEXT_SIZE, "%s", member); /* their name */
        } else if (one) {
            add_value(out, axis, calc_axis_member(field, member));
        } else if (v->count > 1) {
            add_values(out, space, axis);
        }
    }
}

static void write_names(calc_output *out, const calc_designs_builder *b)
{
    char names[TEXT_SIZE] = "";
    for (size_t i = 0; i < b->apps; i++) {
        calc_append(names, TEXT_SIZE, "%s%s", i ? ", " : "", b->app[i].name);
    }
    for (size_t i = 0; i < b->systems; i++) {
        calc_append(names, TEXT_SIZE, "%s%s", i ? ", " : " on ", b->system[i].name);
    }
    calc_help_wrapped(out, names, 0);
}

/* Sizes of the sweep, the number format, and axes to which the user gave several values. */
static bool is_brief(const calc_space *space, calc_axis axis)
{
    const calc_values *values = &space->axis[axis];
    return axis == CALC_AXIS_num_procs || axis == CALC_AXIS_batch_size ||
           axis == CALC_AXIS_datatype ||
           (!values->standard && (values->count > 1 || (values->all && values->count == 0)));
}

void calc_sweep_plan_brief(calc_output *out, const calc_sweep_study *study)
{
    enum { FIXED_SHOWN = 6 };
    const calc_designs_builder *b = &study->builder;
    const calc_space *space = &study->space;
    char axes[TEXT_SIZE] = "";
    int fixed = 0;
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        fixed += !space->axis[axis].standard && !is_silent(space, (calc_axis)axis) &&
                 !is_brief(space, (calc_axis)axis);
    }
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        bool shown = is_brief(space, (calc_axis)axis) ||
                     (fixed <= FIXED_SHOWN && !space->axis[axis].standard);
        if (shown && !is_silent(space, (calc_axis)axis)) {
            add_exec_axis(axes, space, (calc_axis)axis);
        }
    }
    add_inference(axes, space);
    for (size_t i = 0; i < b->axes; i++) {
        add_design_axis(axes, &b->axis[i]);
    }
    if (fixed > FIXED_SHOWN) {
        calc_append(axes, TEXT_SIZE, "; %d fields fixed", fixed);
    }
    calc_append(axes, TEXT_SIZE, "; the rest by default: --plan lists it");
    write_names(out, b);
    calc_sweep_read_write_remarks(out, study);
    calc_output_text(out, "  ");
    calc_help_wrapped(out, axes, 2);
}

/* The usual choices, in columns, with the reason of each. */
static void write_reasons(calc_output *out, const calc_space *space)
{
    enum { FIELD_WIDTH = 23, VALUES_WIDTH = 24 };
    bool some = false;
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        char text[TEXT_SIZE] = "";
        const calc_values *values = &space->axis[axis];
        if (!values->reason) {
            continue;
        }
        add_values(text, space, (calc_axis)axis);
        calc_output_printf(out, "%s  %-*s%-*s  %s\n", some ? "" : "by default:\n", FIELD_WIDTH,
                           calc_axis_field((calc_axis)axis)->key, VALUES_WIDTH, text,
                           values->reason);
        some = true;
    }
}

void calc_sweep_plan_axes(calc_output *out, const calc_sweep_study *study)
{
    const calc_designs_builder *b = &study->builder;
    char axes[TEXT_SIZE] = "";
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        if (!is_silent(&study->space, (calc_axis)axis) && !study->space.axis[axis].reason) {
            add_exec_axis(axes, &study->space, (calc_axis)axis);
        }
    }
    add_inference(axes, &study->space);
    for (size_t i = 0; i < b->axes; i++) {
        add_design_axis(axes, &b->axis[i]);
    }
    if (study->options.runs_name) {
        calc_append(axes, TEXT_SIZE, "; what %s runs",
                    study->options.runs_context ? study->options.runs_name : "some framework");
    }
    calc_append(axes, TEXT_SIZE, "; every legal value of the rest");
    write_names(out, b);
    calc_sweep_read_write_remarks(out, study);
    calc_output_text(out, "  ");
    calc_help_wrapped(out, axes, 2);
    write_reasons(out, &study->space);
}

static void write_number(calc_output *out, double value, const char *what)
{
    calc_output_printf(out, "%18s  %s\n", calc_human_integer(value), what);
}

/* All digits of a count that exceeds the precision of a double. */
static void write_count(calc_output *out, uint64_t count, const char *what)
{
    char digits[24];
    char grouped[32];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            grouped[at++] = ',';
        }
        grouped[at++] = digits[i];
    }
    grouped[at] = '\0';
    calc_output_printf(out, "%18s  %s\n", grouped, what);
}

/* Names what slows the sweep down: statistics that only calc_run() computes. */
static void write_needs(calc_output *out, const calc_sweep_study *study, bool by_run)
{
    const calc_sweep_options *o = &study->options;
    char what[TEXT_SIZE] = "";
    const char *who = by_run ? "every layout is evaluated as calc run does: "
                             : "what is found is evaluated as calc run does: ";
    if (study->space.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        calc_append(what, TEXT_SIZE, "%sserving", who);
    }
    const char *slow = calc_space_by_run(&study->space);
    if (slow) {
        calc_append(what, TEXT_SIZE, "%s%s", *what ? ", " : who, slow);
    }
    for (size_t i = 0; i <= o->objectives; i++) {
        const calc_objective *one = i == 0 ? &o->top_by : &o->objective[i - 1];
        if (one->kind == CALC_OBJECTIVE_OTHER && (i > 0 || o->top > 0)) {
            calc_append(what, TEXT_SIZE, "%s%s", *what ? ", " : who, one->field->key);
        }
    }
    for (size_t i = 0; i < o->constraints; i++) {
        if (o->constraint[i].when == CALC_CONDITION_OTHER) {
            calc_append(what, TEXT_SIZE, "%s--where %s", *what ? ", " : who,
                        o->constraint[i].field->key);
        }
    }
    if (*what) {
        calc_output_printf(out, "%20s", "");
        calc_help_wrapped(out, what, 20);
    }
}

static void write_work(calc_output *out, const calc_sweep_study *study, const calc_census *census,
                       const calc_sweep_estimate *estimate)
{
    const calc_sweep_counts *counts = &census->counts;
    uint64_t left = counts->total;
    calc_output_text(out, "\n");
    write_count(out, counts->total, "layouts");
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        if (counts->rejected[v] > 0) {
            write_count(out, counts->rejected[v],
                        CALC_TEXT(64, "rejected: %s", calc_verdict_text((calc_verdict)v)));
            left -= counts->rejected[v];
        }
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = study->options.threads > 0 ? study->options.threads : cores > 0 ? (int)cores : 1;
    write_count(out, left, "to evaluate, or to skip by bounds");
    write_count(out, study->designs.count, "designs: models, machines, swept fields");
    write_number(out, census->units, "units of work, each with one table of blocks");
    write_number(out, (double)census->most_rows, "rows at most in such a table");
    struct rusage usage; /* of this process so far, one thread included */
    getrusage(RUSAGE_SELF, &usage);
    calc_output_printf(out, "%18s  of memory, about\n",
                       calc_human_bytes(1024. * (double)usage.ru_maxrss +
                                        (threads - 1) * estimate->thread_bytes +
                                        estimate->found_bytes));
    calc_output_printf(out,
                       "%18s  with %d thread%s and nothing else to do, measured on %s layouts\n",
                       calc_human_seconds(estimate->cpu_s / threads), threads,
                       threads == 1 ? "" : "s", calc_human_integer(estimate->layouts));
    write_needs(out, study, estimate->by_run);
}

calc_status calc_sweep_plan_work(calc_output *out, const calc_sweep_study *study,
                                 calc_errors *errors)
{
    calc_census census;
    calc_sweep_estimate estimate;
    calc_status status =
        calc_census_take(&census, &study->space, &study->designs, study->options.compat, errors);
    status = status == CALC_OK ? calc_sweep_estimate_of(&study->space, &study->designs,
                                                        &study->options, &census, &estimate, errors)
                               : status;
    if (status == CALC_OK) {
        write_work(out, study, &census, &estimate);
    }
    calc_census_free(&census);
    return status;
}
