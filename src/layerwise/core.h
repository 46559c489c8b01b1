/** @file core.h  Core shared by all searches of a stage. Options have two values to minimise; it
 *  finds the answer with the least weighted sum that fits, or every answer below a limit.
 *
 *  Only the number of layers with each option matters. Bounds come from Lagrangian relaxation of
 *  the memory budget. With w = alpha x + beta y and a price `lambda` of a byte, a layer with option
 *  i costs its kind's least w + lambda * bytes, plus r_i. So an answer costs at least
 *
 *      sum of the least + sum of r_i  -  lambda * min(budget, bytes that it may reach)  +  switches
 *
 *  and most counts are 0, except for the two options that the relaxed problem mixes. The search
 *  branches on the groups first: a group that the relaxed problem uses is either paid for, or left
 *  out. */
#ifndef CALC_LAYERWISE_CORE_H
#define CALC_LAYERWISE_CORE_H

#include "layerwise/stage.h"

/** An option in the search. */
typedef struct calc_layerwise_item {
    double x, y, bytes;
    int16_t option, group;
} calc_layerwise_item;

/** A stage as the search sees it. */
typedef struct calc_layerwise_core {
    const calc_layerwise_stage *stage;
    int items[CALC_LAYERWISE_KINDS];
    calc_layerwise_item item[CALC_LAYERWISE_KINDS][CALC_LAYERWISE_OPTIONS];
    int groups; /**< 1: switches cost nothing */
    double switch_s[CALC_LAYERWISE_GROUPS][CALC_LAYERWISE_GROUPS];
    double x_per_switch_s;
    int before, behind; /**< groups; -1: none */
} calc_layerwise_core;

/** Groups, a bit each, that the layers of each kind use. */
typedef struct calc_layerwise_used {
    uint32_t of[CALC_LAYERWISE_KINDS];
} calc_layerwise_used;

/** An answer under construction. */
typedef struct calc_layerwise_answer {
    double x, y, bytes; /**< switches are in x */
    int picks[CALC_LAYERWISE_KINDS];
    struct {
        int16_t item, layers;
    } pick[CALC_LAYERWISE_KINDS][CALC_LAYERWISE_PICKS];
} calc_layerwise_answer;

/** A search: its objective, its limits and the receiver of answers. */
typedef struct calc_layerwise_search {
    const calc_layerwise_core *core;
    double alpha, beta; /**< weights of x and y, >= 0 */
    double limit;       /**< answers with a larger weighted sum are of no use, */
    double tie;         /**< nor those above limit - tie */
    double tie_bytes;   /**< that hold at least so many bytes */
    bool all;           /**< report every answer, each once */
    /** Receives answers that fit. May lower the limit. */
    void (*found)(struct calc_layerwise_search *search, const calc_layerwise_answer *answer);
    void *data;
    int64_t nodes, most_nodes; /**< the search stops there; 0: never */
} calc_layerwise_search;

typedef enum calc_layerwise_values {
    CALC_LAYERWISE_WEIGHTED,       /**< x: the weighted time */
    CALC_LAYERWISE_EVERY_OPTION,   /**< likewise, but no option is left out */
    CALC_LAYERWISE_MICRO_AND_SYNC, /**< x, y: each by itself */
    CALC_LAYERWISE_TIME_AND_BYTES  /**< x: the weighted time, y: bytes */
} calc_layerwise_values;

/** Set it up: leave out options that another one of the same group dominates, and merge groups with
 *  free switches between them. */
void calc_layerwise_core_make(calc_layerwise_core *core, const calc_layerwise_stage *stage,
                              calc_layerwise_values values, double micro_weight,
                              double sync_weight);

/** A lower bound of the weighted sum of every answer. INFINITY: nothing fits. */
double calc_layerwise_least(const calc_layerwise_search *search);

/** Run the search. @return false if it stopped before the end */
bool calc_layerwise_look(calc_layerwise_search *search);

/** An answer in the stage's terms. */
calc_layerwise_point calc_layerwise_point_of(const calc_layerwise_core *core,
                                             const calc_layerwise_answer *answer);

#endif
