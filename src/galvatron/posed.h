/** @file posed.h  Computes the costs of a task's strategies: each stage in the form of `layerwise`,
 *  and the ends. Bytes of `layerwise` are MB here. */
#ifndef CALC_GALVATRON_POSED_H
#define CALC_GALVATRON_POSED_H

#include "galvatron/search.h"

enum {
    CALC_GALVATRON_GROUPS = CALC_LAYERWISE_GROUPS /**< one group for each power-of-two degree of tp
                                                   *  or sp */
};

/** Memory limits of a search. */
typedef struct calc_galvatron_limits {
    double limit_mb, reserve_mb;
} calc_galvatron_limits;

/** Costs of a task. The options of a stage are the strategies in their order, with micro_s =
 *  nosync_s, and the option's sync_s = sync_s - nosync_s of the layer. */
typedef struct calc_galvatron_posed {
    calc_galvatron_case c;
    calc_galvatron_task task;
    int strategies, ends;
    calc_galvatron_strategy *layer;      /**< [strategies] */
    calc_galvatron_strategy *end;        /**< [ends] */
    calc_galvatron_layer_cost *cost;     /**< [types][strategies] */
    calc_galvatron_ends_cost *ends_cost; /**< [ends * pp]; whole MB if the task uses whole MB */
    int *type;                           /**< [pp][kinds of the stage]: types of layers */
    calc_layerwise_stage *stage;         /**< [pp]; the caller sets budgets and switches */
    calc_layerwise_option *option;       /**< [pp][types of the stage][strategies] */
    double switch_s[CALC_GALVATRON_GROUPS * CALC_GALVATRON_GROUPS]; /**< re-sharding, forward and
                                                                     *  backward */
    double buffer_mb;
    double limit_mb;
} calc_galvatron_posed;

/** The memory that a request may use. In compat this is upstream's rule, which allows less with 21
 *  GB than with 20 GB. Otherwise it is at least upstream's value, and at least the value of any
 *  smaller memory. */
calc_galvatron_limits calc_galvatron_limits_of(const calc_galvatron_request *request);

/** Memory left for the layers of a stage after the ends [MB]. May be negative. */
double calc_galvatron_room_mb(const calc_galvatron_posed *posed, int end, int stage);

/** Type of the layers of a stage's kind. */
int calc_galvatron_type_of(const calc_galvatron_posed *posed, int stage, int kind);

/** Computes the costs of a task, in whole MB in compat. */
void calc_galvatron_pose(calc_galvatron_posed *out, const calc_galvatron_case *c,
                         const calc_galvatron_task *task);
void calc_galvatron_posed_free(calc_galvatron_posed *posed);

/** Lower bound on the step with these ends [s]; -1: with the best ends. INFINITY: a stage does not
 *  fit.
 *  @param limited  false: ignores the memory limit */
double calc_galvatron_bound_s(calc_galvatron_posed *posed, int end, bool limited);

/** The least limit [MB] with which something can fit. INFINITY: there are no strategies. */
double calc_galvatron_least_mb(const calc_galvatron_posed *posed);

/* Upstream's dynamic programme over a stage, by layers, whole MB and the last
 * layer's strategy. Its choice between equal answers depends on the rounding of its sums, so the
 * sums are repeated here in its order. They are computed only for the beginnings of answers that
 * are as short as the best, because upstream discards all others; these answers are listed first.
 * If there are more than 20,000, some are not listed, and another answer of the same length may be
 * found. */

/** Finds the strategies of a stage's layers.
 *  @param choice     [layers of the stage]: strategies of the task
 *  @param remain_mb  memory left
 *  @return false if the layers do not fit */
CALC_MUST_USE bool calc_galvatron_whole(calc_galvatron_posed *posed, int stage, double room_mb,
                                        int *choice, double *remain_mb);

#endif
