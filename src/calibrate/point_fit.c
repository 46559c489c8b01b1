#include "calibrate/point_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/least_squares.h"
#include "calibrate/point_constants.h"
#include "calibrate/point_time.h"
#include "validate/spread.h"

#define SPREAD 2
#define SCATTER_BEFORE 0.05
#define SCATTER_LEAST 0.002

/* Points and constants that are fitted together. */
typedef struct task {
    calc_point_fit *fit;
    const calc_point **point; /* borrowed */
    size_t points;
    double *deviation; /* room for as many numbers */
    double scatter[CALC_POINT_CLASSES];
    double mean_flop[CALC_POINT_CLASSES]; /* 0: all points weigh the same */
    size_t index[CALC_POINT_CONSTANTS];   /* of the free constants */
    size_t free;
    double start[CALC_POINT_CONSTANTS]; /* by index of constant, on its scale */
    double x[CALC_POINT_CONSTANTS];     /* of the free ones, in spreads from start */
    double error[CALC_POINT_CONSTANTS];
} task;

static void put(task *t, const double *x)
{
    for (size_t k = 0; k < t->free; k++) {
        calc_point_constant *c = &t->fit->item[t->index[k]];
        c->value = calc_constant_from_free(&c->constant, t->start[t->index[k]] + x[k] * SPREAD);
        calc_constant_set(&c->constant, &t->fit->system, c->value);
    }
}

static double log_error(const task *t, size_t i)
{
    return log(calc_point_time_s(t->point[i], &t->fit->system) / t->point[i]->measured_s);
}

static double weight(const task *t, size_t i)
{
    double mean_flop = t->mean_flop[t->point[i]->class];
    return mean_flop > 0 ? calc_point_flop(t->point[i]) / mean_flop : 1;
}

static void measure_means(task *t)
{
    size_t count[CALC_POINT_CLASSES] = {0};
    memset(t->mean_flop, 0, sizeof t->mean_flop);
    for (size_t i = 0; i < t->points; i++) {
        calc_point_class class = t->point[i]->class;
        double more = calc_point_flop(t->point[i]) - t->mean_flop[class];
        t->mean_flop[class] += more / (double)++count[class];
    }
}

static void residuals(void *context, const double *x, double *residual)
{
    task *t = context;
    put(t, x);
    for (size_t i = 0; i < t->points; i++) {
        *residual++ = sqrt(weight(t, i)) *
                      calc_least_squares_soft(log_error(t, i) / t->scatter[t->point[i]->class]);
    }
    for (size_t k = 0; k < t->free; k++) {
        *residual++ = x[k];
    }
}

static calc_status solve(task *t, calc_errors *errors)
{
    calc_least_squares problem = {.residuals = residuals,
                                  .context = t,
                                  .parameters = t->free,
                                  .count = t->points + t->free,
                                  .step = 1e-5,
                                  .most = 60};
    calc_status status = calc_least_squares_solve(&problem, t->x, t->error, errors);
    put(t, t->x);
    return status;
}

/* The scatter of the points of each class: 1.48 times the median deviation, as of a normal
 * distribution. */
static void measure_scatter(task *t)
{
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        size_t count = 0;
        for (size_t i = 0; i < t->points; i++) {
            if ((int)t->point[i]->class == class) {
                t->deviation[count++] = fabs(log_error(t, i));
            }
        }
        if (count > 2) {
            calc_spread_sort(t->deviation, count);
            t->scatter[class] = fmax(SCATTER_LEAST, 1.4826 * t->deviation[count / 2]);
        }
    }
}

/* ---- Determined constants -------------------------------------------------------------------- */

/* Standard error over the value. */
static double relative_error(const task *t, size_t k)
{
    const calc_point_constant *c = &t->fit->item[t->index[k]];
    double error = t->error[k] * SPREAD;
    return c->constant.scale == CALC_CONSTANT_LOG ? error : error * (1 - c->value);
}

static calc_point_standing standing_of(const task *t, size_t k)
{
    bool contradicts = fabs(t->x[k]) > CALC_POINT_CONTRADICTED * t->error[k];
    return relative_error(t, k) < CALC_POINT_DETERMINED ? CALC_POINT_FITTED
           : contradicts                                ? CALC_POINT_ADJUSTED
                                                        : CALC_POINT_STAYS;
}

/* Take the constant back that the points say least of. @return false if all are determined */
static bool give_one_up(task *t)
{
    size_t worst = t->free;
    for (size_t k = 0; k < t->free; k++) {
        if (standing_of(t, k) == CALC_POINT_STAYS &&
            (worst == t->free || relative_error(t, k) > relative_error(t, worst))) {
            worst = k;
        }
    }
    if (worst == t->free) {
        return false;
    }
    calc_point_constant *c = &t->fit->item[t->index[worst]];
    c->value = c->before;
    calc_constant_set(&c->constant, &t->fit->system, c->before);
    t->free--;
    for (size_t k = worst; k < t->free; k++) {
        t->index[k] = t->index[k + 1];
        t->x[k] = t->x[k + 1];
    }
    return true;
}

double calc_point_round(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", value);
    return strtod(text, NULL);
}

static calc_status fit_group(task *t, calc_errors *errors)
{
    calc_status status = CALC_OK;
    for (int class = 0; class < CALC_POINT_CLASSES; class ++) {
        t->scatter[class] = SCATTER_BEFORE;
    }
    measure_means(t);
    for (size_t k = 0; k < t->free; k++) {
        calc_point_constant *c = &t->fit->item[t->index[k]];
        double value = calc_constant_get(&c->constant, &t->fit->system);
        bool share = c->constant.scale == CALC_CONSTANT_LOGIT;
        t->start[t->index[k]] =
            calc_constant_to_free(&c->constant, share ? fmin(fmax(value, 0.02), 0.98) : value);
        t->x[k] = 0;
    }
    do {
        status = solve(t, errors);
        if (status == CALC_OK && t->free > 0) {
            measure_scatter(t);
            status = solve(t, errors);
        }
    } while (status == CALC_OK && give_one_up(t));
    for (size_t k = 0; status == CALC_OK && k < t->free; k++) {
        calc_point_constant *c = &t->fit->item[t->index[k]];
        c->standing = standing_of(t, k);
        c->relative_error = relative_error(t, k);
        c->value = calc_point_round(c->value);
        calc_constant_set(&c->constant, &t->fit->system, c->value);
    }
    return status;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Fit the constants from `first` on to the points of a network and class; network -1: to kernels.
 */
static calc_status fit_points(task *t, size_t first, const calc_point *points, size_t count,
                              const bool *skip, int64_t network, calc_point_class class,
                              calc_errors *errors)
{
    t->points = 0;
    t->free = 0;
    for (size_t i = 0; i < count; i++) {
        const calc_point *p = &points[i];
        if (calc_point_is_used(p) && !(skip && skip[i]) &&
            (network < 0
                 ? !calc_point_is_network(p) && p->class != CALC_POINT_BLOCK
                 : p->class == class && calc_point_network(p, &t->fit->system) == network)) {
            t->point[t->points++] = p;
        }
    }
    for (size_t k = first; k < t->fit->count; k++) {
        t->index[t->free++] = k;
    }
    return t->points > 0 && t->free > 0 ? fit_group(t, errors) : CALC_OK;
}

static calc_status fit_all(task *t, const calc_point *points, size_t count, const bool *skip,
                           calc_errors *errors)
{
    calc_point_constants_of_kernels(t->fit, points, count, skip);
    calc_status status = fit_points(t, 0, points, count, skip, -1, CALC_POINT_MATRIX, errors);
    for (int64_t i = 0; i < t->fit->system.networks_count; i++) {
        for (int class = CALC_POINT_ALL_REDUCE; class <= CALC_POINT_P2P; class ++) {
            size_t first = t->fit->count;
            calc_point_constants_of_network(t->fit, points, count, skip, i,
                                            (calc_point_class) class);
            if (status == CALC_OK && t->fit->count > first) {
                status =
                    fit_points(t, first, points, count, skip, i, (calc_point_class) class, errors);
            }
        }
    }
    return status;
}

calc_status calc_point_fit_make(calc_point_fit *out, const calc_point *points, size_t count,
                                const bool *skip, const calc_system *before, calc_errors *errors)
{
    *out = (calc_point_fit){.system = *before};
    task *t = calloc(1, sizeof *t);
    calc_status status = CALC_ERR_NOMEM;
    if (t) {
        t->fit = out;
        t->point = calloc(count + 1, sizeof(calc_point *));
        t->deviation = calloc(count + 1, sizeof *t->deviation);
    }
    if (t && t->point && t->deviation) {
        status = fit_all(t, points, count, skip, errors);
    } else {
        calc_errors_no_memory(errors);
    }
    if (t) {
        free(t->point);
        free(t->deviation);
    }
    free(t);
    return status;
}
