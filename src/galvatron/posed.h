/** @file posed.h  A task with what its strategies cost: each stage as `layerwise` wants it, and the
 *  ends. Bytes there are MB here. */
#ifndef CALC_GALVATRON_POSED_H
#define CALC_GALVATRON_POSED_H

#include "galvatron/search.h"
#include "layerwise/stage.h"

enum {
    CALC_GALVATRON_GROUPS = CALC_LAYERWISE_GROUPS /**< a degree of tp or sp each, by doublings */
};

/** Budgets of a search. */
typedef struct calc_galvatron_limits {
    double limit_mb, reserve_mb;
} calc_galvatron_limits;

/** Costs of a task. Options of a stage are the strategies in their order: micro_s is nosync_s,
 *  sync_s what sync_s is beyond it. */
typedef struct calc_galvatron_posed {
    calc_galvatron_case c;
    calc_galvatron_task task;
    int strategies, ends;
    calc_galvatron_strategy *layer;      /**< [strategies] */
    calc_galvatron_strategy *end;        /**< [ends] */
    calc_galvatron_layer_cost *cost;     /**< [types][strategies] */
    calc_galvatron_ends_cost *ends_cost; /**< [ends * pp]; whole MB if the task's are */
    calc_layerwise_stage *stage;         /**< [pp]; budgets, switches: the caller's */
    calc_layerwise_option *option;       /**< [pp][types of the stage][strategies] */
    double switch_s[CALC_GALVATRON_GROUPS * CALC_GALVATRON_GROUPS]; /**< re-sharding, both ways */
    double buffer_mb;
    double limit_mb;
} calc_galvatron_posed;

/** What a request may use: in compat upstream's rule, by which 21 GB are less than 20; else never
 *  less than that, nor less than at any smaller memory. */
calc_galvatron_limits calc_galvatron_limits_of(const calc_galvatron_request *request);

/** Room of the layers of a stage beside the ends. May be negative. */
double calc_galvatron_room_mb(const calc_galvatron_posed *posed, int end, int stage);

/** Type of the layers of a stage's kind. */
int calc_galvatron_type_of(const calc_galvatron_posed *posed, int stage, int kind);

/** Work out a task. Whole MB in compat.
 *  @return CALC_OK or CALC_ERR_NOMEM; then there is nothing to free */
CALC_MUST_USE calc_status calc_galvatron_pose(calc_galvatron_posed *out,
                                              const calc_galvatron_case *c,
                                              const calc_galvatron_task *task);
void calc_galvatron_posed_free(calc_galvatron_posed *posed);

/** A step takes at least so long with these ends; -1: with whichever are best. INFINITY: a stage
 *  does not fit. @param limited  false: as if memory did not bind */
double calc_galvatron_bound_s(calc_galvatron_posed *posed, int end, bool limited);

/** Between groups, [GROUPS * GROUPS]: by way of others where that is shorter. */
void calc_galvatron_shorten(double *switch_s);

/** With a lower limit nothing fits. INFINITY: there are no strategies. */
double calc_galvatron_least_mb(const calc_galvatron_posed *posed);

#endif
