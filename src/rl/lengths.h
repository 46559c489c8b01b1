/** @file lengths.h  Lengths of responses: a log-normal distribution cut at a cap, whose mean is
 * what the job says. Everything is a quantile of it, so that nothing is drawn. */
#ifndef CALC_RL_LENGTHS_H
#define CALC_RL_LENGTHS_H

#include <stddef.h>

#include "spec/job.h"

/** The distribution: of all responses a share reaches the cap, the logarithms of the others are
 *  normal, and cut at the cap. */
typedef struct calc_rl_lengths {
    double mean; /**< tokens, of all */
    double log_mean, log_deviation;
    double cap;    /**< INFINITY: none */
    double at_cap; /**< share that is put there beside what is cut */
} calc_rl_lengths;

/** The distribution with the mean that a checked job says. */
calc_rl_lengths calc_rl_lengths_of(const calc_job_response *response);

/** Tokens that a share of the responses does not exceed. @param share  in (0, 1) */
double calc_rl_lengths_quantile(const calc_rl_lengths *lengths, double share);

/** Expected length of the longest of `count` responses: the quantile exp(-0.5772 / count), where
 *  Gumbel's distribution has its mean. */
double calc_rl_lengths_longest(const calc_rl_lengths *lengths, double count);

/** Mean of (prompt + length)^2 over mean of prompt + length: the length of equal sequences whose
 *  attention takes as long for each token. */
double calc_rl_lengths_attended(const calc_rl_lengths *lengths, double prompt);

/** Fill `out` with the quantiles (i + 1/2) / count in ascending order; those below the cap are
 * scaled to the mean. */
void calc_rl_lengths_sample(const calc_rl_lengths *lengths, double *out, size_t count);

#endif
