/** @file serving_results.h  Measured runs of serving paired with predictions: as results.h, with
 * the quantities tpot, ttft, e2e and output_tokens_per_s, of which a positive error of the last
 * means a prediction that is too fast; and with tpot_shape, the tpot of a run over that of the same
 * layout with the fewest requests. */
#ifndef CALC_VALIDATE_SERVING_RESULTS_H
#define CALC_VALIDATE_SERVING_RESULTS_H

#include "validate/results.h"

/** Predict the runs of `files` files and pair them. A run without any measurement has one result,
 *  unpredicted. The runs, remarks, apps and systems must outlive the results.
 *  @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_IO, also of reading a machine or a model */
CALC_MUST_USE calc_status calc_serving_results_make(calc_results *out,
                                                    const calc_serving_rows *rows, size_t files,
                                                    const calc_remarks *remarks,
                                                    calc_serving_apps *apps, calc_systems *systems,
                                                    calc_errors *errors);

#endif
