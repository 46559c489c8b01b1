#include "units.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "cell.h"
#include "serve.h"
#include "spec/rules.h"
#include "spec/serving_engine.h"
#include "variants.h"

/** Processor counts of one unit, for micro-batch 1 and at most. Enough work to make the profile
 * table worth while, little enough that many threads end together: small micro-batches divide more
 * batches and have more cells. */
enum { PROCS_PER_UNIT = 16, MOST_PROCS_PER_UNIT = 256 };

/** Numbers of stages and batches of a unit that serves: the common part of their passes is kept for
 *  units that spread experts differently (calc_pass_common). */
enum { STAGES_PER_UNIT = 8, BATCHES_PER_UNIT = 64 };

static bool serves(const calc_space *space)
{
    return space->inference.phase != CALC_INFERENCE_PHASE_NONE;
}

/* A growing list of numbers. */
typedef struct numbers {
    size_t count, capacity;
    int64_t *value;
} numbers;

static bool add_number(numbers *list, int64_t value)
{
    return CALC_PUSH(list->value, list->count, list->capacity, &value);
}

/* Add the divisors of n. */
static bool add_divisors(numbers *list, int64_t n)
{
    for (int64_t d = 1; d * d <= n; d++) {
        if (n % d == 0 && !(add_number(list, d) && add_number(list, n / d))) {
            return false;
        }
    }
    return true;
}

/* Pipeline sizes that some cell may have: divisors of the blocks, or those that are given. */
static bool list_pipelines(calc_units *units, const calc_space *space, const calc_app *app,
                           calc_compat compat)
{
    const calc_values *axis = &space->axis[CALC_AXIS_pipeline_par];
    numbers list = {0};
    bool fine = true;
    if (axis->all) {
        fine = add_divisors(&list, app->num_blocks);
    }
    for (size_t i = 0; i < axis->count && fine; i++) {
        fine = axis->value[i] > app->num_blocks || add_number(&list, axis->value[i]);
    }
    /* Unless stages are even, any number: some then have a block more. */
    bool any = axis->all && !calc_space_calculon(compat);
    for (int64_t p = 1; p <= app->num_blocks && any && fine; p++) {
        fine = add_number(&list, p);
    }
    free(units->pipeline);
    units->pipeline = list.value;
    units->pipelines = calc_space_sort(list.value, list.count);
    return fine;
}

/* Few pipeline sizes divide a processor count, and every unit asks. */
static bool list_dividing(calc_units *units, const calc_space *space)
{
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    size_t count = 0;
    size_t capacity = 0;
    free(units->first);
    free(units->dividing);
    units->dividing = NULL;
    units->first = calloc(procs->count + 1, sizeof *units->first);
    bool fine = units->first != NULL;
    for (size_t n = 0; n < procs->count && fine; n++) {
        for (size_t i = 0; i < units->pipelines && fine; i++) {
            assert(units->pipeline);
            const unsigned short place = (unsigned short)i;
            fine = procs->value[n] % units->pipeline[i] != 0 ||
                   CALC_PUSH(units->dividing, count, capacity, &place);
        }
        units->first[n + 1] = count;
    }
    return fine;
}

/* Add the batch of one replica for each data parallelism that goes with a processor count. */
static bool add_local_batches(numbers *local, const calc_units *units, const calc_space *space,
                              int64_t stages_and_data, int64_t batch)
{
    for (size_t i = 0; i < units->pipelines; i++) {
        if (stages_and_data % units->pipeline[i] != 0) {
            continue;
        }
        int64_t data_par = stages_and_data / units->pipeline[i];
        int64_t own = space->batch_is_of_replica ? batch : batch / data_par;
        if (own > 0 && calc_space_has(space, CALC_AXIS_data_par, data_par) &&
            !add_number(local, own)) {
            return false;
        }
    }
    return true;
}

/* Micro-batch sizes that some cell of a tensor parallelism can have. */
static bool list_microbatches(numbers *out, const calc_units *units, const calc_space *space,
                              const calc_app *app, const calc_exec *base)
{
    int64_t context_par = calc_ranks_or_one(base->strategy.context_par);
    int64_t tensor_par = base->strategy.tensor_par;
    int64_t replica = tensor_par * context_par;
    int64_t seq_size = base->seq_size > 0 ? base->seq_size : app->seq_size;
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    const calc_values *batches = &space->axis[CALC_AXIS_batch_size];
    const calc_values *axis = &space->axis[CALC_AXIS_microbatch_size];
    bool ones = axis->count == 1 && axis->value[0] == 1; /* of any batch: one is enough */
    numbers local = {0};
    bool fine = true;
    for (size_t n = 0; n < procs->count && fine && !(ones && local.count > 0); n++) {
        if (procs->value[n] % replica != 0) {
            continue;
        }
        for (size_t b = 0; b < batches->count && fine && !(ones && local.count > 0); b++) {
            fine = add_local_batches(&local, units, space, procs->value[n] / replica,
                                     batches->value[b]);
        }
        /* Many processor counts have the same few batches. */
        if (local.count > 4096) {
            local.count = calc_space_sort(local.value, local.count);
        }
    }
    local.count = calc_space_sort(local.value, local.count);
    out->count = 0;
    for (size_t i = 0; i < local.count && fine; i++) {
        assert(local.value);
        fine = add_divisors(out, local.value[i]);
    }
    out->count = calc_space_sort(out->value, out->count);
    free(local.value);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        assert(out->value);
        int64_t m = out->value[i];
        bool few =
            m == 1 || space->most_tokens == 0 || m * seq_size / context_par <= space->most_tokens;
        bool legal = axis->all ? few && m * seq_size / context_par % tensor_par == 0
                               : calc_space_has(space, CALC_AXIS_microbatch_size, m);
        if (legal) {
            out->value[kept++] = m;
        }
    }
    out->count = kept;
    return fine;
}

calc_datatype calc_units_datatype(const calc_system *system)
{
    static const calc_datatype order[] = {CALC_DATATYPE_BFLOAT16, CALC_DATATYPE_FLOAT16,
                                          CALC_DATATYPE_FLOAT8, CALC_DATATYPE_FLOAT32};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (system->chip.matrix[order[i]].flop_per_s > 0 &&
            system->chip.vector[order[i]].flop_per_s > 0) {
            return order[i];
        }
    }
    return CALC_DATATYPE_FLOAT16;
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Units of one micro-batch size. */
static bool add_microbatch(calc_units *units, const calc_space *space, size_t variant,
                           const calc_exec *base)
{
    int64_t procs = base->microbatch_size * PROCS_PER_UNIT;
    const size_t count[] = {units->pipelines, space->axis[CALC_AXIS_batch_size].count,
                            space->axis[CALC_AXIS_num_procs].count};
    const size_t step[] = {
        serves(space) ? STAGES_PER_UNIT : count[0], serves(space) ? BATCHES_PER_UNIT : count[1],
        /* Replicas that serve answer the same however many there are. */
        procs < MOST_PROCS_PER_UNIT && !serves(space) ? (size_t)procs : MOST_PROCS_PER_UNIT};
    const calc_variants *v = &units->variants;
    size_t end = variant + 1; /* variants with the same rows are one unit */
    while (end < v->count && v->item[end].first == variant) {
        end++;
    }
    calc_unit unit = {.variant = variant,
                      .variants = end - variant,
                      .served = v->item[variant].served,
                      .tensor_par = base->strategy.tensor_par,
                      .expert_tensor_par = base->strategy.expert_tensor_par,
                      .microbatch_size = base->microbatch_size};
    bool fine = true;
    for (size_t s = 0; s < count[0] && fine; s += step[0]) {
        unit.stages_begin = s;
        unit.stages_end = lesser(s + step[0], count[0]);
        for (size_t b = 0; b < count[1] && fine; b += step[1]) {
            unit.batches_begin = b;
            unit.batches_end = lesser(b + step[1], count[1]);
            for (size_t n = 0; n < count[2] && fine; n += step[2]) {
                unit.procs_begin = n;
                unit.procs_end = lesser(n + step[2], count[2]);
                fine = CALC_PUSH(units->unit, units->count, units->capacity, &unit);
            }
        }
    }
    return fine;
}

/* Whether a way to bring tokens to experts goes with the ranks that share them. */
static bool dispatch_legal(const calc_space *space, const calc_app *app, const calc_exec *base)
{
    const calc_strategy *s = &base->strategy;
    bool replicated = s->dispatch_type == CALC_DISPATCH_TYPE_REPLICATED;
    bool replicates = app->num_experts > 0 && calc_serving_engine_replicates(s);
    bool alone = s->tensor_par == 1 && s->expert_par <= 1 && s->expert_tensor_par <= 1;
    if (space->axis[CALC_AXIS_dispatch_type].last) {
        return replicated == replicates;
    }
    return !replicated || app->num_experts == 0 || (!base->training && (replicates || alone));
}

/* Units of one tensor parallelism. */
static bool add_tensor_par(calc_units *units, const calc_space *space, const calc_app *app,
                           const calc_system *system, size_t variant, calc_exec *base,
                           numbers *microbatches)
{
    if (!calc_variant_legal(app, system, base) || !dispatch_legal(space, app, base)) {
        return true;
    }
    bool fine = list_microbatches(microbatches, units, space, app, base);
    for (size_t m = 0; m < microbatches->count && fine; m++) {
        base->microbatch_size = microbatches->value[m];
        fine = add_microbatch(units, space, variant, base);
    }
    return fine;
}

/* Over how many ranks experts are split, beside that of the variant: where all values are asked
 * for, over those of tensor parallelism, and in serving over those that experts are not spread
 * over.
 * @return how many there are */
static size_t list_splits(const calc_space *space, const calc_app *app, const calc_exec *base,
                          int64_t out[3])
{
    const calc_values *axis = &space->axis[CALC_AXIS_expert_tensor_par];
    int64_t tensor_par = base->strategy.tensor_par;
    int64_t expert_par = calc_ranks_or_one(base->strategy.expert_par);
    int64_t left = tensor_par % expert_par == 0 ? tensor_par / expert_par : 1;
    size_t count = 0;
    out[count++] = base->strategy.expert_tensor_par;
    if (!axis->all || app->num_experts == 0) {
        return count;
    }
    if (serves(space) && left > 1 && left < tensor_par) {
        out[count++] = left;
    }
    if (tensor_par > 1 && (!axis->last || left == tensor_par)) {
        out[count++] = tensor_par;
    }
    out[0] = axis->last ? out[count - 1] : out[0];
    return axis->last ? 1 : count;
}

/* Units of one datatype, attention and mode. */
static bool add_units(calc_units *units, const calc_space *space, const calc_app *app,
                      const calc_system *system, size_t variant, numbers *microbatches)
{
    calc_exec base = units->variants.item[variant].exec;
    const calc_values *axis = &space->axis[CALC_AXIS_tensor_par];
    bool fine = true;
    int64_t common = calc_gcd(calc_gcd(app->hidden, app->feedforward), app->attn_heads);
    for (int64_t t = 1; t <= common && fine; t++) {
        if (common % t != 0 || !(axis->all || calc_space_has(space, CALC_AXIS_tensor_par, t))) {
            continue;
        }
        base.strategy.tensor_par = t;
        int64_t split[3];
        size_t splits = list_splits(space, app, &base, split);
        for (size_t i = 0; i < splits && fine; i++) {
            base.strategy.expert_tensor_par = split[i];
            fine = add_tensor_par(units, space, app, system, variant, &base, microbatches);
        }
        base.strategy.expert_tensor_par =
            units->variants.item[variant].exec.strategy.expert_tensor_par;
    }
    return fine;
}

/* Small micro-batches divide more batches: their units have more cells. Operators of one tensor
 * parallelism have much in common (calc_stage_timed, calc_pass_common), but not with other kinds of
 * serving. */
static int compare_units(const void *a, const void *b)
{
    const calc_unit *x = a;
    const calc_unit *y = b;
    const int64_t p[] = {x->microbatch_size,       (int64_t)x->served,        x->tensor_par,
                         (int64_t)x->stages_begin, (int64_t)x->batches_begin, (int64_t)x->variant,
                         x->expert_tensor_par,     (int64_t)x->procs_begin};
    const int64_t q[] = {y->microbatch_size,       (int64_t)y->served,        y->tensor_par,
                         (int64_t)y->stages_begin, (int64_t)y->batches_begin, (int64_t)y->variant,
                         y->expert_tensor_par,     (int64_t)y->procs_begin};
    size_t i = 0;
    while (i + 1 < sizeof p / sizeof *p && p[i] == q[i]) {
        i++;
    }
    return CALC_ORDER(p[i], q[i]);
}

calc_status calc_units_list(calc_units *units, const calc_space *space, const calc_app *app,
                            const calc_system *system, calc_compat compat)
{
    numbers microbatches = {0};
    bool fine = list_pipelines(units, space, app, compat) && list_dividing(units, space) &&
                calc_variants_list(&units->variants, space, app, system, compat) == CALC_OK;
    units->count = 0;
    for (size_t i = 0; i < units->variants.count && fine; i++) {
        bool taken = units->variants.item[i].first < i;
        fine = taken || add_units(units, space, app, system, i, &microbatches);
    }
    free(microbatches.value);
    if (fine && units->count > 1) {
        CALC_SORT(units->unit, units->count, compare_units);
    }
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_units_free(calc_units *units)
{
    calc_variants_free(&units->variants);
    free(units->unit);
    free(units->pipeline);
    free(units->first);
    free(units->dividing);
    *units = (calc_units){0};
}

calc_exec calc_units_base(const calc_units *units, size_t position)
{
    const calc_unit *unit = &units->unit[position];
    calc_exec base = units->variants.item[unit->variant].exec;
    base.strategy.tensor_par = unit->tensor_par;
    base.strategy.expert_tensor_par = unit->expert_tensor_par;
    base.microbatch_size = unit->microbatch_size;
    return base;
}

bool calc_units_share(const calc_units *units, size_t position, size_t other)
{
    const calc_unit *x = &units->unit[position];
    const calc_unit *y = &units->unit[other];
    const calc_exec *exec = &units->variants.item[x->variant].exec;
    return exec->inference.phase != CALC_INFERENCE_PHASE_NONE && x->served == y->served &&
           x->tensor_par == y->tensor_par && x->microbatch_size == y->microbatch_size &&
           x->stages_begin == y->stages_begin && x->batches_begin == y->batches_begin;
}

/* The cell that the worker has, for each variant of its unit that is legal there: they differ in
 * which blocks a stage has. The table of rows is made for the first of a unit: many have none. */
static void run_cell(calc_worker *w, const calc_units *units, size_t position, bool *filled)
{
    const calc_unit *unit = &units->unit[position];
    const calc_variant *variant = &units->variants.item[unit->variant];
    for (size_t i = 0; i < unit->variants && w->status == CALC_OK; i++) {
        calc_variant_put_stages(&variant[i].exec, &w->cell.exec);
        if (!calc_legal_cell(w->space, &w->unit_axes, w->app, &w->spreads, &w->cell.exec,
                             w->cell.legal)) {
            continue;
        }
        if (!*filled) {
            const calc_exec base = calc_units_base(units, position);
            w->status = calc_worker_rows(w, &base);
            *filled = true;
        }
        if (w->status == CALC_OK) {
            calc_worker_cell(w);
        }
    }
}

/* The cells of one processor count, given by its position, and batch. */
static void run_cells(calc_worker *w, const calc_units *units, size_t position,
                      const calc_exec *base, size_t procs, int64_t batch, bool *filled)
{
    bool rounds = !calc_space_calculon(w->options->compat);
    const calc_unit *unit = &units->unit[position];
    int64_t num_procs = w->space->axis[CALC_AXIS_num_procs].value[procs];
    for (size_t k = units->first[procs]; k < units->first[procs + 1] && w->status == CALC_OK; k++) {
        size_t i = units->dividing[k];
        if (i < unit->stages_begin || i >= unit->stages_end ||
            !calc_cell_at(&w->cell, w->space, w->app, base, num_procs, batch, units->pipeline[i])) {
            continue;
        }
        run_cell(w, units, position, filled);
        if (rounds && w->status == CALC_OK && calc_cell_whole_rounds(&w->cell, w->space, batch)) {
            run_cell(w, units, position, filled);
        }
    }
}

void calc_units_run(calc_worker *worker, const calc_units *units, size_t position)
{
    const calc_unit *unit = &units->unit[position];
    const calc_exec base = calc_units_base(units, position);
    const calc_values *procs = &worker->space->axis[CALC_AXIS_num_procs];
    const calc_values *batches = &worker->space->axis[CALC_AXIS_batch_size];
    bool filled = false;
    worker->unit_axes = calc_legal_axes_in(&worker->axes, worker->space, &base);
    worker->spreads = calc_spreads_in(worker->space, worker->app, &base);
    if (calc_serve_walk_takes(worker)) {
        calc_serve_walk(worker, units, unit, &base);
        return;
    }
    /* With more processors steps are shorter: finds with them skip more of the others. Who visits
     * points counts them, in order. */
    bool descends = !worker->visit && !worker->by_run;
    for (size_t i = 0; i < unit->procs_end - unit->procs_begin; i++) {
        size_t n = descends ? unit->procs_end - 1 - i : unit->procs_begin + i;
        worker->cell.procs_index = n;
        for (size_t b = unit->batches_begin;
             b < unit->batches_end && procs->value[n] % unit->tensor_par == 0; b++) {
            run_cells(worker, units, position, &base, n, batches->value[b], &filled);
        }
    }
}

calc_status calc_units_walk(const calc_space *space, const calc_designs *designs,
                            calc_compat compat, calc_worker_visit *visit, void *context,
                            calc_sweep_counts *out)
{
    const calc_sweep_options options = {.compat = compat};
    calc_worker *w = calc_worker_create(space, &options, NULL, 1);
    calc_units units = {0};
    calc_status status = w ? CALC_OK : CALC_ERR_NOMEM;
    for (uint64_t d = 0; d < designs->count && status == CALC_OK; d++) {
        calc_app app;
        calc_system system;
        designs->get(designs->context, d, &app, &system);
        calc_worker_begin(w, &app, &system, d);
        w->counts_only = true;
        w->visit = visit;
        w->visit_context = context;
        status = calc_cell_chunkings_fit(space, &app) ? CALC_OK : CALC_ERR_RANGE;
        status = status != CALC_OK ? status : calc_units_list(&units, space, &app, &system, compat);
        for (size_t i = 0; i < units.count && status == CALC_OK; i++) {
            calc_units_run(w, &units, i);
            status = w->status;
        }
    }
    if (status == CALC_OK) {
        *out = w->counts;
    }
    calc_units_free(&units);
    calc_worker_free(w);
    return status;
}
