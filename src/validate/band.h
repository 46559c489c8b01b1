/** @file band.h  The factor around a prediction that contains nine of ten measurements: split
 *  conformal prediction (Lei et al. 2018, J. Am. Stat. Assoc. 113) on the residuals of comparable
 *  runs.
 *
 *  The score of a run is |log(measured / predicted)|. The reach of the band is the smallest score
 *  for which the runs up to it weigh CALC_BAND_LEVEL of all and of one more, that of the run to
 *  predict, which weighs their mean: with equal weights the usual ceil((n + 1) 0.9)-th. A table of
 *  n runs weighs n^0.6 (calc_spread_weight()). Scores have no sign, as tables are off in both
 *  directions: slower than predicted in one, faster in the next. Where runs of both kinds of models
 *  are compared, scores are in units of the kind's typical error (normalised scores, Papadopoulos
 *  et al. 2002, ECML): mixtures of experts are further off.
 *
 *  For a release later than all that a machine was calibrated with, scores come from forecasts or,
 *  if these are fewer than a class needs, from unseen publishers. */
#ifndef CALC_VALIDATE_BAND_H
#define CALC_VALIDATE_BAND_H

#include "validate/residuals.h"

/** Share of runs that a band is to contain. */
#define CALC_BAND_LEVEL 0.9

enum {
    CALC_BAND_RUNS = 30, /**< runs that a class has to have, of two publishers or more: all runs of
                              one are a single observation of another's */
    CALC_BAND_TEXT = 160
};

/** Properties that comparable runs share with the one to predict; processors of one node, up to
 *  128, or more. */
enum { CALC_ALIKE_FAMILY = 1, CALC_ALIKE_KIND = 2, CALC_ALIKE_BITS = 4, CALC_ALIKE_SCALE = 8 };

/** The run to predict. */
typedef struct calc_band_query {
    calc_quantity quantity;
    calc_traits traits;
    calc_unseen unseen; /**< WIDTH: machine and software like those of the runs; SOURCE: not;
                             RELEASE: later than they */
    const calc_residual *without; /**< the runs that were left out with this one are left out; NULL:
                                       none are */
} calc_band_query;

/** A band: prediction * exp(-reach) to prediction * exp(reach). */
typedef struct calc_band {
    double reach;  /**< NaN: there are too few runs */
    double median; /**< of log(measured / predicted), by weight; NaN: no runs */
    double most; /**< bound of nine of ten of these logarithms, and of one more; NaN: there are too
                      few runs */
    size_t runs, tables;
    unsigned alike; /**< CALC_ALIKE_* */
} calc_band;

/** The band of the most alike class that has CALC_BAND_RUNS runs: family of machines, kind of
 * model, bits and processors; without processors; without bits; of any machine; of any kind.
 * Software that no fit has seen is compared with all such runs. */
calc_band calc_band_of(const calc_residuals *residuals, const calc_band_query *query);

/** Share of the runs of that class, and of one more that is above, for which log(measured /
 * predicted) is at most `most`: how sure it is that a need fits, with `most` the logarithm of
 * capacity over need. NaN: there are no runs. */
double calc_band_share(const calc_residuals *residuals, const calc_band_query *query, double most);

/** "H100, dense, 8 bits, up to 128 processors"; "all" if nothing need be alike.
 *  @return text, CALC_BAND_TEXT bytes */
char *calc_band_class(const calc_traits *traits, unsigned alike, char *text);

#endif
