/** @file layer_list.h  Lists of layers (calc_exec.layers): runs of equal ones, and the execution
 *  that each strategy stands for. */
#ifndef CALC_SPEC_LAYER_LIST_H
#define CALC_SPEC_LAYER_LIST_H

#include "calc.h"

/** A strategy that leaves everything to the execution. */
extern const calc_layer_strategy calc_layer_as_exec;
#define CALC_LAYER_STRATEGY_AS_EXEC                                                                \
    {                                                                                              \
        -1, -1, -1, -1, -1, -1, 0                                                                  \
    } /* CALC_LAYER_AS_EXEC, no modules */

/** Blocks of all runs. */
int64_t calc_layer_list_blocks(const calc_layer_list *list);

/** Whether two strategies say the same. */
bool calc_layer_list_alike(const calc_layer_strategy *a, const calc_layer_strategy *b);

/** Join equal neighbours to the runs of a list. Its ends stay as they are.
 *  @return false if there are more than CALC_MAX_LAYER_RUNS of them */
bool calc_layer_list_pack(const calc_layer_run *run, int64_t count, calc_layer_list *list);

/** Ranks of a stage, tensor_par * context_par * data_par, and sequences of a micro-batch on all of
 *  them: both are the same for all layers. */
int64_t calc_layer_list_ranks(const calc_exec *exec);
int64_t calc_layer_list_sequences(const calc_exec *exec);

/** The execution that results if all layers, embedding and head have one strategy, without a list
 *  of layers. data_par is the number of ranks that are left, microbatch_size its share of the
 *  sequences. Options without effect are off: overlap with tensor_par 1, sharding and overlap of
 *  data parallelism with one replica, a second all-gather with full recomputation. Where ranks or
 *  sequences do not divide evenly, the result is not legal, which calc_check() reports. Pure. */
calc_exec calc_layer_list_exec(const calc_exec *exec, const calc_layer_strategy *strategy);

/** The strategy of the embedding, or of the head. Without blocks of multi-token prediction they
 *  have nothing to recompute, and take the recomputation of the layers beside them. */
calc_layer_strategy calc_layer_list_end(const calc_app *app, const calc_layer_list *list,
                                        bool head);

/** Whether the layers of two such executions are the same in all members of a strategy. */
bool calc_layer_list_same(const calc_exec *a, const calc_exec *b);

/* Rules of lists of layers (calc_exec.layers). */

/** Recipes that a layout may have: pairs of a system and how its layers are split, sharded and
 *  recomputed; those of the ends among them. */
enum { CALC_MAX_LAYER_RECIPES = 24 };

/** Check the list, if there is one, and every strategy in it; violations are added to `errors`. The
 *  execution itself is checked only for members that its layers do not set themselves. */
void calc_rules_layers(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors);

#endif
