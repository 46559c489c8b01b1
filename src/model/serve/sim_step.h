/** @file sim_step.h  Steps of a simulation: the requests that a pass takes, its time, and what
 *  happens to them. */
#ifndef CALC_MODEL_SIM_STEP_H
#define CALC_MODEL_SIM_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/serve/inference.h"
#include "model/serve/inference_pass.h"

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

/** One request, in one of the lists. */
typedef struct calc_sim_request {
    double arrives_s, joins_s; /**< at the first queue; at the one it is in */
    double first_s;            /**< its first token, or NAN */
    double waits_s;            /**< before passes */
    double prompt, cached;     /**< tokens */
    double generate;
    double left;  /**< tokens to prefill */
    double place; /**< of its stream's tokens, where it ends */
    double held;  /**< tokens in the cache, before it is decoded */
    int64_t index;
    struct calc_sim_request *next;
} calc_sim_request;

/** Requests in order. */
typedef struct calc_sim_list {
    calc_sim_request *first, *last;
} calc_sim_list;

/** A micro-batch that goes around the stages of a replica; the only one without a pipeline. Or a
 *  replica that only prefills. */
typedef struct calc_sim_stream {
    double ready_s; /**< its next pass may begin; infinite: nothing to do */
    double began_s; /**< the last one did */
    double held;    /**< steps since it looked for requests, or that one waits */
    bool takes;     /**< requests may join the next pass */
    calc_sim_list prefilled, decoded;
    double count;    /**< of those decoded */
    double tokens;   /**< given so far to one that was there all along */
    double contexts; /**< of those decoded, sum */
    double next;     /**< place of the first that ends */
} calc_sim_stream;

/** A server where requests wait: a replica with its streams, or all replicas that only prefill. */
typedef struct calc_sim_server {
    calc_sim_list waiting; /**< by the time they join */
    double queued, running;
    bool released; /**< requests that wait are held no longer */
    double free_s; /**< its first stage may begin a pass */
    calc_sim_stream *stream;
    size_t streams;
} calc_sim_server;

/** Put a request last, or first. */
void calc_sim_append(calc_sim_list *list, calc_sim_request *request);
void calc_sim_put_before(calc_sim_list *list, calc_sim_request *request);

/** Take the first; there is one. */
calc_sim_request *calc_sim_take(calc_sim_list *list);

/** Let those streams begin that sleep, if anything waits. */
void calc_sim_wake(calc_sim_server *server, double at_s);

/** Let a request wait, by its joins_s, and wake a stream that sleeps. */
void calc_sim_join(calc_sim_server *server, calc_sim_request *request);

/** Take the first that waits; its wait is over. */
calc_sim_request *calc_sim_admit(calc_sim_server *server, double at_s);

/** Decode a request whose tokens are all in the cache. */
void calc_sim_start_decoding(calc_sim_stream *stream, calc_sim_request *request);

/** Tokens in the cache of one that is decoded. */
double calc_sim_context(const calc_sim_stream *stream, const calc_sim_request *request);

/** Take the youngest of several that are decoded out of the stream; it has to be prefilled again.
 */
calc_sim_request *calc_sim_drop(calc_sim_stream *stream);

/** Add a number of tokens to each decoded request. @return those that now have all of theirs */
calc_sim_list calc_sim_give(calc_sim_stream *stream, double tokens);

/** A pass that was asked for. */
typedef struct calc_step_time {
    uint64_t word[CALC_PASS_MEMO_WORDS]; /**< the bits of its batch */
    bool known;
    double latency_s; /**< through all stages */
    double slow_s;    /**< on the slowest stage */
} calc_step_time;

enum { CALC_STEP_TIMES = 1 << 14 };

/** All of one model; the array is the caller's, zeros at first. Borrows. */
typedef struct calc_step_times {
    const calc_inference_pass_model *model;
    calc_step_time *time; /**< CALC_STEP_TIMES */
} calc_step_times;

/** A number as batches have it. */
double calc_step_times_round(double x);

/** The times of a batch, rounded. Valid until the next call. */
const calc_step_time *calc_step_times_of(calc_step_times *times,
                                         const calc_inference_pass_work *work);

/** A simulation. */
typedef struct calc_sim {
    const calc_serving *r;
    calc_step_times decode_times, prefill_times;
    calc_sim_server *replica; /**< that decode */
    size_t replicas;
    calc_sim_server pool; /**< that prefill, where they are apart: a stream for each */
    double slots, streams_slots;
    double room;             /**< tokens of a replica; infinite: no limit that could be met */
    double issued, arrivals; /**< so far; of all */
    double warm, measured, done;
    double next_s;                 /**< the next arrival at random */
    double first_s, last_s;        /**< arrivals of the first and the last measured one */
    double end_s;                  /**< so far */
    double time_s, prefill_time_s; /**< of steps, weighted with the sequences in them */
    calc_rng rng, gaps;            /**< of lengths, and between arrivals */
    double apart_s;                /**< the latter in the mean */
    calc_sim_request *request;
    double *ttft;
    calc_serve_sim_result *out;
} calc_sim;

/** Make a request of the lengths that are drawn next. */
void calc_sim_make(calc_sim *sim, calc_sim_request *request, double at_s);

/** The same, and let it wait at its first server. */
void calc_sim_arrive(calc_sim *sim, calc_sim_request *request, double at_s);

/** Let a stream of a server do its next work at its time, or sleep until there is some. */
void calc_sim_run_stream(calc_sim *sim, calc_sim_server *server, calc_sim_stream *stream,
                         double at_s);

#endif
