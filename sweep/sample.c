#include "sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "census.h"
#include "point.h"

/* The points to visit. */
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
static void visit(void *context, size_t i, uint64_t design, const calc_worker_place *place,
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
static calc_status draw(const calc_census *census, uint64_t seed, size_t count, sampler *s,
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
    calc_status status = calc_census_points(census, index, count, visit, s, errors);
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
        status = draw(&census, seed, count, &s, errors);
    }
    calc_census_free(&census);
    return status;
}
