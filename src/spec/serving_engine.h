/** @file serving_engine.h  Serving engines as far as they are not a matter of speed: which of them
 * a text means, the memory they take, how they spread experts, and which layouts they refuse. What
 *  an engine is stands in its document, a row of calc/engine_traits.fields.h or
 *  calc/serving_engine.fields.h each; no engine is named in the source. */
#ifndef CALC_SPEC_SERVING_ENGINE_H
#define CALC_SPEC_SERVING_ENGINE_H

#include "calc.h"
#include "spec/schedule.h"

enum { CALC_MAX_REFUSED = 64 /**< most reasons that are kept */ };

/** Reasons to refuse a layout: texts with the names of our fields. Start with {0}. */
typedef struct calc_refused {
    const char *text[CALC_MAX_REFUSED];
    size_t count;
} calc_refused;

/** A list of rules: adds the reason of each that refuses the layout.
 *  @param a  the model, resolved
 *  @param e  the layout, likewise
 *  @param s  its strategy
 *  @param refused  with reasons of earlier lists */
typedef void calc_refusals(const calc_app *a, const calc_exec *e, const calc_strategy *s,
                           calc_refused *refused);

/** Begins the definition of a list, whose body has a CALC_REFUSE() for each rule. */
#define CALC_REFUSALS(name)                                                                        \
    void name(const calc_app *a __attribute__((unused)),                                           \
              const calc_exec *e __attribute__((unused)),                                          \
              const calc_strategy *s __attribute__((unused)), calc_refused *refused)

/** A rule: the layouts that it refuses, and why. */
#define CALC_REFUSE(condition, reason)                                                             \
    do {                                                                                           \
        if ((condition) && refused->count < CALC_MAX_REFUSED) {                                    \
            refused->text[refused->count++] = (reason);                                            \
        }                                                                                          \
    } while (0)

/** Whether n divides m; 0 counts as divisible by everything. */
static inline bool calc_divides(int64_t n, int64_t m)
{
    return m % n == 0;
}

/** The folder of their documents among the executions: "engines/vllm-0.11". */
#define CALC_ENGINE_FOLDER "engines/"

/** Engines that are known, sorted by month and name. Owns them. */
typedef struct calc_serving_engines {
    calc_serving_engine *item;
    size_t count;
} calc_serving_engines;

/** Whether two names mean one engine: blanks, dashes and underscores are alike, and letters of
 *  either case. */
bool calc_serving_engine_same_name(const char *a, const char *b);

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

/** Whether replicas share experts, which makes them one server; others do not know of each other. */
bool calc_serving_engine_shares(const calc_strategy *strategy);

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

/** The execution of the prefill pool of a disaggregated execution: its own sizes, and as many
 *  replicas as its processors allow (at least one). Where layers are split without sequence
 *  parallelism, all ranks have all tokens, and experts are spread over them; attention that is
 *  whole on every processor sends tokens to their experts. */
void calc_prefill_pool_of(const calc_exec *exec, calc_exec *pool);

/** The system of the pool: that of the run, unless the pool names a different one.
 *  @param system  of the run, which is returned where both are the same */
const calc_system *calc_prefill_pool_system(const calc_system *system, const calc_exec *exec);

#endif
