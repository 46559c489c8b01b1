#include "cli/sweep_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/breakdown.h"
#include "cli/human.h"
#include "cli/scatter.h"
#include "cli/sweep_table.h"
#include "spec/field.h"

enum {
    MOST_POINTS = 2000, /* of the front, evenly spread: more than a drawing has cells */
    MOST_BARS = 10
};

/* A point: the values of `quantities`, and its number. */
typedef struct sample {
    double value[CALC_MAX_OBJECTIVES + 3];
    size_t number;
} sample;

typedef struct samples {
    sample *item;
    size_t count;
} samples;

/* What may be an axis. */
typedef struct quantity {
    const calc_field *field;
    bool up;
} quantity;

/* All that may be one; the first is the vertical axis. */
typedef struct quantities {
    size_t count;
    quantity item[CALC_MAX_OBJECTIVES + 3];
} quantities;

static void add_quantity(quantities *q, const calc_field *field, bool up)
{
    for (size_t i = 0; i < q->count; i++) {
        if (q->item[i].field == field) {
            return;
        }
    }
    q->item[q->count++] = (quantity){field, up};
}

static quantities quantities_of(const calc_sweep_study *study, bool groups)
{
    const calc_sweep_options *o = &study->options;
    quantities q = {0};
    if (groups || o->objectives == 0) {
        add_quantity(&q, o->top_by.field, o->top_by.up);
    }
    if (groups && o->per_num_procs) {
        add_quantity(&q, calc_table_find(calc_table_of(CALC_KIND_EXEC), "num_procs"), false);
    }
    for (size_t i = 0; i < o->objectives; i++) {
        add_quantity(&q, o->objective[i].field, o->objective[i].up);
    }
    add_quantity(&q, calc_table_find(calc_table_of(CALC_KIND_STATS), "proc_mem_tier1_cap_req"),
                 false);
    return q;
}

static double value_of(const calc_field *field, const calc_sweep_found *found)
{
    bool of_exec = calc_table_find(calc_table_of(CALC_KIND_EXEC), field->key) == field;
    const char *object = of_exec ? (const char *)found->exec : (const char *)&found->stats;
    return calc_member_number(field, object + field->offset);
}

/* ---- Points ---------------------------------------------------------------------------------- */

static void add(samples *s, const calc_sweep_study *study, const quantities *q,
                const calc_found *found, size_t number)
{
    calc_sweep_found f;
    sample *item = &s->item[s->count++];
    calc_sweep_found_run(study, found, &f);
    *item = (sample){.number = number};
    for (size_t i = 0; i < q->count; i++) {
        item->value[i] = value_of(q->item[i].field, &f);
    }
}

/* The rows of the table of the front first, as they have numbers; then the rest of it, evenly
 * spread; then the best. */
static void add_front(samples *s, const calc_sweep_study *study, const quantities *q,
                      const calc_sweep_group *group)
{
    size_t count = group->front.count;
    size_t rows = count < CALC_SWEEP_TABLE_FRONT ? count : CALC_SWEEP_TABLE_FRONT;
    size_t rest = count < MOST_POINTS ? count : MOST_POINTS;
    for (size_t i = 0; i < rows; i++) {
        size_t at = calc_sweep_table_row(i, rows, count);
        add(s, study, q, &group->front.item[at], at + 1);
    }
    for (size_t i = 0; rows < count && i < rest; i++) {
        add(s, study, q, &group->front.item[calc_sweep_table_row(i, rest, count)], 0);
    }
    for (size_t i = 0; i < group->top.count && i < MOST_POINTS; i++) {
        add(s, study, q, &group->top.item[i], 0);
    }
}

static void add_groups(samples *s, const calc_sweep_study *study, const quantities *q,
                       const calc_sweep_result *result)
{
    size_t number = 0;
    for (size_t g = 0; g < result->groups_count && s->count < MOST_POINTS; g++) {
        const calc_found *best = calc_sweep_found_best(&result->group[g]);
        if (best) {
            add(s, study, q, best, ++number);
        }
    }
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static bool varies(const samples *s, size_t which)
{
    for (size_t i = 1; i < s->count; i++) {
        if (s->item[i].value[which] != s->item[0].value[which]) {
            return true;
        }
    }
    return false;
}

/* The horizontal axis: the first quantity beside the vertical one that is not the same for all. */
static size_t other_axis(const samples *s, const quantities *q)
{
    for (size_t i = 1; i < q->count; i++) {
        if (varies(s, i)) {
            return i;
        }
    }
    return q->count - 1;
}

/* The unit in which the largest of some values is a number that can be read. */
static double choose_unit(const calc_field *field, double largest, char label[128])
{
    static const struct {
        const char *unit, *text;
        double scale;
    } units[] = {{"bytes", "TiB", 0x1p40}, {"bytes", "GiB", 0x1p30},
                 {"bytes", "MiB", 0x1p20}, {"s", "s", 1},
                 {"s", "ms", 1e-3},        {"s", "us", 1e-6}};
    const char *unit = field->unit ? field->unit : "";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        bool last = i + 1 == sizeof units / sizeof *units;
        if (strcmp(units[i].unit, unit) == 0 && (largest >= units[i].scale || last)) {
            snprintf(label, 128, "%s, %s", field->key, units[i].text);
            return units[i].scale;
        }
    }
    double scale = 1;
    while (largest / scale >= 1e5) {
        scale *= 1e3;
    }
    char factor[32] = "";
    if (scale > 1) {
        snprintf(factor, sizeof factor, "%.0e ", scale);
    }
    snprintf(label, 128, "%s%s%s%s", field->key, *unit || *factor ? ", " : "", factor, unit);
    return scale;
}

static double largest_of(const samples *s, size_t which)
{
    double largest = 0;
    for (size_t i = 0; i < s->count; i++) {
        double value = fabs(s->item[i].value[which]);
        largest = isfinite(value) && value > largest ? value : largest;
    }
    return largest;
}

static calc_status draw(calc_output *out, const calc_paint *paint, const samples *s,
                        const quantities *q, int columns, calc_errors *errors)
{
    size_t which = other_axis(s, q);
    char x_label[128], y_label[128];
    double x_unit = choose_unit(q->item[which].field, largest_of(s, which), x_label);
    double y_unit = choose_unit(q->item[0].field, largest_of(s, 0), y_label);
    calc_scatter_point *point = calloc(s->count + 1, sizeof *point);
    if (!point) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                               calc_status_text(CALC_ERR_NOMEM));
    }
    for (size_t i = 0; i < s->count; i++) {
        const sample *item = &s->item[i];
        point[i] = (calc_scatter_point){item->value[which] / x_unit, item->value[0] / y_unit,
                                        item->number};
    }
    const calc_scatter_axis x = {x_label, q->item[which].up}, y = {y_label, q->item[0].up};
    calc_scatter_write(out, paint, point, s->count, &x, &y, columns);
    free(point);
    return CALC_OK;
}

/* ---- Bars ------------------------------------------------------------------------------------ */

static double sample_s(const calc_sweep_found *found)
{
    return found->stats.total_time / (double)found->exec->batch_size;
}

static void write_bar(calc_output *out, const calc_paint *paint, const calc_sweep_found *found,
                      size_t rank, double full_s, int columns, bool seen[CALC_STACK_KINDS])
{
    enum { LEFT = 5, SIZES = 13, RIGHT = 11 };
    char sizes[80], time[CALC_HUMAN_MAX];
    double time_s[CALC_STACK_KINDS];
    const calc_exec *e = found->exec;
    calc_breakdown_kinds(&found->stats, time_s);
    for (int kind = 0; kind < CALC_STACK_KINDS; kind++) {
        time_s[kind] /= (double)e->batch_size;
        seen[kind] = seen[kind] || time_s[kind] > 0;
    }
    snprintf(sizes, sizeof sizes, "%" PRId64 "/%" PRId64 "/%" PRId64, e->tensor_par,
             e->pipeline_par, e->data_par);
    calc_output_printf(out, "%*zu %*s ", LEFT, rank, SIZES, sizes);
    calc_stack_write(out, paint, time_s, full_s, columns - LEFT - SIZES - RIGHT - 2);
    calc_output_printf(out, "%*s\n", RIGHT, calc_human_seconds(sample_s(found), time));
}

/* Of training; a served layout has no step of these parts. */
static void write_bars(calc_output *out, const calc_paint *paint, const calc_sweep_study *study,
                       const calc_front *top, int columns)
{
    calc_sweep_found found[MOST_BARS];
    bool seen[CALC_STACK_KINDS] = {false};
    double full_s = 0;
    size_t count = top->count < MOST_BARS ? top->count : MOST_BARS;
    columns = columns < CALC_SCATTER_MIN_COLUMNS ? CALC_SCATTER_MIN_COLUMNS : columns;
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

/* ---- Both ------------------------------------------------------------------------------------ */

static void write_title(calc_output *out, const calc_paint *paint, bool groups)
{
    calc_output_printf(out, "\n%s, numbered as above. %s and the line: the front of these axes.\n",
                       groups ? "Best of each group" : "Pareto front and best",
                       paint->utf8 ? "●" : "*");
}

calc_status calc_sweep_plot_write(calc_output *out, const calc_paint *paint,
                                  const calc_sweep_study *study, const calc_sweep_result *result,
                                  int columns, calc_errors *errors)
{
    bool groups = result->groups_count > 1;
    quantities q = quantities_of(study, groups);
    samples s = {0};
    if (!calc_sweep_found_best_of_all(result)) {
        return CALC_OK;
    }
    s.item = calloc(CALC_SWEEP_TABLE_FRONT + 2 * MOST_POINTS, sizeof *s.item);
    if (!s.item) {
        return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                               calc_status_text(CALC_ERR_NOMEM));
    }
    if (groups) {
        add_groups(&s, study, &q, result);
    } else {
        add_front(&s, study, &q, &result->group[0]);
    }
    write_title(out, paint, groups);
    calc_status status = draw(out, paint, &s, &q, columns, errors);
    if (status == CALC_OK && !groups) {
        write_bars(out, paint, study, &result->group[0].top, columns);
    }
    free(s.item);
    return status;
}
