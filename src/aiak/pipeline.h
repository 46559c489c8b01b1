/** @file pipeline.h  A strategy of AIAK: its sizes, the chips of the stages and their
 *  recomputation. Builds the remaining balance problem: the layers of each stage, and how many of
 *  them recompute. */
#ifndef CALC_AIAK_PIPELINE_H
#define CALC_AIAK_PIPELINE_H

#include "aiak/names.h"
#include "balance/from_layout.h"

enum { CALC_AIAK_NODE = 8 /**< processors of a node */ };

/** The planning task; borrows everything. */
typedef struct calc_aiak_task {
    const calc_app *app;
    int chips;
    const calc_system *system[CALC_AIAK_CHIPS]; /**< system of each kind of chip */
    int64_t most[CALC_AIAK_CHIPS];              /**< its processors; CALC_AIAK_UNLIMITED: any */
    int64_t gpus;                               /**< processors of the job */
    int64_t batch, sequence;                    /**< sequences per step; tokens of each */
} calc_aiak_task;

/** Sizes that all stages share. */
typedef struct calc_aiak_sizes {
    int stages, tensor_par, microbatch;
    int64_t data_par;
} calc_aiak_sizes;

/** Kinds of chips along the pipeline. Stages of one kind are adjacent. */
typedef struct calc_aiak_chain {
    int kinds;
    int chip[CALC_AIAK_CHIPS];       /**< index in the task */
    int stages[CALC_AIAK_CHIPS];     /**< number of stages on it */
    bool selective[CALC_AIAK_CHIPS]; /**< recomputes attention and nothing in full */
} calc_aiak_chain;

/** The layouts of a task's sizes on every chip: Megatron-LM's training with flash attention,
 *  sequence parallelism and a distributed optimizer, without overlap. Contains pointers to itself;
 *  must not be copied. */
typedef struct calc_aiak_layouts {
    calc_exec exec[CALC_BALANCE_RECOMPUTES];
    calc_layout of[CALC_AIAK_CHIPS][CALC_BALANCE_RECOMPUTES];
} calc_aiak_layouts;

/** Fills the execution of a task's sizes.
 *  @param recompute  recomputation of all layers; selective means attention */
void calc_aiak_exec(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                    calc_balance_recompute recompute, calc_exec *out);

void calc_aiak_layouts_of(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                          calc_aiak_layouts *out);

/** Fills the layouts of a chain's chips, in its order. */
void calc_aiak_chips_of(const calc_aiak_layouts *layouts, const calc_aiak_chain *chain,
                        calc_balance_chip out[CALC_AIAK_CHIPS]);

/** Builds the balance problem. With a single kind of chip all stages have the same layers. On a
 *  selective chip all layers recompute attention, and full recomputation saves nothing more.
 *  @return as calc_balance_of_layouts() */
const char *calc_aiak_problem(const calc_aiak_task *task, const calc_aiak_layouts *layouts,
                              const calc_aiak_chain *chain, calc_balance_problem *out);

/** Whether no division of the problem can fit, even if every stage chooses the best recomputation
 *  for its memory. For 1F1B with one chunk. */
bool calc_aiak_too_large(const calc_balance_problem *problem);

/** Lower bound [s] on the step time of every division of the problem, for 1F1B with one chunk, with
 *  fractional layers and without recomputation.
 *
 *  Stage s can do w = min(p - s, m) forward passes before its first backward pass, which waits for
 *  the way down and back. So a step takes at least sum(T) + (m - 1) T_s - (w - 1) F_s,
 *  T_s = F_s + B_s. If the last two terms are at most x on every stage, the least possible sum(T)
 * is convex in x, and so is the bound sum(T) + x. */
double calc_aiak_bound_s(const calc_balance_problem *problem);

#endif
