/** @file sim_request.h  Requests of a simulation, and the places where they wait: lists,
 *  micro-batches that decode, servers. Nothing here depends on the time of a step. */
#ifndef CALC_MODEL_SIM_REQUEST_H
#define CALC_MODEL_SIM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
