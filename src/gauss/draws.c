#include "gauss/draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "gauss/linear.h"
#include "gauss/normal.h"

static calc_status prepare_field(calc_effects_draws *d, size_t i, calc_errors *errors)
{
    const calc_effects_field *f = &d->posterior->effects->field[i];
    size_t square = f->cells * f->cells;
    d->factor[i] = malloc((square + f->cells + 1) * sizeof **d->factor);
    if (!d->factor[i]) {
        return calc_errors_no_memory(errors);
    }
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
    out->own = malloc((2 * posterior->count + 1) * sizeof *out->own);
    out->residual = out->own ? out->own + posterior->count : NULL;
    if (status == CALC_OK && !out->own) {
        status = calc_errors_no_memory(errors);
    }
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
        calc_normal_draw(rng, d->field[i], e->field[i].cells);
        calc_gauss_times_lower(d->factor[i], e->field[i].cells, d->field[i]);
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
            double scale = item->field_weight[i] * pull;
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
