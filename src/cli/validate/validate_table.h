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
    calc_putf(put, "n: %zu, bias: %g, mean_abs: %g, median_abs: %g, p90_abs: %g, worst_abs: %g",
              spread->count, spread->bias, spread->mean_abs, spread->median_abs, spread->p90_abs,
              spread->worst_abs);
}

/** Write its members into the open object. */
static inline void calc_put_ranking(calc_put *put, const calc_ranking *ranking)
{
    calc_putf(put, "kendall_tau: %g, pairs: %zu, choices: %zu, regret_mean: %g, regret_worst: %g",
              ranking->tau, ranking->pairs, ranking->choices, ranking->regret_mean,
              ranking->regret_worst);
}

/** A validation: the measured runs, their predictions, and all that is found of them. Owns
 *  everything. Start with {0}; large. */
typedef struct calc_validation {
    calc_measured measured;
    calc_results results;
    calc_baseline baseline; /**< an earlier one */
    calc_error_groups groups;
    calc_features features[2]; /**< of memory, and of the time of a step */
    calc_peers peers;
    calc_residuals residuals; /**< of fits that left the run out, if there are any */
    calc_forecasts forecasts; /**< of fits to what was published before the run, likewise */
    calc_residuals known;     /**< all that bands are made of */
    calc_covered *covered[CALC_UNSEEN_COUNT]; /**< measurements in their bands, by index of result;
                                                 NULL: not asked for */
    size_t worst;                             /**< number of largest errors shown */
    bool breakdown;                           /**< show the parts of their predictions */
    bool options;                             /**< show a table of `features` */
    bool over_dates;                          /**< show a table of `forecasts` */
} calc_validation;

/** The scored result with the largest error after `last`, the first of equals.
 *  @param last   NULL: the largest of all
 *  @param times  of times of steps only
 *  @return NULL: there is none */
const calc_result *calc_validate_next_worst(const calc_results *results, const calc_result *last,
                                            bool times);

/** Write the member "worst": an array of the step times with the largest errors, largest first: the
 *  index of the row, its predicted time and the parts of this time [s]. */
void calc_validate_worst_put(calc_put *put, calc_validation *validation);

/** Write the errors by published table, the effect of options on memory, the errors that others
 *  have published, the number of runs that count, why the others do not, and the rows with the
 *  largest errors; bands and forecasts, if they are asked for. */
void calc_validate_table_write(calc_output *out, calc_validation *validation);

/** Write the groups that got worse than a baseline by more than the tolerance, and how many of its
 *  measurements are no longer predicted. @return the number of lines that report something worse */
size_t calc_validate_table_baseline(calc_output *out, const calc_validation *validation,
                                    double tolerance);

/** Write how far off predictions were of runs published after a month, by constants fitted to what
 *  was published before it, as the member "forecasts" of the open object: a row a month, of runs
 *  of high confidence; the last one has each run as of the last fit before it was published. */
void calc_validate_forecast_put(calc_put *put, const calc_validation *validation);

/** Put all scored measurements into their bands.
 *  @return CALC_OK, or the status of calc_residuals_known() */
CALC_MUST_USE calc_status calc_validate_bands_make(calc_validation *validation,
                                                   calc_errors *errors);

/** Write which shares are inside their bands, for all runs, families of machines, kinds of models
 *  and published tables, as the member "bands" of the open object. */
void calc_validate_bands_put(calc_put *put, const calc_validation *validation);

#endif
