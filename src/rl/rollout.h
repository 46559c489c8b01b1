/** @file rollout.h  A rollout: engines that do not know of one another each generate their part of
 *  the responses. Between two completions the number of running sequences does not change, so that
 *  the time advances from one to the next, with iterations of serving's decoding step. The slowest
 *  engine has as many tokens as the others, and the longest response of all. Of requests that wait
 *  the next one is always 0.618 of their number further on in the order of their lengths, so that
 *  short and long ones come mixed. */
#ifndef CALC_RL_ROLLOUT_H
#define CALC_RL_ROLLOUT_H

#include "rl/lengths.h"

/** What is generated. */
typedef struct calc_rl_ask {
    calc_rl_lengths lengths;
    double prompt;     /**< tokens */
    double sequences;  /**< on all engines */
    double copies;     /**< of the execution, which know nothing of one another */
    double samples;    /**< of a prompt, which is read and cached once for them */
    double stop_share; /**< of them finished when the rollout stops; 1: all */
} calc_rl_ask;

/** What it takes. Times of the slowest engine. */
typedef struct calc_rl_rollout {
    double time_s;
    double prefill_s;    /**< of it, prompts */
    double tail_s;       /**< of it, with less than a tenth of the most that ran */
    double floor_s;      /**< the longest response alone: no number of engines is faster */
    double step_s;       /**< a step with the most that ran, in the middle of their responses */
    double engines;      /**< independent replicas */
    double requests;     /**< of an engine */
    double running;      /**< most sequences at once */
    double iterations;   /**< decoding steps */
    double longest;      /**< tokens of the longest response */
    double cache_tokens; /**< that an engine has room for */
    double deviation_s;  /**< standard deviation of the time from step to step: of the longest */
    double full_s;       /**< time of as many tokens with engines that are kept full */
    double kept_bytes;   /**< weights of a rank */
    double cache_bytes;  /**< of a rank, the room for the cache */
    double used_bytes;   /**< of it, what running sequences take at full length */
    double other_bytes;  /**< activations, fragmentation and reserve of a rank */
    bool fits;           /**< there is room for one sequence */
} calc_rl_rollout;

/** Evaluate a rollout.
 *  @param exec  of the engines, checked; its phase, batch and lengths are not read
 *  @return CALC_OK or CALC_ERR_NOMEM; without room only .fits and bytes are filled */
CALC_MUST_USE calc_status calc_rl_rollout_of(const calc_app *app, const calc_system *system,
                                             const calc_exec *exec, const calc_rl_ask *ask,
                                             calc_rl_rollout *out, calc_errors *errors);

#endif
