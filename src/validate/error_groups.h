/** @file error_groups.h  Errors by published table, source, machine, model, kind of model and
 *  confidence; the sets of one's own runs are their machines and sources. Scored results only. */
#ifndef CALC_VALIDATE_ERROR_GROUPS_H
#define CALC_VALIDATE_ERROR_GROUPS_H

#include <stddef.h>

#include "validate/residuals.h"
#include "validate/results.h"

/** The spread of errors e, fractions; NaN if there are none. */
typedef struct calc_spread {
    size_t count;
    double bias;       /**< mean of e */
    double mean_abs;   /**< mean of |e| */
    double median_abs; /**< median of |e| */
    double p90_abs;    /**< 90th percentile of |e| */
    double worst_abs;  /**< largest |e| */
} calc_spread;

/** Sorts `error` by size. */
calc_spread calc_spread_of(double *error, size_t count);

/** The quantile q in [0, 1] of values in ascending order, linear between neighbours (type 7 of
 *  Hyndman and Fan 1996); NaN if there are none. */
double calc_spread_quantile(const double *sorted, size_t count, double q);

/* Whether predictions put layouts in the right order, and the cost of choosing the layout that
 * is predicted fastest. Layouts compete if model, machine, GPUs, batch, sequence length and
 * number formats are equal; layouts that serve if model, machine, engine, requests in flight,
 * lengths, number formats and source are, on any number of GPUs. A layout that was measured more
 * than once does not compete with itself, and stands with its shortest time where it is chosen. */

/** The order of competing layouts. */
typedef struct calc_ranking {
    size_t pairs;   /**< competing layouts whose measurements differ by half a percent */
    double tau;     /**< Kendall: pairs in the right order less the others, over all; NaN: none */
    size_t choices; /**< sets of two or more competing layouts */
    double regret_mean;  /**< measured time of the predicted best over the least, less 1 */
    double regret_worst; /**< NaN: no choices */
} calc_ranking;

/** Rank times of steps, and for serving tpot, or tokens per second and GPU (of e2e its time times
 *  the GPUs); other quantities are passed over. All results are of one quantity. */
calc_ranking calc_ranking_of(const calc_result *const *result, size_t count);

/** A set of published tables that errors are reported for: one table, or tables of the same kind on
 *  machines of one family. Texts are borrowed from the file. */
typedef struct calc_run_set {
    const char *name;
    const char *sources;             /**< between blanks; "" any; "!NAME": all but it */
    const char *family, *confidence; /**< "": any */
} calc_run_set;

/** The sets, in the order of the file, which has the columns set, sources, family and confidence:
 *  tests/measured/sets.csv. */
CALC_CSV_LIST(calc_run_sets, calc_run_set, calc_run_sets_read, calc_run_sets_free);

/** Whether a result of training is of a published table: its row names a publisher. */
bool calc_result_is_published(const calc_result *result);

/** Whether a result belongs to the set. Runs of one's own belong to none. */
bool calc_run_set_has(const calc_run_set *set, const calc_result *result);

/** One group. Texts are borrowed from the runs and sets, or static. */
typedef struct calc_error_group {
    const char *by; /**< "set", "source", "engine", "machine", "model", "kind", "regime",
                       "period", "confidence" */
    const char *name;
    calc_quantity quantity;
    calc_spread spread;
    calc_ranking ranking;
    size_t shared;        /**< results that the baseline has too */
    double mean_abs_now;  /**< of these: mean of |error|; NaN: none */
    double mean_abs_then; /**< the same in the baseline */
} calc_error_group;

/** All groups that have a result. Owns them. Start with {0}. */
typedef struct calc_error_groups {
    calc_error_group *item;
    size_t count;
} calc_error_groups;

/** Form the groups.
 *  @param sets  of published tables; NULL: none
 *  @param then  error of each result in a baseline, NaN: none; or NULL */
void calc_error_groups_make(calc_error_groups *out, const calc_results *results,
                            const calc_run_sets *sets, const double *then);

/** The group of the same results among others; NULL: it has none there. */
const calc_error_group *calc_error_groups_like(const calc_error_groups *groups,
                                               const calc_error_group *like);

/** Free what they own; fine on {0}. */
void calc_error_groups_free(calc_error_groups *groups);

/* Labels of a result in words, for training and serving. Texts are borrowed
 * from the runs, or static. */

/** Name, published table, file of the machine, model and confidence of its run; "" where there is
 *  none. */
const char *calc_result_id(const calc_result *result);
const char *calc_result_source(const calc_result *result);
const char *calc_result_machine(const calc_result *result);
const char *calc_result_model(const calc_result *result);
const char *calc_result_confidence(const calc_result *result);

/** "MoE" or "dense", "unknown" of a run that is not predicted; for serving "closed loop",
 * "disaggregated" or "static batch". */
const char *calc_result_kind(const calc_result *result);

/** Engine, its bottleneck, and when it ran: "2025 and later" or "before 2025"; NULL for training,
 *  or if that is not known. */
const char *calc_result_engine(const calc_result *result);
const char *calc_result_regime(const calc_result *result);
const char *calc_result_period(const calc_result *result);

/* Errors of an earlier version, from the CSV that `calc validate --csv` wrote. */

/** The error of each result in the baseline. Owns the list. Start with {0}. */
typedef struct calc_baseline {
    double *error;  /**< by index of the result; NaN: it has none */
    size_t missing; /**< scored then, not predicted now */
} calc_baseline;

/** Read a baseline for these results. Its columns id, quantity, status and error count.
 *  @return CALC_OK, CALC_ERR_FIELD, CALC_ERR_TYPE, CALC_ERR_SYNTAX, or what calc_text_read()
 *  returns; *out must be freed in any case */
CALC_MUST_USE calc_status calc_baseline_read(calc_baseline *out, const char *path,
                                             const calc_results *results, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_baseline_free(calc_baseline *baseline);

/* Whether bands hold what they promise: the share of measured runs inside bands
 * that were made without their own fold (cross-conformal prediction, Vovk 2015). */

/** One measurement in its band. */
typedef struct calc_covered {
    double value; /**< log(measured / predicted); NaN: not scored, or no band */
    double reach; /**< of the band */
} calc_covered;

/** Shares of measurements. */
typedef struct calc_coverage {
    size_t count;
    double inside;
    double below, above; /**< measured below all of the band, above it */
    double weighed;      /**< inside, tables weighing as calc_spread_weight() says */
    double reach;        /**< mean of reaches */
} calc_coverage;

/** Put each scored measurement into its band. One that the residuals have is as far off as they
 * say, and its band is made without its fold; any other is as far off as it is predicted now.
 *  @param out  by index of result */
void calc_covered_make(calc_covered *out, const calc_results *results,
                       const calc_residuals *residuals, calc_unseen unseen);

/** Measurements that belong together; NULL: of any. */
typedef struct calc_coverage_group {
    const char *family;      /**< of machines */
    const char *kind;        /**< calc_result_kind() */
    const calc_run_set *set; /**< of published tables */
} calc_coverage_group;

/** Shares among those of a quantity; NaN if there are none. */
calc_coverage calc_coverage_of(const calc_results *results, const calc_covered *covered,
                               calc_quantity quantity, calc_coverage_group group);

#endif
