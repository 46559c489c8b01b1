/** @file rollout.h  A rollout: engines that do not know of one another each generate their part of
 *  the responses. Between two completions the number of running sequences does not change, so that
 *  the time advances from one to the next, with iterations of serving's decoding step. The slowest
 *  engine has as many tokens as the others, and the longest response of all. Of requests that wait
 *  the next one is always 0.618 of their number further on in the order of their lengths, so that
 *  short and long ones come mixed. */
#ifndef CALC_RL_ROLLOUT_H
#define CALC_RL_ROLLOUT_H

#include <stddef.h>

#include "spec/job.h"

/* Lengths of responses: a log-normal distribution cut at a cap, whose mean is
 * what the job says. Everything is a quantile of it, so that nothing is drawn. */

/** The distribution: of all responses a share reaches the cap, the logarithms of the others are
 *  normal, and cut at the cap. */
typedef struct calc_rl_lengths {
    double mean; /**< tokens, of all */
    double log_mean, log_deviation;
    double cap;    /**< INFINITY: none */
    double at_cap; /**< share that is put there beside what is cut */
} calc_rl_lengths;

/** The distribution with the mean that a checked job says. */
calc_rl_lengths calc_rl_lengths_of(const calc_job_response *response);

/** Tokens that a share of the responses does not exceed. @param share  in (0, 1) */
double calc_rl_lengths_quantile(const calc_rl_lengths *lengths, double share);

/** Expected length of the longest of `count` responses: the quantile exp(-0.5772 / count), where
 *  Gumbel's distribution has its mean. */
double calc_rl_lengths_longest(const calc_rl_lengths *lengths, double count);

/** Mean of (prompt + length)^2 over mean of prompt + length: the length of equal sequences whose
 *  attention takes as long for each token. */
double calc_rl_lengths_attended(const calc_rl_lengths *lengths, double prompt);

/** Fill `out` with the quantiles (i + 1/2) / count in ascending order; those below the cap are
 * scaled to the mean. */
void calc_rl_lengths_sample(const calc_rl_lengths *lengths, double *out, size_t count);

/** What is generated. */
typedef struct calc_rl_ask {
    calc_rl_lengths lengths;
    double prompt;     /**< tokens */
    double sequences;  /**< on all engines */
    double copies;     /**< of the execution, which know nothing of one another */
    double samples;    /**< of a prompt, which is read and cached once for them */
    double stop_share; /**< of them finished when the rollout stops; 1: all */
    double ahead;      /**< steps whose sequences may be under way at once, where engines are kept
                            full; 1: those of one */
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

/** Evaluate a rollout. Without room only .fits and bytes are filled.
 *  @param exec  of the engines, checked; its phase, batch and lengths are not read */
void calc_rl_rollout_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                        const calc_rl_ask *ask, calc_rl_rollout *out);

/* Passes over the sequences of a step: the training model of calc_run() on
 * micro-batches of packed sequences. All sequences are as long as the one whose attention takes
 * the mean time per token, and as many as have the tokens of the step. */

/** The sequences of a step. */
typedef struct calc_rl_tokens {
    double prompt;           /**< tokens of a prompt */
    calc_rl_lengths lengths; /**< of the responses */
} calc_rl_tokens;

/** The execution of a pass: the layout of a role, on these sequences.
 *  @param sequences     of the pass, on all replicas
 *  @param micro_tokens  of a micro-batch of a replica; 0: as many sequences as the layout says
 *  @param training      with gradients and an optimizer step */
calc_exec calc_rl_pass_exec(const calc_exec *exec, const calc_rl_tokens *tokens, double sequences,
                            int64_t micro_tokens, bool training);

/** Tensors of weights of a model that serves or trains in this layout, and their bytes there, as
 *  one copy [bytes]. */
double calc_rl_tensors(const calc_app *app, const calc_exec *exec);
double calc_rl_weight_bytes(const calc_app *app, const calc_exec *exec, calc_format format);

#endif
