#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cell.h"
#include "estimate.h"
#include "kernel.h"
#include "point.h"
#include "sweep.h"
#include "units.h"
#include "worker.h"

/* Results of sweeps, and of their threads, put together. */
void calc_sweep_result_free(calc_sweep_result *result)
{
    for (size_t i = 0; result->group && i < result->groups_count; i++) {
        calc_front_free(&result->group[i].front);
        calc_front_free(&result->group[i].top);
    }
    free(result->group);
    *result = (calc_sweep_result){0};
}

/* Both lists are then to be settled. */
static calc_status merge_group(const calc_sweep_options *options, calc_sweep_group *into,
                               const calc_sweep_group *from)
{
    calc_status status = calc_front_merge(&into->front, &from->front, options->objectives);
    for (size_t i = 0; i < from->top.count && status == CALC_OK; i++) {
        status = calc_top_insert(&into->top, &from->top.item[i], options->top);
    }
    return status;
}

static calc_status settle_group(const calc_sweep_options *options, calc_sweep_group *group)
{
    calc_top_settle(&group->top, options->top);
    return calc_front_settle(&group->front);
}

void calc_result_add_counts(calc_sweep_counts *sum, const calc_sweep_counts *counts)
{
    uint64_t *to = (void *)sum;
    const uint64_t *from = (const void *)counts;
    for (size_t i = 0; i < CALC_SWEEP_COUNTS; i++) {
        to[i] += from[i];
    }
}

calc_status calc_sweep_merge(const calc_sweep_options *options, calc_sweep_result *into,
                             const calc_sweep_result *from)
{
    calc_status status = CALC_OK;
    for (size_t g = 0; g < from->groups_count && g < into->groups_count && status == CALC_OK; g++) {
        status = merge_group(options, &into->group[g], &from->group[g]);
        status = status == CALC_OK ? settle_group(options, &into->group[g]) : status;
    }
    calc_result_add_counts(&into->counts, &from->counts);
    return status;
}

/* Merge the threads' finds of their group g into the result, in order. If it is the last time, the
 * first that found something gives its front away, so that it is not kept twice. */
static calc_status collect_group(const calc_sweep_options *options, calc_sweep_group *into,
                                 calc_worker *const *worker, int threads, size_t g, bool last)
{
    calc_status status = CALC_OK;
    for (int t = 0; t < threads && status == CALC_OK; t++) {
        calc_sweep_group *from = &worker[t]->groups[g];
        if (worker[t]->guest) {
            continue;
        }
        calc_top_settle(&from->top, options->top);
        if (last && into->front.count == 0) {
            calc_front_free(&into->front);
            into->front = from->front;
            from->front = (calc_front){0};
        }
        status = merge_group(options, into, from);
        if (last) {
            calc_front_free(&from->front);
        }
    }
    return status == CALC_OK ? settle_group(options, into) : status;
}

/* calc_sweep(): units of work over threads, and one result out of many. */

/* Units between two looks at the clock for a checkpoint, at least. */
enum { LEAST_UNITS = 16 };

/* Groups for each thread from which on threads share them: with fewer they would meet in one. */
enum { SHARED_FROM = 8 };

/** Kinds of designs whose units are remembered: the first ones. */
enum { KINDS = 65536 };

/* Everything the threads share. Read only, but for the atomics. */
typedef struct shared {
    const calc_space *space;
    const calc_designs *designs;
    const calc_sweep_options *options;
    calc_worker **worker; /* one per thread */
    int threads;
    size_t groups;    /* per design */
    calc_units units; /* of the design at hand */
    atomic_bool stop;
    atomic_uint_fast64_t evaluated, total; /* of finished units, for progress() */
    atomic_size_t done;                    /* units of the design */
    _Atomic double best;                   /* first objective of the best so far: less is better */

    /* The sequence of units. */
    uint64_t design;
    uint64_t base;             /* number of the design's first unit */
    pthread_mutex_t beginning; /* of the next: */
    size_t begun;              /* units of the batch, the first ones, that are done or being done */
    uint64_t last;            /* number of the last unit that was done; CALC_SHARD_DONE: none yet */
    uint64_t *kind_units;     /* units of a design of each kind; 0: not listed yet */
    calc_shard shard;         /* the units to do */
    double checkpoint_s;      /* when the last one was made */
    calc_sweep_counts before; /* counts of an earlier sweep that goes on */
} shared;

uint64_t calc_shard_after(const calc_shard *shard, uint64_t unit)
{
    /* Successive multiples, modulo 1, keep apart from each other: whatever the period of what units
     * cost, no shard has the dear ones only. */
    static const uint64_t golden_section = UINT64_C(0x9E3779B97F4A7C15); /* of 2^64 */
    uint64_t n = shard->count;
    uint64_t own = unit;
    if (unit >= CALC_SHARD_DONE - 2 * n) {
        return CALC_SHARD_DONE;
    }
    for (uint64_t round = unit / n; own <= unit; round++) {
        uint64_t turn = (round * golden_section >> 32) * n >> 32;
        own = round * n + (shard->index - 1 + turn) % n;
    }
    return own;
}

/* Tell how far it is; true: stop. */
static bool show_progress(shared *s)
{
    const calc_sweep_options *o = s->options;
    if (!o->progress) {
        return false;
    }
    double best = atomic_load(&s->best);
    double units = (double)(s->units.count > 0 ? s->units.count : 1);
    calc_sweep_progress p = {
        .counts = s->before,
        .done = (double)s->design + (double)atomic_load(&s->done) / units,
        .total = (double)s->designs->count,
        .best = isfinite(best) ? calc_objective_value(&o->top_by, best) : NAN,
        .best_unit = isfinite(best) ? o->top_by.field->unit : NULL,
    };
    p.counts.evaluated += atomic_load(&s->evaluated);
    p.counts.total += atomic_load(&s->total);
    return o->progress(o->progress_context, &p);
}

/* Make known how far a thread is. @return whether it is to stop where it is: not in a sweep that is
 * saved, whose units are done or not begun */
static bool tell(void *context, calc_worker *w)
{
    shared *s = context;
    atomic_fetch_add(&s->evaluated, w->counts.evaluated - w->told_evaluated);
    atomic_fetch_add(&s->total, w->counts.total - w->told_total);
    w->told_evaluated = w->counts.evaluated;
    w->told_total = w->counts.total;
    if (s->options->progress) {
        /* Make known the best that a thread has found. */
        double known = atomic_load(&s->best);
        while (w->best < known && !atomic_compare_exchange_weak(&s->best, &known, w->best)) {
            /* another thread's finds are known now */
        }
    }
    if (w->status != CALC_OK || (w == s->worker[0] && show_progress(s))) {
        atomic_store(&s->stop, true);
    }
    return atomic_load(&s->stop) && !s->options->checkpoint;
}

/* Whether to do the next unit of a batch. Where the sweep is saved, it ends with the first ones of
 * a batch done, without a gap, so that what is saved has a place to go on from. */
static bool begins(shared *s, size_t next)
{
    pthread_mutex_lock(&s->beginning);
    bool needed = s->options->checkpoint && next < s->begun;
    bool does = needed || !atomic_load_explicit(&s->stop, memory_order_relaxed);
    s->begun = does && s->begun <= next ? next + 1 : s->begun;
    pthread_mutex_unlock(&s->beginning);
    return does;
}

/* Evaluate the units at these positions: a thread that takes one also takes the next ones. */
static void run_units(shared *s, const size_t *position, size_t count)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads)
    for (size_t i = 0; i < count; i++) {
        /* Whether a unit shares computed data with the one before it, which the thread keeps. */
        for (size_t n = i; n < count && (n > 0 && calc_units_share(&s->units, position[n - 1],
                                                                   position[n])) == (n > i);
             n++) {
            if (begins(s, n)) {
                calc_worker *w = s->worker[omp_get_thread_num()];
                calc_units_run(w, &s->units, position[n]);
                calc_batch_end(w);
                atomic_fetch_add(&s->done, 1);
                tell(s, w);
            }
        }
    }
}

/* Merge the threads' finds into the result. The threads keep them as bounds, except fronts that
 * they no longer need. */
static calc_status collect(shared *s, calc_sweep_result *result, bool last)
{
    calc_status status = CALC_OK;
    calc_sweep_group *group = result->group + (s->options->per_design ? s->design * s->groups : 0);
    result->counts = s->before;
    for (int t = 0; t < s->threads; t++) {
        status = status == CALC_OK ? s->worker[t]->status : status;
        calc_result_add_counts(&result->counts, &s->worker[t]->counts);
    }
    if (status != CALC_OK) {
        return status;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->threads) reduction(max : status)
    for (size_t g = 0; g < s->groups; g++) {
        calc_status own = collect_group(s->options, &group[g], s->worker, s->threads, g, last);
        status = own > status ? own : status;
    }
    return status;
}

/* A new design: its own inputs and, if it has its own groups, nothing found yet. */
static calc_status begin_design(shared *s, calc_app *app, calc_system *system)
{
    s->designs->get(s->designs->context, s->design, app, system);
    if (!calc_cell_chunkings_fit(s->space, app)) {
        return CALC_ERR_RANGE;
    }
    atomic_store(&s->done, 0);
    for (int t = 0; t < s->threads; t++) {
        calc_worker *w = s->worker[t];
        for (size_t g = 0; s->options->per_design && !w->guest && g < s->groups; g++) {
            calc_front_clear(&w->groups[g].front);
            calc_front_clear(&w->groups[g].top);
        }
        calc_worker_begin(w, app, system, s->design);
    }
    return calc_units_list(&s->units, s->space, app, system, s->options->compat);
}

static calc_status make_checkpoint(shared *s, calc_sweep_result *result, uint64_t unit, bool last)
{
    const calc_sweep_options *o = s->options;
    double now_s = omp_get_wtime();
    if (!o->checkpoint || (!last && now_s - s->checkpoint_s < o->checkpoint_s)) {
        return CALC_OK;
    }
    s->checkpoint_s = now_s;
    calc_status status = last ? CALC_OK : collect(s, result, false);
    return status == CALC_OK ? o->checkpoint(o->checkpoint_context, result, unit) : status;
}

/* Where the units of a design of the current kind are noted; NULL if its kind is not known. */
static uint64_t *units_of_kind(const shared *s)
{
    const calc_designs *d = s->designs;
    uint64_t kind = s->kind_units ? d->kind(d->context, s->design) : KINDS;
    return kind < KINDS ? &s->kind_units[kind] : NULL;
}

/* The units of one design that are ours. */
static calc_status run_design(shared *s, calc_sweep_result *result)
{
    uint64_t end = s->base + s->units.count;
    uint64_t *of_kind = units_of_kind(s);
    if (of_kind) {
        *of_kind = s->units.count;
    }
    size_t *position = malloc((s->units.count > 0 ? s->units.count : 1) * sizeof *position);
    calc_status status = position ? CALC_OK : CALC_ERR_NOMEM;
    /* Units to do before the threads wait for each other: all that the design has, unless the
     * result is saved meanwhile. Where others use the processors, too, each wait takes
     * milliseconds. */
    size_t several = (size_t)s->threads * 4 > LEAST_UNITS ? (size_t)s->threads * 4 : LEAST_UNITS;
    size_t most = s->options->checkpoint ? several : SIZE_MAX;
    while (s->shard.next < end && status == CALC_OK && !atomic_load(&s->stop)) {
        size_t count = 0;
        s->begun = 0;
        for (; count < most && s->shard.next < end; count++) {
            position[count] = (size_t)(s->shard.next - s->base);
            s->shard.next = calc_shard_after(&s->shard, s->shard.next);
        }
        run_units(s, position, count);
        s->last = s->begun > 0 ? s->base + position[s->begun - 1] : s->last;
        for (int t = 0; t < s->threads; t++) {
            status = status == CALC_OK ? s->worker[t]->status : status;
        }
        if (status == CALC_OK && !atomic_load(&s->stop)) {
            status = make_checkpoint(s, result, s->last, false);
        }
    }
    free(position);
    s->base = end;
    return status;
}

static calc_status run_all(shared *s, calc_sweep_result *result)
{
    calc_app app;
    calc_system system;
    calc_status status = CALC_OK;
    s->checkpoint_s = omp_get_wtime();
    for (s->design = 0; s->design < s->designs->count; s->design++) {
        /* Pass a design by of which nothing is ours, without listing its units: a shard, or a sweep
         * that goes on, begins where it has work. */
        const uint64_t *units = units_of_kind(s);
        bool passed = units && *units > 0 && s->shard.next - s->base >= *units;
        s->base += passed ? *units : 0;
        if (!passed) {
            status = begin_design(s, &app, &system);
        }
        if (!passed && status == CALC_OK) {
            status = run_design(s, result);
        }
        bool ends =
            status != CALC_OK || atomic_load(&s->stop) || s->design + 1 == s->designs->count;
        if (s->options->per_design ? !passed : ends) {
            calc_status collected = collect(s, result, true);
            status = status == CALC_OK ? collected : status;
        }
        if (ends) {
            break;
        }
    }
    uint64_t last = atomic_load(&s->stop) ? s->last : s->base;
    /* Where nothing was done, what was saved before stands. */
    return status == CALC_OK && last < CALC_SHARD_DONE ? make_checkpoint(s, result, last, true)
                                                       : status;
}

static calc_status choose_kernel(const char *cpu, calc_kernel_level *out, calc_errors *errors)
{
    calc_kernel_level level[4];
    size_t count = calc_kernel_levels(level);
    *out = level[count - 1];
    if (!cpu) {
        return CALC_OK;
    }
    char hint[128] = "use";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(level[i].name, cpu) == 0) {
            *out = level[i];
            return CALC_OK;
        }
        calc_append(hint, sizeof hint, "%s %s", i > 0 ? " or" : "", level[i].name);
    }
    return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, hint,
                           "this machine has no CPU level \"%s\"", cpu);
}

static calc_status report(const shared *s, calc_status status, calc_errors *errors)
{
    if (status == CALC_ERR_RULE) {
        for (int t = 0; t < s->threads; t++) {
            const calc_exec *e = &s->worker[t]->failed;
            if (s->worker[t]->status == CALC_ERR_RULE) {
                return calc_errors_add(
                    errors, status, CALC_KIND_NONE, NULL, "please report it: a bug in calc",
                    "verification failed: calc run gives other numbers for num_procs %lld, "
                    "tensor_par %lld, pipeline_par %lld, microbatch_size %lld, "
                    "pipeline_interleaving %lld",
                    (long long)e->num_procs, (long long)e->strategy.tensor_par,
                    (long long)e->pipeline_par, (long long)e->microbatch_size,
                    (long long)e->pipeline_interleaving);
            }
        }
    }
    if (status == CALC_ERR_RANGE) {
        return calc_errors_add(errors, status, CALC_KIND_NONE, NULL, "list fewer",
                               "too many values of pipeline_interleaving: with and without "
                               "overlap of messages they make more than %d combinations",
                               CALC_CELL_CHUNKINGS);
    }
    return calc_errors_status(errors, status);
}

/* Memory for the result and the threads. */
static calc_status prepare(shared *s, const calc_kernel *kernel, calc_sweep_result *result)
{
    result->group = calloc(result->groups_count, sizeof *result->group);
    s->worker = calloc((size_t)s->threads, sizeof *s->worker);
    calc_status status = result->group && s->worker ? CALC_OK : CALC_ERR_NOMEM;
    for (int t = 0; t < s->threads && status == CALC_OK; t++) {
        bool guest = t > 0 && s->groups >= SHARED_FROM * (size_t)s->threads;
        s->worker[t] = calc_worker_create(s->space, s->options, kernel, guest ? 0 : s->groups);
        status = s->worker[t] ? CALC_OK : CALC_ERR_NOMEM;
        if (status == CALC_OK) {
            if (guest) {
                calc_worker *w = s->worker[t], *host = s->worker[0];
                w->groups_count = host->groups_count;
                w->groups = host->groups;
                w->screens = host->screens;
                w->lock = host->lock;
            }
            s->worker[t]->stop = tell;
            s->worker[t]->stop_context = s;
        }
    }
    if (status == CALC_OK && s->options->point && s->worker[0]) {
        s->worker[0]->batch = calc_batch_create(result->threads);
        status = s->worker[0]->batch ? CALC_OK : CALC_ERR_NOMEM;
    }
    if (status == CALC_OK && s->designs->kinds > 0) {
        s->kind_units = calloc(KINDS, sizeof *s->kind_units);
        status = s->kind_units ? CALC_OK : CALC_ERR_NOMEM;
    }
    if (status == CALC_OK && s->options->resumed) {
        s->before = s->options->resumed->counts;
        status = calc_sweep_merge(s->options, result, s->options->resumed);
    }
    return status;
}

static size_t counts_of_procs(const calc_space *space, const calc_sweep_options *options)
{
    return options->per_num_procs ? space->axis[CALC_AXIS_num_procs].count : 1;
}

size_t calc_sweep_groups(const calc_space *space, const calc_designs *designs,
                         const calc_sweep_options *options)
{
    return counts_of_procs(space, options) * (options->per_design ? designs->count : 1);
}

calc_status calc_sweep(const calc_space *space, const calc_designs *designs,
                       const calc_sweep_options *options, calc_sweep_result *result,
                       calc_errors *errors)
{
    calc_kernel_level level;
    *result = (calc_sweep_result){0};
    calc_status status = choose_kernel(options->cpu, &level, errors);
    if (status != CALC_OK) {
        return status;
    }
    double start_s = omp_get_wtime();
    shared s = {
        .best = INFINITY,
        .space = space,
        .designs = designs,
        .options = options,
        .threads = options->threads > 0 ? options->threads : omp_get_num_procs(),
        .groups = counts_of_procs(space, options),
        .last = CALC_SHARD_DONE,
        .shard = options->shard.count > 0 ? options->shard : (calc_shard){1, 1, 0},
    };
    pthread_mutex_init(&s.beginning, NULL);
    result->groups_count = calc_sweep_groups(space, designs, options);
    result->threads = s.threads;
    if (options->point) {
        s.threads = 1; /* one lists the points in order; all evaluate them */
    }
    result->cpu = level.name;
    status = prepare(&s, level.run, result);
    status = status == CALC_OK ? run_all(&s, result) : status;
    result->partial = atomic_load(&s.stop);
    result->elapsed_s = omp_get_wtime() - start_s;
    status = report(&s, status, errors);
    calc_units_free(&s.units);
    if (s.worker && s.worker[0]) {
        const calc_worker *w = s.worker[0];
        result->thread_bytes =
            (double)(sizeof *w + calc_rows_bytes(&w->rows) + calc_sheets_bytes(&w->sheets));
    }
    for (int t = s.threads; t-- > 0 && s.worker;) { /* guests first */
        calc_worker_free(s.worker[t]);
    }
    free(s.worker);
    pthread_mutex_destroy(&s.beginning);
    free(s.kind_units);
    return status;
}

calc_status calc_sweep_count(const calc_space *space, const calc_designs *designs,
                             calc_compat compat, calc_sweep_counts *out)
{
    calc_census census;
    calc_errors errors = {0};
    calc_status status = calc_census_take(&census, space, designs, compat, &errors);
    *out = census.counts;
    calc_census_free(&census);
    return status;
}

/* Which kernels this machine can run. */

size_t calc_kernel_levels(calc_kernel_level out[4])
{
    size_t count = 0;
    out[count++] = (calc_kernel_level){"generic", &calc_kernel_generic};
#ifdef CALC_KERNEL_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma")) {
        out[count++] = (calc_kernel_level){"x86-64-v3", &calc_kernel_v3};
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd")) {
        out[count++] = (calc_kernel_level){"x86-64-v4", &calc_kernel_v4};
    }
#endif
    return count;
}

calc_stage_step calc_kernel_lane_step(const calc_kernel_job *job,
                                      const calc_kernel_chunking *chunking,
                                      const calc_stage_links *links, size_t lane, bool least)
{
    const calc_stage_terms *common = job->shared;
    calc_stage_terms t = {0};
    calc_panel_terms(job->panel, common, common->compat, common->training, lane, &t);
    double exposed = chunking->overlapped > 0 ? 1 - t.message_hidden : 1;
    return calc_stage_step_or_less(&t, links, job->schedule, chunking->classes, chunking->item,
                                   chunking->chunks, exposed, least);
}
