/** @file engine.h  Serving engines as software: what a step of an engine costs beside the model,
 * and how it schedules. Constants belong to an engine from a version on, never to a model or
 * machine. */
#ifndef CALC_MODEL_ENGINE_H
#define CALC_MODEL_ENGINE_H

#include "calc.h"

/** The traits of an engine; all 0 for CALC_SERVING_ENGINE_NONE. */
calc_engine_traits calc_engine_traits_of(calc_serving_engine engine);

/** Those of the engine that an execution names, but for those that the execution states. */
calc_engine_traits calc_engine_traits_for(const calc_inference *inference);

/** What a step takes beside its pass [s]: the gap, and of the host's time all, or what is longer
 * than the pass.
 *  @param pass_s     of the processors
 *  @param sequences  of a replica in the step
 *  @param ranks      that split its layers, >= 1
 *  @param issued_s   what issuing its kernels takes, of a pass with prompts; 0: it is replayed */
double calc_engine_beside_s(const calc_engine_traits *traits, double pass_s, double sequences,
                            double ranks, double issued_s);

/** What the kernels of an engine reach of a machine's rates of serving. */
calc_serving_rates calc_engine_rates_of(const calc_engine_traits *traits,
                                        const calc_serving_rates *rates);

#endif
