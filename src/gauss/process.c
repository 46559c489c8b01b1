#include "gauss/process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "gauss/normal.h"

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
static calc_status judge(const search *s, const double *at, double *score)
{
    calc_process_terms terms = terms_of(s, at);
    calc_status status = calc_process_condition(s->process, &terms);
    double off = (terms.noise - CALC_PROCESS_NOISE_MEAN) / CALC_PROCESS_NOISE_SD;
    *score = status == CALC_OK ? s->process->log_likelihood - off * off / 2 : -INFINITY;
    return status == CALC_ERR_RANGE ? CALC_OK : status;
}

static void bound(search *s)
{
    size_t d = s->process->dimensions;
    s->count = d + 2;
    for (size_t j = 0; j < d; j++) {
        s->lo[j] = log(CALC_PROCESS_LENGTH_MIN);
        s->hi[j] = log(CALC_PROCESS_LENGTH_MAX);
    }
    s->lo[d] = log(CALC_PROCESS_SCALE_MIN);
    s->hi[d] = log(CALC_PROCESS_SCALE_MAX);
    s->lo[d + 1] = log(CALC_PROCESS_NOISE_MIN);
    s->hi[d + 1] = log(CALC_PROCESS_NOISE_MAX);
    s->best = -INFINITY;
}

/* One length for all coordinates. */
static calc_status look_around(search *s)
{
    static const double length[] = {0.1, 0.3, 1, 3, 10}, scale[] = {0.3, 1, 3},
                        noise[] = {1e-3, 1e-2, 5e-2};
    size_t d = s->process->dimensions;
    for (int i = 0; i < 5 * 3 * 3; i++) {
        double at[UNKNOWNS] = {0}, score;
        for (size_t j = 0; j < d; j++) {
            at[j] = log(length[i / 9]);
        }
        at[d] = log(scale[i / 3 % 3]);
        at[d + 1] = log(noise[i % 3]);
        calc_status status = judge(s, at, &score);
        if (status != CALC_OK) {
            return status;
        }
        if (score > s->best) {
            s->best = score;
            memcpy(s->at, at, sizeof at);
        }
    }
    return CALC_OK;
}

/* Directions: each unknown, then all lengths, then these and the scale. Near the data a kernel of
 * this kind depends on scale / length only, so that the likelihood has a ridge along the last
 * direction. */
static bool is_along(const search *s, size_t direction, size_t j)
{
    size_t d = s->process->dimensions;
    return direction < s->count ? j == direction : j < d + (direction - s->count);
}

static void move(const search *s, size_t direction, double by, double *to)
{
    for (size_t j = 0; j < s->count; j++) {
        double at = s->at[j] + (is_along(s, direction, j) ? by : 0);
        to[j] = fmin(fmax(at, s->lo[j]), s->hi[j]);
    }
}

/* One step to either side. A gain within rounding does not count: lengths of coordinates that all
 * data share change nothing. */
static calc_status step_along(search *s, size_t direction)
{
    double to[UNKNOWNS] = {0}, score;
    for (int side = 0; side < 2; side++) {
        move(s, direction, side ? -s->step[direction] : s->step[direction], to);
        calc_status status = judge(s, to, &score);
        if (status != CALC_OK) {
            return status;
        }
        if (score > s->best + 1e-9 * (1 + fabs(s->best))) {
            s->best = score;
            memcpy(s->at, to, sizeof to);
            s->step[direction] *= 1.5;
            return CALC_OK;
        }
    }
    s->step[direction] /= 2;
    return CALC_OK;
}

static calc_status climb(search *s)
{
    double widest = 1;
    for (size_t i = 0; i < s->count + 2; i++) {
        s->step[i] = 0.5;
    }
    for (int round = 0; round < ROUNDS && widest > CALC_PROCESS_FIT_STEP; round++) {
        widest = 0;
        for (size_t i = 0; i < s->count + 2; i++) {
            widest = fmax(widest, s->step[i]);
            calc_status status = s->step[i] > CALC_PROCESS_FIT_STEP ? step_along(s, i) : CALC_OK;
            if (status != CALC_OK) {
                return status;
            }
        }
    }
    return CALC_OK;
}

calc_status calc_process_fit(calc_process *process)
{
    search s = {.process = process};
    calc_process_terms terms = {.scale = 1, .noise = CALC_PROCESS_NOISE_MEAN, .mean = NAN};
    for (size_t j = 0; j < CALC_PROCESS_DIMENSIONS; j++) {
        terms.length[j] = 1;
    }
    if (process->count >= CALC_PROCESS_FIT_DATA) {
        bound(&s);
        calc_status status = look_around(&s);
        status = status == CALC_OK ? climb(&s) : status;
        if (status != CALC_OK) {
            return status;
        }
        terms = terms_of(&s, s.at);
    }
    return calc_process_condition(process, &terms);
}

void calc_process_path_start(calc_process_path *path, const calc_process *process, size_t draws,
                             const calc_rng *rng)
{
    *path = (calc_process_path){.process = process, .rng = *rng, .draws = draws};
}

void calc_process_path_clear(calc_process_path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        free(path->point[i].value);
    }
    free(path->point);
    path->point = NULL;
    path->count = path->capacity = 0;
}

static size_t path_find(const calc_process_path *path, const double *point)
{
    size_t bytes = path->process->dimensions * sizeof *point;
    size_t i = 0;
    while (i < path->count && memcmp(path->point[i].at, point, bytes) != 0) {
        i++;
    }
    return i;
}

/* @return a point behind the others, not counted yet; NULL if memory is short */
static calc_process_path_point *next(calc_process_path *path, const double *point)
{
    size_t known = calc_process_known(path->process), at = path->count;
    calc_process_path_point *grown =
        calc_grown(path->point, at, &path->capacity, sizeof *path->point);
    if (!grown) {
        return NULL;
    }
    path->point = grown;
    calc_process_path_point *x = &grown[at];
    double *numbers = calloc(2 * path->draws + known + at + 1, sizeof *numbers);
    if (!numbers) {
        return NULL;
    }
    *x = (calc_process_path_point){.value = numbers,
                                   .normal = numbers + path->draws,
                                   .reach = numbers + 2 * path->draws,
                                   .row = numbers + 2 * path->draws + known};
    memcpy(x->at, point, path->process->dimensions * sizeof *point);
    return x;
}

/* The row of a point: the parts that it shares with each point before it, and its own part, which
 * is 0 up to rounding where the others determine it. */
static void fill_row(const calc_process_path *path, calc_process_path_point *x)
{
    const calc_process *p = path->process;
    size_t n = calc_process_known(p), count = path->count;
    double whole = calc_process_prior(p, x->at, x->at) - dot(x->reach, x->reach, n);
    double own = whole;
    for (size_t i = 0; i < count; i++) {
        const calc_process_path_point *other = &path->point[i];
        double common = calc_process_prior(p, x->at, other->at) - dot(x->reach, other->reach, n) -
                        dot(x->row, other->row, i);
        x->row[i] = other->row[i] > 0 ? common / other->row[i] : 0;
        own -= x->row[i] * x->row[i];
    }
    x->row[count] = own > 1e-12 * whole ? sqrt(own) : 0;
}

const double *calc_process_path_at(calc_process_path *path, const double *point)
{
    size_t at = path_find(path, point);
    if (at < path->count) {
        return path->point[at].value;
    }
    calc_process_path_point *x = next(path, point);
    if (!x) {
        return NULL;
    }
    double mean = calc_process_reach(path->process, point, x->reach);
    fill_row(path, x);
    calc_normal_draw(&path->rng, x->normal, path->draws);
    path->count++;
    for (size_t draw = 0; draw < path->draws; draw++) {
        x->value[draw] = mean;
        for (size_t i = 0; i <= at; i++) {
            x->value[draw] += x->row[i] * path->point[i].normal[draw];
        }
    }
    return x->value;
}
