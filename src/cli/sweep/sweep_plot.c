#include "cli/sweep/sweep_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/sweep/sweep_rows.h"
#include "report/sweep_data.h"
#include "spec/field.h"

enum {
    MOST_POINTS = 2000, /* points of a list, evenly spread: more than a drawing has cells */
    MOST_BARS = 10
};

/* Layouts, and their numbers in a table. */
typedef struct points {
    calc_sweep_found *found;
    size_t *number;
    size_t count;
} points;

static void add(points *p, const calc_sweep_study *study, const calc_found *found, size_t number)
{
    calc_sweep_found_run(study, found, &p->found[p->count]);
    p->number[p->count++] = number;
}

/* First the rows of the table of the front, which have numbers; then the rest of the front, evenly
 * spread; then the best. */
static void add_front(points *p, const calc_sweep_study *study, const calc_sweep_group *group)
{
    size_t count = group->front.count;
    size_t rows = count < CALC_SWEEP_ROWS_FRONT ? count : CALC_SWEEP_ROWS_FRONT;
    size_t rest = count < MOST_POINTS ? count : MOST_POINTS;
    for (size_t i = 0; i < rows; i++) {
        size_t at = calc_sweep_spread(i, rows, count);
        add(p, study, &group->front.item[at], at + 1);
    }
    for (size_t i = 0; rows < count && i < rest; i++) {
        add(p, study, &group->front.item[calc_sweep_spread(i, rest, count)], 0);
    }
    for (size_t i = 0; i < group->top.count && i < MOST_POINTS; i++) {
        add(p, study, &group->top.item[i], 0);
    }
}

static calc_status add_groups(points *p, const calc_sweep_study *study,
                              const calc_sweep_result *result)
{
    size_t number = 0;
    if (study->options.per_design) {
        calc_sweep_rows rows = {0};
        calc_status status = calc_sweep_rows_groups(&rows, study, result);
        for (size_t i = 0; i < rows.count && p->count < MOST_POINTS; i++) {
            add(p, study, rows.row[i].layout, rows.row[i].number);
        }
        calc_sweep_rows_free(&rows);
        return status;
    }
    for (size_t g = 0; g < result->groups_count && p->count < MOST_POINTS; g++) {
        const calc_found *best = calc_sweep_found_best(&result->group[g]);
        if (best) {
            add(p, study, best, ++number);
        }
    }
    return CALC_OK;
}

static double value_of(const calc_field *field, const calc_sweep_found *found)
{
    bool of_exec = calc_table_find(calc_table_of(CALC_KIND_EXEC), field->key) == field;
    const char *object = of_exec ? (const char *)&found->exec : (const char *)&found->stats;
    return calc_member_number(field, object + field->offset);
}

static bool varies(const points *p, const calc_field *field)
{
    for (size_t i = 1; i < p->count; i++) {
        if (value_of(field, &p->found[i]) != value_of(field, &p->found[0])) {
            return true;
        }
    }
    return false;
}

static calc_scatter_axis axis_of(const calc_objective *of, char label[128])
{
    const char *unit = of->field->unit ? of->field->unit : "";
    bool bytes = strcmp(unit, "bytes") == 0, seconds = strcmp(unit, "s") == 0;
    bool in_label = *unit && !bytes && !seconds;
    snprintf(label, 128, "%s%s%s", of->field->key, in_label ? ", " : "", in_label ? unit : "");
    return (calc_scatter_axis){label, of->up,
                               bytes                              ? calc_human_bytes
                               : seconds                          ? calc_human_seconds
                               : of->field->type == CALC_TYPE_INT ? calc_human_integer
                                                                  : calc_human_number};
}

/* The horizontal axis: the first of processors of groups, the next objective and memory in which
 * the points differ. */
static calc_objective other_axis(const points *p, const calc_sweep_study *study, bool groups,
                                 const calc_field *vertical)
{
    const calc_sweep_options *o = &study->options;
    const calc_objective procs = {.field =
                                      calc_table_find(calc_table_of(CALC_KIND_EXEC), "num_procs")};
    const calc_objective memory = {
        .field = calc_table_find(calc_table_of(CALC_KIND_STATS), "proc_mem_tier1_cap_req")};
    if (groups && o->per_num_procs && varies(p, procs.field)) {
        return procs;
    }
    for (size_t i = 0; i < o->objectives; i++) {
        if (o->objective[i].field != vertical && varies(p, o->objective[i].field)) {
            return o->objective[i];
        }
    }
    return memory;
}

static calc_status draw(calc_output *out, const calc_paint *paint, const calc_sweep_study *study,
                        const points *p, bool groups, int columns, calc_errors *errors)
{
    const calc_sweep_options *o = &study->options;
    const calc_objective v = groups || o->objectives == 0 ? o->top_by : o->objective[0];
    const calc_objective h = other_axis(p, study, groups, v.field);
    char x_label[128], y_label[128];
    const calc_scatter_axis x = axis_of(&h, x_label), y = axis_of(&v, y_label);
    calc_scatter_point *point = calloc(p->count + 1, sizeof *point);
    if (!point) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < p->count; i++) {
        point[i] = (calc_scatter_point){value_of(h.field, &p->found[i]),
                                        value_of(v.field, &p->found[i]), p->number[i]};
    }
    calc_scatter_write(out, paint, point, p->count, &x, &y, columns);
    free(point);
    return CALC_OK;
}

static double sample_s(const calc_sweep_found *found)
{
    return found->stats.total_time / (double)found->exec.batch_size;
}

static void write_bar(calc_output *out, const calc_paint *paint, const calc_sweep_found *found,
                      size_t rank, double full_s, int columns, bool seen[CALC_STACK_KINDS])
{
    enum { LEFT = 5, SIZES = 13, RIGHT = 11 };
    char sizes[80], time[CALC_HUMAN_MAX];
    double time_s[CALC_STACK_KINDS];
    const calc_exec *e = &found->exec;
    calc_breakdown_kinds(&found->stats, time_s);
    for (int kind = 0; kind < CALC_STACK_KINDS; kind++) {
        time_s[kind] /= (double)e->batch_size;
        seen[kind] = seen[kind] || time_s[kind] > 0;
    }
    snprintf(sizes, sizeof sizes, "%" PRId64 "/%" PRId64 "/%" PRId64, e->strategy.tensor_par,
             e->pipeline_par, e->strategy.data_par);
    calc_output_printf(out, "%*zu %*s ", LEFT, rank, SIZES, sizes);
    calc_stack_write(out, paint, time_s, full_s, columns - LEFT - SIZES - RIGHT - 2);
    calc_output_printf(out, "%*s\n", RIGHT, calc_human_seconds(sample_s(found), time));
}

/* For training or a forward pass; a step of serving does not have these parts. */
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

calc_status calc_sweep_plot_write(calc_output *out, const calc_paint *paint,
                                  const calc_sweep_study *study, const calc_sweep_result *result,
                                  int columns, calc_errors *errors)
{
    enum { MOST = CALC_SWEEP_ROWS_FRONT + 2 * MOST_POINTS };
    bool groups = result->groups_count > 1;
    if (!calc_sweep_found_best_of_all(result)) {
        return CALC_OK;
    }
    points p = {calloc(MOST, sizeof *p.found), calloc(MOST, sizeof *p.number), 0};
    calc_status status = p.found && p.number ? CALC_OK : CALC_ERR_NOMEM;
    if (status == CALC_OK && groups) {
        status = add_groups(&p, study, result);
    } else if (status == CALC_OK) {
        add_front(&p, study, &result->group[0]);
    }
    if (status == CALC_OK) {
        calc_output_printf(out, "\n%s, numbered as above. %s: the front of these axes.\n",
                           groups ? "Best of each group" : "Pareto front and best",
                           paint->utf8 ? "●" : "*");
        status = draw(out, paint, study, &p, groups, columns, errors);
    } else {
        calc_errors_no_memory(errors);
    }
    if (status == CALC_OK && !groups && study->space.inference.phase == CALC_INFERENCE_PHASE_NONE) {
        write_bars(out, paint, study, &result->group[0].top, columns);
    }
    free(p.found);
    free(p.number);
    return status;
}
