#include "cli/sweep/sweep_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/help.h"
#include "estimate.h"
#include "rows.h"
#include "spec/absent.h"
#include "spec/choice_set.h"
#include "spec/field.h"
#include "units.h"

enum { TEXT_SIZE = 4096, VALUES_SHOWN = 4 };

/* ---- Axes ------------------------------------------------------------------------------------ */

/* Whether value `i` of many is shown: the first few and the last. */
static bool is_shown(size_t i, size_t count)
{
    return count <= VALUES_SHOWN + 1 || i < VALUES_SHOWN - 1 || i == count - 1;
}

static void add_exec_value(char *out, calc_axis axis, int64_t value)
{
    const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
    char number[32];
    if (field->type == CALC_TYPE_ENUM) {
        calc_append(out, TEXT_SIZE, "%s", field->choices[value]);
    } else if (field->type == CALC_TYPE_REAL) {
        calc_append(out, TEXT_SIZE, "%s",
                    calc_number_text(calc_axis_number(axis, value), 1, number));
    } else if (field->type == CALC_TYPE_SET) {
        char set[CALC_CHOICE_SET_SIZE];
        calc_append(out, TEXT_SIZE, "%s",
                    value ? calc_choice_set_text(field->choices, value, set) : "none");
    } else if (field->type == CALC_TYPE_BOOL) {
        calc_append(out, TEXT_SIZE, "%s", value ? "true" : "false");
    } else {
        calc_append(out, TEXT_SIZE, "%" PRId64, value);
    }
}

static void add_gap(char *out, size_t i, size_t count)
{
    bool gap = i > 0 && !is_shown(i - 1, count);
    calc_append(out, TEXT_SIZE, "%s", i == 0 ? " " : gap ? ",...," : ",");
}

static void add_exec_axis(char *out, const calc_space *space, calc_axis axis)
{
    const calc_values *values = &space->axis[axis];
    bool maximum = axis == CALC_AXIS_batch_size && space->batch_is_maximum;
    calc_append(out, TEXT_SIZE, "%s%s%s", *out ? "; " : "",
                calc_table_of(CALC_KIND_EXEC)->rows[axis].key, maximum ? " up to" : "");
    if (values->all) {
        calc_append(out, TEXT_SIZE, " *");
    }
    if (values->last) {
        calc_append(out, TEXT_SIZE, " ");
        add_exec_value(out, axis, values->value[values->count - 1]);
        calc_append(out, TEXT_SIZE, " where it can be");
        return;
    }
    for (size_t i = 0; i < values->count; i++) {
        if (is_shown(i, values->count)) {
            add_gap(out, i, values->count);
            add_exec_value(out, axis, values->value[i]);
        }
    }
    if (!is_shown(VALUES_SHOWN, values->count)) {
        calc_append(out, TEXT_SIZE, " (%zu)", values->count);
    }
}

/* Axes that nobody asked for: every legal value, or an optional field that is not there. */
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
        char number[32];
        const calc_field *field = axis->ref.field;
        if (!is_shown(i, axis->count)) {
            continue;
        }
        add_gap(out, i, axis->count);
        if (field->type == CALC_TYPE_ENUM) {
            calc_append(out, TEXT_SIZE, "%s", field->choices[(size_t)axis->value[i]]);
        } else {
            calc_append(out, TEXT_SIZE, "%s", calc_number_text(axis->value[i], 1, number));
        }
    }
    if (!is_shown(VALUES_SHOWN, axis->count)) {
        calc_append(out, TEXT_SIZE, " (%zu)", axis->count);
    }
}

/* What is served, where something is. */
static void add_inference(char *out, const calc_inference *inference)
{
    const calc_field *row = calc_table_find(calc_table_of(CALC_KIND_EXEC), "inference");
    for (size_t i = 0; i < row->table->count; i++) {
        char number[32];
        const calc_field *field = &row->table->rows[i];
        const char *member = (const char *)inference + field->offset;
        double value = calc_member_number(field, member);
        if (!calc_absent_is(field, member)) {
            calc_append(out, TEXT_SIZE, "%sinference.%s %s", *out ? "; " : "", field->key,
                        field->type == CALC_TYPE_ENUM ? field->choices[(size_t)value]
                                                      : calc_number_text(value, 1, number));
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

/* How large the sweep is, the number format, and what has several values because that was asked
 * for. */
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
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        fixed += !space->axis[axis].standard && !is_silent(space, (calc_axis)axis) &&
                 !is_brief(space, (calc_axis)axis);
    }
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        bool shown = is_brief(space, (calc_axis)axis) ||
                     (fixed <= FIXED_SHOWN && !space->axis[axis].standard);
        if (shown && !is_silent(space, (calc_axis)axis)) {
            add_exec_axis(axes, space, (calc_axis)axis);
        }
    }
    add_inference(axes, &space->inference);
    for (size_t i = 0; i < b->axes; i++) {
        add_design_axis(axes, &b->axis[i]);
    }
    if (fixed > FIXED_SHOWN) {
        calc_append(axes, TEXT_SIZE, "; %d fields fixed", fixed);
    }
    calc_append(axes, TEXT_SIZE, "; the rest by default: --plan lists it");
    write_names(out, b);
    calc_output_text(out, "  ");
    calc_help_wrapped(out, axes, 2);
}

void calc_sweep_plan_axes(calc_output *out, const calc_sweep_study *study)
{
    const calc_designs_builder *b = &study->builder;
    char axes[TEXT_SIZE] = "";
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        if (!is_silent(&study->space, (calc_axis)axis)) {
            add_exec_axis(axes, &study->space, (calc_axis)axis);
        }
    }
    add_inference(axes, &study->space.inference);
    for (size_t i = 0; i < b->axes; i++) {
        add_design_axis(axes, &b->axis[i]);
    }
    calc_append(axes, TEXT_SIZE, "; every legal value of the rest");
    write_names(out, b);
    calc_output_text(out, "  ");
    calc_help_wrapped(out, axes, 2);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static void write_number(calc_output *out, double value, const char *what)
{
    char number[CALC_HUMAN_MAX];
    calc_output_printf(out, "%18s  %s\n", calc_human_integer(value, number), what);
}

/* Units of work of all designs, and the largest table of one. */
typedef struct tables {
    double units;
    size_t rows, bytes;
} tables;

static void count_rows(tables *t, size_t rows, size_t bytes)
{
    t->rows = rows > t->rows ? rows : t->rows;
    t->bytes = bytes > t->bytes ? bytes : t->bytes;
}

static calc_status count_units(const calc_sweep_study *study, tables *t)
{
    calc_rows rows = {0};
    calc_status status = CALC_OK;
    calc_units units = {0};
    calc_compat compat = study->options.compat;
    *t = (tables){0};
    for (uint64_t d = 0; d < study->designs.count && status == CALC_OK; d++) {
        calc_app app;
        calc_system system;
        study->designs.get(study->designs.context, d, &app, &system);
        status = calc_units_list(&units, &study->space, &app, &system, compat);
        t->units += (double)units.count;
        for (size_t i = 0; i < units.count && status == CALC_OK; i++) {
            const calc_exec base = calc_units_base(&units, i);
            status = calc_rows_fill(&rows, &study->space, &app, &system, &base, compat, false);
            count_rows(t, rows.count, calc_rows_bytes(&rows));
        }
    }
    calc_rows_free(&rows);
    calc_units_free(&units);
    return status;
}

/* What makes the sweep slow: statistics that only calc_run() knows. */
static void write_needs(calc_output *out, const calc_sweep_study *study, bool by_run)
{
    const calc_sweep_options *o = &study->options;
    char what[TEXT_SIZE] = "";
    const char *who = by_run ? "every layout is evaluated as calc run does: "
                             : "what is found is evaluated as calc run does: ";
    if (study->space.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        calc_append(what, TEXT_SIZE, "%sserving", who);
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

calc_status calc_sweep_plan_work(calc_output *out, const calc_sweep_study *study,
                                 calc_errors *errors)
{
    calc_sweep_counts counts = {0};
    tables t;
    calc_status status =
        calc_sweep_count(&study->space, &study->designs, study->options.compat, &counts);
    calc_sweep_estimate estimate;
    if (status == CALC_OK) {
        status = count_units(study, &t);
    }
    if (status == CALC_OK) {
        status = calc_sweep_estimate_of(&study->space, &study->designs, &study->options,
                                        counts.total, &estimate);
    }
    if (status != CALC_OK) {
        return calc_errors_status(errors, status);
    }
    double left = (double)counts.total;
    calc_output_text(out, "\n");
    write_number(out, left, "layouts");
    for (int v = CALC_VERDICT_OK + 1; v < CALC_VERDICT_COUNT; v++) {
        if (counts.rejected[v] > 0) {
            char what[64];
            snprintf(what, sizeof what, "rejected: %s", calc_verdict_text((calc_verdict)v));
            write_number(out, (double)counts.rejected[v], what);
            left -= (double)counts.rejected[v];
        }
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = study->options.threads > 0 ? study->options.threads : cores > 0 ? (int)cores : 1;
    char seconds[CALC_HUMAN_MAX];
    write_number(out, left, "to evaluate, or to skip by bounds");
    write_number(out, (double)study->designs.count, "designs: models, machines, swept fields");
    char bytes[CALC_HUMAN_MAX];
    char table[CALC_HUMAN_MAX + 48];
    calc_human_bytes((double)t.bytes, bytes);
    snprintf(table, sizeof table, "rows at most in such a table: %s", bytes);
    write_number(out, t.units, "units of work, each with one table of blocks");
    write_number(out, (double)t.rows, table);
    calc_human_seconds(estimate.cpu_s / threads, seconds);
    calc_output_printf(out,
                       "%18s  with %d thread%s and nothing else to do, measured on %zu cells\n",
                       seconds, threads, threads == 1 ? "" : "s", estimate.cells);
    write_needs(out, study, estimate.by_run);
    return CALC_OK;
}
