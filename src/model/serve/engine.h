/** @file engine.h  Serving engines as software: the overhead of a step on top of the model, and
 * scheduling. Constants belong to an engine from a version on, never to a model or machine; its
 * document has them (spec/serving_engine.h). */
#ifndef CALC_MODEL_ENGINE_H
#define CALC_MODEL_ENGINE_H

#include "spec/serving_engine.h"

/** Overhead of a step on top of its pass [s]: the gap, and the host's time, or its excess over the
 *  pass.
 *  @param pass_s     of the processors
 *  @param sequences  of a replica in the step
 *  @param ranks      that split its layers, >= 1
 *  @param issued_s   time to issue its kernels, for a pass with prompts; 0: it is replayed */
double calc_engine_beside_s(const calc_engine_traits *traits, double pass_s, double sequences,
                            double ranks, double issued_s);

/** The share of a machine's serving rates that an engine's kernels reach. */
calc_serving_rates calc_engine_rates_of(const calc_engine_traits *traits,
                                        const calc_serving_rates *rates);

#endif
