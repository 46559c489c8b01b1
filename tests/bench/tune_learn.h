/** @file tune_learn.h  The prior learnt from runs that were predicted and measured: the standard
 *  deviations and lengths that give their errors the greatest likelihood.
 *
 *  It maximises the sum over campaigns (runs of one model on one machine by one publisher, whose
 *  errors are jointly normal as model.h has it) of the log density of their errors, where a
 *  publisher of n runs weighs n^0.6, plus the log density of the parameters' own prior: each is
 *  log-normal around a round guess. The error of a single run differs by publisher: some print
 *  means of many releases. The geometric mean of publishers becomes the prior's `own`. */
#ifndef CALC_TESTS_TUNE_LEARN_H
#define CALC_TESTS_TUNE_LEARN_H

#include "tune/model.h"

enum {
    CALC_TUNE_PUBLISHERS = 32,
    CALC_TUNE_CAMPAIGN = 60 /**< runs of one campaign used at most */
};

/** A run that was predicted and measured. */
typedef struct calc_tune_known {
    calc_tune_candidate candidate;
    double time_error;   /**< log of measured over predicted; NaN: not measured */
    double memory_error; /**< likewise */
    size_t campaign;     /**< runs of a campaign stand together */
    size_t publisher;    /**< below CALC_TUNE_PUBLISHERS */
} calc_tune_known;

/** Learn.
 *  @param without  runs of this publisher are left out; SIZE_MAX: none are
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_learn(calc_tune_prior *out, const calc_tune_known *run,
                                          size_t count, size_t without, calc_errors *errors);

#endif
