/** @file model.h  The errors of candidates as effects that they share (gauss/effects.h): of the
 *  logarithm of a step's time, and of the logarithm of the memory it needs. */
#ifndef CALC_TUNE_MODEL_H
#define CALC_TUNE_MODEL_H

#include "calc.h"
#include "gauss/effects.h"

/** Terms of the time of a step whose errors are the same in all layouts of a machine: X(NAME,
 *  words). A term's weight is the elasticity of the step: the step gets longer by this many percent
 *  if the term does by one percent. That of unequal stages is the logarithm of how much longer the
 *  step is than with stages of equal time (CALC_COMPAT_EVEN_STAGES), negative where it is shorter;
 *  0 if such stages cannot run the layout. */
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
    X(HEAD, "embedding and head")                                                                  \
    X(UNEVEN, "unequal stages")

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

/** Coordinates that measure how near two layouts are: X(NAME, words). Binary logarithms. The first
 * CALC_TUNE_CELL_COORDINATES are the shape of kernels, the next two the schedule. */
#define CALC_TUNE_COORDINATE_LIST(X)                                                               \
    X(TOKENS, "tokens of a micro-batch on a rank")                                                 \
    X(TENSOR, "tensor parallelism")                                                                \
    X(CONTEXT, "context parallelism")                                                              \
    X(PIPELINE, "stages")                                                                          \
    X(CHUNKS, "chunks of a stage")

typedef enum calc_tune_coordinate {
#define CALC_X(name, words) CALC_TUNE_COORDINATE_##name,
    CALC_TUNE_COORDINATE_LIST(CALC_X)
#undef CALC_X
        CALC_TUNE_COORDINATES,
    CALC_TUNE_CELL_COORDINATES = CALC_TUNE_COORDINATE_PIPELINE
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

/** The share of a step that processors compute, or wait for their hosts. */
double calc_tune_computed(const calc_tune_candidate *candidate);

/** An error that neighbouring layouts share, less and less the further apart they are in some
 *  coordinates: Matern 1/2, sd^2 exp(-distance), distance in the lengths below. */
typedef struct calc_tune_field {
    double sd;
    double length[CALC_TUNE_COORDINATES]; /**< in units of the coordinate; 0: the coordinate does
                                               not matter */
} calc_tune_field;

/** Covariance of the errors of a field at two places, of CALC_TUNE_COORDINATES numbers each. */
double calc_tune_field_covariance(const calc_tune_field *field, const double *a, const double *b);

/** Find the cells of candidates in a field: those of a cell agree in all coordinates that matter.
 *  @param first  filled, with room for `count`: the first candidate of each cell, in the order of
 *                coordinates
 *  @param cell   filled, by candidate
 *  @return how many cells there are */
size_t calc_tune_cells_of(const calc_tune_field *field, const calc_tune_candidate *candidate,
                          size_t count, size_t *first, size_t *cell);

/** The sizes that errors have on one cluster, which may not behave as the published runs do. */
typedef struct calc_tune_sizes {
    double weight; /**< their probability before anything is measured, times a constant */
    double terms;  /**< factor on the errors of terms */
    double own;    /**< factor on the error of one layout alone */
    double value;  /**< standard deviation of the error that all layouts with one value of a
                        coordinate share beside all others: of each value of tokens, tensor and
                        context parallelism, stages and chunks */
} calc_tune_sizes;

/** The errors of a step's time add up, each times its weight, and so do those of memory. */
typedef struct calc_tune_prior {
    double common;                /**< of all layouts alike */
    double term[CALC_TUNE_TERMS]; /**< of each term */
    calc_tune_field kernels;      /**< of compute time, by the shape of kernels */
    calc_tune_field schedule;     /**< of a step, by its schedule */
    double own;                   /**< of one layout alone */
    double memory_common;         /**< the same of memory */
    double memory_space[CALC_TUNE_SPACES];
    double memory_own;
    const calc_tune_sizes *size; /**< that errors of times may have */
    size_t sizes;                /**< 0: those above, and no errors of values */
} calc_tune_prior;

/** The prior learnt from the published runs. */
calc_tune_prior calc_tune_prior_default(void);

/** The same, but where probes teach memory, with almost no assumption about its parts. */
calc_tune_prior calc_tune_prior_for(const calc_tune_prior *prior, bool probes);

/** Errors learnt from measured kernels, in place of the prior's errors of shapes: jointly normal
 *  errors of the logarithm of compute time, one per cell, which is a combination of the first
 *  CALC_TUNE_CELL_COORDINATES coordinates, the shape of kernels. */
typedef struct calc_tune_kernels {
    size_t cells;
    double (*coordinate)[CALC_TUNE_COORDINATES]; /**< of one candidate of each */
    double *mean;                                /**< by cell */
    double *covariance;                          /**< cells x cells */
} calc_tune_kernels;

/** Fields of a time: shapes of kernels, schedules, and from VALUES on the values of single
 *  coordinates. */
enum {
    CALC_TUNE_FIELD_KERNELS,
    CALC_TUNE_FIELD_SCHEDULE,
    CALC_TUNE_FIELD_VALUES,
    CALC_TUNE_FIELDS = CALC_TUNE_FIELD_VALUES + CALC_TUNE_COORDINATE_CHUNKS + 1
};

/** The errors of a list of candidates. Owns its memory. */
typedef struct calc_tune_model {
    calc_effects time, memory;
    calc_effects_item *time_item, *memory_item; /**< by candidate */
} calc_tune_model;

/** Make it.
 *  @param kernels  has the cells of all candidates; NULL: the prior's field */
void calc_tune_model_make(calc_tune_model *out, const calc_tune_prior *prior,
                          const calc_tune_kernels *kernels, const calc_tune_candidate *candidate,
                          size_t count);

/** Give the errors of a model's times other sizes. @param time  with those of the prior */
void calc_tune_model_resize(calc_effects *time, const calc_tune_sizes *sizes);

/** Prior standard deviation of the error in the logarithm of the ratio of two times.
 *  @param alike  layouts of one model on one machine: the errors that they share cancel */
double calc_tune_model_difference(const calc_tune_prior *prior, const calc_tune_candidate *a,
                                  const calc_tune_candidate *b, bool alike);

/** The probability that `a` is faster than `b`, of which it is ahead by a logarithm of predicted
 *  times. Some publishers' runs are in the predicted order far more often than others', so the size
 *  of errors is itself uncertain, as if learnt from four of them: the difference has a Student-t
 *  distribution with four degrees of freedom, as the errors of calc tune (decision.c) have. */
double calc_tune_model_sure(const calc_tune_prior *prior, const calc_tune_candidate *a,
                            const calc_tune_candidate *b, bool alike, double ahead);

/** Free what it owns; fine on {0}. */
void calc_tune_model_free(calc_tune_model *model);

#endif
