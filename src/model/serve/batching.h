/** @file batching.h  Continuous batching (Yu et al. 2022, Orca): a replica decodes the sequences it
 *  runs step by step, and prefills prompts as slots become free, in chunks beside the decoded
 * tokens (Agrawal et al. 2024, arXiv 2403.02310) or in passes between two steps.
 *
 *  N requests run at once. In a round each of them is decoded in S steps, waits for the step that
 *  was running when it came, unless it is alone, and is prefilled. The N - 1 others delay it.
 *
 *  Chunks: a step has room for C tokens of prompts per micro-batch; a prompt of P takes ceil(P / C)
 *  steps and 1 / (room in prompts) of the engine's time as a server, for which prompts queue. X
 *  prompts per step leave X S sequences decoded. Time of a step grows with its tokens of prompts,
 *  so that a prompt takes the time of its own tokens and of the others in its steps.
 *
 *  Whole prompts: those that came in a step are prefilled before the next, which stops decoding.
 *
 *  A run of `requests` is its rounds (calc_queue_waves); the first comes at once. */
#ifndef CALC_MODEL_BATCHING_H
#define CALC_MODEL_BATCHING_H

#include "model/serve/inference.h"

/** How long prompts are held, in steps, so that more of them are prefilled together and fewer steps
 * are slow: SGLang looks for requests once in so many steps (--scheduler-recv-interval);
 * TensorRT-LLM with attention in data parallelism holds them until every rank has one, or that long
 * (attention_dp_config.timeout_iters). */
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

/** Run phase serve. */
void calc_batching_run(calc_serving *serving);

#endif
