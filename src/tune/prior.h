/** @file prior.h  The prior of prediction errors: their standard deviations and correlation
 *  lengths, learnt from the published runs (tests/bench/tune_learn.h). Errors are logarithms of
 * measured over predicted. */
#ifndef CALC_TUNE_PRIOR_H
#define CALC_TUNE_PRIOR_H

#include "tune/candidate.h"

/** An error that neighbouring layouts share, less and less the further apart they are in some
 *  coordinates: Matern 1/2, sd^2 exp(-distance), distance in the lengths below. */
typedef struct calc_tune_field {
    double sd;
    double length[CALC_TUNE_COORDINATES]; /**< in units of the coordinate; 0: the coordinate does
                                               not matter */
} calc_tune_field;

/** The sizes that errors have on one cluster, which may not behave as the published runs do. */
typedef struct calc_tune_sizes {
    double weight; /**< their probability before anything is measured, times a constant */
    double terms;  /**< factor on the errors of terms */
    double own;    /**< factor on the error of one layout alone */
    double value;  /**< standard deviation of the error that all layouts with one value of a
                        coordinate share beside all others: of each value of tokens, tensor and
                        context parallelism, stages and chunks */
} calc_tune_sizes;

/** The errors of a step's time add up, each times its weight, and so do those of memory. */
typedef struct calc_tune_prior {
    double common;                /**< of all layouts alike */
    double term[CALC_TUNE_TERMS]; /**< of each term */
    calc_tune_field kernels;      /**< of compute time, by the shape of kernels */
    calc_tune_field schedule;     /**< of a step, by its schedule */
    double own;                   /**< of one layout alone */
    double memory_common;         /**< the same of memory */
    double memory_space[CALC_TUNE_SPACES];
    double memory_own;
    const calc_tune_sizes *size; /**< that errors of times may have */
    size_t sizes;                /**< 0: those above, and no errors of values */
} calc_tune_prior;

/** The prior learnt from the published runs. */
calc_tune_prior calc_tune_prior_default(void);

/** The same, but where probes teach memory, with almost no assumption about its parts. */
calc_tune_prior calc_tune_prior_for(const calc_tune_prior *prior, bool probes);

#endif
