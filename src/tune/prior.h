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
} calc_tune_prior;

/** The prior learnt from the published runs. */
calc_tune_prior calc_tune_prior_default(void);

/** The same, but where probes teach memory, with almost no assumption about its parts. */
calc_tune_prior calc_tune_prior_for(const calc_tune_prior *prior, bool probes);

#endif
