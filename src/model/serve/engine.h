/** @file engine.h  Serving engines as software: what a step of an engine costs beside the model,
 * and how it schedules. Constants belong to an engine from a version on, never to a model or
 * machine. */
#ifndef CALC_MODEL_ENGINE_H
#define CALC_MODEL_ENGINE_H

#include "calc.h"

/** What is known of an engine. */
typedef struct calc_engine_traits {
    double host_s; /**< of the host for a step: scheduling, inputs, sampling, answers [s] */
    double host_sequence_s; /**< added per sequence of the step [s] */
    double host_growth;     /**< of both, per doubling of tensor parallelism: a process each */
    double issue_s;         /**< of the host to issue a block of a pass with prompts, which no graph
                                 replays: such a pass takes no less [s] */
    double issue_moe_s;     /**< added for a block with experts [s] */
    double request_s;       /**< of a request before its prefill and behind it: server, tokens from
                                 text, first answer [s] */
    double gap_s;           /**< between steps, which the processors wait in any case [s] */
    double matrix_share; /**< of the arithmetic rate that kernels of serving reach on the machine,
                              where the engine's own reach less; 0: 1 */
    double cache_share;  /**< likewise, of the bandwidth to the cache */
    bool overlapped;     /**< the host works for the next step while this one runs: a request that
                              comes as one begins misses the next, too */
    bool gathers; /**< prompts are held until every replica has one (hold.h), not looked for at
                     times */
} calc_engine_traits;

/** The traits of an engine; all 0 for CALC_SERVING_ENGINE_NONE. */
calc_engine_traits calc_engine_traits_of(calc_serving_engine engine);

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
