/** @file memory.h  Memory of a stage in Taylor's terms, in MB of 2^20 bytes: states of the layers
 *  of each kind, their activations for one micro-batch, and a static part per stage. The terms come
 *  from calc's own model, or from a file of measured values.
 *
 *  Peak of a stage = static part + layers * held + micro-batches in flight * activations of the
 *  layers. */
#ifndef CALC_TAYLOR_MEMORY_H
#define CALC_TAYLOR_MEMORY_H

#include "balance/problem.h"
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

#endif
