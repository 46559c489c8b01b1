/** @file run_band.h  The band of `calc run --band`: within what factor of the prediction measured
 *  runs like this one were (validate/band.h), for the summary and JSON. */
#ifndef CALC_CLI_RUN_RUN_BAND_H
#define CALC_CLI_RUN_RUN_BAND_H

#include "calibrate/standard_errors.h"
#include "cli/run/report.h"
#include "cli/shell/inputs.h"
#include "io/json_put.h"
#include "validate/fits.h"

/** What is known of the machine of a run: X(NAME, word). */
#define CALC_RUN_BAND_MACHINE_LIST(X)                                                              \
    X(UNMEASURED, "unmeasured") /* no run of it or of its family */                                \
    X(FAMILY, "family")         /* its constants were fitted to runs of its family */              \
    X(MEASURED, "measured")     /* and to runs of its own */

typedef enum calc_run_band_machine {
#define CALC_X(name, word) CALC_RUN_BAND_MACHINE_##name,
    CALC_RUN_BAND_MACHINE_LIST(CALC_X)
#undef CALC_X
        CALC_RUN_BAND_MACHINE_COUNT
} calc_run_band_machine;

/** One. Owns the residuals. Start with {0}. */
typedef struct calc_run_band {
    calc_residuals residuals;
    calc_run_band_machine machine;
    char note[256]; /**< why comparable runs are less alike than they might be; "": they are not */
    calc_traits traits;
    calc_band time;   /**< for software like that of the runs, if the machine is measured */
    calc_band other;  /**< for other software */
    calc_band later;  /**< for later software */
    bool is_later;    /**< which `time` is: of machines without runs it is the wider of the two */
    calc_band memory; /**< of tier 1 */
    const calc_inputs *inputs; /**< borrowed */
    calc_standard_errors errors;
    double deviation; /**< of the logarithm of time, for the standard errors of constants */
} calc_run_band;

/** Make that of a layout.
 *  @return CALC_OK, or what calc_find_data() and calc_residuals_read() return; *out must be freed
 *  in any case */
CALC_MUST_USE calc_status calc_run_band_make(calc_run_band *out, const calc_inputs *inputs,
                                             calc_errors *errors);

/** The section of the summary. */
void calc_run_band_write(calc_output *out, const calc_report *report);

/** The member "band" of the object that is open. */
void calc_run_band_put(calc_put *put, const calc_run_band *band, const calc_stats *stats);

/** Free what it owns; fine on {0}. */
void calc_run_band_free(calc_run_band *band);

#endif
