#include "estimate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/rng.h"
#include "census.h"
#include "kernel.h"
#include "point.h"
#include "serve.h"
#include "worker.h"

/* ---- Random points --------------------------------------------------------------------------- */

/* The points to run_point. */
typedef struct sampler {
    const calc_designs *designs;
    calc_compat compat;
    calc_sample_point *point;
} sampler;

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

/* A point that was drawn. */
static void run_point(void *context, size_t i, uint64_t design, const calc_worker_place *place,
                      uint64_t point)
{
    sampler *s = context;
    calc_sample_point *p = &s->point[i];
    p->design = design;
    p->verdict = calc_worker_decode(place, point, &p->exec);
    if (p->verdict == CALC_VERDICT_OK) {
        calc_app app;
        calc_system system;
        s->designs->get(s->designs->context, design, &app, &system);
        p->verdict = calc_run(&app, &system, &p->exec, s->compat, &p->stats);
    }
}

/* Draw from a space that was counted. */
static calc_status draw_points(const calc_census *census, uint64_t seed, size_t count, sampler *s,
                               calc_errors *errors)
{
    uint64_t *index = malloc(count * sizeof *index);
    if (!index) {
        return calc_errors_no_memory(errors);
    }
    calc_rng rng;
    calc_rng_init(&rng, seed, 0);
    for (size_t i = 0; i < count; i++) {
        index[i] = below(&rng, census->counts.total);
    }
    memset(s->point, 0, count * sizeof *s->point);
    calc_status status = calc_census_points(census, index, count, run_point, s, errors);
    for (size_t i = 0; i < count; i++) {
        s->point[i].index = index[i];
    }
    free(index);
    return status;
}

calc_status calc_sample(const calc_space *space, const calc_designs *designs, calc_compat compat,
                        uint64_t seed, size_t count, calc_sample_point *out, uint64_t *total,
                        calc_errors *errors)
{
    calc_census census;
    sampler s = {designs, compat, out};
    calc_status status = calc_census_take(&census, space, designs, compat, errors);
    *total = census.counts.total;
    if (status == CALC_OK && *total == 0) {
        status = calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                                 "the space is empty");
    } else if (status == CALC_OK) {
        status = draw_points(&census, seed, count, &s, errors);
    }
    calc_census_free(&census);
    return status;
}

/* ---- Estimates ------------------------------------------------------------------------------- */

enum { DRAWN = 1024, LEAST = 8, MOST = 1000000, MOST_RUN = 2000 /* layouts of one time */ };

/* Time for cells that make the best known, and for those that are timed; these are timed again, for
 * longer, as long as the sweep takes so many times that: the more is known, the more is skipped. */
static const double warm_s = 0.03, timed_s = 0.06, most_s = 0.8, often = 100;

/* Lists have room to grow, and trees beside them. */
static const double spare = 1.4;

/* Time of this thread, so that other load of the machine does not count. */
static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A cell, drawn by one of its layouts. */
typedef struct draw {
    uint64_t design;
    calc_exec base, exec; /* of the unit, of the cell */
    size_t procs_index, row;
    bool rounds, legal[CALC_SPREADS];
} draw;

/* ---- Cells at random --------------------------------------------------------------------------
 */

static void visit(void *context, size_t i, uint64_t design, const calc_worker_place *place,
                  uint64_t point)
{
    (void)point;
    draw *item = context;
    const calc_worker *w = place->worker;
    item[i] = (draw){.design = design,
                     .base = w->base,
                     .exec = w->cell.exec,
                     .procs_index = w->cell.procs_index,
                     .row = (size_t)(place->row - w->rows.row),
                     .rounds = w->cell.rounds};
    memcpy(item[i].legal, w->cell.legal, sizeof item[i].legal);
}

static calc_status draw_cells(draw *item, const calc_census *census, calc_errors *errors)
{
    calc_rng rng;
    uint64_t index[DRAWN];
    uint64_t total = census->counts.total;
    calc_rng_init(&rng, 0, 0);
    for (size_t i = 0; i < DRAWN; i++) {
        index[i] = (uint64_t)(calc_rng_real(&rng) * (double)total);
        index[i] -= index[i] >= total;
    }
    calc_status status = calc_census_points(census, index, DRAWN, visit, item, errors);
    for (size_t i = DRAWN - 1; i > 0 && status == CALC_OK; i--) {
        size_t at = calc_rng_below(&rng, (uint32_t)(i + 1));
        draw other = item[i];
        item[i] = item[at];
        item[at] = other;
    }
    return status;
}

/* ---- Their times ----------------------------------------------------------------------------- */

/* Sums over cells. */
typedef struct times {
    size_t cells;
    double rows_s;   /* per row of its unit's table */
    double layout_s; /* per layout of the cell */
    double run_s, layouts;
} times;

/* Time of some rows of the worker's cell. */
static double time_rows(calc_worker *w, size_t first, size_t last)
{
    double start_s = now_s();
    calc_worker_run(w, first, last);
    return now_s() - start_s;
}

/* Of the layouts that are as this cell's but for their processors, the share whose replicas have
 * answered already. */
static double share_known(const calc_worker *w)
{
    const calc_exec *e = &w->cell.exec;
    const calc_values *procs = &w->space->axis[CALC_AXIS_num_procs];
    int64_t replica = e->num_procs / e->strategy.data_par;
    size_t alike = 0;
    for (size_t i = 0; i < procs->count; i++) {
        alike += procs->value[i] % replica == 0;
    }
    bool shares =
        w->serve && w->space->batch_is_of_replica && calc_serve_shares(w->serve, e) && alike > 0;
    return shares ? 1 - 1 / (double)alike : 0;
}

/* The rows of a cell, or those from the one that was drawn on if they are too many to be timed. */
static void time_some(calc_worker *w, const draw *d, times *t)
{
    size_t first = 0;
    size_t last = w->rows.count;
    uint64_t most = w->by_run ? MOST_RUN : MOST;
    uint64_t before = w->counts.total;
    calc_worker_count(w, first, last);
    if (w->counts.total - before > most) {
        before = w->counts.total;
        first = last = d->row;
        while (last < w->rows.count && w->counts.total - before < most) {
            calc_worker_count(w, last, last + 1);
            last++;
        }
    }
    if (w->options->per_num_procs) {
        calc_worker_run(w, first, last); /* its group has had no best yet, as it mostly has */
    }
    double run_s = time_rows(w, first, last);
    double known = share_known(w);
    if (known > 0) {
        run_s = (1 - known) * run_s + known * time_rows(w, first, last);
    }
    double layouts = (double)(w->counts.total - before);
    t->layout_s += run_s / layouts;
    t->run_s += run_s;
    t->layouts += layouts;
}

static calc_status time_cell(calc_worker *w, const draw *d, times *t)
{
    double start_s = now_s();
    calc_status status = calc_worker_rows(w, &d->base);
    if (status != CALC_OK) {
        return status;
    }
    double rows_s = now_s() - start_s;
    w->cell.exec = d->exec;
    w->cell.filled = false;
    w->cell.procs_index = d->procs_index;
    w->cell.rounds = d->rounds;
    memcpy(w->cell.legal, d->legal, sizeof w->cell.legal);
    calc_worker_fill(w);
    /* Units of which no cell matters are never laid out. */
    start_s = now_s();
    if (!calc_worker_hopeless(w)) {
        calc_worker_lay_out(w);
    }
    t->rows_s += (rows_s + now_s() - start_s) / (double)w->rows.count;
    time_some(w, d, t);
    t->cells++;
    return w->status;
}

/* Cells in the order of the list until time is over.
 * @param app, system  the worker's */
static calc_status time_cells(calc_worker *w, calc_app *app, calc_system *system, const draw *item,
                              const calc_designs *designs, double limit_s, times *t)
{
    calc_status status = CALC_OK;
    double start_s = now_s();
    *t = (times){0};
    for (size_t i = 0; i < DRAWN && status == CALC_OK; i++) {
        if (i >= LEAST && now_s() - start_s > limit_s) {
            break;
        }
        designs->get(designs->context, item[i].design, app, system);
        calc_worker_begin(w, app, system, item[i].design);
        status = time_cell(w, &item[i], t);
    }
    return status;
}

/* Time for the whole from the times of some. */
static void extrapolate(const calc_worker *w, const calc_census *census, const times *warm,
                        const times *timed, calc_sweep_estimate *out)
{
    double cells = (double)timed->cells;
    /* Cells that differ in the batch alone are visited at once where they serve. */
    bool at_once = calc_serve_walk_takes(w);
    double visits = at_once ? (double)w->space->axis[CALC_AXIS_batch_size].count : 1;
    double layouts_s = (double)census->counts.total * timed->layout_s / cells;
    /* Until something good is known, all takes longer. */
    double later_s = warm->layouts * timed->layout_s / cells;
    out->cells_s = census->walk_s / visits;
    out->rows_s = census->rows * timed->rows_s / cells;
    out->cpu_s = out->cells_s + out->rows_s + layouts_s +
                 (warm->run_s > later_s ? warm->run_s - later_s : 0);
}

/* Memory, from the worker's current use: few groups have all their finds yet. */
static void weigh(calc_sweep_estimate *out, const calc_worker *w, const calc_designs *designs)
{
    size_t most = 0;
    for (size_t g = 0; g < w->groups_count; g++) {
        size_t count = w->groups[g].front.count + w->groups[g].top.count;
        most = count > most ? count : most;
    }
    double groups = (double)w->groups_count * (w->options->per_design ? (double)designs->count : 1);
    out->thread_bytes =
        (double)(sizeof *w + calc_rows_bytes(&w->rows) + calc_sheets_bytes(&w->sheets));
    out->found_bytes = groups * ((double)(sizeof *w->groups + sizeof *w->screens) +
                                 (double)(most * sizeof(calc_found)) * spare);
}

calc_status calc_sweep_estimate_of(const calc_space *space, const calc_designs *designs,
                                   const calc_sweep_options *options, const calc_census *census,
                                   calc_sweep_estimate *out, calc_errors *errors)
{
    calc_kernel_level level[4];
    const calc_kernel *kernel = level[calc_kernel_levels(level) - 1].run;
    size_t groups = options->per_num_procs ? space->axis[CALC_AXIS_num_procs].count : 1;
    calc_worker *w = calc_worker_create(space, options, kernel, groups);
    draw *item = calloc(DRAWN, sizeof *item);
    calc_app app;
    calc_system system;
    times warm, timed;
    calc_status status = CALC_OK;
    *out = (calc_sweep_estimate){.by_run = w && w->by_run};
    if (!w || !item) {
        status = calc_errors_no_memory(errors);
    } else if (census->counts.total > 0) {
        status = draw_cells(item, census, errors);
        if (status == CALC_OK) {
            status = calc_errors_status(errors,
                                        time_cells(w, &app, &system, item, designs, warm_s, &warm));
        }
        for (double limit_s = timed_s; status == CALC_OK && limit_s < most_s; limit_s *= 2) {
            status = calc_errors_status(
                errors, time_cells(w, &app, &system, item, designs, limit_s, &timed));
            out->cells = timed.cells;
            extrapolate(w, census, &warm, &timed, out);
            if (out->cpu_s < often * limit_s) {
                break;
            }
        }
        weigh(out, w, designs);
    }
    calc_worker_free(w);
    free(item);
    return status;
}
