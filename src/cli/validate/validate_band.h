/** @file validate_band.h  Writes how many measured runs are inside their bands, for people. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_BAND_H
#define CALC_CLI_VALIDATE_VALIDATE_BAND_H

#include "io/json_put.h"
#include "validate/coverage.h"

/** Measurements and their bands. Owns everything. Start with {0}. */
typedef struct calc_validate_bands {
    calc_residuals residuals;
    calc_covered *covered[CALC_UNSEEN_COUNT]; /**< by index of result */
} calc_validate_bands;

/** Make the bands of all scored measurements.
 *  @return CALC_OK, or the status of calc_find_data() and calc_residuals_read(); *out must be freed
 *  in any case */
CALC_MUST_USE calc_status calc_validate_bands_make(calc_validate_bands *out,
                                                   const calc_results *results,
                                                   calc_errors *errors);

/** Write the shares for all runs, families of machines, kinds of models and published tables; and
 *  how many layouts ran by how sure it was that they fit, if some ran out of memory. */
void calc_validate_bands_write(calc_output *out, const calc_results *results,
                               const calc_validate_bands *bands, calc_systems *systems);

/** Write the same as the member "bands" of the open object. */
void calc_validate_bands_put(calc_put *put, const calc_results *results,
                             const calc_validate_bands *bands);

/** Free what it owns; fine on {0}. */
void calc_validate_bands_free(calc_validate_bands *bands);

#endif
