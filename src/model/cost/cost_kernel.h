/** @file cost_kernel.h  A pass over one operator on the engines and the memory of a chip. */
#ifndef CALC_MODEL_COST_KERNEL_H
#define CALC_MODEL_COST_KERNEL_H

#include "model/cost/cost.h"
#include "model/cost/cost_times.h"

/** A pass over a kernel [s]: arithmetic and traffic alone, and together with the launch. */
typedef struct calc_cost_kernel {
    double flop_s, mem_s, all_s;
} calc_cost_kernel;

/** By the rates of the chip. */
calc_cost_kernel calc_cost_kernel_model(const calc_cost_context *context, const calc_operator *op,
                                        calc_pass pass);

/** Whether passes over operators that are equal take the same time in both: the same chip, and
 *  equal properties of strategies and shapes that decide its rates. Never with measured kernels, or
 *  in serving. */
bool calc_cost_kernel_alike(const calc_cost_context *a, const calc_cost_context *b);

/** By its measurements, where there are any.
 *  @param source  where its time comes from */
calc_cost_kernel calc_cost_kernel_of(const calc_cost_context *context, const calc_operator *op,
                                     calc_pass pass, calc_kernel_source *source);

/** Enter work and time of a pass into the times of an operator. */
void calc_cost_kernel_put(const calc_operator *op, calc_pass pass, const calc_cost_kernel *kernel,
                          calc_cost_times *out);

/** The same for a number of its first passes, wherever their times come from. */
void calc_cost_kernel_times(const calc_cost_context *context, const calc_operator *op, int passes,
                            calc_cost_times *out);

/** Time of one pass over an operator, without communication [s]; for a collective, time in which
 *  processors add up and copy for it. */
double calc_cost_kernel_s(const calc_cost_context *context, const calc_operator *op,
                          calc_pass pass);

/** The same, with where the time comes from. */
double calc_cost_kernel_from(const calc_cost_context *context, const calc_operator *op,
                             calc_pass pass, calc_kernel_source *source);

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
