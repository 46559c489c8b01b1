#include "estimate.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "kernel.h"
#include "model/run.h"
#include "point.h"
#include "serve.h"
#include "spec/field.h"
#include "units.h"
#include "worker.h"

/* Threads pay where a kind has at least so many units. */
enum { SEVERAL_UNITS = 64 };

/* Counting under way: the current kind. */
typedef struct calc_census_walk {
    const calc_space *space;
    const calc_designs *designs;
    calc_sweep_options options; /* of the workers */
    int threads;
    calc_worker **worker; /* one per thread */
    uint64_t *kind_total; /* points of one design of each kind */
    uint64_t kind;
    calc_app app;
    calc_system system;
    calc_units units;
    uint64_t *unit_total; /* points of each unit */
    size_t capacity;      /* units it has room for */
} walk;

/* A system reduced to the properties that counting depends on: which engines and which tiers there
 * are, the number and sizes of its networks and which of them must be filled. */
static calc_system calc_census_system(const calc_system *s)
{
    calc_system seen = {.networks_count = s->networks_count};
    for (int d = 0; d < CALC_DATATYPE_COUNT; d++) {
        seen.chip.matrix[d].flop_per_s = s->chip.matrix[d].flop_per_s > 0;
        seen.chip.matrix[d].efficiency.count = s->chip.matrix[d].efficiency.count;
        seen.chip.vector[d].flop_per_s = s->chip.vector[d].flop_per_s > 0;
        seen.chip.vector[d].efficiency.count = s->chip.vector[d].efficiency.count;
    }
    seen.chip.mem2.capacity_bytes = s->chip.mem2.capacity_bytes > 0;
    for (int n = 0; n < CALC_MAX_NETWORKS; n++) {
        seen.networks[n].size = s->networks[n].size;
        seen.networks[n].must_be_filled = s->networks[n].must_be_filled;
    }
    return seen;
}

bool calc_census_alike(const calc_system *first, const calc_system *second)
{
    calc_system a = calc_census_system(first);
    calc_system b = calc_census_system(second);
    bool same = a.networks_count == b.networks_count;
    a.networks_count = b.networks_count = CALC_MAX_NETWORKS; /* a swept one is in no list */
    return same && calc_same(calc_table_of(CALC_KIND_SYSTEM), &a, &b);
}

/* ---- Kinds of designs ------------------------------------------------------------------------ */

static uint64_t kinds_of(const calc_designs *d)
{
    return d->kinds > 0 ? d->kinds : d->count;
}

static uint64_t members_of(const calc_designs *d, uint64_t kind)
{
    return d->kinds > 0 ? d->members(d->context, kind) : 1;
}

static uint64_t member_of(const calc_designs *d, uint64_t kind, uint64_t member)
{
    return d->kinds > 0 ? d->member(d->context, kind, member) : kind;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* List the units of a kind. */
static calc_status list_units(walk *w, uint64_t kind, calc_errors *errors)
{
    w->designs->get(w->designs->context, member_of(w->designs, kind, 0), &w->app, &w->system);
    w->system = calc_census_system(&w->system);
    w->kind = kind;
    if (!calc_cell_chunkings_fit(w->space, &w->app)) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, "list fewer",
                               "too many values of pipeline_interleaving");
    }
    calc_status status =
        calc_units_list(&w->units, w->space, &w->app, &w->system, w->options.compat);
    if (status == CALC_OK && w->units.count > w->capacity) {
        free(w->unit_total);
        w->unit_total = malloc(w->units.count * sizeof *w->unit_total);
        w->capacity = w->unit_total ? w->units.count : 0;
        status = w->unit_total ? CALC_OK : CALC_ERR_NOMEM;
    }
    return calc_errors_status(errors, status);
}

static void begin(walk *w, calc_worker *worker, calc_worker_visit *visit, void *context)
{
    calc_worker_begin(worker, &w->app, &w->system, 0);
    worker->counts = (calc_sweep_counts){0};
    worker->rows_filled = 0;
    worker->counts_only = true;
    worker->visit = visit;
    worker->visit_context = context;
}

/* Count the units that were listed. @param one  filled with the counts of one design of the kind */
static calc_status count_units(walk *w, calc_census *one)
{
    int threads = w->units.count < SEVERAL_UNITS ? 1 : w->threads;
    calc_status status = CALC_OK;
    size_t most_rows = 0;
#pragma omp parallel num_threads(threads) reduction(max : status, most_rows)
    {
        calc_worker *worker = w->worker[omp_get_thread_num()];
        begin(w, worker, NULL, NULL);
#pragma omp for schedule(dynamic, 4)
        for (size_t i = 0; i < w->units.count; i++) {
            uint64_t before = worker->counts.total;
            uint64_t rows = worker->rows_filled;
            calc_units_run(worker, &w->units, i);
            w->unit_total[i] = worker->counts.total - before;
            rows = worker->rows_filled - rows;
            most_rows = rows > most_rows ? (size_t)rows : most_rows;
        }
        status = worker->status > status ? worker->status : status;
    }
    *one = (calc_census){.units = (double)w->units.count, .most_rows = most_rows};
    for (int t = 0; t < threads; t++) {
        calc_result_add_counts(&one->counts, &w->worker[t]->counts);
    }
    return status;
}

/* Add a number several times. @return whether the sum fits */
static bool add_times(uint64_t *sum, uint64_t number, uint64_t times)
{
    uint64_t product;
    return !__builtin_mul_overflow(number, times, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

/* Add the counts of one design of a kind, for all of the kind. */
static calc_status add_kind(calc_census *sum, const calc_census *one, uint64_t members,
                            calc_errors *errors)
{
    bool fits = add_times(&sum->counts.total, one->counts.total, members);
    for (size_t v = 0; v < CALC_VERDICT_COUNT; v++) { /* no more than the total */
        fits = fits && add_times(&sum->counts.rejected[v], one->counts.rejected[v], members);
    }
    sum->units += one->units * (double)members;
    sum->most_rows = one->most_rows > sum->most_rows ? one->most_rows : sum->most_rows;
    return fits ? CALC_OK
                : calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                                  "sweep fewer values", "there are 2^64 or more layouts");
}

calc_status calc_census_take(calc_census *out, const calc_space *space, const calc_designs *designs,
                             calc_compat compat, calc_errors *errors)
{
    walk *w = calloc(1, sizeof *w);
    *out = (calc_census){.walk = w};
    if (!w) {
        return calc_errors_no_memory(errors);
    }
    *w = (walk){.space = space,
                .designs = designs,
                .options = {.compat = compat},
                .threads = omp_get_num_procs()};
    w->kind_total = calloc(kinds_of(designs), sizeof *w->kind_total);
    w->worker = calloc((size_t)w->threads, sizeof *w->worker);
    bool fine = w->kind_total && w->worker;
    for (int t = 0; t < w->threads && fine; t++) {
        w->worker[t] = calc_worker_create(space, &w->options, NULL, 1);
        fine = w->worker[t] != NULL;
    }
    calc_status status = fine ? CALC_OK : calc_errors_no_memory(errors);
    for (uint64_t k = 0; k < kinds_of(designs) && status == CALC_OK; k++) {
        calc_census one;
        status = list_units(w, k, errors);
        status = status == CALC_OK ? calc_errors_status(errors, count_units(w, &one)) : status;
        if (status == CALC_OK) {
            w->kind_total[k] = one.counts.total;
            status = add_kind(out, &one, members_of(designs, k), errors);
        }
    }
    return status;
}

void calc_census_free(calc_census *census)
{
    walk *w = census->walk;
    for (int t = 0; w && w->worker && t < w->threads; t++) {
        calc_worker_free(w->worker[t]);
    }
    if (w) {
        calc_units_free(&w->units);
        free(w->worker);
        free(w->kind_total);
        free(w->unit_total);
    }
    free(w);
    *census = (calc_census){0};
}

/* ---- Points by number ------------------------------------------------------------------------ */

/* A point of a design of a kind. */
typedef struct asked {
    uint64_t point, member;
    size_t i;
} asked;

typedef struct asking {
    const walk *w;
    asked *item; /* by point */
    size_t count, next;
    calc_sample_point *point;
    uint64_t design, rows; /* parts that points of a row have in common are known of this one, and
                            * of these rows: calc_worker */
    calc_app app;
    calc_system system;
    calc_run_parts *parts; /* by row */
} asking;

static CALC_ORDER_BY(compare_asked, asked, point, i)

/* A point of a place. */
static void run_point(asking *a, const asked *item, const calc_worker_place *place)
{
    calc_sample_point *p = &a->point[item->i];
    const calc_designs *designs = a->w->designs;
    p->design = member_of(designs, a->w->kind, item->member);
    p->verdict = calc_worker_decode(place, item->point - place->first, &p->exec);
    if (p->verdict != CALC_VERDICT_OK) {
        return;
    }
    const calc_worker *w = place->worker;
    bool same = a->parts && p->design == a->design;
    if (!same) {
        designs->get(designs->context, p->design, &a->app, &a->system);
    }
    if (!same || a->rows != w->rows_filled) {
        free(a->parts);
        a->parts = calloc(w->rows.count, sizeof *a->parts);
        a->design = p->design;
        a->rows = w->rows_filled;
    }
    bool alike = a->parts && !calc_space_by_run(w->space);
    calc_run_parts *parts = alike ? &a->parts[place->row - w->rows.row] : NULL;
    p->verdict =
        calc_run_alike(&a->app, &a->system, &p->exec, w->options->compat, parts, &p->stats);
}

static void visit_row(void *context, const calc_worker_place *place)
{
    asking *a = context;
    while (a->next < a->count && a->item[a->next].point < place->worker->counts.total) {
        run_point(a, &a->item[a->next++], place);
    }
}

/* Visit the units of the current kind that have points asked for. */
static calc_status visit_units(walk *w, asking *a)
{
    calc_worker *worker = w->worker[0];
    uint64_t first = 0;
    CALC_SORT(a->item, a->count, compare_asked);
    begin(w, worker, visit_row, a);
    for (size_t i = 0; i < w->units.count && a->next < a->count; i++) {
        worker->counts.total = first;
        first += w->unit_total[i];
        if (a->item[a->next].point < first) {
            calc_units_run(worker, &w->units, i);
        }
    }
    return worker->status;
}

static CALC_ORDER_BY(compare_points, calc_sample_point, index, index)

calc_status calc_census_points(const calc_census *census, calc_sample_point *point, size_t count,
                               calc_errors *errors)
{
    walk *w = census->walk;
    asking a = {.w = w, .point = point, .item = malloc((count > 0 ? count : 1) * sizeof *a.item)};
    if (!a.item) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = CALC_OK;
    uint64_t first = 0; /* point of the kind */
    CALC_SORT(point, count, compare_points);
    size_t i = 0;
    for (uint64_t kind = 0; i < count && status == CALC_OK; kind++) {
        uint64_t each = w->kind_total[kind];
        uint64_t end = first + each * members_of(w->designs, kind);
        a.count = a.next = 0;
        for (; i < count && point[i].index < end; i++) {
            uint64_t own = point[i].index - first;
            a.item[a.count++] = (asked){.point = own % each, .member = own / each, .i = i};
        }
        first = end;
        if (a.count > 0 && w->kind != kind) {
            calc_census one;
            status = list_units(w, kind, errors);
            status = status == CALC_OK ? calc_errors_status(errors, count_units(w, &one)) : status;
        }
        if (a.count > 0 && status == CALC_OK) {
            status = calc_errors_status(errors, visit_units(w, &a));
        }
    }
    free(a.item);
    free(a.parts);
    return status;
}

/* ---- Random points --------------------------------------------------------------------------- */

/* Uniform number below `bound`, without bias. */
static uint64_t below(calc_rng *rng, uint64_t bound)
{
    uint64_t threshold = (0u - bound) % bound;
    for (;;) {
        uint64_t high = calc_rng_next(rng);
        uint64_t bits = high << 32 | calc_rng_next(rng);
        if (bits >= threshold) {
            return bits % bound;
        }
    }
}

calc_status calc_sample(const calc_space *space, const calc_designs *designs, calc_compat compat,
                        uint64_t seed, size_t count, calc_sample_point *out, uint64_t *total,
                        calc_errors *errors)
{
    calc_census census;
    calc_status status = calc_census_take(&census, space, designs, compat, errors);
    *total = census.counts.total;
    if (status == CALC_OK && *total == 0) {
        status = calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                                 "the space is empty");
    } else if (status == CALC_OK) {
        calc_rng rng;
        calc_rng_init(&rng, seed, 0);
        for (size_t i = 0; i < count; i++) {
            out[i].index = below(&rng, *total);
        }
        status = calc_census_points(&census, out, count, errors);
    }
    calc_census_free(&census);
    return status;
}

/* ---- Estimates ------------------------------------------------------------------------------- */

/* Units of the smallest shard that is timed, and how many times as many the next one has. */
enum { LEAST = 8, MORE = 4 };

/* Shards become larger until one takes so long, and none takes longer than that. */
static const double enough_s = 0.15, most_s = 0.6;

/* Lists have room to grow, and trees beside them. */
static const double spare = 1.4;

static bool is_late(void *until_s, const calc_sweep_progress *progress)
{
    (void)progress;
    return calc_clock_s(CLOCK_THREAD_CPUTIME_ID) > *(const double *)until_s;
}

static bool pass_by(void *context, const calc_sweep_point *point)
{
    (void)context;
    (void)point;
    return true;
}

/* Memory: few groups have all their finds yet. */
static void weigh(calc_sweep_estimate *out, const calc_sweep_result *r)
{
    size_t most = 0;
    for (size_t g = 0; g < r->groups_count; g++) {
        size_t count = r->group[g].front.count + r->group[g].top.count;
        most = count > most ? count : most;
    }
    double each = (double)(sizeof *r->group + sizeof(calc_screen));
    out->thread_bytes = r->thread_bytes;
    out->found_bytes =
        (double)r->groups_count * (each + (double)(most * sizeof(calc_found)) * spare);
}

calc_status calc_sweep_estimate_of(const calc_space *space, const calc_designs *designs,
                                   const calc_sweep_options *options, const calc_census *census,
                                   calc_sweep_estimate *out, calc_errors *errors)
{
    double until_s = 0;
    calc_sweep_options own = *options;
    own.threads = 1;
    own.point = options->point ? pass_by : NULL;
    own.prepare = NULL;
    own.checkpoint = NULL;
    own.resumed = NULL;
    own.progress = is_late;
    own.progress_context = &until_s;
    *out =
        (calc_sweep_estimate){.by_run = calc_worker_by_run(options) || calc_space_by_run(space) ||
                                        space->inference.phase != CALC_INFERENCE_PHASE_NONE};
    double all = (double)census->counts.total;
    for (size_t v = 0; v < CALC_VERDICT_COUNT; v++) {
        all -= (double)census->counts.rejected[v];
    }
    calc_status status = CALC_OK;
    double layouts = 0, cpu_s = 0; /* of the shard before */
    bool ends = census->units == 0;
    for (double units = LEAST; !ends && status == CALC_OK; units *= MORE) {
        calc_sweep_result r;
        double start_s = calc_clock_s(CLOCK_THREAD_CPUTIME_ID);
        until_s = start_s + most_s;
        uint64_t shards = (uint64_t)fmax(1, census->units / units);
        uint64_t middle = (shards + 1) / 2; /* the first units are less like the others */
        own.shard = (calc_shard){middle, shards, middle - 1};
        status = calc_sweep(space, designs, &own, &r, errors);
        out->cpu_s = calc_clock_s(CLOCK_THREAD_CPUTIME_ID) - start_s;
        out->layouts = (double)(r.counts.evaluated + r.counts.skipped);
        bool whole = own.shard.count == 1 && !r.partial;
        ends = whole || out->cpu_s > enough_s;
        /* The more is known, the more is skipped: what is left costs as the last layouts did. */
        bool grew = out->layouts > layouts && out->cpu_s > cpu_s;
        double each_s = (out->cpu_s - (grew ? cpu_s : 0)) / (out->layouts - (grew ? layouts : 0));
        cpu_s = out->cpu_s;
        layouts = out->layouts;
        out->cpu_s += whole || layouts == 0 ? 0 : (all - layouts) * each_s;
        weigh(out, &r);
        calc_sweep_result_free(&r);
    }
    return status;
}
