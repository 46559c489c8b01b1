/** @file run_band.h  Writes the band of `calc run --band`, in the summary and as JSON: the range of
 *  factors between measured runs like this one and their predictions (validate/band.h). */
#ifndef CALC_CLI_RUN_RUN_BAND_H
#define CALC_CLI_RUN_RUN_BAND_H

#include "calibrate/standard_errors.h"
#include "cli/run/report.h"
#include "cli/shell/inputs.h"
#include "io/json_put.h"
#include "validate/fits.h"

/** How well the machine of a run is measured: X(NAME, word). */
#define CALC_RUN_BAND_MACHINE_LIST(X)                                                              \
    X(UNMEASURED, "unmeasured") /* no runs of it or of its family */                               \
    X(FAMILY, "family")         /* its constants were fitted to runs of its family */              \
    X(MEASURED, "measured")     /* its constants were fitted to its own runs */

typedef enum calc_run_band_machine {
#define CALC_X(name, word) CALC_RUN_BAND_MACHINE_##name,
    CALC_RUN_BAND_MACHINE_LIST(CALC_X)
#undef CALC_X
        CALC_RUN_BAND_MACHINE_COUNT
} calc_run_band_machine;

/** A band of one layout. Owns the residuals. Start with {0}. */
typedef struct calc_run_band {
    calc_residuals residuals;
    calc_run_band_machine machine;
    char note[256]; /**< why comparable runs may be less alike than usual; "": no reason */
    calc_traits traits;
    calc_band time;   /**< for software like that of the runs, if the machine is measured */
    calc_band other;  /**< for other software */
    calc_band later;  /**< for later software */
    calc_band unseen; /**< for software that no constant was fitted to */
    bool is_later;    /**< which of them `time` is: for machines without runs, the wider one */
    calc_band memory; /**< of tier 1 */
    const calc_inputs *inputs;   /**< borrowed */
    calc_standard_errors errors; /**< of constants that were fitted, or of all that are assumed */
    bool is_assumed;             /**< nothing was fitted: `time` is wider by what is assumed */
    double deviation;            /**< of the logarithm of time, from the errors of constants */
} calc_run_band;

/** Compute the band of a layout.
 *  @return CALC_OK, or the status of calc_find_data() and calc_residuals_read(); *out must be freed
 *  in any case */
CALC_MUST_USE calc_status calc_run_band_make(calc_run_band *out, const calc_inputs *inputs,
                                             calc_errors *errors);

/** Write its section of the summary. */
void calc_run_band_write(calc_output *out, const calc_report *report);

/** Write the member "band" of the open object. */
void calc_run_band_put(calc_put *put, const calc_run_band *band, const calc_stats *stats);

/** Free what it owns; fine on {0}. */
void calc_run_band_free(calc_run_band *band);

#endif
