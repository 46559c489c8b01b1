/** @file view.h  The same measurements beside other predictions. */
#ifndef CALC_CALIBRATE_VIEW_H
#define CALC_CALIBRATE_VIEW_H

#include "validate/results.h"

/** Results with the predictions `predicted`, by index; results without one, and memory, are in no
 *  group. Borrows the runs and predictions of `results`; free(out->item) ends it.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_view_make(calc_results *out, const calc_results *results,
                                         const double *predicted, calc_errors *errors);

#endif
