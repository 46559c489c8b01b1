#include "gauss/process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/make.h"

void calc_normal_draw(calc_rng *rng, double *out, size_t count)
{
    double two[2];
    for (size_t i = 0; i < count; i++) {
        if (i % 2 == 0) {
            /* Two draws from a point in the unit circle. */
            double x, y, square;
            do {
                x = 2 * calc_rng_real(rng) - 1;
                y = 2 * calc_rng_real(rng) - 1;
                square = x * x + y * y;
            } while (square >= 1 || square == 0);
            double scale = sqrt(-2 * log(square) / square);
            two[0] = x * scale;
            two[1] = y * scale;
        }
        out[i] = two[i % 2];
    }
}

double calc_normal_density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
}

double calc_normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* A ratio of two polynomials, lowest powers first. */
static double ratio(const double above[8], const double below[8], double x)
{
    double p = above[7], q = below[7];
    for (int i = 6; i >= 0; i--) {
        p = p * x + above[i];
        q = q * x + below[i];
    }
    return p / q;
}

double calc_normal_quantile(double share)
{
    static const double middle[2][8] = {
        {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
         3.3430575583588128105e4, 2.5090809287301226727e3},
        {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
         2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
         5.2264952788528545610e3}};
    static const double side[2][8] = {
        {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
         3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
         2.27238449892691845833e-2, 7.74545014278341407640e-4},
        {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
         1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
         1.05075007164441684324e-9}};
    static const double tail[2][8] = {
        {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
         2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
         2.71155556874348757815e-5, 2.01033439929228813265e-7},
        {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
         7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
         2.04426310338993978564e-15}};
    double q = share - 0.5;
    if (fabs(q) <= 0.425) {
        return q * ratio(middle[0], middle[1], 0.180625 - q * q);
    }
    double rest = fmin(share, 1 - share);
    if (rest <= 0) {
        return copysign((double)INFINITY, q);
    }
    double r = sqrt(-log(rest));
    double x = r <= 5 ? ratio(side[0], side[1], r - 1.6) : ratio(tail[0], tail[1], r - 5);
    return copysign(x, q);
}

/* Sums go in one order: LAPACK comes in several libraries, with roundings of their own. */
bool calc_gauss_factor(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * n + k] * a[j * n + k];
            }
            if (i == j && !(sum > 0)) {
                return false;
            }
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
        for (size_t j = i + 1; j < n; j++) {
            a[i * n + j] = 0;
        }
    }
    return true;
}

void calc_gauss_solve_lower(const double *factor, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            x[i] -= factor[i * n + j] * x[j];
        }
        x[i] /= factor[i * n + i];
    }
}

void calc_gauss_solve(const double *factor, size_t n, double *x)
{
    calc_gauss_solve_lower(factor, n, x);
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) {
            x[i] -= factor[j * n + i] * x[j];
        }
        x[i] /= factor[i * n + i];
    }
}

void calc_gauss_times_lower(const double *factor, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        double sum = 0;
        for (size_t j = 0; j <= i; j++) {
            sum += factor[i * n + j] * x[j];
        }
        x[i] = sum;
    }
}

double calc_gauss_log_det(const double *factor, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += 2 * log(factor[i * n + i]);
    }
    return sum;
}

/* A rotation that makes a[p][q] zero. */
static void rotate(double *a, size_t n, size_t p, size_t q)
{
    double apart = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double tangent = copysign(1 / (fabs(apart) + hypot(apart, 1)), apart);
    double cosine = 1 / sqrt(tangent * tangent + 1), sine = tangent * cosine;
    double value_p = a[p * n + p], value_q = a[q * n + q], moved = tangent * a[p * n + q];
    for (size_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = a[p * n + k] = cosine * x - sine * y;
        a[k * n + q] = a[q * n + k] = sine * x + cosine * y;
    }
    a[p * n + p] = value_p - moved;
    a[q * n + q] = value_q + moved;
    a[p * n + q] = a[q * n + p] = 0;
}

bool calc_gauss_eigenvalues(double *a, size_t n, double *value)
{
    enum { SWEEPS = 30 /* they converge quadratically: a few suffice */ };
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(a[i])) {
            return false;
        }
    }
    for (int sweep = 0, left = 1; left && sweep < SWEEPS; sweep++) {
        left = 0;
        for (size_t p = 0; p < n; p++) {
            for (size_t q = p + 1; q < n; q++) {
                double off = fabs(a[p * n + q]);
                /* What no longer changes either eigenvalue is rounding. */
                if (off > 1e-17 * sqrt(fabs(a[p * n + p] * a[q * n + q]))) {
                    rotate(a, n, p, q);
                    left = 1;
                }
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && value[at - 1] > a[i * n + i]; at--) {
            value[at] = value[at - 1];
        }
        value[at] = a[i * n + i];
    }
    return true;
}

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
    calc_process_start(p, p->dimensions, p->prior_mean, p->prior_sd);
}

calc_status calc_process_add(calc_process *p, const double *point, double value, double count)
{
    bool finite = true;
    for (size_t i = 0; i < p->dimensions; i++) {
        finite = finite && isfinite(point[i]);
    }
    if (!finite || !isfinite(value) || !isfinite(count) || count <= 0) {
        return CALC_ERR_RANGE;
    }
    double exact[CALC_PROCESS_DIMENSIONS]; /* -0 is 0 */
    for (size_t j = 0; j < p->dimensions; j++) {
        exact[j] = point[j] + 0.0;
    }
    size_t i = 0; /* the datum at the point; a new one if there is none */
    while (i < p->count &&
           memcmp(p->point + i * p->dimensions, exact, p->dimensions * sizeof *exact) != 0) {
        i++;
    }
    if (i == CALC_PROCESS_DATA) {
        return CALC_ERR_RANGE;
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
    double mean;
    for (size_t j = 0; j < p->dimensions; j++) {
        moments(p->point + j, p->count, p->dimensions, &mean, &p->sd[j]);
        p->sd[j] = is_spread(p->sd[j], mean) ? p->sd[j] : 1;
    }
    moments(p->value, p->count, 1, &p->value_mean, &p->value_sd);
    if (!is_spread(p->value_sd, p->value_mean)) {
        p->value_sd = p->prior_sd > 0 ? p->prior_sd : 1;
    }
    p->factor = calc_make(n * n, sizeof *p->factor);
    p->pull = calc_make(n, sizeof *p->pull);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            p->factor[i * n + k] = p->factor[k * n + i] =
                covariance_of(p, p->point + i * p->dimensions, p->point + k * p->dimensions);
        }
        p->factor[i * n + i] = p->terms.scale + p->terms.noise;
    }
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

enum { UNKNOWNS = CALC_PROCESS_DIMENSIONS + 2, ROUNDS = 60 };

/* The unknowns of the search, as logarithms: lengths, then scale and noise. */
typedef struct search {
    calc_process *process;
    size_t count; /* of unknowns */
    double at[UNKNOWNS], lo[UNKNOWNS], hi[UNKNOWNS];
    double step[UNKNOWNS + 2]; /* along each direction */
    double best;
} search;

static calc_process_terms terms_of(const search *s, const double *at)
{
    calc_process_terms terms = {.mean = NAN};
    size_t d = s->process->dimensions;
    for (size_t j = 0; j < CALC_PROCESS_DIMENSIONS; j++) {
        terms.length[j] = j < d ? exp(at[j]) : 1;
    }
    terms.scale = exp(at[d]);
    terms.noise = exp(at[d + 1]);
    return terms;
}

/* The objective; -INFINITY where the covariance has no factor. */
static double judge(const search *s, const double *at)
{
    calc_process_terms terms = terms_of(s, at);
    double off = (terms.noise - CALC_PROCESS_NOISE_MEAN) / CALC_PROCESS_NOISE_SD;
    return calc_process_condition(s->process, &terms) == CALC_OK
               ? s->process->log_likelihood - off * off / 2
               : -INFINITY;
}

/* One length for all coordinates. */
static void look_around(search *s)
{
    static const double length[] = {0.1, 0.3, 1, 3, 10}, scale[] = {0.3, 1, 3},
                        noise[] = {1e-3, 1e-2, 5e-2};
    size_t d = s->process->dimensions;
    for (int i = 0; i < 5 * 3 * 3; i++) {
        double at[UNKNOWNS] = {0};
        for (size_t j = 0; j < d; j++) {
            at[j] = log(length[i / 9]);
        }
        at[d] = log(scale[i / 3 % 3]);
        at[d + 1] = log(noise[i % 3]);
        double score = judge(s, at);
        if (score > s->best) {
            s->best = score;
            memcpy(s->at, at, sizeof at);
        }
    }
}

/* One step to either side. Directions: each unknown, then all lengths, then these and the scale.
 * Near the data a kernel of this kind depends on scale / length only, so that the likelihood has a
 * ridge along the last direction. A gain within rounding does not count: lengths of coordinates
 * that all data share change nothing. */
static void step_along(search *s, size_t direction)
{
    double to[UNKNOWNS] = {0};
    size_t together = s->process->dimensions + direction - s->count;
    for (int side = 0; side < 2; side++) {
        for (size_t j = 0; j < s->count; j++) {
            bool moves = direction < s->count ? j == direction : j < together;
            double step = side ? -s->step[direction] : s->step[direction];
            to[j] = fmin(fmax(s->at[j] + (moves ? step : 0), s->lo[j]), s->hi[j]);
        }
        double score = judge(s, to);
        if (score > s->best + 1e-9 * (1 + fabs(s->best))) {
            s->best = score;
            memcpy(s->at, to, sizeof to);
            s->step[direction] *= 1.5;
            return;
        }
    }
    s->step[direction] /= 2;
}

static void climb(search *s)
{
    double widest = 1;
    for (size_t i = 0; i < s->count + 2; i++) {
        s->step[i] = 0.5;
    }
    for (int round = 0; round < ROUNDS && widest > CALC_PROCESS_FIT_STEP; round++) {
        widest = 0;
        for (size_t i = 0; i < s->count + 2; i++) {
            widest = fmax(widest, s->step[i]);
            if (s->step[i] > CALC_PROCESS_FIT_STEP) {
                step_along(s, i);
            }
        }
    }
}

calc_status calc_process_fit(calc_process *process)
{
    search s = {.process = process};
    calc_process_terms terms = {.scale = 1, .noise = CALC_PROCESS_NOISE_MEAN, .mean = NAN};
    for (size_t j = 0; j < CALC_PROCESS_DIMENSIONS; j++) {
        terms.length[j] = 1;
    }
    if (process->count >= CALC_PROCESS_FIT_DATA) {
        size_t d = s.process->dimensions;
        s.count = d + 2;
        for (size_t j = 0; j < d; j++) {
            s.lo[j] = log(CALC_PROCESS_LENGTH_MIN);
            s.hi[j] = log(CALC_PROCESS_LENGTH_MAX);
        }
        s.lo[d] = log(CALC_PROCESS_SCALE_MIN);
        s.hi[d] = log(CALC_PROCESS_SCALE_MAX);
        s.lo[d + 1] = log(CALC_PROCESS_NOISE_MIN);
        s.hi[d + 1] = log(CALC_PROCESS_NOISE_MAX);
        s.best = -INFINITY;
        look_around(&s);
        climb(&s);
        terms = terms_of(&s, s.at);
    }
    return calc_process_condition(process, &terms);
}
