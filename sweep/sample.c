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
        status = calc_units_walk(space, designs, compat, visit_row, &s, &counts);
        *total = counts.total;
    }
    return calc_errors_status(errors, status);
}
