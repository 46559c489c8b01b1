/** @file validate_table.h  Writes predictions beside measured runs as tables, for people. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_TABLE_H
#define CALC_CLI_VALIDATE_VALIDATE_TABLE_H

#include "cli/validate/measured.h"
#include "io/json_put.h"
#include "io/output.h"
#include "validate/error_groups.h"
#include "validate/features.h"
#include "validate/residuals.h"
#include "validate/results.h"

/** Write its members into the open object. */
static inline void calc_put_spread(calc_put *put, const calc_spread *spread)
{
    calc_put_count(put, "n", (int64_t)spread->count);
    calc_put_number(put, "bias", spread->bias);
    calc_put_number(put, "mean_abs", spread->mean_abs);
    calc_put_number(put, "median_abs", spread->median_abs);
    calc_put_number(put, "p90_abs", spread->p90_abs);
    calc_put_number(put, "worst_abs", spread->worst_abs);
}

/** Write its members into the open object. */
static inline void calc_put_ranking(calc_put *put, const calc_ranking *ranking)
{
    calc_putf(put, "kendall_tau: %g, pairs: %zu, choices: %zu, regret_mean: %g, regret_worst: %g",
              ranking->tau, ranking->pairs, ranking->choices, ranking->regret_mean,
              ranking->regret_worst);
}

/** Measurements and their bands. Owns everything. Start with {0}. */
typedef struct calc_validate_bands {
    calc_residuals residuals;
    calc_covered *covered[CALC_UNSEEN_COUNT]; /**< by index of result */
} calc_validate_bands;

/** The results of `calc validate`, for the functions that write them. Borrows everything. */
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

/* Writes the measurements with the largest errors, and the parts of their predictions. */

/** Write the member "worst": an array of the step times with the largest errors, largest first: the
 *  index of the row, its predicted time and the parts of this time [s]. */
void calc_validate_worst_put(calc_put *put, const calc_results *results, calc_systems *systems);

/** Write the errors by published table, the effect of options on memory, the errors that others
 *  have published, the number of runs that count, why the others do not, and the rows with the
 *  largest errors. */
void calc_validate_table_write(calc_output *out, const calc_validation *validation);

/** Write the groups that got worse than a baseline by more than the tolerance, and how many of its
 *  measurements are no longer predicted. @return the number of lines that report something worse */
size_t calc_validate_table_baseline(calc_output *out, const calc_error_groups *groups,
                                    const calc_baseline *baseline, double tolerance);

/* How far off predictions were of runs published after a month, by
 * constants fitted to what was published before it: one row a month, of runs of high confidence. */

/** Write the table over months. Its last row has each run as of the last fit before it was
 *  published. */
void calc_validate_forecast_write(calc_output *out, const calc_results *results,
                                  const calc_forecasts *forecasts);

/** The same as the member "forecasts" of the object that is open. */
void calc_validate_forecast_put(calc_put *put, const calc_results *results,
                                const calc_forecasts *forecasts);

/* Writes how many measured runs are inside their bands, for people. */

/** Make the bands of all scored measurements.
 *  @return CALC_OK, or the status of calc_find_data() and calc_residuals_read(); *out must be freed
 *  in any case */
CALC_MUST_USE calc_status calc_validate_bands_make(calc_validate_bands *out,
                                                   const calc_results *results,
                                                   calc_errors *errors);

/** Write the shares for all runs, families of machines, kinds of models and published tables; and
 *  how many layouts ran by how sure it was that they fit, if some ran out of memory. */
void calc_validate_bands_write(calc_output *out, const calc_validation *validation);

/** Write the same as the member "bands" of the open object. */
void calc_validate_bands_put(calc_put *put, const calc_validation *validation);

#endif
