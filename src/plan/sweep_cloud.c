#include "plan/sweep_cloud.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"
#include "estimate.h"
#include "plan/sweep_found.h"

/* Draws per round, and rounds: where few layouts are feasible, fewer points are found. */
enum { DRAWS = 20000, ROUNDS = 6 };

/* A cloud being filled: a uniform sample of all layouts seen (reservoir sampling). */
typedef struct filling {
    calc_sweep_cloud *cloud;
    calc_rng rng;
} filling;

static bool take(void *context, const calc_sweep_point *point)
{
    filling *f = context;
    calc_sweep_cloud *c = f->cloud;
    size_t at = c->count;
    if (c->count == CALC_SWEEP_CLOUD_POINTS) {
        at = calc_rng_below(&f->rng, (uint32_t)c->seen + 1);
    }
    c->seen++;
    if (at < CALC_SWEEP_CLOUD_POINTS) {
        c->count += at == c->count;
        c->point[at] = (calc_sweep_cloud_point){point->design, *point->exec, *point->stats};
    }
    return true;
}

static calc_status take_all(filling *f, const calc_sweep_study *study, calc_errors *errors)
{
    const calc_sweep_options options = {.compat = study->options.compat,
                                        .constraints = study->options.constraints,
                                        .constraint = study->options.constraint,
                                        .threads = study->options.threads,
                                        .cpu = study->options.cpu,
                                        .point = take,
                                        .point_context = f};
    calc_sweep_result result = {0};
    calc_status status = calc_sweep(&study->space, &study->designs, &options, &result, errors);
    calc_sweep_result_free(&result);
    return status;
}

static bool meets(const calc_sweep_study *study, const calc_sample_point *p)
{
    const calc_sweep_options *o = &study->options;
    bool met = p->verdict == CALC_VERDICT_OK;
    for (size_t i = 0; i < o->constraints && met; i++) {
        met = calc_constraint_met(&o->constraint[i], &p->exec, &p->stats);
    }
    return met;
}

static calc_status draw(filling *f, const calc_sweep_study *study, calc_sample_point *drawn,
                        calc_errors *errors)
{
    calc_status status = CALC_OK;
    uint64_t total;
    for (uint64_t seed = 0; seed < ROUNDS && status == CALC_OK; seed++) {
        status = calc_sample(&study->space, &study->designs, study->options.compat, seed, DRAWS,
                             drawn, &total, errors);
        for (size_t i = 0; i < DRAWS && status == CALC_OK; i++) {
            if (meets(study, &drawn[i])) {
                const calc_sweep_point point = {drawn[i].design, &drawn[i].exec, &drawn[i].stats,
                                                0};
                take(f, &point);
            }
        }
        if (f->cloud->count == CALC_SWEEP_CLOUD_POINTS) {
            break;
        }
    }
    return status;
}

calc_status calc_sweep_cloud_make(calc_sweep_cloud *out, const calc_sweep_study *study,
                                  calc_errors *errors)
{
    calc_sweep_counts counts;
    filling f = {.cloud = out};
    calc_rng_init(&f.rng, 0, 0);
    out->point = malloc(CALC_SWEEP_CLOUD_POINTS * sizeof *out->point);
    if (!out->point || calc_sweep_count(&study->space, &study->designs, study->options.compat,
                                        &counts) != CALC_OK) {
        return calc_errors_no_memory(errors);
    }
    out->all = counts.total <= CALC_SWEEP_CLOUD_ALL;
    if (out->all || counts.total == 0) {
        return take_all(&f, study, errors);
    }
    calc_sample_point *drawn = malloc(DRAWS * sizeof *drawn);
    calc_status status = drawn ? draw(&f, study, drawn, errors) : calc_errors_no_memory(errors);
    free(drawn);
    return status;
}

void calc_sweep_cloud_free(calc_sweep_cloud *cloud)
{
    free(cloud->point);
    *cloud = (calc_sweep_cloud){0};
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Number of layouts up to which all counts are exact. */
#define COUNTED_LAYOUTS 20000000

/* A few values in ascending order, each once. */
typedef struct values {
    size_t count;
    int64_t value[CALC_SWEEP_CELLS_SIDE];
} values;

static void note(values *v, int64_t value)
{
    size_t at = 0;
    while (at < v->count && v->value[at] < value) {
        at++;
    }
    if (v->count == CALC_SWEEP_CELLS_SIDE || (at < v->count && v->value[at] == value)) {
        return;
    }
    for (size_t i = v->count; i > at; i--) {
        v->value[i] = v->value[i - 1];
    }
    v->value[at] = value;
    v->count++;
}

static void note_list(values *tensor, values *pipeline, const calc_front *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const calc_exec exec = calc_found_exec(&list->item[i]);
        note(tensor, exec.strategy.tensor_par);
        note(pipeline, exec.pipeline_par);
    }
}

/* Restrict an axis of a copy of the space to one value; the value is borrowed. */
static void fix(calc_space *space, calc_axis axis, int64_t *value)
{
    if (*value > 0) {
        space->axis[axis] = (calc_values){.count = 1, .value = value};
    }
}

static calc_status sweep_cells(calc_sweep_cells *cells, const calc_sweep_study *study,
                               const calc_sweep_result *result, calc_errors *errors)
{
    calc_status status = CALC_OK;
    cells->counted = result->counts.total <= COUNTED_LAYOUTS;
    for (size_t i = 0; i < cells->count && status == CALC_OK; i++) {
        calc_sweep_cell *cell = &cells->item[i];
        calc_sweep_study of_cell = *study;
        fix(&of_cell.space, CALC_AXIS_tensor_par, &cell->tensor_par);
        fix(&of_cell.space, CALC_AXIS_pipeline_par, &cell->pipeline_par);
        fix(&of_cell.space, CALC_AXIS_num_procs, &cell->num_procs);
        status = calc_sweep_found_search(&of_cell, cells->counted, &cell->counts, &cell->found,
                                         &cell->best, errors);
    }
    return status;
}

static bool too_long(const calc_sweep_result *result)
{
    return result->partial || result->elapsed_s > CALC_SWEEP_CELLS_LONGEST_S;
}

static calc_status make_room(calc_sweep_cells *cells, size_t count, calc_errors *errors)
{
    cells->item = calloc(count + 1, sizeof *cells->item);
    return cells->item ? CALC_OK : calc_errors_no_memory(errors);
}

calc_status calc_sweep_cells_splits(calc_sweep_cells *out, const calc_sweep_study *study,
                                    const calc_sweep_result *result, const calc_sweep_cloud *cloud,
                                    calc_errors *errors)
{
    values tensor = {0}, pipeline = {0};
    for (size_t g = 0; g < result->groups_count; g++) {
        note_list(&tensor, &pipeline, &result->group[g].top);
        note_list(&tensor, &pipeline, &result->group[g].front);
    }
    for (size_t i = 0; i < cloud->count; i++) {
        note(&tensor, cloud->point[i].exec.strategy.tensor_par);
        note(&pipeline, cloud->point[i].exec.pipeline_par);
    }
    if (too_long(result) || make_room(out, tensor.count * pipeline.count, errors) != CALC_OK) {
        return too_long(result) ? CALC_OK : CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < tensor.count * pipeline.count; i++) {
        out->item[out->count++] =
            (calc_sweep_cell){.tensor_par = tensor.value[i / pipeline.count],
                              .pipeline_par = pipeline.value[i % pipeline.count]};
    }
    return sweep_cells(out, study, result, errors);
}

calc_status calc_sweep_cells_procs(calc_sweep_cells *out, const calc_sweep_study *study,
                                   const calc_sweep_result *result, calc_errors *errors)
{
    const calc_values *procs = &study->space.axis[CALC_AXIS_num_procs];
    size_t most = 2 * CALC_SWEEP_CELLS_SIDE;
    size_t count = procs->count < most ? procs->count : most;
    if (too_long(result) || count < 2) {
        return CALC_OK;
    }
    calc_status status = make_room(out, count, errors);
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        out->item[out->count++].num_procs = procs->value[i * (procs->count - 1) / (count - 1)];
    }
    return status == CALC_OK ? sweep_cells(out, study, result, errors) : status;
}

void calc_sweep_cells_free(calc_sweep_cells *cells)
{
    free(cells->item);
    *cells = (calc_sweep_cells){0};
}
