#include "plan/sweep_more.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/rng.h"
#include "estimate.h"
#include "parallel.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/serving_engine.h"

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

static calc_status draw(filling *f, const calc_sweep_study *study, calc_sample_point *drawn,
                        calc_errors *errors)
{
    const calc_sweep_options *o = &study->options;
    calc_status status = CALC_OK;
    uint64_t total;
    size_t draws = DRAWS; /* of the next round: a few more than it probably needs */
    for (uint64_t seed = 0; seed < ROUNDS && draws > 0 && status == CALC_OK; seed++) {
        size_t missing = CALC_SWEEP_CLOUD_POINTS - f->cloud->count;
        status = calc_sample(&study->space, &study->designs, o->compat, seed, draws, drawn, &total,
                             errors);
        for (size_t i = 0; i < draws && status == CALC_OK; i++) {
            bool met = drawn[i].verdict == CALC_VERDICT_OK;
            for (size_t k = 0; k < o->constraints && met; k++) {
                met = calc_constraint_met(&o->constraint[k], &drawn[i].exec, &drawn[i].stats);
            }
            if (met) {
                const calc_sweep_point point = {drawn[i].design, &drawn[i].exec, &drawn[i].stats,
                                                0};
                take(f, &point);
            }
        }
        size_t left = CALC_SWEEP_CLOUD_POINTS - f->cloud->count;
        uint64_t wanted = (uint64_t)left * draws / (missing - left + 1) * 21 / 20;
        draws = wanted < DRAWS ? (size_t)wanted : DRAWS;
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

CALC_FREES(calc_sweep_cloud_free, calc_sweep_cloud, of->point)

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Number of layouts up to which all counts are exact. */
#define COUNTED_LAYOUTS 20000000

/* A few values in ascending order, each once. */
typedef struct few {
    size_t count;
    int64_t value[CALC_SWEEP_CELLS_SIDE];
} few;

static void note(few *v, int64_t value)
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

bool calc_sweep_repeats(const calc_sweep_study *study, const calc_sweep_result *result,
                        double times)
{
    const double most = 1e7; /* layouts of training; one of serving takes as long as 30 */
    bool serves = study->space.inference.phase != CALC_INFERENCE_PHASE_NONE;
    return !result->partial && (double)result->counts.evaluated * (serves ? 30 : 1) * times <= most;
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
    few tensor = {0}, pipeline = {0};
    for (size_t g = 0; g < 2 * result->groups_count; g++) {
        const calc_sweep_group *group = &result->group[g / 2];
        const calc_front *list = g % 2 == 0 ? &group->top : &group->front;
        for (size_t i = 0; i < list->count; i++) {
            const calc_exec exec = calc_found_exec(&list->item[i]);
            note(&tensor, exec.strategy.tensor_par);
            note(&pipeline, exec.pipeline_par);
        }
    }
    for (size_t i = 0; i < cloud->count; i++) {
        note(&tensor, cloud->point[i].exec.strategy.tensor_par);
        note(&pipeline, cloud->point[i].exec.pipeline_par);
    }
    bool again = calc_sweep_repeats(study, result, 1. / 12);
    if (!again || make_room(out, tensor.count * pipeline.count, errors) != CALC_OK) {
        return again ? CALC_ERR_NOMEM : CALC_OK;
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
    bool again = calc_sweep_repeats(study, result, 1. / 12);
    if (!again || count < 2) {
        return CALC_OK;
    }
    calc_status status = make_room(out, count, errors);
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        out->item[out->count++].num_procs = procs->value[i * (procs->count - 1) / (count - 1)];
    }
    return status == CALC_OK ? sweep_cells(out, study, result, errors) : status;
}

CALC_FREES(calc_sweep_cells_free, calc_sweep_cells, of->item)

void calc_sweep_found_run(const calc_sweep_study *study, const calc_found *found,
                          calc_sweep_found *out)
{
    calc_app app;
    calc_system system;
    study->designs.get(study->designs.context, found->design, &app, &system);
    out->design = found->design;
    out->exec = calc_found_exec(found);
    calc_run(&app, &system, &out->exec, study->options.compat, &out->stats);
}

static void name_systems(const calc_sweep_study *study, calc_front *list)
{
    for (size_t i = 0; i < list->count; i++) {
        calc_found *found = &list->item[i];
        calc_exec exec = calc_found_exec(found);
        exec.inference.engine = study->space.inference.engine;
        if (exec.inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
            exec.inference.prefill_system = study->space.inference.prefill_system;
        }
        memcpy(found->layout, &exec, sizeof found->layout);
    }
}

void calc_sweep_found_systems(const calc_sweep_study *study, calc_sweep_result *result)
{
    for (size_t g = 0; result->group && g < result->groups_count; g++) { /* without memory: none */
        name_systems(study, &result->group[g].front);
        name_systems(study, &result->group[g].top);
    }
}

bool calc_axis_is_length(calc_axis axis)
{
    return axis == CALC_AXIS_seq_size || axis == CALC_AXIS_inference_prompt_size ||
           axis == CALC_AXIS_inference_generate_size;
}

bool calc_sweep_study_mixes(const calc_sweep_study *study)
{
    const calc_designs_builder *b = &study->builder;
    bool several = b->apps > 1;
    for (size_t i = 0; i < b->axes; i++) {
        several |= b->axis[i].ref.kind == CALC_KIND_APP && b->axis[i].count > 1;
    }
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        several |= calc_axis_is_length((calc_axis)axis) && study->space.axis[axis].count > 1;
    }
    return several && !study->ranked;
}

bool calc_sweep_study_compares(const calc_sweep_study *study, const calc_found *a,
                               const calc_found *b)
{
    const calc_exec p = calc_found_exec(a), q = calc_found_exec(b);
    calc_app one, other;
    calc_system ignored;
    study->designs.get(study->designs.context, a->design, &one, &ignored);
    study->designs.get(study->designs.context, b->design, &other, &ignored);
    bool alike = calc_same(calc_table_of(CALC_KIND_APP), &one, &other);
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        alike &= !calc_axis_is_length((calc_axis)axis) ||
                 calc_axis_get(&p, (calc_axis)axis) == calc_axis_get(&q, (calc_axis)axis);
    }
    return alike;
}

calc_status calc_sweep_study_again(const calc_sweep_study *study, size_t top, bool each,
                                   bool no_prune, calc_sweep_result *result, calc_errors *errors)
{
    calc_sweep_options options = {.compat = study->options.compat,
                                  .objectives = each ? study->options.objectives : 0,
                                  .per_design = each,
                                  .top = top,
                                  .top_by = study->options.top_by,
                                  .constraints = study->options.constraints,
                                  .constraint = study->options.constraint,
                                  .runs = study->options.runs,
                                  .runs_context = study->options.runs_context,
                                  .runs_name = study->options.runs_name,
                                  .no_prune = no_prune,
                                  .threads = study->options.threads,
                                  .cpu = study->options.cpu};
    memcpy(options.objective, study->options.objective, sizeof options.objective);
    calc_status status = calc_sweep(&study->space, &study->designs, &options, result, errors);
    calc_sweep_found_systems(study, result);
    return status;
}

calc_status calc_sweep_found_search(const calc_sweep_study *study, bool no_prune,
                                    calc_sweep_counts *counts, bool *found, calc_found *best,
                                    calc_errors *errors)
{
    calc_sweep_result result = {0};
    calc_status status = calc_sweep_study_again(study, 1, false, no_prune, &result, errors);
    *found = status == CALC_OK && result.group[0].top.count > 0;
    if (*found) {
        *best = result.group[0].top.item[0];
    }
    if (counts) {
        *counts = result.counts;
    }
    calc_sweep_result_free(&result);
    return status;
}

int calc_sweep_found_simpler(const calc_exec *a, const calc_exec *b)
{
    enum { PARTS = 5 };
    double part[2][PARTS];
    for (int i = 0; i < 2; i++) {
        const calc_exec *e = i == 0 ? a : b;
        const calc_strategy *s = &e->strategy;
        double context = s->context_par > 1 ? (double)s->context_par : 1;
        double sharded = s->zero_stage == 3 ? (double)s->data_par : 1;
        part[i][0] = (double)s->tensor_par * (double)e->pipeline_par * context * sharded;
        part[i][1] = (double)(e->training ? s->tensor_par : e->pipeline_par);
        part[i][2] = s->expert_par > 1 ? (double)s->expert_par : 1;
        part[i][3] = (double)e->pipeline_interleaving;
        part[i][4] = (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE) +
                     s->weight_offload + s->activations_offload + s->optimizer_offload;
    }
    int k = 0;
    while (k < PARTS - 1 && part[0][k] == part[1][k]) {
        k++;
    }
    return (part[0][k] > part[1][k]) - (part[0][k] < part[1][k]);
}

/* A list that all threads evaluate with calc_run(). */
typedef struct question {
    const calc_sweep_study *study;
    const calc_front *list;
    const calc_objective *objective;
    size_t count;
    atomic_bool differs;
} question;

static void ask(void *context, size_t i)
{
    question *q = context;
    const calc_found *item = &q->list->item[i];
    calc_app app;
    calc_system system;
    calc_stats stats;
    const calc_exec exec = calc_found_exec(item);
    q->study->designs.get(q->study->designs.context, item->design, &app, &system);
    /* What was read from a file may break any rule. */
    bool agrees =
        calc_check(&app, &system, &exec, NULL) == CALC_OK &&
        calc_run(&app, &system, &exec, q->study->options.compat, &stats) == CALC_VERDICT_OK;
    for (size_t k = 0; k < q->count && agrees; k++) {
        agrees = calc_objective_of(&q->objective[k], &stats) == item->objective[k];
    }
    if (!agrees) {
        atomic_store(&q->differs, true);
    }
}

static bool list_agrees(const calc_sweep_study *study, const calc_front *list,
                        const calc_objective *objective, size_t count)
{
    enum { SEVERAL = 64 }; /* below that, threads cost more than they save */
    question q = {.study = study, .list = list, .objective = objective, .count = count};
    calc_parallel_for(list->count < SEVERAL ? 1 : study->options.threads, list->count, ask, &q);
    return !atomic_load(&q.differs);
}

bool calc_sweep_found_agree(const calc_sweep_study *study, const calc_sweep_result *result)
{
    const calc_sweep_options *o = &study->options;
    bool fine = true;
    for (size_t g = 0; g < result->groups_count && fine; g++) {
        fine = list_agrees(study, &result->group[g].front, o->objective, o->objectives) &&
               list_agrees(study, &result->group[g].top, &o->top_by, 1);
    }
    return fine;
}

const calc_found *calc_sweep_found_best(const calc_sweep_group *group)
{
    const calc_front *list = group->top.count > 0 ? &group->top : &group->front;
    return list->count > 0 ? list->item : NULL;
}

const calc_found *calc_sweep_found_best_of_all(const calc_sweep_result *result)
{
    const calc_found *best = NULL;
    for (size_t g = 0; g < result->groups_count; g++) {
        const calc_found *found = calc_sweep_found_best(&result->group[g]);
        if (found && (!best || found->objective[0] < best->objective[0])) {
            best = found;
        }
    }
    return best;
}

/* The designs of a study with more of one resource. */
typedef struct larger {
    const calc_designs *designs;
    size_t which;
} larger;

static void get_larger(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const larger *l = context;
    l->designs->get(l->designs->context, index, app, system);
    if (l->which < calc_resources_count(system)) {
        calc_resource_scale(system, l->which, CALC_RESOURCE_MORE);
    }
}

calc_status calc_sweep_more_find(calc_sweep_more *out, const calc_sweep_study *study,
                                 const calc_sweep_result *result, calc_errors *errors)
{
    const calc_found *best = calc_sweep_found_best_of_all(result);
    calc_app app;
    calc_system system;
    bool again = calc_sweep_repeats(study, result, 1);
    calc_status status = CALC_OK;
    out->count = 0;
    if (!best) {
        return CALC_OK;
    }
    study->designs.get(study->designs.context, best->design, &app, &system);
    for (size_t i = 0; i < calc_resources_count(&system) && status == CALC_OK; i++) {
        const larger context = {&study->designs, i};
        calc_sweep_study with = *study;
        calc_sweep_found found;
        if (!calc_resource_there(&system, i)) {
            continue;
        }
        with.designs =
            (calc_designs){.count = study->designs.count, .get = get_larger, .context = &context};
        calc_sweep_more_item *item = &out->item[out->count++];
        calc_resource_text(&system, i, true, item->text);
        calc_sweep_found_run(&with, best, &found);
        item->same = found.stats;
        item->found = false;
        if (again) { /* the best of the larger machines */
            status = calc_sweep_found_search(&with, false, NULL, &item->found, &item->best, errors);
        }
        if (item->found) {
            calc_sweep_found_run(&with, &item->best, &found);
            item->stats = found.stats;
        }
    }
    return status;
}

/* ---- Where nothing fits ---------------------------------------------------------------------- */

/* The designs of a study with a first tier as large as any layout may need. */
static void get_roomy(const void *context, uint64_t index, calc_app *app, calc_system *system)
{
    const calc_designs *designs = context;
    designs->get(designs->context, index, app, system);
    system->chip.mem1.capacity_bytes *= 1e6;
}

/* The best layout of a changed study, run as in the study itself. */
static calc_status find(const calc_sweep_study *with, const calc_sweep_study *study, bool *found,
                        calc_sweep_found *out, calc_errors *errors)
{
    calc_found best;
    calc_status status = calc_sweep_found_search(with, false, NULL, found, &best, errors);
    if (*found) {
        calc_sweep_found_run(study, &best, out);
    }
    return status;
}

const calc_axis calc_sweep_need_axes[] = {CALC_AXIS_activation_recompute,
                                          CALC_AXIS_optimizer_offload, CALC_AXIS_weight_offload,
                                          CALC_AXIS_activations_offload, (calc_axis)0};

bool calc_sweep_need_has(const calc_sweep_need *need, const calc_space *space, calc_axis axis)
{
    return calc_space_has(space, axis, calc_axis_get(&need->sparing.exec, axis));
}

static calc_status find_sparing(calc_sweep_need *out, const calc_sweep_study *study,
                                calc_errors *errors)
{
    int64_t either[] = {false, true};
    int64_t recompute[] = {CALC_ACTIVATION_RECOMPUTE_NONE, CALC_ACTIVATION_RECOMPUTE_FULL};
    calc_sweep_study with = *study;
    for (size_t i = 0; calc_sweep_need_axes[i] > 0; i++) {
        calc_values *values = &with.space.axis[calc_sweep_need_axes[i]];
        if (values->standard) {
            values->value = i == 0 ? recompute : either;
            values->count = 2;
        }
    }
    return find(&with, study, &out->spares, &out->sparing, errors);
}

static calc_status find_larger(calc_sweep_need *out, const calc_sweep_study *study,
                               calc_errors *errors)
{
    const calc_values *procs = &study->space.axis[CALC_AXIS_num_procs];
    calc_sweep_study with = *study;
    calc_status status = CALC_OK;
    bool found = false;
    for (int times = 2; times <= CALC_SWEEP_NEED_TIMES && !found && status == CALC_OK; times *= 2) {
        int64_t more = procs->value[procs->count - 1] * times;
        with.space.axis[CALC_AXIS_num_procs] = (calc_values){.count = 1, .value = &more};
        status = find(&with, study, &found, &out->larger, errors);
        out->num_procs = found ? more : out->num_procs;
    }
    return status;
}

calc_status calc_sweep_need_find(calc_sweep_need *out, const calc_sweep_study *study,
                                 const calc_sweep_result *result, calc_errors *errors)
{
    const calc_space *space = &study->space;
    *out = (calc_sweep_need){0};
    if (calc_sweep_found_best_of_all(result) || !calc_sweep_repeats(study, result, 1) ||
        study->options.constraints > 0 || space->inference.phase != CALC_INFERENCE_PHASE_NONE ||
        space->axis[CALC_AXIS_num_procs].count == 0) {
        return CALC_OK;
    }
    calc_sweep_study with = *study;
    with.designs =
        (calc_designs){.count = study->designs.count, .get = get_roomy, .context = &study->designs};
    calc_status status = calc_objective_parse(&with.options.top_by, "mem1", errors);
    status = status ? status : find(&with, study, &out->known, &out->least, errors);
    status = status == CALC_OK && out->known ? find_sparing(out, study, errors) : status;
    return status == CALC_OK && out->known ? find_larger(out, study, errors) : status;
}

/* ---- Where there is no layout at all --------------------------------------------------------- */

/* Powers of two that are tried for a size that nobody chose. */
enum { SIZES = 8 };

static void choose(calc_exec *exec, const calc_space *space, calc_axis axis)
{
    const calc_field *field = &calc_table_of(CALC_KIND_EXEC)->rows[axis];
    const calc_values *values = &space->axis[axis];
    if (field->type == CALC_TYPE_NOTE || field->type == CALC_TYPE_OBJECT) {
        return;
    }
    if (values->count > 0) {
        calc_axis_put(exec, axis, values->value[0]);
    } else if (field->flags & CALC_AUTO) {
        calc_automatic_set(exec, field);
    } else if (axis == CALC_AXIS_microbatch_size) {
        exec->microbatch_size = 1;
    } else if (axis == CALC_AXIS_datatype) {
        exec->strategy.datatype = CALC_DATATYPE_FLOAT16;
    }
}

/* The values of a size: its first one, or powers of two. @return how many */
static int sizes_of(const calc_values *values, int64_t size[SIZES])
{
    for (int i = 0; i < SIZES; i++) {
        size[i] = values->count > 0 ? values->value[0] : (int64_t)1 << i;
    }
    return values->count > 0 ? 1 : SIZES;
}

/* The errors of a layout. @return whether there are any */
static bool check(const calc_sweep_study *study, const calc_app *app, const calc_system *system,
                  calc_exec exec, calc_errors *errors)
{
    const calc_space *space = &study->space;
    calc_resolve(app, system, &exec);
    int64_t shared = exec.strategy.data_par * exec.microbatch_size;
    if (space->batch_is_maximum && shared > 0 && exec.batch_size > shared) {
        exec.batch_size -= exec.batch_size % shared;
    }
    exec.batch_size *= space->batch_is_of_replica ? exec.strategy.data_par : 1;
    *errors = (calc_errors){0};
    if (calc_check(app, system, &exec, errors) != CALC_OK ||
        calc_compat_check(app, &exec, study->options.compat, errors) != CALC_OK) {
        return true;
    }
    const char *refused = exec.inference.phase != CALC_INFERENCE_PHASE_NONE
                              ? calc_serving_engine_refuses(app, &exec)
                              : NULL;
    return refused &&
           calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/inference/engine",
                           "use engine none, or what it runs",
                           "this engine does not start such a layout: %s", refused) != CALC_OK;
}

bool calc_sweep_empty(const calc_sweep_study *study, calc_errors *errors)
{
    const calc_space *space = &study->space;
    calc_app app;
    calc_system system;
    calc_exec exec;
    study->designs.get(study->designs.context, 0, &app, &system);
    calc_space_optional(space, &exec);
    exec.inference = space->inference;
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        choose(&exec, space, (calc_axis)axis);
    }
    int64_t tensor[SIZES], pipeline[SIZES];
    int tensors = sizes_of(&space->axis[CALC_AXIS_tensor_par], tensor);
    int pipelines = sizes_of(&space->axis[CALC_AXIS_pipeline_par], pipeline);
    bool wrong = true;
    for (int i = 0; i < tensors * pipelines && wrong; i++) {
        calc_errors found;
        exec.strategy.tensor_par = tensor[i % tensors];
        exec.pipeline_par = pipeline[i / tensors];
        wrong = check(study, &app, &system, exec, &found);
        if (i == 0 || found.count < errors->count) {
            *errors = found;
        }
    }
    return wrong;
}
