#include "calibrate/engine_fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "calibrate/fit.h"
#include "calibrate/least_squares.h"
#include "model/serve/engine.h"

/* Errors of a good model of serving: the spread between runs of one layout. */
#define SIGMA 0.1
#define FIRST_TOKEN_WEIGHT (1.0 / 3)
/* A share of 1 has no odds. */
#define MOST_SHARE 0.98

static const struct {
    const char *name;
    size_t offset;
    bool share;
    double start, spread;
} traits[CALC_ENGINE_TRAITS] = {
#define CALC_X(name, member, share, start, spread)                                                 \
    {name, offsetof(calc_engine_traits, member), share, start, spread},
    CALC_ENGINE_TRAIT_LIST(CALC_X)
#undef CALC_X
};

const char *calc_engine_trait_name(int trait)
{
    return traits[trait].name;
}

double *calc_engine_trait(calc_engine_traits *of, int trait)
{
    return (double *)(void *)((char *)of + traits[trait].offset);
}

calc_engine_traits calc_engine_fit_start(calc_serving_engine engine, bool documented)
{
    calc_engine_traits start = calc_engine_traits_of(engine);
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        double *value = calc_engine_trait(&start, k);
        double nothing = traits[k].share ? MOST_SHARE : traits[k].start / 20;
        double known = *value > 0 ? *value : nothing;
        known = traits[k].share ? fmin(known, MOST_SHARE) : known;
        *value = documented ? traits[k].start : known;
    }
    return start;
}

/* ---- A fit ----------------------------------------------------------------------------------- */

/* Measurements of a run are neighbours, so that it is predicted once. */
typedef struct task {
    const calc_engine_fit *fit;
    const calc_engine_point *point;
    size_t count;
} task;

static double to_number(int trait, double value)
{
    return traits[trait].share ? log(value / (1 - value)) : log(value);
}

/* Clamp to the ranges of the fields. */
static double from_number(int trait, double number)
{
    return traits[trait].share
               ? fmax(1 / (1 + exp(-number)), 1e-3)
               : fmin(fmax(exp(number), 1e-4 * traits[trait].start), 1e2 * traits[trait].start);
}

static calc_engine_traits traits_at(const calc_engine_fit *fit, const double *x)
{
    calc_engine_traits t = fit->start;
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        double *value = calc_engine_trait(&t, k);
        *value = from_number(k, to_number(k, *value) + x[k] * traits[k].spread);
    }
    return t;
}

static double of_quantity(const calc_serving_prediction *p, calc_quantity quantity)
{
    return quantity == CALC_QUANTITY_TPOT   ? p->tpot_s
           : quantity == CALC_QUANTITY_TTFT ? p->ttft_s
           : quantity == CALC_QUANTITY_E2E  ? p->e2e_s
                                            : p->output_tokens_per_s;
}

static double residual_of(const calc_result *r, const calc_serving_prediction *p)
{
    double weight = r->quantity == CALC_QUANTITY_TTFT ? sqrt(FIRST_TOKEN_WEIGHT) : 1;
    double predicted = of_quantity(p, r->quantity);
    return weight * calc_least_squares_soft(log(predicted / r->measured) / SIGMA);
}

static void residuals(void *context, const double *x, double *residual)
{
    const task *t = context;
    calc_engine_traits now = traits_at(t->fit, x);
    calc_serving_prediction p = {0};
    const calc_serving_prediction *last = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const calc_result *r = t->point[i].result;
        if (!t->point[i].use) {
            continue;
        }
        if (r->serving != last) {
            p = *r->serving;
            calc_serving_predict_with(&p, &now);
            last = r->serving;
        }
        *residual++ = residual_of(r, &p);
    }
    for (int k = 0; k < CALC_ENGINE_TRAITS; k++) {
        *residual++ = x[k];
    }
}

/* The relative error of a time is the error of its logarithm; for a share, the error of its
 * log-odds times 1 minus the share. */
static double relative(int trait, double value, double error)
{
    return traits[trait].share ? error * (1 - value) : error;
}

calc_status calc_engine_fit_make(calc_engine_fit *fit, const calc_engine_point *point, size_t count,
                                 calc_errors *errors)
{
    enum { STEPS = 30 };
    double x[CALC_ENGINE_TRAITS] = {0}, error[CALC_ENGINE_TRAITS];
    task t = {fit, point, count};
    fit->points = 0;
    for (size_t i = 0; i < count; i++) {
        fit->points += point[i].use;
    }
    calc_least_squares problem = {.residuals = residuals,
                                  .context = &t,
                                  .parameters = CALC_ENGINE_TRAITS,
                                  .count = fit->points + CALC_ENGINE_TRAITS,
                                  .step = 1e-3,
                                  .most = STEPS};
    calc_status status = calc_least_squares_solve(&problem, x, error, errors);
    fit->traits = traits_at(fit, x);
    for (int k = 0; status == CALC_OK && k < CALC_ENGINE_TRAITS; k++) {
        fit->relative_error[k] =
            relative(k, *calc_engine_trait(&fit->traits, k), error[k] * traits[k].spread);
        fit->determined[k] = error[k] < CALC_FIT_DETERMINED;
    }
    return status;
}

double calc_engine_fit_predict(const calc_engine_point *point, const calc_engine_traits *of)
{
    calc_serving_prediction p = *point->result->serving;
    calc_serving_predict_with(&p, of);
    return of_quantity(&p, point->result->quantity);
}
