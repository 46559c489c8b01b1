/** @file pipeline.h  Taylor's problem for one layout: the number of layers of each chunk, and how
 *  many of them recompute. Times are in forward passes of one layer with experts (of any layer in a
 *  model without experts), memory in MB. */
#ifndef CALC_TAYLOR_PIPELINE_H
#define CALC_TAYLOR_PIPELINE_H

#include "balance/solve.h"
#include "io/output.h"
#include "taylor/memory.h"

/** Time ratios of a profile. */
typedef struct calc_taylor_ratios {
    double dense;    /**< time of a dense layer in layers with experts: dmratio */
    double backward; /**< time of a backward pass in forward passes: bfratio */
    double again;    /**< extra time of a recomputed layer in forward passes: re_grow_ration */
    double head;     /**< head, loss and the tail of prediction, in forward passes of a layer:
                      *  hratio */
    double layer_ms; /**< forward pass of a layer with experts; NaN: not given; moe_bw */
} calc_taylor_ratios;

/** The ratios by calc's model, for layouts without a profile.
 *  @param exec  calc_taylor_config_exec(), which must have passed calc_check() */
calc_taylor_ratios calc_taylor_ratios_of(const calc_taylor_config *config,
                                         const calc_system *system, const calc_exec *exec);

/** Extra backward time of a layer that recomputes in parts, in forward passes. */
extern const double calc_taylor_selective;

/** The request. */
typedef struct calc_taylor_ask {
    int64_t stages, chunks, microbatches;
    int64_t layers[CALC_BALANCE_KINDS];  /**< dense, and all others, including prediction layers */
    double memory_mb;                    /**< memory of a processor */
    double tighter_mb[CALC_TAYLOR_ENDS]; /**< reduction of the limits of each kind of stage */
    bool less_memory;                    /**< with chunks: half of the warm-up; always so without
                                          *  chunks */
    bool may_select, may_full, may_mix;
    bool shipped; /**< a recomputed dense layer costs one forward pass, whatever the ratio */
} calc_taylor_ask;

/** Checks the request against the limits of calc_balance_problem.
 *  @return CALC_OK, or CALC_ERR_RANGE with an error: too many stages, chunks or layers, fewer
 *  layers than chunks, or no micro-batch per stage */
CALC_MUST_USE calc_status calc_taylor_ask_check(const calc_taylor_ask *ask, calc_errors *errors);

/** The request of a configuration: full recomputation only, and the configuration's memory. */
calc_taylor_ask calc_taylor_ask_of(const calc_taylor_config *config, int64_t batch);

/** Builds the balance problem. Every chunk has at least one layer. */
void calc_taylor_problem(const calc_taylor_ask *ask, const calc_taylor_ratios *ratios,
                         const calc_taylor_memory *memory, calc_balance_problem *out);

/** Peak [MB] of a stage in a division, by calc's model of the stage and not by sums over layers.
 *  @param answer  for the division, from calc_balance_evaluate() */
double calc_taylor_checked_mb(const calc_taylor_config *config, const calc_system *system,
                              const calc_exec *exec, const calc_balance_problem *problem,
                              const calc_balance_share *share, const calc_balance_answer *answer,
                              int64_t stage);

/** Parts of a division that are printed and written. */
typedef enum calc_taylor_matrix {
    CALC_TAYLOR_LAYERS,
    CALC_TAYLOR_OFFSET, /**< layers minus their mean, rounded down */
    CALC_TAYLOR_FULL,
    CALC_TAYLOR_SELECTIVE
} calc_taylor_matrix;

/** Writes a list over the stages; with chunks, a list of such lists. @return text */
char *calc_taylor_matrix_text(const calc_taylor_ask *ask, const calc_balance_share *share,
                              calc_taylor_matrix which, char *text, size_t size);

/* A division of layers as a text: a variable and its value on a line, as solvers
 * write solutions.
 *
 *     objective 57
 *     layers_1_0_0 4       (kind 0: dense, 1: other; stage; chunk)
 *     selective_1_0_0 0
 *     full_1_0_0 2 */

/** Writes it. */
void calc_taylor_solution_write(const calc_taylor_ask *ask, const calc_balance_share *share,
                                double objective, calc_output *out);

/** Reads it. The lines determine the sizes. Missing variables are 0, and other names are skipped.
 *  @param ask    filled with stages, chunks and layers
 *  @param share  [CALC_BALANCE_PLACES], in the order of chunks, then stages
 *  @return CALC_OK, or CALC_ERR_SYNTAX, _RANGE or _FIELD (no layers) with line and column */
CALC_MUST_USE calc_status calc_taylor_solution_parse(const char *text, size_t length,
                                                     const char *name, calc_taylor_ask *ask,
                                                     calc_balance_share *share, double *objective,
                                                     calc_errors *errors);

#endif
