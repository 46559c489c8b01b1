#include "estimate.h"

#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "kernel.h"
#include "units.h"
#include "worker.h"

enum { DRAWN = 256, LEAST = 8, MOST = 1000000, MOST_RUN = 2000 /* layouts of one time */ };

/* Time for cells that make the best known, and for those that are timed. */
static const double warm_s = 0.03, timed_s = 0.06;

/* Time of this thread, so that what else the machine does is left out. */
static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A cell, drawn by one of its layouts. */
typedef struct draw {
    uint64_t index; /* of the layout in the space */
    uint64_t design;
    calc_exec base, exec; /* of the unit, of the cell */
    size_t procs_index, row;
    bool rounds;
} draw;

typedef struct drawer {
    draw *item;
    size_t next;
    uint64_t rows; /* of the tables of all units */
} drawer;

/* ---- Cells at random --------------------------------------------------------------------------
 */

static int compare_draws(const void *a, const void *b)
{
    const draw *x = a;
    const draw *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* The layouts of a row that were drawn. */
static void visit_row(void *context, const calc_worker_place *place)
{
    drawer *d = context;
    const calc_worker *w = place->worker;
    d->rows = w->rows_filled;
    while (d->next < DRAWN && d->item[d->next].index < w->counts.total) {
        draw *item = &d->item[d->next++];
        *item = (draw){.index = item->index,
                       .design = w->design,
                       .base = w->base,
                       .exec = w->cell.exec,
                       .procs_index = w->cell.procs_index,
                       .row = (size_t)(place->row - w->rows.row),
                       .rounds = w->cell.rounds};
    }
}

/* Draw the cells, and time the walk over all cells that the sweep makes, too. */
static calc_status draw_cells(drawer *d, const calc_space *space, const calc_designs *designs,
                              const calc_sweep_options *o, uint64_t total, double *walk_s)
{
    calc_rng rng;
    calc_sweep_counts counts;
    calc_rng_init(&rng, 0, 0);
    for (size_t i = 0; i < DRAWN; i++) {
        d->item[i].index = (uint64_t)(calc_rng_real(&rng) * (double)total);
        d->item[i].index -= d->item[i].index == total;
    }
    qsort(d->item, DRAWN, sizeof *d->item, compare_draws);
    double start_s = now_s();
    calc_status status = calc_units_walk(space, designs, o->compat, visit_row, d, &counts);
    *walk_s = now_s() - start_s;
    for (size_t i = DRAWN - 1; i > 0 && status == CALC_OK; i--) {
        size_t at = calc_rng_below(&rng, (uint32_t)(i + 1));
        draw other = d->item[i];
        d->item[i] = d->item[at];
        d->item[at] = other;
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
    double start_s = now_s();
    calc_worker_run(w, first, last);
    double run_s = now_s() - start_s;
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
    w->cell.procs_index = d->procs_index;
    w->cell.rounds = d->rounds;
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
static calc_status time_cells(calc_worker *w, calc_app *app, calc_system *system, const drawer *d,
                              const calc_designs *designs, double limit_s, times *t)
{
    calc_status status = CALC_OK;
    double start_s = now_s();
    *t = (times){0};
    for (size_t i = 0; i < DRAWN && status == CALC_OK; i++) {
        if (i >= LEAST && now_s() - start_s > limit_s) {
            break;
        }
        designs->get(designs->context, d->item[i].design, app, system);
        calc_worker_begin(w, app, system, d->item[i].design);
        status = time_cell(w, &d->item[i], t);
    }
    return status;
}

calc_status calc_sweep_estimate_of(const calc_space *space, const calc_designs *designs,
                                   const calc_sweep_options *options, uint64_t total,
                                   calc_sweep_estimate *out)
{
    calc_kernel_level level[4];
    const calc_kernel *kernel = level[calc_kernel_levels(level) - 1].run;
    size_t groups = options->per_num_procs ? space->axis[CALC_AXIS_num_procs].count : 1;
    calc_worker *w = calc_worker_create(space, options, kernel, groups);
    drawer d = {.item = calloc(DRAWN, sizeof *d.item)};
    calc_app app;
    calc_system system;
    times warm, timed;
    double walk_s = 0;
    calc_status status = w && d.item ? CALC_OK : CALC_ERR_NOMEM;
    *out = (calc_sweep_estimate){.by_run = w && w->by_run};
    if (status == CALC_OK && total > 0) {
        status = draw_cells(&d, space, designs, options, total, &walk_s);
        if (status == CALC_OK) {
            status = time_cells(w, &app, &system, &d, designs, warm_s, &warm);
        }
        if (status == CALC_OK) {
            status = time_cells(w, &app, &system, &d, designs, timed_s, &timed);
        }
        if (status == CALC_OK) {
            double cells = (double)timed.cells;
            out->cells = timed.cells;
            out->cpu_s = walk_s + (double)d.rows * timed.rows_s / cells +
                         (double)total * timed.layout_s / cells;
            /* Until something good is known, all takes longer. */
            double later_s = warm.layouts * timed.layout_s / cells;
            out->cpu_s += warm.run_s > later_s ? warm.run_s - later_s : 0;
        }
    }
    calc_worker_free(w);
    free(d.item);
    return status;
}
