/** @file truth.h  A simulated truth, for studies: the times and memory of layouts differ from
 *  calc's predictions as published runs do. */
#ifndef CALC_TUNE_TRUTH_H
#define CALC_TUNE_TRUTH_H

#include "base/rng.h"
#include "tune/decision.h"

/** Draw the truth of all candidates from a prior.
 *  @param step_s, memory_bytes filled with noiseless measurements
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_truth(const calc_tune_prior *prior,
                                          const calc_tune_candidate *candidate, size_t count,
                                          uint64_t seed, double *step_s, double *memory_bytes,
                                          calc_errors *errors);

/** Measure one of them. @param noise  of the time, as a share of it */
calc_tune_measurement calc_tune_truth_measure(const calc_tune_candidate *candidate, size_t index,
                                              double step_s, double memory_bytes, double noise,
                                              calc_rng *rng);

#endif
