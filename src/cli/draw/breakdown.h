/** @file breakdown.h  A whole and its parts, with bars and percentages: the time of a step and the
 *  memory of a processor. */
#ifndef CALC_CLI_DRAW_BREAKDOWN_H
#define CALC_CLI_DRAW_BREAKDOWN_H

#include "calc.h"
#include "cli/draw/paint.h"
#include "cli/draw/stack.h"
#include "io/json_put.h"

enum {
    CALC_BREAKDOWN_TIMES = 17,
    CALC_BREAKDOWN_SPACES = 10,
    CALC_BREAKDOWN_LOSSES = 8,
    CALC_BREAKDOWN_LABEL = 28 /**< columns of the labels */
};

/** Parts of total_time, in the order they are shown: they add up to it. */
void calc_breakdown_times(const calc_stats *stats, double time_s[CALC_BREAKDOWN_TIMES]);

/** The same time, in the few kinds of a bar that takes one line. */
void calc_breakdown_kinds(const calc_stats *stats, double time_s[CALC_STACK_KINDS]);

/** Parts of proc_mem_tier1_cap_req (tier 1) or proc_mem_tier2_cap_req (tier 2): weights,
 *  activations, checkpoints, activation gradients, weight gradients, optimizer. */
void calc_breakdown_spaces(const calc_exec *exec, const calc_stats *stats, int tier,
                           double space_bytes[CALC_BREAKDOWN_SPACES]);

/** What a part is called: "pipeline bubble", "weights". */
const char *calc_breakdown_time_label(size_t part);
const char *calc_breakdown_space_label(size_t part);

/** What of the peak is lost to each part of a step, as a share of it: with model_flops_utilization
 *  they add up to one. The first is what forward, backward and head take beyond their model FLOP at
 *  peak: other operations, efficiencies, and more work than a mean processor has; below zero where
 *  kernels run in a format with a higher peak. NaN where the step or the utilisation is not known.
 */
void calc_breakdown_losses(const calc_stats *stats, double share[CALC_BREAKDOWN_LOSSES]);

/** Write the parts of a step's time that are not zero, and their total. */
void calc_breakdown_write_time(calc_output *out, const calc_paint *paint, const calc_stats *stats);

/** The same for one memory tier, against its capacity.
 *  @param ours  without Calculon's rules: "activation gradients" are then all that the block at
 * hand needs beside what is stored */
void calc_breakdown_write_memory(calc_output *out, const calc_paint *paint, const calc_exec *exec,
                                 const calc_stats *stats, int tier, bool ours);

/** The same parts as a JSON object of label and value [s, bytes], those that are not zero. */
void calc_breakdown_put_time(calc_put *put, const char *key, const calc_stats *stats);
void calc_breakdown_put_memory(calc_put *put, const char *key, const calc_exec *exec,
                               const calc_stats *stats, int tier, bool ours);

/** The losses as a JSON object of label and share, in their order; null where they are not known.
 */
void calc_breakdown_put_losses(calc_put *put, const char *key, const calc_stats *stats);

#endif
