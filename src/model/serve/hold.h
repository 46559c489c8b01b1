/** @file hold.h  Prompts that an engine lets wait for some steps, so that more of them are
 * prefilled together and fewer steps are slow: SGLang looks for requests once in so many steps
 *  (--scheduler-recv-interval); TensorRT-LLM with attention in data parallelism holds them until
 *  every rank has one, or that long (attention_dp_config.timeout_iters). */
#ifndef CALC_MODEL_HOLD_H
#define CALC_MODEL_HOLD_H

#include "calc.h"
#include "model/serve/engine.h"

/** How long, in steps. */
typedef struct calc_hold {
    double least, most; /**< prompts are held uniformly between them */
    double looks;       /**< steps from one look for prompts to the next, >= 1 */
} calc_hold;

/** The number of replicas that hold prompts for one another, if the engine gathers prompts and
 *  experts are spread over all of them; else 1. */
double calc_hold_replicas(const calc_exec *exec, const calc_engine_traits *engine);

/** The meaning of `hold_steps` for a layout.
 *  @param rate  prompts that come to a replica in a step, > 0 */
calc_hold calc_hold_of(const calc_exec *exec, const calc_engine_traits *engine, double rate);

#endif
