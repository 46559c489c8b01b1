/** @file influence.h  Which run pulls a constant to where it is: fits without one run at a time
 *  (leave-one-out; Cook 1977 for linear ones). */
#ifndef CALC_CALIBRATE_INFLUENCE_H
#define CALC_CALIBRATE_INFLUENCE_H

#include "calibrate/fit.h"

/** A constant that ended where no machine is known, and the run that matters most for that. */
typedef struct calc_influence {
    const calc_constant *constant; /**< NULL: all are where machines are */
    double value;                  /**< where it ended */
    size_t row;                    /**< of the evidence */
    double without;                /**< where it ends without that run */
} calc_influence;

/** The first constant that a fit moved out of its range (calc_constant); and the run without which
 *  it ends nearest to its prior. If there are many runs, only the worst predicted ones are tried.
 *  @param fit       as it was made, with the values of `unknowns` put into its family
 *  @param is_free   by unknown
 *  @return CALC_OK, CALC_ERR_NOMEM, or what the fit returns */
CALC_MUST_USE calc_status calc_influence_find(calc_influence *out, const calc_fit *fit,
                                              const calc_unknowns *unknowns, const bool *is_free,
                                              calc_errors *errors);

#endif
