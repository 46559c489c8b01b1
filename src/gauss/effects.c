#include "gauss/effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "gauss/process.h"

enum { ROUNDS = 60 };

/* Variance of the observation in place of a bound before it is known. */
static const double nothing_variance = 1e6;

double calc_effects_expected(const calc_effects *e, const calc_effects_item *item)
{
    double sum = item->expected;
    for (size_t i = 0; i < e->fields; i++) {
        sum += e->field[i].mean ? item->field_weight[i] * e->field[i].mean[item->cell[i]] : 0;
    }
    return sum;
}

double calc_effects_covariance(const calc_effects *e, const calc_effects_item *a,
                               const calc_effects_item *b)
{
    double sum = 0;
    for (size_t i = 0; i < e->common; i++) {
        sum += e->sd[i] * e->sd[i] * a->weight[i] * b->weight[i];
    }
    for (size_t i = 0; i < e->fields; i++) {
        const calc_effects_field *f = &e->field[i];
        sum += f->size == 0 ? 0
                            : f->size * f->size * a->field_weight[i] * b->field_weight[i] *
                                  f->covariance[a->cell[i] * f->cells + b->cell[i]];
    }
    return sum;
}

/* Covariances of an item with the observed values. */
static void relate(const calc_effects_posterior *p, size_t item, double *out)
{
    const calc_effects *e = p->effects;
    for (size_t i = 0; i < p->count; i++) {
        size_t other = p->observation[i].item;
        out[i] = calc_effects_covariance(e, &p->item[item], &p->item[other]) +
                 (other == item ? e->own_sd * e->own_sd : 0);
    }
}

static bool factor(calc_effects_posterior *p)
{
    for (size_t i = 0; i < p->count; i++) {
        relate(p, p->observation[i].item, p->factor + i * p->count);
        p->factor[i * p->count + i] += p->variance[i];
    }
    if (!calc_gauss_factor(p->factor, p->count)) {
        return false;
    }
    for (size_t i = 0; i < p->count; i++) {
        p->pull[i] =
            p->value[i] - calc_effects_expected(p->effects, &p->item[p->observation[i].item]);
        p->white[i] = p->pull[i];
    }
    calc_gauss_solve(p->factor, p->count, p->pull);
    calc_gauss_solve_lower(p->factor, p->count, p->white);
    return true;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* Mean and variance of a normal variable that is known to be on one side of a bound. Rasmussen &
 * Williams 2006, Gaussian Processes for Machine Learning, 3.58. */
static void cut(const calc_effects_observation *o, double *mean, double *variance)
{
    double sign = o->side == CALC_EFFECTS_ABOVE ? 1 : -1;
    double noise = o->noise_sd * o->noise_sd, spread = *variance + noise;
    double z = sign * (*mean - o->value) / sqrt(spread);
    if (z > -30) {
        double ratio = calc_normal_density(z) / calc_normal_below(z);
        *mean += sign * *variance * ratio / sqrt(spread);
        *variance -= *variance * *variance / spread * ratio * (z + ratio);
    } else { /* both vanish: by their series */
        double far = 1 / (z * z);
        *mean -= sign * *variance * (z + (1 - 2 * far) / z) / sqrt(spread);
        *variance *= (noise + *variance * (far - 6 * far * far)) / spread;
    }
}

/* Replace the normal observation in place of a bound by the one with the bound's effect given all
 * other observations. @return its change, in units of the distribution without it */
static double stand_in(calc_effects_posterior *p, size_t i)
{
    const calc_effects_observation *o = &p->observation[i];
    double mean, variance;
    calc_effects_moments(p, o->item, p->scratch, &mean, &variance);
    /* Without itself: division of normal densities. */
    double precision = 1 / variance - 1 / p->variance[i];
    if (precision <= 0) {
        return 0;
    }
    double alone_mean = (mean / variance - p->value[i] / p->variance[i]) / precision;
    double alone_variance = 1 / precision;
    double cut_mean = alone_mean, cut_variance = alone_variance;
    cut(o, &cut_mean, &cut_variance);
    double gained = 1 / cut_variance - precision;
    double next_variance = nothing_variance, next_value = alone_mean;
    if (gained > 1 / nothing_variance) {
        next_variance = 1 / gained;
        next_value = (cut_mean / cut_variance - alone_mean * precision) * next_variance;
    }
    double change = fabs(next_variance - p->variance[i]) / (next_variance + p->variance[i]) +
                    fabs(next_value - p->value[i]) / sqrt(alone_variance + next_variance);
    p->value[i] = next_value;
    p->variance[i] = next_variance;
    return change;
}

/* One after the other, since each replacement of a bound depends on the others. */
static bool settle(calc_effects_posterior *p)
{
    for (int round = 0; round < ROUNDS; round++) {
        double change = 0;
        for (size_t i = 0; i < p->count; i++) {
            if (p->observation[i].side != CALC_EFFECTS_AT) {
                change = fmax(change, stand_in(p, i));
                if (!factor(p)) {
                    return false;
                }
            }
        }
        if (change < 1e-9) {
            break;
        }
    }
    return true;
}

/* ---- Conditioning ---------------------------------------------------------------------------- */

calc_status calc_effects_condition(calc_effects_posterior *out, const calc_effects *effects,
                                   const calc_effects_item *item,
                                   const calc_effects_observation *observation, size_t count,
                                   calc_errors *errors)
{
    *out = (calc_effects_posterior){
        .effects = effects, .item = item, .observation = observation, .count = count};
    out->factor = calc_make(count * count + 5 * count, sizeof *out->factor);
    out->value = out->factor + count * count;
    out->variance = out->value + count;
    out->pull = out->variance + count;
    out->white = out->pull + count;
    out->scratch = out->white + count;
    for (size_t i = 0; i < count; i++) {
        bool bound = observation[i].side != CALC_EFFECTS_AT;
        out->value[i] = observation[i].value;
        out->variance[i] =
            bound ? nothing_variance : observation[i].noise_sd * observation[i].noise_sd;
    }
    if (!factor(out) || !settle(out)) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                               "observations without noise disagree");
    }
    return CALC_OK;
}

CALC_FREES(calc_effects_free, calc_effects_posterior, of->factor)

void calc_effects_moments(const calc_effects_posterior *p, size_t item, double *white, double *mean,
                          double *variance)
{
    const calc_effects *e = p->effects;
    *mean = calc_effects_expected(e, &p->item[item]);
    *variance = calc_effects_covariance(e, &p->item[item], &p->item[item]) + e->own_sd * e->own_sd;
    relate(p, item, white);
    calc_gauss_solve_lower(p->factor, p->count, white);
    for (size_t i = 0; i < p->count; i++) {
        *mean += white[i] * p->white[i];
        *variance -= white[i] * white[i];
    }
    *variance = fmax(*variance, 0);
}

/* Rasmussen & Williams 2006, 5.12: leaving one out, from the inverse of the covariance. */
void calc_effects_surprise(const calc_effects_posterior *p, double *out)
{
    double *unit = calc_make(p->count, sizeof *unit);
    for (size_t i = 0; i < p->count; i++) {
        memset(unit, 0, p->count * sizeof *unit);
        unit[i] = 1;
        calc_gauss_solve(p->factor, p->count, unit);
        bool bound = p->observation[i].side != CALC_EFFECTS_AT;
        out[i] = bound ? 0 : p->pull[i] / sqrt(unit[i]);
    }
    free(unit);
}

static double square(const calc_effects_posterior *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        sum += p->white[i] * p->white[i];
    }
    return sum;
}

double calc_effects_scale(const calc_effects_posterior *p, double before)
{
    return (before + square(p)) / (before + (double)p->count);
}

void calc_effects_widen(calc_effects_posterior *p, calc_effects *e, double factor)
{
    for (size_t i = 0; i < e->common; i++) {
        e->sd[i] *= factor;
    }
    for (size_t i = 0; i < e->fields; i++) {
        e->field[i].size *= factor;
    }
    e->own_sd *= factor;
    for (size_t i = 0; i < p->count; i++) {
        p->variance[i] *= factor * factor;
        p->white[i] /= factor;
        p->pull[i] /= factor * factor;
    }
    for (size_t i = 0; i < p->count * p->count; i++) {
        p->factor[i] *= factor;
    }
}

double calc_effects_log_density(const calc_effects_posterior *p, double before)
{
    double n = (double)p->count;
    double shape = isinf(before)
                       ? -square(p) / 2 - n / 2 * log(2)
                       : lgamma((before + n) / 2) - lgamma(before / 2) - n / 2 * log(before) -
                             (before + n) / 2 * log1p(square(p) / before);
    return shape - (calc_gauss_log_det(p->factor, p->count) + n * log(3.14159265358979323846)) / 2;
}

static calc_status prepare_field(calc_effects_draws *d, size_t i, calc_errors *errors)
{
    const calc_effects_field *f = &d->posterior->effects->field[i];
    size_t square = f->cells * f->cells;
    d->factor[i] = calc_make(square + f->cells, sizeof **d->factor);
    d->field[i] = d->factor[i] + square;
    memcpy(d->factor[i], f->covariance, square * sizeof *f->covariance);
    for (size_t c = 0; c < f->cells; c++) {
        d->factor[i][c * f->cells + c] += 1e-12; /* cells that are the same, to rounding */
    }
    return calc_gauss_factor(d->factor[i], f->cells)
               ? CALC_OK
               : calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                                 "a covariance is not positive definite");
}

calc_status calc_effects_draws_make(calc_effects_draws *out,
                                    const calc_effects_posterior *posterior, calc_errors *errors)
{
    *out = (calc_effects_draws){.posterior = posterior};
    calc_status status = CALC_OK;
    for (size_t i = 0; status == CALC_OK && i < posterior->effects->fields; i++) {
        status = prepare_field(out, i, errors);
    }
    out->own = calc_make(2 * posterior->count, sizeof *out->own);
    out->residual = out->own + posterior->count;
    return status;
}

void calc_effects_draws_free(calc_effects_draws *draws)
{
    for (size_t i = 0; i < CALC_EFFECTS_FIELDS; i++) {
        free(draws->factor[i]);
    }
    free(draws->own);
    *draws = (calc_effects_draws){0};
}

double calc_effects_drawn(const calc_effects_draws *d, const calc_effects_item *item)
{
    const calc_effects *e = d->posterior->effects;
    double sum = calc_effects_expected(e, item);
    for (size_t i = 0; i < e->common; i++) {
        sum += item->weight[i] * d->common[i];
    }
    for (size_t i = 0; i < e->fields; i++) {
        sum += item->field_weight[i] * d->field[i][item->cell[i]];
    }
    return sum;
}

/* A draw from the prior; own errors once for each observed item. */
static void draw_before(calc_effects_draws *d, calc_rng *rng)
{
    const calc_effects_posterior *p = d->posterior;
    const calc_effects *e = p->effects;
    calc_normal_draw(rng, d->common, e->common);
    for (size_t i = 0; i < e->common; i++) {
        d->common[i] *= e->sd[i];
    }
    for (size_t i = 0; i < e->fields; i++) {
        const calc_effects_field *f = &e->field[i];
        if (f->size > 0) { /* no error takes no random numbers */
            calc_normal_draw(rng, d->field[i], f->cells);
            calc_gauss_times_lower(d->factor[i], f->cells, d->field[i]);
        }
        for (size_t c = 0; c < f->cells; c++) {
            d->field[i][c] = f->size > 0 ? f->size * d->field[i][c] : 0;
        }
    }
    calc_normal_draw(rng, d->own, p->count);
    for (size_t i = 0; i < p->count; i++) {
        size_t first = 0;
        while (p->observation[first].item != p->observation[i].item) {
            first++;
        }
        d->own[i] = first < i ? d->own[first] : e->own_sd * d->own[i];
    }
}

/* Correct it by the observations. */
static void correct(calc_effects_draws *d)
{
    const calc_effects_posterior *p = d->posterior;
    const calc_effects *e = p->effects;
    calc_gauss_solve(p->factor, p->count, d->residual);
    for (size_t j = 0; j < p->count; j++) {
        const calc_effects_item *item = &p->item[p->observation[j].item];
        double pull = d->residual[j];
        for (size_t i = 0; i < e->common; i++) {
            d->common[i] += e->sd[i] * e->sd[i] * item->weight[i] * pull;
        }
        for (size_t i = 0; i < e->fields; i++) {
            const calc_effects_field *f = &e->field[i];
            const double *row = f->covariance + item->cell[i] * f->cells;
            double scale = f->size * f->size * item->field_weight[i] * pull;
            for (size_t c = 0; c < f->cells; c++) {
                d->field[i][c] += row[c] * scale;
            }
        }
        for (size_t k = 0; k < p->count; k++) {
            bool same = p->observation[k].item == p->observation[j].item;
            d->own[k] += same ? e->own_sd * e->own_sd * pull : 0;
        }
    }
}

void calc_effects_draw(calc_effects_draws *d, calc_rng *rng)
{
    const calc_effects_posterior *p = d->posterior;
    draw_before(d, rng);
    calc_normal_draw(rng, d->residual, p->count);
    for (size_t i = 0; i < p->count; i++) {
        d->residual[i] = p->value[i] - calc_effects_drawn(d, &p->item[p->observation[i].item]) -
                         d->own[i] - sqrt(p->variance[i]) * d->residual[i];
    }
    correct(d);
}
