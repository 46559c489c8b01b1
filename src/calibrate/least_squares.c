#include "calibrate/least_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "gauss/normal.h"

/* A problem being solved: residuals at the best point and at another, J (row after row of one
 * parameter), J'J below its diagonal, a factor, J'f, the sizes of columns, a step, and the other
 * point. */
typedef struct solver {
    const calc_least_squares *problem;
    double *here, *there, *jacobian, *normal, *factor, *gradient, *size, *step, *at;
    double square; /* sum of the squares of `here` */
} solver;

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Steps of a fixed size, not relative to x, which may be near 0. */
static void differentiate(solver *s, const double *x)
{
    const calc_least_squares *p = s->problem;
    size_t n = p->parameters;
    memcpy(s->at, x, n * sizeof *x);
    for (size_t k = 0; k < n; k++) {
        double *column = s->jacobian + k * p->count;
        s->at[k] = x[k] + p->step;
        p->residuals(p->context, s->at, column);
        s->at[k] = x[k];
        for (size_t i = 0; i < p->count; i++) {
            column[i] = (column[i] - s->here[i]) / p->step;
        }
        s->gradient[k] = dot(column, s->here, p->count);
        for (size_t j = 0; j <= k; j++) {
            s->normal[k * n + j] = dot(column, s->jacobian + j * p->count, p->count);
        }
        s->size[k] = fmax(s->size[k], s->normal[k * n + k]);
    }
}

/* A step, damped in the proportions of the columns (More 1978). @return by how much it would reduce
 * the sum of squares if residuals were linear; negative: there is none */
static double propose(solver *s, double damping)
{
    size_t n = s->problem->parameters;
    double gain = 0;
    memcpy(s->factor, s->normal, n * n * sizeof *s->factor);
    for (size_t k = 0; k < n; k++) {
        s->factor[k * n + k] += damping * (s->size[k] > 0 ? s->size[k] : 1);
        s->step[k] = -s->gradient[k];
    }
    if (!calc_gauss_factor(s->factor, n)) {
        return -1;
    }
    calc_gauss_solve(s->factor, n, s->step);
    for (size_t k = 0; k < n; k++) {
        gain += s->step[k] *
                (damping * (s->size[k] > 0 ? s->size[k] : 1) * s->step[k] - s->gradient[k]);
    }
    return gain;
}

/* Whether the last step, or the slope, is too small to matter. */
static bool arrived(const solver *s, const double *x)
{
    bool near = true, flat = true;
    for (size_t k = 0; k < s->problem->parameters; k++) {
        near = near && fabs(s->step[k]) < 1e-4 * (fabs(x[k]) + 1e-4);
        flat = flat && fabs(s->gradient[k]) * fmax(fabs(x[k]), 1) < 1e-8 * fmax(s->square / 2, 1);
    }
    return near || flat;
}

/* Nielsen 1999, Damping Parameter in Marquardt's Method (IMM-REP-1999-05). */
static void descend(solver *s, double *x)
{
    enum { TRIES = 15 };
    const calc_least_squares *p = s->problem;
    double damping = 1e-3, growth = 2;
    for (size_t round = 0; round < p->most; round++) {
        double better = 0;
        for (int i = 0; better <= 0 && i < TRIES; i++) {
            double gain = propose(s, damping);
            for (size_t k = 0; k < p->parameters; k++) {
                s->at[k] = x[k] + s->step[k];
            }
            p->residuals(p->context, s->at, s->there);
            double square = dot(s->there, s->there, p->count);
            better = gain > 0 && square < s->square ? (s->square - square) / gain : 0;
            if (better > 0) {
                damping *= fmax(1.0 / 3, 1 - pow(2 * better - 1, 3));
                growth = 2;
                s->square = square;
            } else {
                damping *= growth;
                growth *= 2;
            }
        }
        if (better <= 0) {
            return; /* at a kink without progress: the best point so far */
        }
        memcpy(x, s->at, p->parameters * sizeof *x);
        memcpy(s->here, s->there, p->count * sizeof *x);
        differentiate(s, x);
        if (arrived(s, x)) {
            return;
        }
    }
}

calc_status calc_least_squares_solve(const calc_least_squares *problem, double *x, double *error,
                                     calc_errors *errors)
{
    size_t n = problem->parameters, count = problem->count;
    double *room = n == 0 ? NULL : calloc((n + 2) * count + n * (2 * n + 4), sizeof *room);
    if (!room) {
        return n == 0 ? CALC_OK : calc_errors_no_memory(errors);
    }
    solver s = {.problem = problem, .here = room, .there = room + count};
    s.jacobian = s.there + count;
    s.normal = s.jacobian + n * count;
    s.factor = s.normal + n * n;
    s.gradient = s.factor + n * n;
    s.size = s.gradient + n;
    s.step = s.size + n;
    s.at = s.step + n;
    problem->residuals(problem->context, x, s.here);
    s.square = dot(s.here, s.here, count);
    bool good = isfinite(s.square);
    if (good) {
        differentiate(&s, x);
        descend(&s, x);
        good = calc_gauss_factor(s.normal, n);
    }
    for (size_t k = 0; good && k < n; k++) {
        memset(s.step, 0, n * sizeof *x);
        s.step[k] = 1;
        calc_gauss_solve(s.normal, n, s.step);
        error[k] = sqrt(s.step[k]);
    }
    calc_status status =
        good ? CALC_OK
             : calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "least squares: %s",
                               isfinite(s.square) ? "residuals do not determine the parameters"
                                                  : "residuals are not finite");
    free(room);
    return status;
}

double calc_least_squares_soft(double r)
{
    double root = sqrt(2 * (sqrt(1 + r * r) - 1));
    return r < 0 ? -root : root;
}
