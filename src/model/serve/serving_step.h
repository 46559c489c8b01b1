/** @file serving_step.h  What phases of serving are put together from: prefill of a batch of
 * prompts, decoding steps, and what the reported time consists of. */
#ifndef CALC_MODEL_SERVING_STEP_H
#define CALC_MODEL_SERVING_STEP_H

#include "model/serve/inference.h"

/** Decoding steps of a request after its first token. */
double calc_serving_steps(const calc_serving *serving);

/** Whether requests wait for one another: whether both phases run. */
bool calc_serving_queues(const calc_serving *serving);

/** What the engine takes beside the passes of a step with so many sequences or prompts [s]. */
double calc_serving_engine_s(const calc_serving *serving, double sequences);

/** Prefill of `prompts` prompts, where prompts are prefilled, into serving->prefilled.
 *  @return until their first tokens, an empty pipeline before [s] */
double calc_serving_prefill(calc_serving *serving, double prompts);

/** What a replica that prefills is busy with them [s]. */
double calc_serving_busy_s(const calc_serving *serving);

/** Every part of that prefill, `times` in the reported time. */
void calc_serving_report_prefill(calc_serving *serving, double times);

/** A step of the micro-batches that follow one another around the pipeline [s]. */
double calc_serving_around_s(const calc_serving *serving, const calc_inference_pass *pass);

/** The batch of a step, of one micro-batch, that decodes so many sequences of a replica. They are
 *  in the middle of what they generate; of lengths that differ the long ones are there longer. */
calc_inference_pass_work calc_serving_decoding(const calc_serving *serving, double sequences);

/** Decoding steps of `sequences` on a replica: serving->plain and what goes with it.
 *  @return what a step takes beside its passes: the engine, and drafts by another model [s] */
double calc_serving_decode(calc_serving *serving, double sequences);

#endif
