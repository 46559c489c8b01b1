/** @file prior.h  How wrong predictions are before anything was measured: standard deviations of
 *  errors, and how far they reach, learnt from the published runs (learn.h). Errors are logarithms
 *  of measured over predicted. */
#ifndef CALC_TUNE_PRIOR_H
#define CALC_TUNE_PRIOR_H

#include "tune/candidate.h"

/** An error that neighbours share: of layouts alike in some coordinates, less and less the further
 *  they are apart: Matern 1/2, sd^2 exp(-distance), distance in the lengths below. */
typedef struct calc_tune_field {
    double sd;
    double length[CALC_TUNE_COORDINATES]; /**< in units of the coordinate; 0: it does not matter */
} calc_tune_field;

/** The errors of a step's time add up, each times its weight, and so do those of memory. */
typedef struct calc_tune_prior {
    double common;                /**< of all layouts alike */
    double term[CALC_TUNE_TERMS]; /**< of each term */
    calc_tune_field kernels;      /**< of what is computed, by the shape of its kernels */
    calc_tune_field schedule;     /**< of a step, by its schedule */
    double own;                   /**< of one layout alone */
    double memory_common;         /**< the same of memory */
    double memory_space[CALC_TUNE_SPACES];
    double memory_own;
} calc_tune_prior;

/** What the published runs say. */
calc_tune_prior calc_tune_prior_default(void);

/** The same; if memory is to be learnt from probes, with nearly nothing assumed of its parts. */
calc_tune_prior calc_tune_prior_for(const calc_tune_prior *prior, bool probes);

#endif
