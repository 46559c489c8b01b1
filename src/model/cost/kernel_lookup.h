/** @file kernel_lookup.h  Operators of a layout looked up among measured kernels: the keys that
 *  identify them. */
#ifndef CALC_MODEL_KERNEL_LOOKUP_H
#define CALC_MODEL_KERNEL_LOOKUP_H

#include "model/cost/cost.h"

/** The key of a pass over a kernel among measured ones.
 *  @param key       filled
 *  @param beside_s  filled: part of its time [s] for conversion to a narrow format, a separate
 *                   kernel
 *  @return false for collectives, and for passes never measured as one kernel, see below. A size of
 *  a key may be infinite: then no measurement is near. */
bool calc_kernel_lookup_key(const calc_cost_context *context, const calc_operator *op,
                            calc_pass pass, calc_kernel_key *key, double *beside_s);

/** Time of a pass over a kernel [s], looked up in context->measured. Conversion to a narrow format
 *  is a kernel of its own, which the model costs. Attention over windows, over context-parallel
 *  ranks or by portable kernels has no measured equal, nor has a sum of several kernels: sorting
 *  tokens, attention without flash.
 *  @param model_s  time by the model
 *  @param source   filled */
double calc_kernel_lookup_s(const calc_cost_context *context, const calc_operator *op,
                            calc_pass pass, double model_s, calc_kernel_source *source);

/** Likewise one collective on a buffer of `bytes`. */
double calc_kernel_lookup_link_s(const calc_cost_context *context, calc_collective_op op,
                                 const calc_group *group, double bytes, double model_s,
                                 calc_kernel_source *source);

#endif
