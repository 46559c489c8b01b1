/** @file layers_list.h  The candidates of a planner of layers: layouts of its space that differ
 *  only in fields that each layer may set for itself. */
#ifndef CALC_PLAN_LAYERS_LIST_H
#define CALC_PLAN_LAYERS_LIST_H

#include "plan/layers_option.h"
#include "plan/planner_layers.h"

/** Layouts with the same stages, sequences of a micro-batch, schedule, and all else. */
typedef struct calc_layers_candidate {
    uint64_t key;   /**< equal for layouts of one */
    calc_exec base; /**< one of them: it supplies the fields that strategies leave out */
    bool listed;    /**< base is set: layers may be listed with it */
    size_t strategies, strategy_room;
    calc_layer_strategy *strategy; /**< of its layouts, each once */
    calc_exec uniform;             /**< its quickest layout, if one fits: */
    double uniform_s;              /**< else INFINITY */
    double uniform_bytes;          /**< of it */
    double bound_s;                /**< lower bound of its lists of layers; to be filled */
} calc_layers_candidate;

/** In the order in which they were met. Owns its lists. */
typedef struct calc_layers_list {
    calc_layers_candidate *candidate;
    size_t count, room;
    size_t layouts;
    double needs_bytes, has_bytes; /**< for the layout that lacks least memory, */
    calc_exec lacking;             /**< if none fits */
} calc_layers_list;

/** The strategy that all layers of an execution have. */
calc_layer_strategy calc_layers_strategy_of(const calc_exec *exec);

/** Fill it. @return CALC_OK or CALC_ERR_NOMEM; it must be freed in either case */
CALC_MUST_USE calc_status calc_layers_list_make(const calc_planner_layers *planner,
                                                calc_layers_list *list);
void calc_layers_list_free(calc_layers_list *list);

#endif
