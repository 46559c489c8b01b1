/** @file rounds.h  1F1B with one chunk per stage, in rounds: the step of any stages in a few steps
 *  of arithmetic per stage and micro-batch, without lists of operations.
 *
 *  In round i a stage does the forward of micro-batch i + p-1-stage, then the backward of
 *  micro-batch i; rounds before 0 are the warm-up. A forward needs the forward of the previous
 *  stage in the previous round; a backward needs the backward of the next stage in the same
 *  round. */
#ifndef CALC_BALANCE_ROUNDS_H
#define CALC_BALANCE_ROUNDS_H

#include <stdint.h>

/** Time of a step [s]. Once every stage is delayed from one round to the next by the time of the
 *  busiest one, all rounds until forwards run out are the same, and are skipped.
 *  @param stages        1 ... CALC_BALANCE_STAGES
 *  @param microbatches  1 or more
 *  @param fw_s, bw_s    [stages] a micro-batch forward, and backward with the weight gradient */
double calc_balance_rounds_s(int stages, int64_t microbatches, const double *fw_s,
                             const double *bw_s);

#endif
