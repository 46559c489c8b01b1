/** @file pipeline.h  Taylor's question about one layout: how many layers each chunk has, and how
 * many of them recompute. Times are in forwards of one layer with experts (of any layer, where the
 *  model has none), memory in MB. */
#ifndef CALC_TAYLOR_PIPELINE_H
#define CALC_TAYLOR_PIPELINE_H

#include "balance/solve.h"
#include "taylor/memory.h"

/** What a profile says of times. */
typedef struct calc_taylor_ratios {
    double dense;    /**< a dense layer, in layers with experts: dmratio */
    double backward; /**< a backward pass, in forward passes: bfratio */
    double again;    /**< forwards that a recomputed layer takes more: re_grow_ration */
    double head;     /**< head, loss and the tail of prediction, in forwards of a layer: hratio */
    double layer_ms; /**< forward of a layer with experts; NaN: not said; moe_bw */
} calc_taylor_ratios;

/** What calc's model says of them, where there is no profile.
 *  @param exec  calc_taylor_config_exec(), which must have passed calc_check() */
calc_taylor_ratios calc_taylor_ratios_of(const calc_taylor_config *config,
                                         const calc_system *system, const calc_exec *exec);

/** Backward time that a layer takes more which recomputes in parts, in forwards. */
extern const double calc_taylor_selective;

/** How it is asked. */
typedef struct calc_taylor_ask {
    int64_t stages, chunks, microbatches;
    int64_t layers[CALC_BALANCE_KINDS];  /**< dense, and all others; prediction is one of them */
    double memory_mb;                    /**< of a processor */
    double tighter_mb[CALC_TAYLOR_ENDS]; /**< taken off the limits of the stages */
    bool less_memory;                    /**< half of the warm-up, with chunks; without it is so */
    bool may_select, may_full, may_mix;
    bool shipped; /**< a dense layer that recomputes takes a forward more, whatever the ratio */
} calc_taylor_ask;

/** What the configuration and the limits of calc_balance_problem allow.
 *  @return CALC_OK, or CALC_ERR_RANGE with an error: too many stages, chunks or layers, fewer
 * layers than chunks, or no micro-batch per stage */
CALC_MUST_USE calc_status calc_taylor_ask_check(const calc_taylor_ask *ask, calc_errors *errors);

/** What a configuration asks: full recomputation only, memory as it says. */
calc_taylor_ask calc_taylor_ask_of(const calc_taylor_config *config, int64_t batch);

/** The problem. Every chunk has a layer. */
void calc_taylor_problem(const calc_taylor_ask *ask, const calc_taylor_ratios *ratios,
                         const calc_taylor_memory *memory, calc_balance_problem *out);

/** Peak of a stage in a division, by calc's model of it instead of sums over layers [MB].
 *  @param answer  of the division, by calc_balance_evaluate() */
double calc_taylor_checked_mb(const calc_taylor_config *config, const calc_system *system,
                              const calc_exec *exec, const calc_balance_problem *problem,
                              const calc_balance_share *share, const calc_balance_answer *answer,
                              int64_t stage);

/** What of a division is printed and written. */
typedef enum calc_taylor_matrix {
    CALC_TAYLOR_LAYERS,
    CALC_TAYLOR_OFFSET, /**< layers beside their mean, rounded down */
    CALC_TAYLOR_FULL,
    CALC_TAYLOR_SELECTIVE
} calc_taylor_matrix;

/** As a list of the stages; with chunks, a list of such lists. @return text */
char *calc_taylor_matrix_text(const calc_taylor_ask *ask, const calc_balance_share *share,
                              calc_taylor_matrix which, char *text, size_t size);

#endif
