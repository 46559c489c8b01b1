/** @file fit.h  The constants under which the model is nearest to measured runs. Minimises
 *
 *      sum over runs of w * 2 (sqrt(1 + r^2) - 1),  r = (log predicted - log measured) / 0.05
 *      + sum over constants of z^2,                 z = (number - start) / spread
 *
 *  with the numbers of calc_constant_to_free(): a robust likelihood (soft L1, Charbonnier et al.
 *  1997) and a normal prior. Its second derivatives give the standard errors (Laplace). */
#ifndef CALC_CALIBRATE_FIT_H
#define CALC_CALIBRATE_FIT_H

#include "calibrate/evidence.h"
#include "calibrate/unknowns.h"

/** A constant is determined by the runs if its standard error is below this share of its spread
 *  before. */
#define CALC_FIT_DETERMINED 0.6
/** Runs indicate a constant if they moved it by more than this many standard errors. */
#define CALC_FIT_INDICATED 1

/** What is fitted to what. */
typedef struct calc_fit {
    const calc_evidence *evidence;
    const bool *use;           /**< by row of the evidence; NULL: all */
    const calc_family *family; /**< the systems that the unknowns are put into */
    size_t most;               /**< steps at most */
} calc_fit;

/** Fit those unknowns for which `is_free` is true, from where they are; the others stay. Fills
 * value, error and determined of the former.
 *  @return CALC_OK, CALC_ERR_NOMEM, or CALC_ERR_RULE if a run cannot be predicted */
CALC_MUST_USE calc_status calc_fit_unknowns(const calc_fit *fit, calc_unknowns *unknowns,
                                            const bool *is_free, calc_errors *errors);

#endif
