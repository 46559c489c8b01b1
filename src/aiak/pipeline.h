/** @file pipeline.h  A strategy of AIAK's: sizes, which chips the stages are on, what each of them
 *  recomputes; and the problem of balance that is left: the layers of the stages, and how many of
 *  them compute again. */
#ifndef CALC_AIAK_PIPELINE_H
#define CALC_AIAK_PIPELINE_H

#include "aiak/names.h"
#include "balance/from_layout.h"

enum { CALC_AIAK_NODE = 8 /**< processors of a node */ };

/** What is planned; borrows everything. */
typedef struct calc_aiak_task {
    const calc_app *app;
    int chips;
    const calc_system *system[CALC_AIAK_CHIPS]; /**< of each kind of chip */
    int64_t most[CALC_AIAK_CHIPS];              /**< processors of it, CALC_AIAK_UNLIMITED: any */
    int64_t gpus;                               /**< processors of the job */
    int64_t batch, sequence;                    /**< sequences per step; tokens of each */
} calc_aiak_task;

/** Sizes that all stages share. */
typedef struct calc_aiak_sizes {
    int stages, tensor_par, microbatch;
    int64_t data_par;
} calc_aiak_sizes;

/** Kinds of chips along the pipeline: stages of a kind follow one another. */
typedef struct calc_aiak_chain {
    int kinds;
    int chip[CALC_AIAK_CHIPS];       /**< index in the task */
    int stages[CALC_AIAK_CHIPS];     /**< of it */
    bool selective[CALC_AIAK_CHIPS]; /**< it recomputes attention, and nothing in full */
} calc_aiak_chain;

/** The layouts of a task's sizes on every chip: as Megatron-LM trains with flash attention,
 *  sequence parallelism and a distributed optimizer, and no overlap. Points into itself: not to be
 *  copied. */
typedef struct calc_aiak_layouts {
    calc_exec exec[CALC_BALANCE_RECOMPUTES];
    calc_layout of[CALC_AIAK_CHIPS][CALC_BALANCE_RECOMPUTES];
} calc_aiak_layouts;

/** @param recompute  what all layers compute again: selective is attention */
void calc_aiak_exec(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                    calc_balance_recompute recompute, calc_exec *out);

void calc_aiak_layouts_of(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                          calc_aiak_layouts *out);

/** The layouts of a chain's chips, in its order. */
void calc_aiak_chips_of(const calc_aiak_layouts *layouts, const calc_aiak_chain *chain,
                        calc_balance_chip out[CALC_AIAK_CHIPS]);

/** The problem. A single kind of chip has the same layers on every stage; a selective one has
 *  layers that always recompute attention, and gain nothing by recomputing in full.
 *  @return as calc_balance_of_layouts() */
const char *calc_aiak_problem(const calc_aiak_task *task, const calc_aiak_layouts *layouts,
                              const calc_aiak_chain *chain, calc_balance_problem *out);

/** Whether no division of the problem can fit, though every stage recomputed as suited it best. For
 *  1F1B with one chunk. */
bool calc_aiak_too_large(const calc_balance_problem *problem);

/** What no division of the problem takes less than [s], for 1F1B with one chunk; layers may be
 *  divided, and are not recomputed.
 *
 *  A stage s can do w = min(p - s, m) forwards before its first backward, which waits for the way
 *  down and back. So a step takes at least sum(T) + (m - 1) T_s - (w - 1) F_s, T_s = F_s + B_s: no
 *  stage can take more than the step leaves beside the sum, and the least of both together is
 *  convex in what it leaves. */
double calc_aiak_bound_s(const calc_balance_problem *problem);

#endif
