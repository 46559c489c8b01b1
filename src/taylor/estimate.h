/** @file estimate.h  What Taylor finds out by dry runs, from calc's model: the peak of a layout as
 * a function of expert parallelism. */
#ifndef CALC_TAYLOR_ESTIMATE_H
#define CALC_TAYLOR_ESTIMATE_H

#include "taylor/config.h"
#include "taylor/probes.h"

/** Peak of the fullest stage [MB], in the same way; NaN if the layout breaks a rule. */
double calc_taylor_estimate_mb(const calc_taylor_config *config, const calc_system *system,
                               const calc_taylor_layout *layout, int64_t expert, int64_t batch,
                               char *why, size_t size);

/** Fit of the fullest stage's peak with one chunk, micro-batches of one sequence, and layers spread
 *  by calc_taylor_initial_offset(): at ep 8 and 16 as Taylor probes, or at the two largest that are
 *  legal. With one that is legal all of the peak is base. Where another
 *  stage is the fullest at other ep, its peak there is more than the fit says.
 *  @param why  filled if the layout breaks a rule of calc's: then the fit has no probes */
calc_taylor_fit calc_taylor_estimate(const calc_taylor_config *config, const calc_system *system,
                                     const calc_taylor_layout *layout, int64_t batch, char *why,
                                     size_t size);

#endif
