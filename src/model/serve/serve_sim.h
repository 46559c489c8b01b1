/** @file serve_sim.h  Requests that are served, one by one and step by step: the reference for the
 *  closed forms of batching.h and pools.h. Lengths are drawn, arrivals too; an engine fills its
 *  steps with the oldest prompts, up to its slots, its chunk and its pages. If sequences outgrow
 *  the memory the youngest is preempted: its cache is dropped and computed again (Kwon et al. 2023,
 *  arXiv 2309.06180), on a pool that only decodes without time. One replica stands for all; with
 * two pools as many of each as their ratio needs. Requests are routed to the replica that has
 * fewest. Numbers are random but the same in every run.
 *
 *  A run of `requests` is simulated from its first to its last one. A loop without end starts with
 *  all slots taken, at random places of their requests, or with arrivals that find it empty;
 *  CALC_SERVE_SIM_WARM requests, or one for each slot, go by before any is measured. */
#ifndef CALC_MODEL_SERVE_SIM_H
#define CALC_MODEL_SERVE_SIM_H

#include "model/serve/inference.h"

enum {
    CALC_SERVE_SIM_WARM = 1000,
    CALC_SERVE_SIM_MEASURED = 4000, /**< of those that come for ever, but for 4 of each slot */
};

/** The measurements; times of requests are means over them [s]. */
typedef struct calc_serve_sim_result {
    double requests; /**< that were measured */
    double ttft_s, ttft_p50_s, ttft_p99_s;
    double queue_s;   /**< until the first pass of their prompt, and for a slot to be decoded in */
    double tpot_s;    /**< per token after the first */
    double request_s; /**< from the arrival to the last token */
    double sequences; /**< decoded on a replica, in the mean over time */
    double prefill_share;  /**< of the time of steps, weighted by the sequences they decode */
    double requests_per_s; /**< of all replicas */
    double preempted;      /**< how often a sequence lost its cache */
} calc_serve_sim_result;

/** How many requests are simulated, at most. */
double calc_serve_sim_requests(const calc_exec *exec);

/** How many steps they take, at most: of a replica whose requests all come in turn. */
double calc_serve_sim_steps(const calc_exec *exec);

/** Memory that a simulation works in [bytes]. */
size_t calc_serve_sim_bytes(const calc_exec *exec);

/** Simulate a layout whose phase is serve or disaggregated, after calc_serving_of().
 *  @param workspace  calc_serve_sim_bytes(), aligned as malloc() does */
void calc_serve_sim_run(const calc_serving *serving, void *workspace, calc_serve_sim_result *out);

#endif
