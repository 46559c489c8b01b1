/** @file validation.h  The results of `calc validate`, for the files that write them. */
#ifndef CALC_CLI_VALIDATE_VALIDATION_H
#define CALC_CLI_VALIDATE_VALIDATION_H

#include "cli/validate/measured.h"
#include "cli/validate/validate_band.h"
#include "validate/error_groups.h"
#include "validate/features.h"
#include "validate/forecasts.h"
#include "validate/peers.h"

/** Borrows everything. */
typedef struct calc_validation {
    const calc_results *results;
    const calc_error_groups *groups;
    const calc_features *features;      /**< of memory */
    const calc_features *time_features; /**< of the time of a step */
    const calc_peers *peers;
    const calc_validate_bands *bands; /**< NULL: not asked for */
    const calc_residuals *residuals;  /**< of fits that left the run out, if there are any */
    const calc_forecasts *forecasts;  /**< of fits to what was published before the run, likewise */
    const calc_measured *measured;    /**< the tables of measured runs */
    calc_systems *systems;
    size_t worst;    /**< number of largest errors shown */
    bool breakdown;  /**< show the parts of their predictions */
    bool options;    /**< show a table of `features` */
    bool over_dates; /**< show a table of `forecasts` */
} calc_validation;

#endif
