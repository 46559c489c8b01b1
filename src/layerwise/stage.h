/** @file stage.h  The layers of one pipeline stage, and how each may be split and kept: which
 * option every layer takes, so that all fit in the memory of the stage and a micro-batch takes
 * least.
 *
 *  Layers of a kind are identical, so that only how many of them take each option matters. Where
 *  layers that follow one another are split in different ways, activations are sent around: options
 *  have a group, layers of a group stand together, and a path through the groups costs what its
 *  switches do. Any unit of time and of memory will do, as long as it is one. */
#ifndef CALC_LAYERWISE_STAGE_H
#define CALC_LAYERWISE_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CALC_LAYERWISE_OPTIONS = 1024, /**< of a kind */
    CALC_LAYERWISE_KINDS = 4,      /**< of layers in a stage, one after the other */
    CALC_LAYERWISE_GROUPS = 24,
    CALC_LAYERWISE_PICKS = 8 /**< options of a kind that one answer uses; answers of more are not
                                  looked for (two options are enough but for rounding) */
};

/** What one layer may do. */
typedef struct calc_layerwise_option {
    double micro_s; /**< a micro-batch, forward and backward, gradients left alone */
    double sync_s;  /**< what the last one takes beyond that, which reduces them; >= 0 */
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
    /** 1 + the group of what stands before the first and behind the last layer, so that getting
     *  there and away costs its switch, too; 0: whatever the layers need. */
    int before, behind;
} calc_layerwise_stage;

/** So many layers with an option. */
typedef struct calc_layerwise_pick {
    int16_t option, layers;
} calc_layerwise_pick;

/** One answer. Picks of a kind are in the order in which their layers stand. */
typedef struct calc_layerwise_point {
    double micro_s, sync_s, bytes; /**< sums over the layers; switches are in micro_s */
    int picks[CALC_LAYERWISE_KINDS];
    calc_layerwise_pick pick[CALC_LAYERWISE_KINDS][CALC_LAYERWISE_PICKS];
} calc_layerwise_point;

/** What came of it. Free points with free(). */
typedef struct calc_layerwise_front {
    size_t count;
    calc_layerwise_point *point; /**< micro_s (curve: weighted time) ascending, sync_s (curve:
                                    bytes) descending; none: nothing fits */
    bool proven;                 /**< nothing is missing; else it is thinned, with its ends kept */
} calc_layerwise_front;

/** The least of micro_weight * micro_s + sync_weight * sync_s that fits. Exact. Of equal ones the
 *  one that holds less.
 *  @return false if nothing fits */
bool calc_layerwise_best(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         calc_layerwise_point *out);

/** Time that an answer makes of a whole step, say: it may not fall as either rises. */
typedef double calc_layerwise_value(const void *data, double micro_s, double sync_s);

/** What calc_layerwise_best_of() is asked. */
typedef struct calc_layerwise_aim {
    calc_layerwise_value *value;
    const void *data;
    /** micro_weight * micro_s + sync_weight * sync_s + offset is nowhere above the value; the
     * nearer it is, the less is looked at. */
    double micro_weight, sync_weight, offset;
    double limit;       /**< only values below are looked for */
    int64_t most_nodes; /**< effort, in steps of the search; 0: whatever it takes */
} calc_layerwise_aim;

/** The least value.
 *  @param aim     limit: set to the value, if one was found
 *  @param proven  set: none is less
 *  @return false if none is below the limit */
bool calc_layerwise_best_of(const calc_layerwise_stage *stage, calc_layerwise_aim *aim,
                            calc_layerwise_point *out, bool *proven);

/** No answer has less of micro_weight * micro_s + sync_weight * sync_s: layers as divisible as
 * water, switches for nothing. INFINITY: nothing fits. */
double calc_layerwise_bound(const calc_layerwise_stage *stage, double micro_weight,
                            double sync_weight);

/** Every answer that fits and takes at most `slack_s` more than the best, of any options: also of
 *  those that another one beats. In no order.
 *  @param most  of them; beyond it the front is not proven
 *  @return false if memory ran out */
bool calc_layerwise_near(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         double slack_s, size_t most, calc_layerwise_front *out);

/** Every answer that fits and than which none that fits is as short in both.
 *  @param most  points kept at most; beyond them the front is thinned and not proven
 *  @return false if memory ran out */
bool calc_layerwise_front_of(const calc_layerwise_stage *stage, size_t most,
                             calc_layerwise_front *out);

/** The same over memory: the least weighted time for every budget up to budget_bytes; a point per
 *  budget at which it changes. */
bool calc_layerwise_curve_of(const calc_layerwise_stage *stage, double micro_weight,
                             double sync_weight, size_t most, calc_layerwise_front *out);

#endif
