/** @file view.h  The same measurements beside other predictions. */
#ifndef CALC_CALIBRATE_VIEW_H
#define CALC_CALIBRATE_VIEW_H

#include "validate/results.h"

/** Results whose predicted times are `predicted_s`, by index; what has none there, and what is not
 * a time, is in no group. Borrows the runs and predictions of `results`; free(out->item) ends it.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_view_make(calc_results *out, const calc_results *results,
                                         const double *predicted_s, calc_errors *errors);

#endif
