/** @file stage.h  The layers of one pipeline stage, and how each may be split and kept: the search
 *  picks an option for every layer so that all fit in the memory of the stage and a micro-batch
 *  takes the least time.
 *
 *  Layers of a kind are identical, so that only the number of layers with each option matters.
 *  Where successive layers are split in different ways, activations have to be redistributed: every
 *  option belongs to a group, layers of a group stand together, and a path through the groups costs
 *  the sum of its switches. Any unit of time and any unit of memory will do if used throughout. */
#ifndef CALC_LAYERWISE_STAGE_H
#define CALC_LAYERWISE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CALC_LAYERWISE_OPTIONS = 1024, /**< of a kind */
    CALC_LAYERWISE_KINDS = 4,      /**< of layers in a stage, one after the other */
    CALC_LAYERWISE_GROUPS = 24,
    CALC_LAYERWISE_PICKS = 8 /**< options of a kind in one answer; answers with more are not
                                  searched (two options would be enough if layers were divisible) */
};

/** One way to split and keep a layer. */
typedef struct calc_layerwise_option {
    double micro_s; /**< a micro-batch, forward and backward, without reduction of gradients */
    double sync_s;  /**< extra time of the last one, which reduces them; >= 0 */
    double bytes;   /**< held on this stage: state, and activations of all that are in flight */
    int group;      /**< layers of the same group follow one another at no cost */
} calc_layerwise_option;

/** Equal layers. */
typedef struct calc_layerwise_kind {
    int layers;
    int options;
    const calc_layerwise_option *option;
} calc_layerwise_kind;

/** A stage. */
typedef struct calc_layerwise_stage {
    int kinds;
    calc_layerwise_kind kind[CALC_LAYERWISE_KINDS];
    int groups;
    /** [groups * groups]: time of a micro-batch between layers of two groups, forward and backward;
     *  NULL: nothing. Symmetric, 0 on the diagonal, and no detour is shorter. */
    const double *switch_s;
    double budget_bytes; /**< of the layers together */
    /** 1 + the group of the parts before the first and behind the last layer, so that switches from
     *  and to them are paid, too; 0: any group, no switch. */
    int before, behind;
} calc_layerwise_stage;

/** A number of layers with an option. */
typedef struct calc_layerwise_pick {
    int16_t option, layers;
} calc_layerwise_pick;

/** One answer. Picks of a kind are in the order in which their layers stand. */
typedef struct calc_layerwise_point {
    double micro_s, sync_s, bytes; /**< sums over the layers; switches are in micro_s */
    int picks[CALC_LAYERWISE_KINDS];
    calc_layerwise_pick pick[CALC_LAYERWISE_KINDS][CALC_LAYERWISE_PICKS];
} calc_layerwise_point;

/** The result. Free points with free(). */
typedef struct calc_layerwise_front {
    size_t count;
    calc_layerwise_point *point; /**< micro_s (curve: weighted time) ascending, sync_s (curve:
                                    bytes) descending; none: nothing fits */
    bool proven;                 /**< the front is complete; else it is thinned, with its ends
                                      kept */
} calc_layerwise_front;

/** Find the answer with the least micro_weight * micro_s + sync_weight * sync_s that fits. Exact.
 *  Among equal ones it takes the one that holds less.
 *  @return false if nothing fits */
bool calc_layerwise_best(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         calc_layerwise_point *out);

/** A question to calc_layerwise_best_of(). */
typedef struct calc_layerwise_aim {
    /** The value of an answer, for example the time of a whole step: it must not decrease in
     *  micro_s or sync_s. */
    double (*value)(const void *data, double micro_s, double sync_s);
    const void *data;
    double limit;       /**< only values below are looked for */
    int64_t most_nodes; /**< limit in steps of the search */
} calc_layerwise_aim;

/** Find the answer with the least value.
 *  @param aim     limit: set to the value, if one was found
 *  @param proven  set: no answer has less
 *  @return false if none is below the limit */
bool calc_layerwise_best_of(const calc_layerwise_stage *stage, calc_layerwise_aim *aim,
                            calc_layerwise_point *out, bool *proven);

/** A lower bound of micro_weight * micro_s + sync_weight * sync_s: its minimum with fractional
 *  numbers of layers and free switches. INFINITY: nothing fits. */
double calc_layerwise_bound(const calc_layerwise_stage *stage, double micro_weight,
                            double sync_weight);

/** Find every answer that fits and takes at most `slack_s` more than the best, also with options
 *  that another one dominates. In no order.
 *  @param most  of them; beyond it the front is not proven */
void calc_layerwise_near(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         double slack_s, size_t most, calc_layerwise_front *out);

/** Find the Pareto front in micro_s and sync_s of all answers that fit.
 *  @param most  points kept at most; beyond them the front is thinned and not proven */
void calc_layerwise_front_of(const calc_layerwise_stage *stage, size_t most,
                             calc_layerwise_front *out);

/** Find the Pareto front in weighted time and memory: the least weighted time for every budget up
 *  to budget_bytes, with a point per budget at which it changes. */
void calc_layerwise_curve_of(const calc_layerwise_stage *stage, double micro_weight,
                             double sync_weight, size_t most, calc_layerwise_front *out);

#endif
