/** @file serving_program.h  Programs that serve a model, as far as they are not a matter of speed:
 *  the memory they take, how they spread experts, and which layouts they refuse. */
#ifndef CALC_SPEC_SERVING_PROGRAM_H
#define CALC_SPEC_SERVING_PROGRAM_H

#include "calc.h"
#include "spec/refusals.h"

typedef enum calc_serving_program {
    CALC_SERVING_PROGRAM_OTHER,
    CALC_SERVING_PROGRAM_VLLM,
    CALC_SERVING_PROGRAM_SGLANG,
    CALC_SERVING_PROGRAM_TENSORRT_LLM,
    CALC_SERVING_PROGRAM_ATOM
} calc_serving_program;

/** The program that an engine is a version of. */
calc_serving_program calc_serving_program_of(calc_serving_engine engine);

/** The word of an engine: "vllm-0.11". */
const char *calc_serving_program_engine(calc_serving_engine engine);

/** The month an engine came in: 100 year + month. */
int calc_serving_program_since(calc_serving_engine engine);

/** The engine that a text means: a name as calc's engines have it ("vLLM", "TensorRT-LLM",
 *  "vllm_rocm"), and a version, "vllm 0.11.0"; without one the engine of a month. Where no build of
 *  that name runs on the platform, the program's builds that do are meant.
 *  @param reason  NULL, or why it is CALC_SERVING_ENGINE_NONE */
calc_serving_engine calc_serving_program_named(const char *software, int month,
                                               calc_platform platform, const char **reason);

/** Add an error if an engine is not of the platform of a machine. */
void calc_serving_program_check(const calc_system *system, calc_serving_engine engine,
                                calc_errors *errors);

/** What inference.memory_share is a share of. */
typedef enum calc_memory_taken {
    CALC_MEMORY_TAKEN_ALL,    /**< of the memory, for everything */
    CALC_MEMORY_TAKEN_STATIC, /**< of the memory, for weights and cache */
    CALC_MEMORY_TAKEN_FREE    /**< of what all but the cache leaves */
} calc_memory_taken;

/** The share of the memory that a program takes, as a layout gives it or by default, and of what.
 */
typedef struct calc_serving_share {
    calc_memory_taken of;
    double share; /**< 1: all of it */
} calc_serving_share;

calc_serving_share calc_serving_program_share(const calc_inference *inference);

/** Whether experts are spread over exactly the ranks that split all layers: these have all tokens,
 *  and none is sent. */
bool calc_serving_program_replicates(const calc_strategy *strategy);

/** How programs bring tokens to experts that are spread over expert_par * expert_tensor_par ranks:
 *  not at all where all ranks have them; otherwise once to every rank, and where tensor parallelism
 *  splits attention, too, its ranks have different tokens. Sets dispatch_type and
 *  tensor_par_comm_type. */
void calc_serving_program_spread(calc_strategy *strategy);

/** Rules of all these programs, and those of one; their inputs are resolved. */
calc_refusals calc_refusals_programs, calc_refusals_vllm, calc_refusals_sglang,
    calc_refusals_tensorrt_llm;

/** The first reason for which the program of the engine that a layout names does not serve it; NULL
 *  if there is none, or no program is named whose rules are known. */
const char *calc_serving_program_refuses(const calc_app *app, const calc_exec *exec);

#endif
