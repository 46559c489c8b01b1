/** @file error_groups.h  Errors by published table, source, machine, model, kind of model and
 *  confidence; the sets of one's own runs are their machines and sources. Scored results only. */
#ifndef CALC_VALIDATE_ERROR_GROUPS_H
#define CALC_VALIDATE_ERROR_GROUPS_H

#include "validate/ranking.h"
#include "validate/spread.h"

/** One group. Texts are borrowed from the runs, or static. */
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
 *  @param then  error of each result in a baseline, NaN: none; or NULL
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_error_groups_make(calc_error_groups *out,
                                                 const calc_results *results, const double *then,
                                                 calc_errors *errors);

/** The group of the same results among others; NULL: it has none there. */
const calc_error_group *calc_error_groups_like(const calc_error_groups *groups,
                                               const calc_error_group *like);

/** Free what they own; fine on {0}. */
void calc_error_groups_free(calc_error_groups *groups);

#endif
