#include "sample.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"
#include "model/verdict.h"
#include "point.h"
#include "stage_worker.h"
#include "units.h"
#include "worker.h"

/* The points to visit, in order, and how far that is. */
typedef struct sampler {
    calc_sample_point *point;
    size_t count, next;
} sampler;

static int compare_points(const void *a, const void *b)
{
    const calc_sample_point *x = a;
    const calc_sample_point *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

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

/* The verdict on a point before its evaluation, and its layout. `rest` is its number among those of
 * the row: networks of data parallelism, networks of the pipeline, interleavings, overlaps, flags,
 * fastest first. */
static calc_verdict decode(const calc_worker *w, const calc_row *row,
                           const calc_cell_networks *networks, uint64_t rest, calc_exec *exec)
{
    const calc_cell *c = &w->cell;
    size_t interleavings = c->interleavings + c->unfit_interleavings;
    size_t overlaps = (size_t)c->plain + c->overlapped;
    size_t data = rest % c->data_networks;
    rest /= c->data_networks;
    size_t pipeline = rest % c->pipeline_networks;
    rest /= c->pipeline_networks;
    size_t interleaving = rest % interleavings;
    rest /= interleavings;
    bool overlapped = overlaps == 2 ? rest % 2 != 0 : c->overlapped;
    rest /= overlaps;
    calc_cell_combo combo = c->combo[rest];
    bool fits = interleaving < c->interleavings;
    size_t lane = fits ? interleaving * c->pipeline_networks + pipeline : 0;
    *exec = calc_point_exec(w, row, &combo, fits ? lane : 0, data, overlapped);
    exec->pipeline_par_net = c->pipeline_network[pipeline];
    if (!fits) {
        exec->pipeline_interleaving = c->unfit_interleaving[interleaving - c->interleavings];
    }
    calc_verdict verdict = networks->verdict[pipeline][data];
    if (verdict != CALC_VERDICT_OK) {
        return verdict;
    }
    if (!fits) {
        return CALC_VERDICT_INTERLEAVING;
    }
    return calc_verdict_offload_blocks(exec, c->blocks_per_proc) ? CALC_VERDICT_OFFLOAD_BLOCKS
                                                                 : CALC_VERDICT_OK;
}

/* The points of a row that were drawn. */
static void visit_row(void *context, const calc_worker *w, const calc_row *row,
                      const calc_cell_networks *networks, uint64_t first)
{
    sampler *s = context;
    while (s->next < s->count && s->point[s->next].index < w->counts.total) {
        calc_sample_point *p = &s->point[s->next++];
        p->design = w->design;
        p->verdict = decode(w, row, networks, p->index - first, &p->exec);
        if (p->verdict == CALC_VERDICT_OK) {
            p->verdict = calc_run(w->app, w->system, &p->exec, w->options->compat, &p->stats);
        }
    }
}

static void visit_stage(void *context, const calc_worker *w, const calc_stage_place *place)
{
    sampler *s = context;
    while (s->next < s->count && s->point[s->next].index < w->counts.total) {
        calc_sample_point *p = &s->point[s->next++];
        p->design = w->design;
        p->verdict = calc_stage_decode(place, p->index - place->first, &p->exec);
        if (p->verdict == CALC_VERDICT_OK) {
            p->verdict = calc_run(w->app, w->system, &p->exec, w->options->compat, &p->stats);
        }
    }
}

/* Walk through the space and evaluate the points on the way. */
static calc_status walk(const calc_space *space, const calc_designs *designs, calc_compat compat,
                        sampler *s)
{
    const calc_sweep_options options = {.compat = compat};
    calc_units units = {0};
    calc_worker *w = calc_worker_create(space, &options, NULL, 1);
    calc_status status = w ? CALC_OK : CALC_ERR_NOMEM;
    for (uint64_t d = 0; d < designs->count && status == CALC_OK && s->next < s->count; d++) {
        calc_app app;
        calc_system system;
        designs->get(designs->context, d, &app, &system);
        w->app = &app;
        w->system = &system;
        w->design = d;
        w->counts_only = true;
        w->row_visit = visit_row;
        w->stage_visit = visit_stage;
        w->row_context = s;
        status = calc_units_list(&units, space, &app, &system);
        for (size_t i = 0; i < units.count && status == CALC_OK && s->next < s->count; i++) {
            calc_units_run(w, &units, i);
            status = w->status;
        }
    }
    calc_units_free(&units);
    calc_worker_free(w, 1);
    return status;
}

calc_status calc_sample(const calc_space *space, const calc_designs *designs, calc_compat compat,
                        uint64_t seed, size_t count, calc_sample_point *out, uint64_t *total,
                        calc_errors *errors)
{
    calc_sweep_counts counts;
    calc_status status = calc_sweep_count(space, designs, &counts);
    if (status == CALC_OK && counts.total == 0) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "the space is empty");
    }
    if (status == CALC_OK) {
        calc_rng rng;
        calc_rng_init(&rng, seed, 0);
        for (size_t i = 0; i < count; i++) {
            out[i] = (calc_sample_point){.index = below(&rng, counts.total)};
        }
        qsort(out, count, sizeof *out, compare_points);
        sampler s = {out, count, 0};
        status = walk(space, designs, compat, &s);
        *total = counts.total;
    }
    return status == CALC_OK ? status
                             : calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL, "%s",
                                               calc_status_text(status));
}
