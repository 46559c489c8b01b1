#include "units.h"

#include <stdlib.h>

#include "spec/rules.h"

/** Processor counts of one unit, for micro-batch 1 and at most. Enough work to make the profile
 * table worth while, little enough that many threads end together: small micro-batches divide more
 * batches and have more cells. */
enum { PROCS_PER_UNIT = 16, MOST_PROCS_PER_UNIT = 256 };

static size_t procs_per_unit(int64_t microbatch_size)
{
    int64_t procs = microbatch_size * PROCS_PER_UNIT;
    return procs < MOST_PROCS_PER_UNIT ? (size_t)procs : MOST_PROCS_PER_UNIT;
}

/* A growing list of numbers. */
typedef struct numbers {
    size_t count, capacity;
    int64_t *value;
} numbers;

static bool add_number(numbers *list, int64_t value)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        int64_t *grown = realloc(list->value, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        list->value = grown;
        list->capacity = capacity;
    }
    list->value[list->count++] = value;
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_unique(numbers *list)
{
    if (list->count == 0) {
        return;
    }
    qsort(list->value, list->count, sizeof *list->value, compare_numbers);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (list->value[i] != list->value[kept - 1]) {
            list->value[kept++] = list->value[i];
        }
    }
    list->count = kept;
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
static bool list_pipelines(calc_units *units, const calc_space *space, const calc_app *app)
{
    const calc_values *axis = &space->axis[CALC_AXIS_pipeline_par];
    numbers list = {0};
    bool fine = true;
    if (axis->all) {
        fine = add_divisors(&list, app->num_blocks);
        sort_unique(&list);
    }
    for (size_t i = 0; i < axis->count && fine; i++) {
        fine = axis->value[i] > app->num_blocks || add_number(&list, axis->value[i]);
    }
    free(units->pipeline);
    units->pipeline = list.value;
    units->pipelines = list.count;
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
        if (data_par <= batch && calc_space_has(space, CALC_AXIS_data_par, data_par) &&
            !add_number(local, batch / data_par)) {
            return false;
        }
    }
    return true;
}

/* Micro-batch sizes that some cell of a tensor parallelism can have. */
static bool list_microbatches(numbers *out, const calc_units *units, const calc_space *space,
                              const calc_app *app, int64_t tensor_par)
{
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    const calc_values *batches = &space->axis[CALC_AXIS_batch_size];
    numbers local = {0};
    bool fine = true;
    for (size_t n = 0; n < procs->count && fine; n++) {
        if (procs->value[n] % tensor_par != 0) {
            continue;
        }
        for (size_t b = 0; b < batches->count && fine; b++) {
            fine = add_local_batches(&local, units, space, procs->value[n] / tensor_par,
                                     batches->value[b]);
        }
        /* Many processor counts have the same few batches. */
        if (local.count > 4096) {
            sort_unique(&local);
        }
    }
    sort_unique(&local);
    const calc_values *axis = &space->axis[CALC_AXIS_microbatch_size];
    out->count = 0;
    for (size_t i = 0; i < local.count && fine; i++) {
        fine = add_divisors(out, local.value[i]);
    }
    sort_unique(out);
    free(local.value);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        int64_t m = out->value[i];
        bool legal = axis->all ? m * app->seq_size % tensor_par == 0
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
    static const calc_datatype order[] = {CALC_DATATYPE_FLOAT16, CALC_DATATYPE_BFLOAT16,
                                          CALC_DATATYPE_FLOAT8, CALC_DATATYPE_FLOAT32};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (system->matrix[order[i]].flop_per_s > 0 && system->vector[order[i]].flop_per_s > 0) {
            return order[i];
        }
    }
    return CALC_DATATYPE_FLOAT16;
}

static bool add_unit(calc_units *units, const calc_exec *base, size_t begin, size_t end)
{
    if (units->count == units->capacity) {
        size_t capacity = units->capacity > 0 ? 2 * units->capacity : 256;
        calc_unit *grown = realloc(units->unit, capacity * sizeof *grown);
        if (!grown) {
            return false;
        }
        units->unit = grown;
        units->capacity = capacity;
    }
    units->unit[units->count++] = (calc_unit){*base, begin, end};
    return true;
}

/* Units of one datatype, attention and mode. */
static bool add_units(calc_units *units, const calc_space *space, const calc_app *app,
                      calc_exec *base, numbers *microbatches)
{
    const calc_values *axis = &space->axis[CALC_AXIS_tensor_par];
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    int64_t common = calc_gcd(calc_gcd(app->hidden, app->feedforward), app->attn_heads);
    for (int64_t t = 1; t <= common; t++) {
        if (common % t != 0 || !(axis->all || calc_space_has(space, CALC_AXIS_tensor_par, t))) {
            continue;
        }
        base->tensor_par = t;
        if (!list_microbatches(microbatches, units, space, app, t)) {
            return false;
        }
        for (size_t m = 0; m < microbatches->count; m++) {
            base->microbatch_size = microbatches->value[m];
            size_t step = procs_per_unit(base->microbatch_size);
            for (size_t n = 0; n < procs->count; n += step) {
                size_t end = n + step < procs->count ? n + step : procs->count;
                if (!add_unit(units, base, n, end)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Small micro-batches divide more batches: their units have more cells. */
static int compare_units(const void *a, const void *b)
{
    const calc_unit *x = a;
    const calc_unit *y = b;
    int64_t p = x->base.microbatch_size;
    int64_t q = y->base.microbatch_size;
    if (p != q) {
        return p < q ? -1 : 1;
    }
    return (x > y) - (x < y);
}

calc_status calc_units_list(calc_units *units, const calc_space *space, const calc_app *app,
                            const calc_system *system)
{
    const calc_values *datatypes = &space->axis[CALC_AXIS_datatype];
    numbers microbatches = {0};
    bool fine = list_pipelines(units, space, app);
    units->count = 0;
    for (int d = 0; d < CALC_DATATYPE_COUNT && fine; d++) {
        bool offered = system->matrix[d].flop_per_s > 0 && system->vector[d].flop_per_s > 0;
        bool wanted = datatypes->all ? d == (int)calc_units_datatype(system)
                                     : calc_space_has(space, CALC_AXIS_datatype, d);
        if (!offered || !wanted) {
            continue;
        }
        for (int mode = 0; mode < 4 && fine; mode++) {
            bool multiquery = mode & 1;
            bool training = mode & 2;
            calc_exec base;
            calc_space_optional(space, &base);
            base.datatype = (calc_datatype)d;
            base.attention_type =
                multiquery ? CALC_ATTENTION_TYPE_MULTIQUERY : CALC_ATTENTION_TYPE_MULTIHEAD;
            base.training = training;
            if (calc_space_has(space, CALC_AXIS_attention_type, base.attention_type) &&
                calc_space_has(space, CALC_AXIS_training, training)) {
                fine = add_units(units, space, app, &base, &microbatches);
            }
        }
    }
    free(microbatches.value);
    if (fine && units->count > 1) {
        qsort(units->unit, units->count, sizeof *units->unit, compare_units);
    }
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_units_free(calc_units *units)
{
    free(units->unit);
    free(units->pipeline);
    *units = (calc_units){0};
}

/* The cells of one processor count and batch. The profile table is made for the first of a unit:
 * many units have none. */
static void run_cells(calc_worker *w, const calc_units *units, const calc_unit *unit, size_t procs,
                      int64_t batch, bool *filled)
{
    int64_t num_procs = w->space->axis[CALC_AXIS_num_procs].value[procs];
    for (size_t i = 0; i < units->pipelines && w->status == CALC_OK; i++) {
        if (!calc_cell_at(&w->cell, w->space, w->app, &unit->base, num_procs, batch,
                          units->pipeline[i])) {
            continue;
        }
        if (!*filled) {
            w->status = calc_worker_rows(w, &unit->base);
            *filled = true;
        }
        if (w->status == CALC_OK) {
            w->cell.procs_index = procs;
            calc_worker_cell(w);
        }
    }
}

void calc_units_run(calc_worker *worker, const calc_units *units, size_t position)
{
    const calc_unit *unit = &units->unit[position];
    const calc_values *procs = &worker->space->axis[CALC_AXIS_num_procs];
    const calc_values *batches = &worker->space->axis[CALC_AXIS_batch_size];
    bool filled = false;
    for (size_t n = unit->procs_begin; n < unit->procs_end; n++) {
        for (size_t b = 0; b < batches->count && procs->value[n] % unit->base.tensor_par == 0;
             b++) {
            run_cells(worker, units, unit, n, batches->value[b], &filled);
        }
    }
}
