#include "sample.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"
#include "point.h"
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

/* The points of a row that were drawn. */
static void visit_row(void *context, const calc_worker_place *place)
{
    sampler *s = context;
    const calc_worker *w = place->worker;
    while (s->next < s->count && s->point[s->next].index < w->counts.total) {
        calc_sample_point *p = &s->point[s->next++];
        p->design = w->design;
        p->verdict = calc_worker_decode(place, p->index - place->first, &p->exec);
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
        w->visit = visit_row;
        w->visit_context = s;
        status = calc_units_list(&units, space, &app, &system, compat);
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
    calc_status status = calc_sweep_count(space, designs, compat, &counts);
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
    return calc_errors_status(errors, status);
}
