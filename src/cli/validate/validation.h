/** @file validation.h  All that `calc validate` found, for those that write it. */
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
    const calc_residuals *residuals;  /**< of fits that had not seen a run, where there are any */
    const calc_forecasts *forecasts;  /**< of fits to what was published before, likewise */
    const calc_measured *measured;    /**< the tables */
    calc_systems *systems;
    size_t worst;    /**< how many of the largest errors are shown */
    bool breakdown;  /**< with what their predictions consist of */
    bool options;    /**< with a table of `features` */
    bool over_dates; /**< with a table of `forecasts` */
} calc_validation;

#endif
