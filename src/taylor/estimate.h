/** @file estimate.h  Replaces Taylor's dry runs by calc's model: the peak memory of a layout as a
 *  function of expert parallelism. */
#ifndef CALC_TAYLOR_ESTIMATE_H
#define CALC_TAYLOR_ESTIMATE_H

#include "taylor/config.h"
#include "taylor/probes.h"

/** Peak of the fullest stage [MB], as in calc_taylor_estimate(); NaN if the layout breaks a
 *  rule. */
double calc_taylor_estimate_mb(const calc_taylor_config *config, const calc_system *system,
                               const calc_taylor_layout *layout, int64_t expert, int64_t batch,
                               char *why, size_t size);

/** Fits the peak of the fullest stage, with one chunk, micro-batches of one sequence, and layers
 *  divided by calc_taylor_initial_offset(). The probes are at ep 8 and 16 as in Taylor, or at the
 *  two largest legal ep. If only one ep is legal, the whole peak is base. If another stage is the
 *  fullest at some other ep, its peak there is above the fit.
 *  @param why  filled if the layout breaks a rule of calc; the fit then has no probes */
calc_taylor_fit calc_taylor_estimate(const calc_taylor_config *config, const calc_system *system,
                                     const calc_taylor_layout *layout, int64_t batch, char *why,
                                     size_t size);

#endif
