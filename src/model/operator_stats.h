/** @file operator_stats.h  The statistics of each operator, for one micro-batch on one processor:
 *  calc_layers(), and where measured times come from. In serving, a micro-batch is that of a
 *  decoding step, at the mean context, or with the phase prefill a chunk of a prompt, after the
 *  mean number of cached tokens; the head runs on the tokens that are sampled. */
#ifndef CALC_MODEL_OPERATOR_STATS_H
#define CALC_MODEL_OPERATOR_STATS_H

#include "model/cost/cost.h"

/** Where the times of an operator come from, by pass. */
typedef struct calc_operator_source {
    double model_s[CALC_PASS_COUNT]; /**< time by the model; 0: the pass runs nothing */
    double time_s[CALC_PASS_COUNT];  /**< what is charged */
    calc_kernel_source source[CALC_PASS_COUNT];
} calc_operator_source;

/** calc_layers() of training with measured kernels that are looked up before the model is asked.
 *  @param source  filled like `out`; a collective's times are those on the link. Operators of
 * blocks that are measured as a whole (measured_block.h) are not charged and have none */
size_t calc_operator_stats_measured(const calc_app *app, const calc_system *system,
                                    const calc_exec *exec, calc_compat compat,
                                    const calc_kernel_table *measured, calc_layer_stats *out,
                                    calc_operator_source *source, size_t capacity);

#endif
