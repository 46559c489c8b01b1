#include "gauss/process_fit.h"

#include <math.h>
#include <string.h>

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
