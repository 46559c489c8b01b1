#include "cli/sweep/sweep_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep_order.h"
#include "formats/refusal.h"
#include "served.h"

/* Limits within which layouts are folded into one row. */
static const double same_share = 0.01, same_memory_share = 0.1;

size_t calc_sweep_rows_spread(size_t i, size_t shown, size_t count)
{
    return shown < 2 ? 0 : i * (count - 1) / (shown - 1);
}

size_t calc_sweep_rows_keep(size_t top)
{
    enum { TIMES = 8, MORE = 200, READ = 1000 /* longer tables are for programs */ };
    return top > READ ? top : top < MORE / (TIMES - 1) ? top * TIMES : top + MORE;
}

static bool make(calc_sweep_rows *rows, size_t count)
{
    *rows = (calc_sweep_rows){.row = calloc(count > 0 ? count : 1, sizeof *rows->row),
                              .measured = rows->measured};
    return rows->row != NULL;
}

const char *calc_sweep_rows_calibrated(const calc_sweep_study *study, const char *machine)
{
    for (size_t i = 0; i < study->documents; i++) {
        const calc_study_document *d = &study->document[i];
        if (*d->calibrated && strncmp(d->name, machine, sizeof d->name - 1) == 0) {
            return d->calibrated;
        }
    }
    return "";
}

calc_fits calc_sweep_rows_fits(const calc_residuals *measured, const calc_sweep_study *study,
                               const calc_found *layout)
{
    if (!measured || study->options.compat != CALC_COMPAT_NONE) {
        return (calc_fits){(double)NAN, (double)NAN};
    }
    calc_sweep_found found;
    calc_sweep_found_run(study, layout, &found);
    calc_app app;
    calc_system system;
    study->designs.get(study->designs.context, layout->design, &app, &system);
    calc_design_parts parts = calc_designs_parts(&study->builder, layout->design);
    const char *machine = parts.system->name;
    const calc_fits_query query = {
        &app, &system, &found.exec,
        calc_fits_family(measured, machine, calc_sweep_rows_calibrated(study, machine)),
        found.stats.proc_mem_tier1_cap_req};
    return calc_fits_of(measured, &query);
}

/* Determine whether a row can be started, and how sure it is that it fits. */
static void mark_row(calc_sweep_row *row, const calc_residuals *measured,
                     const calc_sweep_study *study)
{
    calc_app app;
    calc_system system;
    const calc_exec exec = calc_found_exec(row->layout);
    study->designs.get(study->designs.context, row->layout->design, &app, &system);
    row->starts = calc_export_starts(&app, &system, &exec);
    row->fits = calc_sweep_rows_fits(measured, study, row->layout);
}

static void mark(calc_sweep_rows *rows, const calc_sweep_study *study)
{
    for (size_t i = 0; i < rows->count; i++) {
        mark_row(&rows->row[i], rows->measured, study);
    }
}

/* ---- The layout to start with ---------------------------------------------------------------- */

static bool is_sure(const calc_sweep_row *row)
{
    return row->starts && calc_fits_is_sure(row->fits.share);
}

calc_sweep_row calc_sweep_rows_start(const calc_residuals *measured, const calc_sweep_study *study,
                                     const calc_sweep_result *result)
{
    const calc_sweep_row best = {.layout = calc_sweep_found_best_of_all(result), .number = 1};
    if (!best.layout) {
        return (calc_sweep_row){0};
    }
    if (result->groups_count > 1 || study->options.compat != CALC_COMPAT_NONE) {
        return best;
    }
    const calc_front *top = &result->group[0].top;
    for (size_t i = 0; i < top->count; i++) {
        calc_sweep_row row = {.layout = &top->item[i], .number = i + 1};
        mark_row(&row, measured, study);
        if (is_sure(&row)) {
            return row;
        }
    }
    const calc_front *front = &result->group[0].front;
    calc_sweep_row start = best;
    double least = HUGE_VAL;
    for (size_t i = 0; i < front->count; i++) {
        calc_sweep_row row = {.layout = &front->item[i]};
        calc_sweep_found found;
        calc_sweep_found_run(study, row.layout, &found);
        double value = calc_objective_of(&study->options.top_by, &found.stats);
        if (value >= least) {
            continue; /* asking frameworks takes longer than an evaluation */
        }
        mark_row(&row, measured, study);
        if (is_sure(&row)) {
            start = row;
            least = value;
        }
    }
    return start;
}

void calc_sweep_rows_free(calc_sweep_rows *rows)
{
    free(rows->row);
    *rows = (calc_sweep_rows){0};
}

/* ---- Layouts that differ in no important way ------------------------------------------------- */

static bool within(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

/* Axes whose values are never folded into one row: sizes, and fields that the user asked to
 * compare. */
static bool is_apart(const calc_space *space, calc_axis axis)
{
    const calc_values *values = &space->axis[axis];
    switch (axis) {
    case CALC_AXIS_num_procs:
    case CALC_AXIS_tensor_par:
    case CALC_AXIS_pipeline_par:
    case CALC_AXIS_data_par:
    case CALC_AXIS_context_par:
    case CALC_AXIS_expert_par:
    case CALC_AXIS_expert_tensor_par:
    case CALC_AXIS_microbatch_size:
    case CALC_AXIS_seq_size:
        return true;
    default:
        return !values->standard && (values->count > 1 || (values->all && values->count == 0));
    }
}

static bool is_like(const calc_sweep_study *study, const calc_found *a, const calc_found *b)
{
    if (a->design != b->design || !within(a->objective[0], b->objective[0], same_share)) {
        return false;
    }
    const calc_exec p = calc_found_exec(a);
    const calc_exec q = calc_found_exec(b);
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        if (is_apart(&study->space, (calc_axis)axis) &&
            calc_axis_get(&p, (calc_axis)axis) != calc_axis_get(&q, (calc_axis)axis)) {
            return false;
        }
    }
    for (int i = 0; i < CALC_SERVED_COUNT; i++) {
        const calc_values *values = &study->space.served[i];
        if (!values->standard && calc_served_get(&p.inference, (calc_served)i) !=
                                     calc_served_get(&q.inference, (calc_served)i)) {
            return false;
        }
    }
    calc_sweep_found x, y;
    calc_sweep_found_run(study, a, &x);
    calc_sweep_found_run(study, b, &y);
    return within(x.stats.proc_mem_tier1_cap_req, y.stats.proc_mem_tier1_cap_req,
                  same_memory_share);
}

calc_status calc_sweep_rows_best(calc_sweep_rows *rows, const calc_sweep_study *study,
                                 const calc_front *best, size_t top)
{
    if (!make(rows, top < best->count ? top : best->count)) {
        return CALC_ERR_NOMEM;
    }
    bool folds = study->options.top > top; /* else a fold would leave a row too few */
    const calc_sweep_order order = calc_sweep_order_of(study, best->count > 0 ? best->item : NULL);
    for (size_t i = 0; i < best->count; i++) {
        const calc_found *layout = &best->item[i];
        size_t at = folds ? 0 : rows->count;
        while (at < rows->count && !is_like(study, layout, rows->row[at].layout)) {
            at++;
        }
        if (at < rows->count) {
            rows->row[at].alike++;
        } else if (rows->count < top) {
            calc_sweep_found found;
            calc_sweep_found_run(study, layout, &found);
            rows->row[rows->count++] =
                (calc_sweep_row){.layout = layout,
                                 .number = i + 1,
                                 .equal = i > 0 && calc_sweep_order_equal(&order, &found)};
        }
    }
    rows->of = rows->count;
    rows->near = !order.known;
    mark(rows, study);
    return CALC_OK;
}

calc_status calc_sweep_rows_front(calc_sweep_rows *rows, const calc_sweep_study *study,
                                  const calc_front *front)
{
    size_t shown = front->count < CALC_SWEEP_ROWS_FRONT ? front->count : CALC_SWEEP_ROWS_FRONT;
    if (!make(rows, shown)) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < shown; i++) {
        size_t at = calc_sweep_rows_spread(i, shown, front->count);
        rows->row[i] = (calc_sweep_row){.layout = &front->item[at], .number = at + 1};
    }
    rows->count = shown;
    rows->of = front->count;
    mark(rows, study);
    return CALC_OK;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* The best of a group, for sorting groups. */
typedef struct place {
    const calc_found *layout;
    int64_t num_procs; /* 0: any number */
    double value;      /* value of the objective of the best, smaller is better */
    size_t group;
} place;

static int compare_places(const void *a, const void *b)
{
    const place *x = a;
    const place *y = b;
    if (x->num_procs != y->num_procs) {
        return x->num_procs < y->num_procs ? -1 : 1;
    }
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return (x->group > y->group) - (x->group < y->group);
}

/* Lists the groups for sorting. @return how many */
static size_t list_places(place *out, const calc_sweep_study *study,
                          const calc_sweep_result *result)
{
    const calc_sweep_options *o = &study->options;
    size_t count = 0;
    for (size_t g = 0; g < result->groups_count; g++) {
        const calc_found *best = calc_sweep_found_best(&result->group[g]);
        if (best) {
            calc_sweep_found found;
            calc_sweep_found_run(study, best, &found);
            out[count++] = (place){.layout = best,
                                   .num_procs = o->per_num_procs ? found.exec.num_procs : 0,
                                   .value = calc_objective_of(&o->top_by, &found.stats),
                                   .group = g};
        }
    }
    return count;
}

calc_status calc_sweep_rows_groups(calc_sweep_rows *rows, const calc_sweep_study *study,
                                   const calc_sweep_result *result)
{
    place *list = malloc((result->groups_count + 1) * sizeof *list);
    if (!list || !make(rows, CALC_SWEEP_ROWS_GROUPS)) {
        free(list);
        return CALC_ERR_NOMEM;
    }
    bool sorted = study->options.per_design;
    rows->of = list_places(list, study, result);
    rows->count = rows->of < CALC_SWEEP_ROWS_GROUPS ? rows->of : CALC_SWEEP_ROWS_GROUPS;
    if (sorted) {
        qsort(list, rows->of, sizeof *list, compare_places);
    }
    for (size_t i = 0; i < rows->count; i++) {
        size_t at = sorted ? i : calc_sweep_rows_spread(i, rows->count, rows->of);
        rows->row[i] = (calc_sweep_row){.layout = list[at].layout, .number = at + 1};
    }
    free(list);
    mark(rows, study);
    return CALC_OK;
}
