/** @file effects.h  Many uncertain values that share their errors, some of them observed.
 *
 *  The value of an item is its expected value plus
 *
 *      sum over common effects of weight * effect  +  sum over fields of weight * field[cell]  +
 * own
 *
 *  where effects, fields and own errors are independent normal variables of mean 0: effects and own
 *  errors with standard deviations, the cells of a field with a covariance. So all items are
 * jointly normal, the covariance of two of them is a short sum, and draws of a hundred thousand
 * items need draws of a few hundred variables only.
 *
 *  An observation is a value with a normal error, or says on which side of a bound a value is;
 *  bounds are replaced by normal observations with the same effect: expectation propagation (Minka
 *  2001).
 */
#ifndef CALC_GAUSS_EFFECTS_H
#define CALC_GAUSS_EFFECTS_H

#include <stddef.h>

#include "base/rng.h"
#include "calc.h"

enum { CALC_EFFECTS_COMMON = 12, CALC_EFFECTS_FIELDS = 7 };

/** A field: cells that are alike to a degree. */
typedef struct calc_effects_field {
    size_t cells;
    double *covariance; /**< cells x cells */
    double *mean;       /**< of cells; NULL: 0 */
    double size;        /**< factor on the standard deviations of all cells; 0: all are `mean` */
} calc_effects_field;

/** The random variables. Arrays are the caller's and must outlive the posteriors. */
typedef struct calc_effects {
    size_t common;
    double sd[CALC_EFFECTS_COMMON];
    size_t fields;
    calc_effects_field field[CALC_EFFECTS_FIELDS];
    double own_sd;
} calc_effects;

/** An item: its weight of each effect and field. */
typedef struct calc_effects_item {
    double expected; /**< without the means of the fields */
    double weight[CALC_EFFECTS_COMMON];
    double field_weight[CALC_EFFECTS_FIELDS];
    size_t cell[CALC_EFFECTS_FIELDS];
} calc_effects_item;

/** The kind of an observation. */
typedef enum calc_effects_side {
    CALC_EFFECTS_BELOW = -1,
    CALC_EFFECTS_AT,
    CALC_EFFECTS_ABOVE
} calc_effects_side;

/** An observation. */
typedef struct calc_effects_observation {
    size_t item;
    calc_effects_side side;
    double value;
    double noise_sd; /**< of the error of a value, > 0; blur of a bound, >= 0 */
} calc_effects_observation;

/** The posterior after observations. Owns its memory. */
typedef struct calc_effects_posterior {
    const calc_effects *effects;
    const calc_effects_item *item;
    const calc_effects_observation *observation;
    size_t count;     /**< of observations */
    double *value;    /**< of each: its value; for a bound, of the normal observation in its
                           place */
    double *variance; /**< of its noise, likewise */
    double *factor;   /**< of the covariance of the observed values */
    double *pull;     /**< inverse of that covariance times the residuals */
    double *white;    /**< inverse of the factor times the residuals */
    double *scratch;  /**< `count` numbers, for the maker */
} calc_effects_posterior;

/** Expected value of an item before any observation. */
double calc_effects_expected(const calc_effects *effects, const calc_effects_item *item);

/** Covariance of two different items before any observation: without own errors. */
double calc_effects_covariance(const calc_effects *effects, const calc_effects_item *a,
                               const calc_effects_item *b);

/** Condition on observations. All arrays must outlive *out.
 *  @return CALC_OK; CALC_ERR_RULE if the covariance of the observed values is not positive
 *  definite: observations without noise contradict each other. Free *out in any case. */
CALC_MUST_USE calc_status calc_effects_condition(calc_effects_posterior *out,
                                                 const calc_effects *effects,
                                                 const calc_effects_item *item,
                                                 const calc_effects_observation *observation,
                                                 size_t count, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_effects_free(calc_effects_posterior *posterior);

/** Mean and variance of the value of an item.
 *  @param white  filled, `count` numbers: inverse of the factor times the item's covariances with
 *                the observed values. The posterior covariance of two items is the prior one minus
 *                the inner product of their vectors. */
void calc_effects_moments(const calc_effects_posterior *posterior, size_t item, double *white,
                          double *mean, double *variance);

/** Leave-one-out residuals: the distance of each observed value from its prediction by the other
 *  observations, in standard deviations; 0 for bounds. @param out  by observation */
void calc_effects_surprise(const calc_effects_posterior *posterior, double *out);

/** The factor by which errors of observed values are larger than expected: the posterior variance
 *  of all errors over the prior one, where the prior variance is as uncertain as one estimated from
 *  `before` values. All variances scale with it: a Student-t process (Shah, Wilson & Ghahramani
 *  2014). */
double calc_effects_scale(const calc_effects_posterior *posterior, double before);

/** Multiply all standard deviations, those of noise included. Means stay.
 *  @param effects  those of the posterior */
void calc_effects_widen(calc_effects_posterior *posterior, calc_effects *effects, double factor);

/** Log of the density of the observations, if all are values.
 *  @param before  as for calc_effects_scale(): Student's t distribution with as many degrees of
 *                 freedom; infinity: the normal one */
double calc_effects_log_density(const calc_effects_posterior *posterior, double before);

/* Joint draws of items that share their errors: Matheron's rule
 * (Wilson et al. 2020, arXiv 2002.09309): a draw from the prior, corrected by the difference
 * between the observations and those that the draw itself would have given. */

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
 *  @return CALC_OK; CALC_ERR_RULE if the covariance of a field is not positive definite. Free *out
 *  in any case. */
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
