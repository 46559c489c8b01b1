/** @file candidate.h  A layout that may be tried, described for uncertainty: calc's prediction, the
 *  parts of that prediction, and the errors that it shares with other layouts. */
#ifndef CALC_TUNE_CANDIDATE_H
#define CALC_TUNE_CANDIDATE_H

#include "calc.h"

/** Terms of the time of a step whose errors are the same in all layouts of a machine: X(NAME,
 *  words). A term's weight is the elasticity of the step: the step gets longer by this many percent
 *  if the term does by one percent. */
#define CALC_TUNE_TERM_LIST(X)                                                                     \
    X(MATRIX, "matrix multiplications")                                                            \
    X(ATTENTION, "attention")                                                                      \
    X(MEMORY, "memory traffic")                                                                    \
    X(NETWORK0, "the first network")                                                               \
    X(NETWORK1, "the second network")                                                              \
    X(HOST, "launches and the host")                                                               \
    X(BUBBLE, "the pipeline's bubble")                                                             \
    X(DATA, "exposed data-parallel communication")                                                 \
    X(OPTIMIZER, "the optimizer")                                                                  \
    X(HEAD, "embedding and head")

typedef enum calc_tune_term {
#define CALC_X(name, words) CALC_TUNE_TERM_##name,
    CALC_TUNE_TERM_LIST(CALC_X)
#undef CALC_X
        CALC_TUNE_TERMS
} calc_tune_term;

/** Parts of the memory that a processor needs: X(NAME, words). A part's weight is its share. */
#define CALC_TUNE_SPACE_LIST(X)                                                                    \
    X(STATE, "weights, gradients and optimizer")                                                   \
    X(ACTIVATIONS, "activations")                                                                  \
    X(OTHER, "framework, head and what is lost")

typedef enum calc_tune_space {
#define CALC_X(name, words) CALC_TUNE_SPACE_##name,
    CALC_TUNE_SPACE_LIST(CALC_X)
#undef CALC_X
        CALC_TUNE_SPACES
} calc_tune_space;

/** Coordinates that measure how near two layouts are: X(NAME, words). Binary logarithms, or 0, 1, 2
 *  for words. The first three are the shape of kernels, the next two the schedule. */
#define CALC_TUNE_COORDINATE_LIST(X)                                                               \
    X(TOKENS, "tokens of a micro-batch on a rank")                                                 \
    X(TENSOR, "tensor parallelism")                                                                \
    X(CONTEXT, "context parallelism")                                                              \
    X(PIPELINE, "stages")                                                                          \
    X(CHUNKS, "chunks of a stage")                                                                 \
    X(MICROBATCHES, "micro-batches")                                                               \
    X(DATA, "data parallelism")                                                                    \
    X(EXPERT, "expert parallelism")                                                                \
    X(RECOMPUTE, "recomputation")                                                                  \
    X(ZERO, "ZeRO stage")

typedef enum calc_tune_coordinate {
#define CALC_X(name, words) CALC_TUNE_COORDINATE_##name,
    CALC_TUNE_COORDINATE_LIST(CALC_X)
#undef CALC_X
        CALC_TUNE_COORDINATES
} calc_tune_coordinate;

/** A layout that may be tried. */
typedef struct calc_tune_candidate {
    double step_s;       /**< predicted time of a step */
    double memory_bytes; /**< predicted need of the fullest processor */
    double capacity_bytes;
    double fits; /**< probability that it fits, before any was tried; NaN: derived from the errors
                      of memory */
    double term[CALC_TUNE_TERMS];
    double space[CALC_TUNE_SPACES];
    double coordinate[CALC_TUNE_COORDINATES];
} calc_tune_candidate;

/** Evaluate a layout. Whether it fits does not matter here, and is not known.
 *  @return whether it can be evaluated: no rule but capacity forbids it */
bool calc_tune_candidate_of(calc_tune_candidate *out, const calc_app *app,
                            const calc_system *system, const calc_exec *exec);

#endif
