/** @file coverage.h  Whether bands hold what they promise: the share of measured runs inside bands
 *  that were made without their own fold (cross-conformal prediction, Vovk 2015). */
#ifndef CALC_VALIDATE_COVERAGE_H
#define CALC_VALIDATE_COVERAGE_H

#include "validate/band.h"

/** One measurement in its band. */
typedef struct calc_covered {
    double value; /**< log(measured / predicted); NaN: not scored, or no band */
    double reach; /**< of the band */
} calc_covered;

/** Shares of measurements. */
typedef struct calc_coverage {
    size_t count;
    double inside;
    double below, above; /**< measured below all of the band, above it */
    double weighed;      /**< inside, tables weighing as calc_spread_weight() says */
    double reach;        /**< mean of reaches */
} calc_coverage;

/** Put each scored measurement into its band. One that the residuals have is as far off as they
 * say, and its band is made without its fold; any other is as far off as it is predicted now.
 *  @param out  by index of result */
void calc_covered_make(calc_covered *out, const calc_results *results,
                       const calc_residuals *residuals, calc_unseen unseen);

/** Whether a result is a member of a group. */
typedef bool (*calc_coverage_member)(const calc_result *result, const void *group);

/** Shares among the members of a quantity; NaN if there are none. */
calc_coverage calc_coverage_of(const calc_results *results, const calc_covered *covered,
                               calc_quantity quantity, calc_coverage_member is_member,
                               const void *group);

#endif
