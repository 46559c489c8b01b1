/** @file breakdown.h  Takes the time of a step and the memory of a processor apart, as numbers and
 *  as JSON. */
#ifndef CALC_REPORT_BREAKDOWN_H
#define CALC_REPORT_BREAKDOWN_H

#include "calc.h"
#include "io/json_put.h"

enum { CALC_BREAKDOWN_TIMES = 17, CALC_BREAKDOWN_SPACES = 10, CALC_BREAKDOWN_LOSSES = 8 };

/** Parts of total_time, in the order shown: they add up to it. */
void calc_breakdown_times(const calc_stats *stats, double time_s[CALC_BREAKDOWN_TIMES]);

/** Parts of proc_mem_tier1_cap_req (tier 1) or proc_mem_tier2_cap_req (tier 2): weights,
 *  activations, checkpoints, activation gradients, weight gradients, optimizer. */
void calc_breakdown_spaces(const calc_exec *exec, const calc_stats *stats, int tier,
                           double space_bytes[CALC_BREAKDOWN_SPACES]);

/** The label of a part: "pipeline bubble", "weights". */
const char *calc_breakdown_time_label(size_t part);
const char *calc_breakdown_space_label(size_t part);

/** The label of a part of memory, on a page or in a table.
 *  @param ours  without Calculon's rules: "activation gradients" then include everything that the
 *  block in its backward pass needs beyond stored tensors */
const char *calc_breakdown_space_name(size_t part, bool ours);

/** Fraction of peak performance lost to each part of a step; with model_flops_utilization the parts
 *  add up to one. The first is the time that forward, backward and head take beyond their model
 *  FLOP at peak: other operations, efficiencies, and more work than a mean processor has; it is
 *  below zero where kernels run in a format with a higher peak. NaN where the step or the
 *  utilisation is not known. */
void calc_breakdown_losses(const calc_stats *stats, double share[CALC_BREAKDOWN_LOSSES]);

/** The same parts as a JSON object of label and value [s, bytes], those that are not zero. */
void calc_breakdown_put_time(calc_put *put, const char *key, const calc_stats *stats);
void calc_breakdown_put_memory(calc_put *put, const char *key, const calc_exec *exec,
                               const calc_stats *stats, int tier, bool ours);

/** Write the losses as a JSON object of label and share, in their order; null where they are not
 *  known. */
void calc_breakdown_put_losses(calc_put *put, const char *key, const calc_stats *stats);

#endif
