/** @file serving_step.h  The building blocks of serving phases: prefill of a batch of prompts,
 *  decoding steps, and the breakdown of the reported time. */
#ifndef CALC_MODEL_SERVING_STEP_H
#define CALC_MODEL_SERVING_STEP_H

#include "model/serve/inference.h"

/** Decoding steps of a request after its first token. */
double calc_serving_steps(const calc_serving *serving);

/** Prompts that a step has room for, in all micro-batches, or a pass between steps. */
double calc_serving_room(const calc_serving *serving);

/** Whether requests wait for one another: whether both phases run. */
bool calc_serving_queues(const calc_serving *serving);

/** Prefill of `prompts` prompts, where prompts are prefilled, into serving->prefilled.
 *  @return until their first tokens, an empty pipeline before [s] */
double calc_serving_run_prefill(calc_serving *serving, double prompts);

/** Time that a prefilling replica is busy with them [s]. */
double calc_serving_busy_s(const calc_serving *serving);

/** Every part of that prefill, `times` in the reported time. */
void calc_serving_report_prefill(calc_serving *serving, double times);

/** A step of the micro-batches that follow one another around the pipeline [s]. */
double calc_serving_around_s(const calc_serving *serving, const calc_inference_pass *pass);

/** Overhead of the engine on top of a pass of one of the pools [s].
 *  @param prompts  whether it has prompts */
double calc_serving_beside_s(const calc_serving *serving, const calc_exec *pool, double pass_s,
                             double sequences, bool prompts);

/** A step of these passes, with all beside them [s]; serving->sequences and drafting_s are known.
 */
double calc_serving_step_s(const calc_serving *serving, const calc_inference_pass *pass,
                           bool prompts);

/** The batch of a step, of one micro-batch, that decodes so many sequences of a replica. They are
 *  in the middle of their output; where lengths differ, long ones stay longer. */
calc_inference_pass_work calc_serving_decoding(const calc_serving *serving, double sequences);

/** Decoding steps of `sequences` on a replica: serving->plain and its related members.
 *  @return time of a step on top of its passes: the engine, and drafts by another model [s] */
double calc_serving_run_decode(calc_serving *serving, double sequences);

/** Memory of the replicas that decode, or prefill alone, into serving->held. */
void calc_serving_hold(calc_serving *serving);

/** Memory of the replicas that only prefill. */
calc_serving_memory calc_serving_prefill_memory(const calc_serving *serving);

/** Let no more run than there is memory for.
 *  @return whether that changed what runs, so that it has to be evaluated again */
bool calc_serving_limit(calc_serving *serving);

#endif
