/** @file memory.h  Memory of a stage in Taylor's terms, in MB of 2^20 bytes: states of the layers
 *  of each kind, their activations for one micro-batch, and a static part per stage. The terms come
 *  from calc's own model, or from a file of measured values.
 *
 *  Peak of a stage = static part + layers * held + micro-batches in flight * activations of the
 *  layers. */
#ifndef CALC_TAYLOR_MEMORY_H
#define CALC_TAYLOR_MEMORY_H

#include "balance/evaluate.h"
#include "balance/solve.h"
#include "io/csv_table.h"
#include "io/output.h"
#include "taylor/config.h"

/** Kinds of stages, by their static part. */
typedef enum calc_taylor_end {
    CALC_TAYLOR_FIRST,
    CALC_TAYLOR_MIDDLE,
    CALC_TAYLOR_LAST,
    CALC_TAYLOR_ENDS
} calc_taylor_end;

/** Kinds are 0: dense layers of a model with experts, 1: all others. */
typedef struct calc_taylor_memory {
    double layer_mb[CALC_BALANCE_KINDS];
    double act_mb[CALC_BALANCE_KINDS][CALC_BALANCE_RECOMPUTES];
    double static_mb[CALC_TAYLOR_ENDS];
    double working_mb; /**< added once any layer recomputes in full; 0 if terms are measured */
} calc_taylor_memory;

/** X(key, other spelling, member): the lines of a file, key=value. */
#define CALC_TAYLOR_MEMORY_LIST(X)                                                                 \
    X("act_mem12", "act_mem0", act_mb[0][CALC_BALANCE_NONE])                                       \
    X("act_mem", NULL, act_mb[1][CALC_BALANCE_NONE])                                               \
    X("select_mem12", "select_mem0", act_mb[0][CALC_BALANCE_SELECTIVE])                            \
    X("select_mem", NULL, act_mb[1][CALC_BALANCE_SELECTIVE])                                       \
    X("re_comp_mem12", "re_comp_mem0", act_mb[0][CALC_BALANCE_FULL])                               \
    X("re_comp_mem", NULL, act_mb[1][CALC_BALANCE_FULL])                                           \
    X("layer_mem012", NULL, layer_mb[0])                                                           \
    X("layer_mem", NULL, layer_mb[1])                                                              \
    X("static_mem0", NULL, static_mb[CALC_TAYLOR_FIRST])                                           \
    X("static_mem", NULL, static_mb[CALC_TAYLOR_MIDDLE])                                           \
    X("lm_head_mem", NULL, static_mb[CALC_TAYLOR_LAST])

enum { CALC_TAYLOR_MEMORY_KEYS = 11 };

/** Fills the terms of a layout by calc's model.
 *  @param exec  calc_taylor_config_exec(), which must have passed calc_check(); its recomputation
 *  is ignored */
void calc_taylor_memory_of(const calc_taylor_config *config, const calc_system *system,
                           const calc_exec *exec, calc_taylor_memory *out);

/** Replaces the terms that a file's text contains; other terms stay.
 *  @param said  number of terms in the text
 *  @return CALC_OK, or CALC_ERR_SYNTAX, _FIELD or _RANGE with line and column */
CALC_MUST_USE calc_status calc_taylor_memory_parse(calc_taylor_memory *out, int *said,
                                                   const char *text, size_t length,
                                                   const char *name, calc_errors *errors);

/** The kind of a stage. @param stages  of the pipeline; a single one is the first */
calc_taylor_end calc_taylor_end_of(int64_t stage, int64_t stages);

/** Peak of a stage [MB]. @param layers, again  by kind; @param in_flight  number of
 *  micro-batches */
double calc_taylor_stage_mb(const calc_taylor_memory *memory, calc_taylor_end end,
                            const int64_t layers[CALC_BALANCE_KINDS], calc_balance_recompute again,
                            int64_t in_flight);

/** Fills the offsets of Taylor's initial division of the layers over `stages` stages. The remaining
 *  layers that do not divide go one each to stage 0, then to stages p-2, p-3, ... */
void calc_taylor_initial_offset(int64_t stages, int64_t layers, int *offset);

/** Peak [MB] of a stage of the initial division, with all layers alike.
 *  @param stage  -1: the fullest one */
double calc_taylor_initial_mb(const calc_taylor_config *config, const calc_taylor_memory *memory,
                              const calc_exec *exec, calc_balance_recompute again, int64_t stage);

/* Taylor's problem for one layout: the number of layers of each chunk, and how
 * many of them recompute. Times are in forward passes of one layer with experts (of any layer in a
 * model without experts), memory in MB. */

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

/* Measured peaks of memory for some layouts, extrapolated to others by peak(ep) =
 * base + expert_total / ep, because expert parallelism divides only the experts. */

/** A candidate. */
typedef struct calc_taylor_candidate {
    calc_taylor_layout layout;
    int64_t expert;
    double peak_mb;
} calc_taylor_candidate;

/** A row of a file of peaks, or of one of profiles; NaN: blank, or no such column. */
typedef struct calc_taylor_row {
    int line;
    int data, tensor, pipeline, expert;
    double peak_mb;
    double dense, backward, again, head, layer_ms;
} calc_taylor_row;

/** Whether a row is of these sizes. */
bool calc_taylor_row_is(const calc_taylor_row *row, const calc_taylor_candidate *candidate);

/** Files with columns dp, tp, pp, ep: and peak_mem (or evaluate_mem); and dmratio, bfratio,
 *  re_grow_ration, hratio and moe_bw. */
extern const calc_csv_table calc_taylor_probes, calc_taylor_profiles;

/** The ratios of a candidate from its last row, with defaults for blanks.
 *  @return whether there is a row */
bool calc_taylor_profiles_find(const calc_csv_rows *rows, const calc_taylor_candidate *candidate,
                               calc_taylor_ratios *out);

/** The fit to two probes. */
typedef struct calc_taylor_fit {
    int probes; /**< number of probes; with fewer than 2 nothing is known */
    double base_mb, expert_mb;
} calc_taylor_fit;

/** Fits two peaks. @param ep1, ep2  must differ */
calc_taylor_fit calc_taylor_fit_of(int64_t ep1, double peak1_mb, int64_t ep2, double peak2_mb);

/** Fits the first two probes of a layout whose ep differ. */
calc_taylor_fit calc_taylor_probes_fit(const calc_csv_rows *rows, const calc_taylor_layout *layout);

/** Peak [MB] by the fit. */
double calc_taylor_fit_mb(const calc_taylor_fit *fit, int64_t expert);

/** Whether an expert parallelism is tried: a power of 2 up to `most` that divides dp * tp, and
 *  divides the experts if there are any (0: their number is not known). */
bool calc_taylor_tries(const calc_taylor_layout *layout, int64_t experts, int64_t most,
                       int64_t expert);

/* Replaces Taylor's dry runs by calc's model: the peak memory of a layout as a
 * function of expert parallelism. */

/** Peak of the fullest stage [MB], as in calc_taylor_estimate(); NaN if the layout breaks a
 *  rule. */
double calc_taylor_estimate_mb(const calc_taylor_config *config, const calc_system *system,
                               const calc_taylor_layout *layout, int64_t expert, int64_t batch,
                               char *why, size_t size);

/** Fits the peak of the fullest stage, with one chunk, micro-batches of one sequence, and layers
 *  divided by calc_taylor_initial_offset(). The probes are at ep 8 and 16 as in Taylor, or at the
 *  two largest legal ep. If only one ep is legal, the whole peak is base. If another stage is the
 *  fullest at some other ep, its peak there is above the fit.
 *  @param why  filled if the layout breaks a rule of calc; the fit then has no probes */
calc_taylor_fit calc_taylor_estimate(const calc_taylor_config *config, const calc_system *system,
                                     const calc_taylor_layout *layout, int64_t batch, char *why,
                                     size_t size);

#endif
