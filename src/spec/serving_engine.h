/** @file serving_engine.h  Serving engines as far as they are not a matter of speed: which of them
 * a text means, the memory they take, how they spread experts, and which layouts they refuse. What
 *  an engine is stands in its document, a row of calc/engine_traits.fields.h or
 *  calc/serving_engine.fields.h each; no engine is named in the source. */
#ifndef CALC_SPEC_SERVING_ENGINE_H
#define CALC_SPEC_SERVING_ENGINE_H

#include "calc.h"
#include "spec/refusals.h"

/** The folder of their documents among the executions: "engines/vllm-0.11". */
#define CALC_ENGINE_FOLDER "engines/"

/** Engines that are known, sorted by month and name. Owns them. */
typedef struct calc_serving_engines {
    calc_serving_engine *item;
    size_t count, capacity;
} calc_serving_engines;

/** Put them in order. */
void calc_serving_engines_sort(calc_serving_engines *engines);

/** The engine of a name; NULL: there is none. */
const calc_serving_engine *calc_serving_engines_find(const calc_serving_engines *engines,
                                                     const char *name);

/** The engine that a text means: a name as documents have it ("vLLM", "TensorRT-LLM",
 *  "vllm_rocm"), and a version, "vllm 0.11.0"; without one the engine of a month. Where no build of
 *  that name runs on the platform, the program's builds that do are meant.
 *  @param reason  NULL, or why it is NULL */
const calc_serving_engine *calc_serving_engines_meant(const calc_serving_engines *engines,
                                                      const char *software, int month,
                                                      calc_platform platform, const char **reason);

/** Name an engine that is still to be read; "none": none. */
void calc_serving_engine_put(calc_serving_engine *engine, const char *name);

/** Add an error if an engine was not read, or is not of the platform of a machine. */
void calc_serving_engine_check(const calc_system *system, const calc_serving_engine *engine,
                               calc_errors *errors);

/** The traits of the engine that an execution names, except those that the execution states. */
calc_engine_traits calc_serving_engine_traits(const calc_inference *inference);

/** The share of the memory that an engine takes, as a layout gives it or by default, of what
 *  calc_serving_engine.memory_taken says; 1: all of it. */
double calc_serving_engine_share(const calc_inference *inference);

/** Whether experts are spread over exactly the ranks that split all layers: these have all tokens,
 *  and none is sent. */
bool calc_serving_engine_replicates(const calc_strategy *strategy);

/** How engines bring tokens to experts that are spread over expert_par * expert_tensor_par ranks:
 *  not at all where all ranks have them; otherwise once to every rank, and where tensor parallelism
 *  splits attention, too, its ranks have different tokens. Sets dispatch_type and
 *  tensor_par_comm_type. */
void calc_serving_engine_spread(calc_strategy *strategy);

/** Rules of all these programs, and those of one; their inputs are resolved. */
calc_refusals calc_refusals_programs, calc_refusals_vllm, calc_refusals_sglang,
    calc_refusals_tensorrt_llm;

/** The first reason for which the program of the engine that a layout names does not serve it; NULL
 *  if there is none, or no program is named whose rules are known. */
const char *calc_serving_engine_refuses(const calc_app *app, const calc_exec *exec);

#endif
