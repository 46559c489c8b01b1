/** @file layers_join.h  The layers of a candidate spread over its stages, each with its best
 *  options: the slowest stage counts once per micro-batch, and the sum of all stages once. */
#ifndef CALC_PLAN_LAYERS_JOIN_H
#define CALC_PLAN_LAYERS_JOIN_H

#include "plan/layers_list.h"
#include "plan/layers_stage.h"

/** What is asked for. */
typedef struct calc_layers_want {
    int ends;                  /**< option of embedding and head */
    int group;                 /**< the only option that layers may have; -1: any */
    const double *spare_bytes; /**< [stages] memory that must stay free */
    double limit_s;            /**< only steps below it are looked for */
} calc_layers_want;

/** Owns its lists. */
typedef struct calc_layers_table {
    const calc_layers_case *c;
    const calc_layers_want *want;
    int stages, layers, dense;
    int chunks; /**< of a stage: with several, stages have equally many layers */
    calc_layers_floor floor;
    double limit_s; /**< weighted time of a stage, below which answers are looked for */
    calc_layers_stage **cell;
    calc_layers_stage *stage; /**< [stages] room for a division */
} calc_layers_table;

/** Make it. Borrows both.
 *  @return CALC_OK, or CALC_ERR_RULE if the layers cannot be spread. It must be freed in any case
 */
CALC_MUST_USE calc_status calc_layers_table_make(const calc_layers_case *c,
                                                 const calc_layers_want *want,
                                                 calc_layers_table *out);
void calc_layers_table_free(calc_layers_table *table);

/** The answer for a number of layers on a stage, counted from a first one. */
const calc_layers_stage *calc_layers_cell(calc_layers_table *table, int stage, int from, int count);

/** Layers of each kind on a stage. */
void calc_layers_table_split(const calc_layers_table *table, int stage, int from, int count,
                             int layers[2]);

/** Layers of each kind in a chunk of a stage, of `count` that begin with layer `from`: those of
 * kind 0 are the first of the model. */
void calc_layers_split(const calc_layers_case *c, int from, int count, int layers[2]);

/** The shortest step for which all stages have time (calc_layers_allowed_s), below the limit;
 * INFINITY: none.
 *  @param bound  use the lower bounds of their times instead of the times found
 *  @param count  [stages] the layers of each in that step */
double calc_layers_shortest(calc_layers_table *table, bool bound, int *count);

/** A list of layers, stage by stage. Owns `stage`; free with calc_layers_answer_free(). */
typedef struct calc_layers_answer {
    int ends; /**< option of embedding and head */
    int stages;
    calc_layers_stage *stage;
    int (*layers)[2]; /**< of each stage */
    double planned_s; /**< the step */
    double bound_s;   /**< no such list takes less */
} calc_layers_answer;

/** The best list. With several chunks per stage all stages have equally many layers.
 *  @return CALC_OK, or CALC_ERR_RULE if there is none; `bound_s` is filled in any case, and *out to
 *  be freed */
CALC_MUST_USE calc_status calc_layers_join(const calc_layers_case *c, const calc_layers_want *want,
                                           calc_layers_answer *out);

void calc_layers_answer_free(calc_layers_answer *answer);

/** Time of a step by the planner's own numbers, from the times of its stages [s]. */
double calc_layers_planned_s(const calc_layers_case *c, const calc_layers_answer *answer);

/** Rounds in which memory limits are tightened where calc_run() needs more than the planner's
 *  numbers say. */
enum { CALC_LAYERS_ROUNDS = 5 };

/** The execution with this list; .layers.count is 0 if it is too long. */
calc_exec calc_layers_exec_of(const calc_layers_case *c, const calc_layers_answer *answer);

/** The best list of a candidate.
 *  @param limit_s  only steps below it are looked for
 *  @param found    filled where there is one; .bound_s in any case
 *  @return CALC_OK, or CALC_ERR_RULE if none is quick enough or fits */
CALC_MUST_USE calc_status calc_layers_solve(const calc_planner *planner, const calc_layers_case *c,
                                            double limit_s, calc_planner_found *found);

/** Find the Pareto front of a candidate in memory and time, with the ends of a layout: every list
 *  that is quicker than all others which need no more memory. With one stage the front is complete
 *  (calc_layerwise_curve_of); with several it has the best lists for a number of memory budgets.
 *  calc_run() evaluates each of them.
 *  @param exec   the layout
 *  @param point  to be freed with free() */
void calc_layers_curve_of(const calc_planner *planner, const calc_layers_case *c,
                          const calc_exec *exec, calc_planner_layers_point **point, size_t *count);

#endif
