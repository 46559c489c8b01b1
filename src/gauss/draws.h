/** @file draws.h  Joint draws of items that share their errors (effects.h): Matheron's rule
 *  (Wilson et al. 2020, arXiv 2002.09309): a draw from the prior, corrected by the difference
 *  between the observations and those that the draw itself would have given. */
#ifndef CALC_GAUSS_DRAWS_H
#define CALC_GAUSS_DRAWS_H

#include "gauss/effects.h"

/** A source of draws. Owns its memory. */
typedef struct calc_effects_draws {
    const calc_effects_posterior *posterior;
    double *factor[CALC_EFFECTS_FIELDS]; /**< factors of the covariances of fields */
    double common[CALC_EFFECTS_COMMON];  /**< the current draw: effects, */
    double *field[CALC_EFFECTS_FIELDS];  /**< cells, without their means, */
    double *own;                         /**< and own errors, by observation */
    double *residual;
} calc_effects_draws;

/** Prepare draws from a posterior, which must outlive them.
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RULE if the covariance of a field is not positive
 *  definite. Free *out in any case. */
CALC_MUST_USE calc_status calc_effects_draws_make(calc_effects_draws *out,
                                                  const calc_effects_posterior *posterior,
                                                  calc_errors *errors);
void calc_effects_draws_free(calc_effects_draws *draws);

/** Draw everything that items share. */
void calc_effects_draw(calc_effects_draws *draws, calc_rng *rng);

/** The value of an item in that draw, without its own error. */
double calc_effects_drawn(const calc_effects_draws *draws, const calc_effects_item *item);

/** The own error of an observed item in that draw. @param observation  any of that item */
static inline double calc_effects_drawn_own(const calc_effects_draws *draws, size_t observation)
{
    return draws->own[observation];
}

#endif
