/** @file pipeline.h  A strategy of AIAK: its sizes, the chips of the stages and their
 *  recomputation. Builds the remaining balance problem: the layers of each stage, and how many of
 *  them recompute. */
#ifndef CALC_AIAK_PIPELINE_H
#define CALC_AIAK_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "balance/from_layout.h"
#include "balance/solve.h"

/* Reads a cluster of several kinds of chips in the notation of AIAK's planner:
 * "a800:120,h800:256". */

enum { CALC_AIAK_CHIPS = 5 };

/** AIAK's names of models, NULL at the end. calc's files in models/ have the same with a B. */
extern const char *const calc_aiak_models[];

enum { CALC_AIAK_UNLIMITED = -1 };

enum { CALC_AIAK_NODE = 8 /**< processors of a node */ };

/** The planning task; borrows everything. */
typedef struct calc_aiak_task {
    const calc_app *app;
    int chips;                                  /**< kinds, in the order given */
    const char *chip[CALC_AIAK_CHIPS];          /**< AIAK's name of each kind */
    const calc_system *system[CALC_AIAK_CHIPS]; /**< its system */
    int64_t most[CALC_AIAK_CHIPS];              /**< its processors; CALC_AIAK_UNLIMITED: any */
    int64_t gpus;                               /**< processors of the job */
    int64_t batch, sequence;                    /**< sequences per step; tokens of each */
} calc_aiak_task;

/** Reads TYPE[:MAX][,TYPE[:MAX]...], the chips of a task; a MAX of -1 means no limit.
 *  @param complaint  filled with one line if the text is wrong
 *  @return false if it is wrong */
bool calc_aiak_chips_parse(const char *text, calc_aiak_task *out, char *complaint, size_t size);

/** Whether the cluster has as many processors as the job, of all kinds together.
 *  @param complaint  filled if it does not */
bool calc_aiak_chips_suffice(const calc_aiak_task *task, char *complaint, size_t size);

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

/* Lists the sizes of a task's layouts, and gives lower bounds for all divisions of
 * their layers. */

enum { CALC_AIAK_MOST_MICROBATCH = 64 };

/** Sizes with the bounds known before balancing. */
typedef struct calc_aiak_bound {
    calc_aiak_sizes sizes;
    /** Time [s] of one layer and micro-batch on each chip without recomputation, and of its forward
     *  pass. */
    double layer_s[CALC_AIAK_CHIPS], forward_s[CALC_AIAK_CHIPS];
    double growth;  /**< lower bound on the growth of the pipeline */
    double after_s; /**< lower bound on the time after the pipeline */
    double least_s; /**< lower bound on the step with the best choice of chips */
} calc_aiak_bound;

/** Lists the sizes: powers of two for tensor parallelism and micro-batches; stages and replicas
 *  that divide the rest.
 *  @param out  [capacity], or NULL to count
 *  @return how many there are */
size_t calc_aiak_sizes_list(const calc_aiak_task *task, calc_aiak_sizes *out, size_t capacity);

/** Most stages of a chip that its limit allows, in whole nodes if the job has a full node;
 *  at most all stages.
 *  @param step  filled: the number of stages must be a multiple of this, unless the chip has all
 *  stages */
int calc_aiak_most_stages(const calc_aiak_task *task, const calc_aiak_sizes *sizes, int chip,
                          int *step);

/** Lower bound [s] for all divisions of the layers over these chips in any order, from fractional
 *  layers alone. The slowest stage is busy with all micro-batches, or the bound is as in
 *  calc_balance_quick_s().
 *  @param stages  number of stages on each chip of the task */
double calc_aiak_least_s(const calc_aiak_task *task, const calc_aiak_bound *bound,
                         const int stages[CALC_AIAK_CHIPS]);

/** Chooses the fastest chips with as many stages on each as allowed; no other choice has a lower
 *  bound.
 *  @param stages  filled
 *  @return whether there are enough chips */
bool calc_aiak_fastest(const calc_aiak_task *task, const calc_aiak_bound *bound,
                       int stages[CALC_AIAK_CHIPS]);

/** Fills the bounds of sizes from their layouts. least_s is infinite if there are too few chips. */
void calc_aiak_bound_of(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                        const calc_aiak_layouts *layouts, calc_aiak_bound *out);

typedef struct calc_aiak_strategy {
    calc_aiak_sizes sizes;
    calc_aiak_chain chain;
    int layers[CALC_BALANCE_STAGES];
    int again[CALC_AIAK_CHIPS]; /**< layers that recompute in full on each stage of a kind of chips,
                                 *  by order in the chain; all layers of a stage that has fewer */
    bool all_again[CALC_AIAK_CHIPS]; /**< every layer on them recomputes in full */
    calc_balance_share share[CALC_BALANCE_STAGES];
    double most_bytes[CALC_AIAK_CHIPS]; /**< of the fullest stage of a kind of chips */
    calc_balance_step step;
    double tokens_per_s; /**< of the whole job */
} calc_aiak_strategy;

typedef struct calc_aiak_found {
    int count;
    int64_t sizes;      /**< number of sizes tried; 0: none is legal */
    int64_t candidates; /**< number of chains of chips, with their recomputation */
    int64_t balanced;   /**< candidates balanced; the others are too large, or cannot be among the
                         *  best */
    bool cut;           /**< there were too many, and the rest was skipped */
} calc_aiak_found;

/** Searches.
 *  @param best  [top] filled, in order of throughput; ties are broken by fewer stages, fewer
 *  tensor-parallel ranks, smaller micro-batches and less memory, in this order; found->count of
 *  them, 0 if nothing fits */
void calc_aiak_search(const calc_aiak_task *task, int top, calc_aiak_strategy *best,
                      calc_aiak_found *found);

#endif
