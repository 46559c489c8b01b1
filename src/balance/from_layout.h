/** @file from_layout.h  A balance problem from calc's own layouts: time and memory of a layer on
 *  each kind of chip, and of the ends, messages and the framework; also the time of a whole step
 *  whose stages differ. The numbers are those of stage_step.h: for a layout's own division, step
 *  and memory equal calc_run()'s. */
#ifndef CALC_BALANCE_FROM_LAYOUT_H
#define CALC_BALANCE_FROM_LAYOUT_H

#include "balance/evaluate.h"
#include "model/stages/layout.h"

/** The layout on one kind of chip. All chips have the same model and execution, but for
 *  activation_recompute, and each its own system. */
typedef struct calc_balance_chip {
    /** With activation_recompute full, its layers give the costs both with and without
     *  recomputation. With any other value, layers are never recomputed. */
    const calc_layout *full;
    /** The same with some parts recomputed (attn_only, modules), or NULL. Its working memory is
     *  then counted on every stage, as if one layer at least were selective. */
    const calc_layout *selective;
    /** The same without recomputation, or NULL: for stages that recompute nothing, where their
     *  costs are not those of `full` minus recomputation (seq_par_ag_redo). The layers of
     *  multi-token prediction are then its own. */
    const calc_layout *none;
} calc_balance_chip;

/** Fill a problem.
 *
 *  A message between stages on different chips takes the slower one's time on both ends. Dense
 * layers among layers with experts (moe_every > 1) are not distinguished: a layer is then the mean
 * of both. Where layers wait for the host, a layer takes as long as calc says, whether it
 * recomputes or not, but its forward pass is taken from `full`. The layers of multi-token
 * prediction recompute as those of `full` do. With zero_stage 2 or 3 the one block whose gradients
 * or weights are gathered is taken from the layout's own division.
 *  @param chip           [chips], at most CALC_BALANCE_CHIPS
 *  @param chip_of_stage  [pipeline_par] indices in chip, or NULL: all are the first
 *  @param out may_full and may_select say which layouts were given; may_mix and alike_on_chip are
 *  false, and a place has at least one layer and no upper bound
 *  @return NULL, or the reason why this one is not linear in its layers or too large, in words to
 *  follow "a layout" */
const char *calc_balance_of_layouts(const calc_balance_chip *chip, int chips,
                                    const int *chip_of_stage, calc_balance_problem *out);

/** Times of one stage after the pipeline [s]. */
typedef struct calc_balance_end {
    double reduction_s; /**< exposed communication of gradients and updated weights */
    double optimizer_s;
} calc_balance_end;

/** @param share  [stages * chunks] */
calc_balance_end calc_balance_end_of(const calc_balance_chip *chip,
                                     const calc_balance_problem *problem,
                                     const calc_balance_share *share, int stage);

/** The step of a division [s]: its parts add up to total_s. */
typedef struct calc_balance_step {
    double pipeline_s, straggler_s;
    double tied_s;                   /**< gradients of the table that both ends share */
    double reduction_s, optimizer_s; /**< of the slowest stage, for each of the two */
    double overhead_s, total_s;
} calc_balance_step;

/** @param share       [stages * chunks]
 *  @param pipeline_s  of it: calc_balance_answer.step_s */
calc_balance_step calc_balance_step_of(const calc_balance_chip *chip,
                                       const calc_balance_problem *problem,
                                       const calc_balance_share *share, double pipeline_s);

/** A lower bound of reduction_s + optimizer_s of all divisions [s]. */
double calc_balance_least_end_s(const calc_balance_chip *chip, const calc_balance_problem *problem);

/** What divisions are compared by [s]: the pipeline, longer by as much as the rest of the step is
 *  beyond problem->least_end_s. Never less than pipeline_s. */
double calc_balance_score_s(const calc_balance_problem *problem, const calc_balance_share *share,
                            double pipeline_s);

/** At least all of it, where that or the pipeline alone is at least score_s [s]. */
double calc_balance_least_total_s(const calc_balance_chip *chip,
                                  const calc_balance_problem *problem, double score_s);

#endif
