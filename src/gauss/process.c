#include "gauss/process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gauss/linear.h"

/* ---- Data ------------------------------------------------------------------------------------ */

void calc_process_start(calc_process *p, size_t dimensions, double prior_mean, double prior_sd)
{
    *p = (calc_process){.dimensions = dimensions,
                        .value_mean = prior_mean,
                        .value_sd = prior_sd,
                        .prior_mean = prior_mean,
                        .prior_sd = prior_sd,
                        .terms = {.scale = 1}};
    for (size_t j = 0; j < CALC_PROCESS_DIMENSIONS; j++) {
        p->sd[j] = p->terms.length[j] = 1;
    }
}

static void forget(calc_process *p)
{
    free(p->factor);
    free(p->pull);
    p->factor = p->pull = NULL;
}

void calc_process_free(calc_process *p)
{
    forget(p);
    free(p->point);
    free(p->value);
    free(p->weight);
    calc_process_start(p, p->dimensions, p->prior_mean, p->prior_sd);
}

/* @return the datum at a point; `count` if there is none */
static size_t find(const calc_process *p, const double *point)
{
    size_t i = 0;
    while (i < p->count &&
           memcmp(p->point + i * p->dimensions, point, p->dimensions * sizeof *point) != 0) {
        i++;
    }
    return i;
}

static bool is_finite(const double *x, size_t count)
{
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        finite = finite && isfinite(x[i]);
    }
    return finite;
}

static bool reserve(calc_process *p)
{
    if (p->point) {
        return true;
    }
    p->point = malloc(CALC_PROCESS_DATA * CALC_PROCESS_DIMENSIONS * sizeof *p->point);
    p->value = malloc(CALC_PROCESS_DATA * sizeof *p->value);
    p->weight = malloc(CALC_PROCESS_DATA * sizeof *p->weight);
    if (!p->point || !p->value || !p->weight) {
        free(p->point);
        free(p->value);
        free(p->weight);
        p->point = p->value = p->weight = NULL;
        return false;
    }
    return true;
}

calc_status calc_process_add(calc_process *p, const double *point, double value, double count)
{
    if (!is_finite(point, p->dimensions) || !isfinite(value) || !isfinite(count) || count <= 0) {
        return CALC_ERR_RANGE;
    }
    double exact[CALC_PROCESS_DIMENSIONS]; /* -0 is 0 */
    for (size_t j = 0; j < p->dimensions; j++) {
        exact[j] = point[j] + 0.0;
    }
    size_t i = find(p, exact);
    if (i == CALC_PROCESS_DATA) {
        return CALC_ERR_RANGE;
    }
    if (!reserve(p)) {
        return CALC_ERR_NOMEM;
    }
    if (i == p->count) {
        memcpy(p->point + i * p->dimensions, exact, p->dimensions * sizeof *exact);
        p->value[i] = p->weight[i] = 0;
        p->count++;
    }
    double sum = p->weight[i] + count;
    p->value[i] = (p->value[i] * p->weight[i] + value * count) / sum;
    p->weight[i] = sum;
    return CALC_OK;
}

/* ---- Standards ------------------------------------------------------------------------------- */

/* Mean and sample standard deviation of every `step`-th number; 0 for fewer than two. */
static void moments(const double *x, size_t count, size_t step, double *mean, double *sd)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i * step];
    }
    *mean = count ? sum / (double)count : 0;
    for (size_t i = 0; i < count; i++) {
        squares += (x[i * step] - *mean) * (x[i * step] - *mean);
    }
    *sd = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

/* Numbers that agree differ by rounding only. */
static bool is_spread(double sd, double mean)
{
    return sd > 1e-12 * fabs(mean);
}

static void standardise(calc_process *p)
{
    double mean;
    for (size_t j = 0; j < p->dimensions; j++) {
        moments(p->point + j, p->count, p->dimensions, &mean, &p->sd[j]);
        p->sd[j] = is_spread(p->sd[j], mean) ? p->sd[j] : 1;
    }
    moments(p->value, p->count, 1, &p->value_mean, &p->value_sd);
    if (!is_spread(p->value_sd, p->value_mean)) {
        p->value_sd = p->prior_sd > 0 ? p->prior_sd : 1;
    }
}

/* ---- Conditioning ---------------------------------------------------------------------------- */

static double covariance_of(const calc_process *p, const double *a, const double *b)
{
    double square = 0;
    for (size_t j = 0; j < p->dimensions; j++) {
        double apart = (a[j] - b[j]) / (p->sd[j] * p->terms.length[j]);
        square += apart * apart;
    }
    return p->terms.scale * exp(-sqrt(square));
}

static void fill_covariance(calc_process *p)
{
    size_t n = p->count, d = p->dimensions;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            p->factor[i * n + k] = p->factor[k * n + i] =
                covariance_of(p, p->point + i * d, p->point + k * d);
        }
        p->factor[i * n + i] = p->terms.scale + p->terms.noise;
    }
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double standard_value(const calc_process *p, size_t i)
{
    return (p->value[i] - p->value_mean) / p->value_sd;
}

/* The mean of greatest likelihood: 1' K^-1 y / 1' K^-1 1. */
static double likeliest_mean(const calc_process *p, double *one)
{
    double above = 0, below = 0;
    for (size_t i = 0; i < p->count; i++) {
        one[i] = 1;
    }
    calc_gauss_solve(p->factor, p->count, one);
    for (size_t i = 0; i < p->count; i++) {
        above += one[i] * standard_value(p, i);
        below += one[i];
    }
    return above / below;
}

static void learn(calc_process *p)
{
    size_t n = p->count;
    if (isnan(p->terms.mean)) {
        p->terms.mean = likeliest_mean(p, p->pull);
    }
    for (size_t i = 0; i < n; i++) {
        p->pull[i] = standard_value(p, i) - p->terms.mean;
    }
    calc_gauss_solve_lower(p->factor, n, p->pull);
    double squares = dot(p->pull, p->pull, n);
    for (size_t i = 0; i < n; i++) {
        p->pull[i] = standard_value(p, i) - p->terms.mean;
    }
    calc_gauss_solve(p->factor, n, p->pull);
    p->log_likelihood = -(squares + calc_gauss_log_det(p->factor, n) +
                          (double)n * log(2 * 3.14159265358979323846)) /
                        2;
}

calc_status calc_process_condition(calc_process *p, const calc_process_terms *terms)
{
    size_t n = p->count;
    calc_process_terms own = *terms; /* the caller's array may be that of the process */
    forget(p);
    p->terms = own;
    if (n == 0) {
        p->terms.mean = isnan(own.mean) ? 0 : own.mean;
        p->log_likelihood = 0;
        return CALC_OK;
    }
    standardise(p);
    p->factor = malloc(n * n * sizeof *p->factor);
    p->pull = malloc(n * sizeof *p->pull);
    if (!p->factor || !p->pull) {
        forget(p);
        return CALC_ERR_NOMEM;
    }
    fill_covariance(p);
    if (!calc_gauss_factor(p->factor, n)) {
        forget(p);
        return CALC_ERR_RANGE;
    }
    learn(p);
    return CALC_OK;
}

/* ---- Prediction ------------------------------------------------------------------------------ */

double calc_process_prior(const calc_process *p, const double *a, const double *b)
{
    return p->value_sd * p->value_sd * covariance_of(p, a, b);
}

/* Data added since the last conditioning do not count yet. */
size_t calc_process_known(const calc_process *p)
{
    return p->factor ? p->count : 0;
}

double calc_process_reach(const calc_process *p, const double *point, double *reach)
{
    size_t n = calc_process_known(p);
    for (size_t i = 0; i < n; i++) {
        reach[i] = covariance_of(p, point, p->point + i * p->dimensions);
    }
    double mean = n ? p->terms.mean + dot(reach, p->pull, n) : 0;
    calc_gauss_solve_lower(p->factor, n, reach);
    for (size_t i = 0; i < n; i++) {
        reach[i] *= p->value_sd;
    }
    return p->value_mean + p->value_sd * mean;
}
