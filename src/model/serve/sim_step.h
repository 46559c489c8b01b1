/** @file sim_step.h  Steps of a simulation: the requests that a pass takes, its time, and what
 *  happens to them. */
#ifndef CALC_MODEL_SIM_STEP_H
#define CALC_MODEL_SIM_STEP_H

#include "base/rng.h"
#include "model/serve/serve_sim.h"
#include "model/serve/sim_request.h"
#include "model/serve/step_times.h"

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
