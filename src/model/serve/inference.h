/** @file inference.h  Serving a model: time to the first token, time per output token, throughput,
 *  and memory of the cache. The phases:
 *
 *  prefill        batch prompts, prefill_batch at a time, in chunks; the head on the last token.
 *  decode         batch sequences at their mean context, prompt + generate / 2. A pipeline of p
 *                 stages holds p micro-batches of them, so that a step takes the longer of one pass
 *                 through all stages and p times the slowest stage. TPOT is the step over the
 *                 tokens it gives: 1 + a + a^2 + ... + a^s with s drafts accepted with probability
 *                 a (Leviathan et al. 2023, arXiv 2211.17192, eq. 1).
 *  serve          both on one replica (batching.c), whose requests wait for one another (queue.h).
 *  disaggregated  two pools of replicas.
 *
 *  A request takes S = (generate - 1) / tokens per step decoding steps: its first token comes from
 *  its prefill. Either `batch` requests are in flight, each followed by another one (a closed
 *  loop), or they arrive at random (arrival_rate). Those that a replica has no slot or no memory
 *  for wait until one ends. */
#ifndef CALC_MODEL_INFERENCE_H
#define CALC_MODEL_INFERENCE_H

#include "model/serve/inference_pass.h"
#include "model/serve/queue.h"

/** Prefill of one batch of prompts on one replica. */
typedef struct calc_prefill {
    calc_inference_pass chunk;     /**< of all chunks but the last, at their mean context */
    calc_inference_pass last;      /**< with the head */
    calc_inference_pass_work work; /**< of the chunk, or of the only pass; with the head */
    double chunks;                 /**< how many, without the last */
    double latency_s; /**< until the first tokens, an empty pipeline before: chunks follow one
                           another through the stages */
    double busy_s;    /**< of the slowest stage */
} calc_prefill;

/** Prefill `prompts` prompts of `fresh` tokens behind `cached` ones, in chunks of `chunk` tokens.
 * Less than one means that this share of the replicas that run in step has one, and the others
 * none. */
void calc_inference_prefill_of(const calc_inference_pass_model *model, double prompts, double fresh,
                               double cached, double chunk, calc_prefill *out);

/** A pass that counts `times` in the time that is reported. */
typedef struct calc_serving_part {
    const calc_inference_pass *pass; /**< in the same calc_serving */
    double times;
} calc_serving_part;

/** Memory that one pool of replicas needs on a processor, and its room for the cache. */
typedef struct calc_serving_memory {
    calc_stage_memory stage; /**< of the fullest one, without the cache */
    double position;         /**< which it is */
    double cache_bytes;      /**< on it */
    double need_bytes;       /**< with fragmentation and reserve */
    calc_kv_room room;       /**< of a replica, sequences at their full length */
    double running;          /**< sequences that are admitted: by their mean length in use, or
                                  all of it where that is reserved */
    bool fits;               /**< one sequence at its full length */
} calc_serving_memory;

/** Everything known of a layout that serves. Borrows, and points into itself: do not copy. */
typedef struct calc_serving {
    const calc_system *system;
    const calc_exec *exec;
    const calc_inference *i;
    calc_inference_pass_model model;          /**< of num_procs */
    calc_inference_pass_model pool;           /**< of the prefill pool, where there is one */
    const calc_inference_pass_model *prefill; /**< the one of the two that prefills */
    calc_exec own_exec, pool_exec;            /**< borrowed by the models, if not `exec` */
    double replicas, prefill_replicas;
    calc_engine_traits engine;
    double batch;                 /**< requests of a replica */
    bool open;                    /**< they arrive at random instead */
    double arrivals_per_s;        /**< of a replica, then */
    double slots;                 /**< requests that a replica runs at once at most */
    double running;               /**< that it runs: prefilled or decoded */
    double groups;                /**< micro-batches they are decoded in */
    double prompt, cached, fresh; /**< tokens of a prompt: all; in the cache already; not */
    double generate;
    double chunk; /**< tokens of a prompt per pass */
    double prefill_batch;
    double tokens_per_step; /**< of a sequence */
    calc_prefill prefilled;
    calc_inference_pass plain, mixed; /**< a decoding step; with a chunk beside it */
    calc_inference_pass_work work; /**< whose operators are listed: of the decoding step, or of the
                              prefill where nothing is decoded */
    double plain_s, mixed_s;       /**< such a step */
    double step_s, sequences;      /**< mean step, and sequences that it decodes on a replica */
    double mixed_share;            /**< serve: of the steps */
    double prefill_s, transfer_s;  /**< of a request */
    double prompt_token_s;         /**< serve: time that a token of a prompt adds on a replica */
    calc_queue_times
        first[2 * CALC_QUEUE_WAVES]; /**< times to the first token [s], in both phases */
    size_t waves;                    /**< how many parts of them */
    bool overloaded;                 /**< more requests arrive than are served */
    calc_serving_memory held;        /**< of the replicas that decode, or prefill alone */
    double prefill_share;            /**< serve: of the time */
    double round_s; /**< serve, closed loop: a request from one arrival to the next, and of the end
                       of a run its share */
    double requests_per_s, prefill_requests_per_s, decode_requests_per_s;
    calc_serving_part part[4]; /**< breakdown of the reported time */
    size_t parts;
    double batches;    /**< of each part, one after the other */
    double drafting_s; /**< of a step, by another model */
    double overhead_s; /**< in the reported time: engine, drafts of another model */
    double total_s;    /**< reported: all prompts of prefill, else the mean step */
} calc_serving;

/** Evaluate the phase of a layout. */
void calc_serving_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                     calc_serving *out);

/** Time of a request in the engine's server, with the requests that a replica runs beside it [s].
 */
double calc_serving_received_s(const calc_serving *serving);

/** The same in steps, for a sweep: the part shared by layouts that differ only in ranks, batch,
 *  pipeline and networks, */
void calc_serving_init(calc_serving *serving, const calc_app *app, const calc_system *system,
                       const calc_exec *exec);

/** and one of them. @param exec  must live as long as the answer */
void calc_serving_at(calc_serving *serving, const calc_exec *exec);

/** Tokens that a step gives a sequence, with a number of drafts of given acceptance. */
double calc_inference_tokens_per_step(int64_t drafts, double accept);

/** Its statistics: of memory, with the verdict on the layout,
 *  @return stats->verdict */
calc_verdict calc_serving_put_memory(const calc_serving *serving, calc_stats *stats);

/** and all others. */
void calc_serving_put(calc_serving *serving, calc_stats *stats);

/** The inputs of throughput and its price. */
typedef struct calc_serving_flow {
    double watts, usd_per_hour; /**< of a processor, in the mean of all pools; 0: not known */
    calc_inference_phase phase;
    double replicas, procs;        /**< of all pools */
    double slots, round_s;         /**< serve, closed loop: of a replica; else NAN */
    double requests_per_s;         /**< else */
    double batch;                  /**< of a replica */
    double prompt, generate, tpot; /**< of a request */
} calc_serving_flow;

/** That of a layout, whose other statistics are put. */
calc_serving_flow calc_serving_flow_of(const calc_serving *serving, const calc_stats *stats);

/** The statistics that follow: the same for other numbers of replicas, to the bit, where requests
 *  of a closed loop are served by replicas that know nothing of one another. */
void calc_serving_flow_put(const calc_serving_flow *flow, calc_stats *stats);

/** Evaluate a layout whose inference phase is not none.
 *  @return stats->verdict */
calc_verdict calc_run_inference(const calc_app *app, const calc_system *system,
                                const calc_exec *exec, calc_stats *stats);

/** The same with requests that are simulated, where they queue and fit.
 *  @param workspace  calc_serve_sim_bytes() */
calc_verdict calc_run_inference_exact(const calc_app *app, const calc_system *system,
                                      const calc_exec *exec, void *workspace, calc_stats *stats);

/** Replicas of a prefill pool that run in step, as tokens of all go to experts that are spread over
 *  them: a pass of one takes as long as the others'. */
double calc_pools_together(const calc_exec *pool);

/** Run phase disaggregated. */
void calc_pools_run(calc_serving *serving);

/** How long prompts are held, in steps, so that more of them are prefilled together and fewer steps
 * are slow: SGLang looks for requests once in so many steps (--scheduler-recv-interval);
 * TensorRT-LLM holds them that long (batch_wait_timeout_iters), or until a step is full of them;
 * with attention in data parallelism until every rank has one (attention_dp_config.timeout_iters).
 */
typedef struct calc_hold {
    double least, most; /**< prompts are held uniformly between them */
    double looks;       /**< steps from one look for prompts to the next, >= 1 */
} calc_hold;

/** The number of replicas that hold prompts for one another, if the engine gathers prompts and
 *  experts are spread over all of them; else 1. */
double calc_hold_replicas(const calc_exec *exec, const calc_engine_traits *engine);

/** The meaning of `hold_steps` for a layout.
 *  @param rate  prompts that come to a replica in a step, > 0
 *  @param room  prompts that a step has room for */
calc_hold calc_hold_of(const calc_exec *exec, const calc_engine_traits *engine, double rate,
                       double room);

/** Run phase serve. */
void calc_batching_run(calc_serving *serving);

#endif
