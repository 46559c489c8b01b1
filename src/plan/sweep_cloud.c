#include "plan/sweep_cloud.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"
#include "sample.h"

/* Draws per round, and rounds: where few layouts are feasible, fewer points are found. */
enum { DRAWS = 20000, ROUNDS = 6 };

/* A cloud being filled: a uniform sample of all layouts seen (reservoir sampling). */
typedef struct filling {
    calc_sweep_cloud *cloud;
    calc_rng rng;
} filling;

static bool take(void *context, const calc_sweep_point *point)
{
    filling *f = context;
    calc_sweep_cloud *c = f->cloud;
    size_t at = c->count;
    if (c->count == CALC_SWEEP_CLOUD_POINTS) {
        at = calc_rng_below(&f->rng, (uint32_t)c->seen + 1);
    }
    c->seen++;
    if (at < CALC_SWEEP_CLOUD_POINTS) {
        c->count += at == c->count;
        c->point[at] = (calc_sweep_cloud_point){point->design, *point->exec, *point->stats};
    }
    return true;
}

static calc_status take_all(filling *f, const calc_sweep_study *study, calc_errors *errors)
{
    const calc_sweep_options options = {.compat = study->options.compat,
                                        .constraints = study->options.constraints,
                                        .constraint = study->options.constraint,
                                        .threads = study->options.threads,
                                        .cpu = study->options.cpu,
                                        .point = take,
                                        .point_context = f};
    calc_sweep_result result = {0};
    calc_status status = calc_sweep(&study->space, &study->designs, &options, &result, errors);
    calc_sweep_result_free(&result);
    return status;
}

static bool meets(const calc_sweep_study *study, const calc_sample_point *p)
{
    const calc_sweep_options *o = &study->options;
    bool met = p->verdict == CALC_VERDICT_OK;
    for (size_t i = 0; i < o->constraints && met; i++) {
        met = calc_constraint_met(&o->constraint[i], &p->exec, &p->stats);
    }
    return met;
}

static calc_status draw(filling *f, const calc_sweep_study *study, calc_sample_point *drawn,
                        calc_errors *errors)
{
    calc_status status = CALC_OK;
    uint64_t total;
    for (uint64_t seed = 0; seed < ROUNDS && status == CALC_OK; seed++) {
        status = calc_sample(&study->space, &study->designs, study->options.compat, seed, DRAWS,
                             drawn, &total, errors);
        for (size_t i = 0; i < DRAWS && status == CALC_OK; i++) {
            if (meets(study, &drawn[i])) {
                const calc_sweep_point point = {drawn[i].design, &drawn[i].exec, &drawn[i].stats,
                                                0};
                take(f, &point);
            }
        }
        if (f->cloud->count == CALC_SWEEP_CLOUD_POINTS) {
            break;
        }
    }
    return status;
}

calc_status calc_sweep_cloud_make(calc_sweep_cloud *out, const calc_sweep_study *study,
                                  calc_errors *errors)
{
    calc_sweep_counts counts;
    filling f = {.cloud = out};
    calc_rng_init(&f.rng, 0, 0);
    out->point = malloc(CALC_SWEEP_CLOUD_POINTS * sizeof *out->point);
    if (!out->point || calc_sweep_count(&study->space, &study->designs, study->options.compat,
                                        &counts) != CALC_OK) {
        return calc_errors_no_memory(errors);
    }
    out->all = counts.total <= CALC_SWEEP_CLOUD_ALL;
    if (out->all || counts.total == 0) {
        return take_all(&f, study, errors);
    }
    calc_sample_point *drawn = malloc(DRAWS * sizeof *drawn);
    calc_status status = drawn ? draw(&f, study, drawn, errors) : calc_errors_no_memory(errors);
    free(drawn);
    return status;
}

void calc_sweep_cloud_free(calc_sweep_cloud *cloud)
{
    free(cloud->point);
    *cloud = (calc_sweep_cloud){0};
}
