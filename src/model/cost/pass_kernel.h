/** @file pass_kernel.h  Kernels and collectives of a serving pass, replayed as a graph, by the
 * rates that a chip has for them (serving in the system file). Weights and caches are streamed once
 *  and activations stay in the second-level cache, so that constants differ from training's. The
 *  forms are those that fit measured kernels of engines best: docs/inference.md, Kernels of
 *  serving. */
#ifndef CALC_MODEL_PASS_KERNEL_H
#define CALC_MODEL_PASS_KERNEL_H

#include "model/cost/cost.h"
#include "model/cost/cost_kernel.h"

/** Time of a kernel's forward pass.
 *  @param c    with serving
 *  @param out  filled where the chip has rates for such kernels
 *  @return whether it was; if not, the time is that of training */
bool calc_pass_kernel_of(const calc_cost_context *c, const calc_operator *o, calc_cost_kernel *out);

/** Time of one operation of a collective [s].
 *  @param bytes    as of calc_collective_s()
 *  @param model_s  its time in training; 0 for one rank
 *  @return the same with the latency of serving in place of training's, where the system has one;
 *  for an all-reduce inside a node at most the time of the engines' own */
double calc_pass_link_s(const calc_system *system, calc_collective_op op, const calc_group *group,
                        double bytes, double model_s);

#endif
