#include "calibrate/fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "calibrate/least_squares.h"
#include "validate/spread.h"

/* Errors of a good model: the spread between identical runs of different software. */
#define SIGMA 0.05

/* A fit under way. */
typedef struct task {
    const calc_fit *fit;
    calc_unknowns *unknowns;
    size_t index[CALC_UNKNOWNS_MAX]; /* of the free ones */
    size_t free;
    double *weight; /* of the root of a run's term, by row of the evidence; 0: not used */
    size_t used;
    calc_system system[CALC_UNKNOWNS_MACHINES];
} task;

static double start_of(const calc_unknown *p)
{
    return calc_constant_to_free(p->constant, p->start);
}

static void put(task *t, const double *x)
{
    for (size_t k = 0; k < t->free; k++) {
        calc_unknown *p = &t->unknowns->item[t->index[k]];
        p->value = calc_constant_from_free(p->constant, start_of(p) + x[k] * p->constant->spread);
    }
    calc_unknowns_apply(t->unknowns, t->system, t->fit->family->machines);
}

static void residuals(void *context, const double *x, double *residual)
{
    task *t = context;
    put(t, x);
    for (size_t i = 0; i < t->fit->evidence->count; i++) {
        const calc_evidence_row *row = &t->fit->evidence->row[i];
        if (t->weight[i] > 0) {
            double log_s = log(calc_evidence_predict_s(row, &t->system[row->machine]));
            *residual++ =
                t->weight[i] * calc_least_squares_soft((log_s - row->log_measured) / SIGMA);
        }
    }
    for (size_t k = 0; k < t->free; k++) {
        *residual++ = x[k];
    }
}

static bool is_used(const calc_fit *fit, size_t row)
{
    return !fit->use || fit->use[row];
}

static void weigh(task *t)
{
    const calc_evidence *s = t->fit->evidence;
    for (size_t i = 0; i < s->count; i++) {
        size_t alike = 0;
        for (size_t j = 0; j < s->count; j++) {
            alike += is_used(t->fit, j) && s->row[j].result->prediction->map.source ==
                                               s->row[i].result->prediction->map.source;
        }
        t->weight[i] = is_used(t->fit, i) ? sqrt(calc_spread_weight(alike)) : 0;
        t->used += is_used(t->fit, i);
    }
}

static calc_status solve(task *t, calc_errors *errors)
{
    double x[CALC_UNKNOWNS_MAX] = {0};
    double error[CALC_UNKNOWNS_MAX];
    for (size_t k = 0; k < t->free; k++) {
        const calc_unknown *p = &t->unknowns->item[t->index[k]];
        x[k] = (calc_constant_to_free(p->constant, p->value) - start_of(p)) / p->constant->spread;
    }
    calc_least_squares problem = {.residuals = residuals,
                                  .context = t,
                                  .parameters = t->free,
                                  .count = t->used + t->free,
                                  .step = 1e-4,
                                  .most = t->fit->most};
    calc_status status = calc_least_squares_solve(&problem, x, error, errors);
    put(t, x);
    for (size_t k = 0; status == CALC_OK && k < t->free; k++) {
        calc_unknown *p = &t->unknowns->item[t->index[k]];
        p->error = error[k] * p->constant->spread;
        p->determined = error[k] < CALC_FIT_DETERMINED;
        p->indicated = fabs(x[k]) > CALC_FIT_INDICATED * error[k];
    }
    return status;
}

calc_status calc_fit_unknowns(const calc_fit *fit, calc_unknowns *unknowns, const bool *is_free,
                              calc_errors *errors)
{
    task *t = calloc(1, sizeof *t); /* the systems make it too large for a stack */
    calc_status status = CALC_ERR_NOMEM;
    if (t) {
        t->fit = fit;
        t->unknowns = unknowns;
        t->weight = calloc(fit->evidence->count + 1, sizeof *t->weight);
    }
    if (t && t->weight) {
        for (size_t m = 0; m < fit->family->machines; m++) {
            t->system[m] = fit->family->system[m];
        }
        for (size_t i = 0; i < unknowns->count; i++) {
            if (is_free[i]) {
                t->index[t->free++] = i;
            }
        }
        weigh(t);
        status = solve(t, errors);
        free(t->weight);
    } else {
        calc_errors_no_memory(errors);
    }
    free(t);
    return status;
}
