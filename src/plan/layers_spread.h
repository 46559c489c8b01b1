/** @file layers_spread.h  The stages of a candidate for every number of layers, solved when first
 *  asked for; and a distribution of the layers that leaves every stage enough time for its own. */
#ifndef CALC_PLAN_LAYERS_SPREAD_H
#define CALC_PLAN_LAYERS_SPREAD_H

#include "plan/layers_bound.h"
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
    bool failed;              /**< without memory */
} calc_layers_table;

/** Make it. Borrows both.
 *  @return CALC_OK; CALC_ERR_RULE if the layers cannot be spread; CALC_ERR_NOMEM. It must be freed
 *  in any case */
CALC_MUST_USE calc_status calc_layers_table_make(const calc_layers_case *c,
                                                 const calc_layers_want *want,
                                                 calc_layers_table *out);
void calc_layers_table_free(calc_layers_table *table);

/** The answer for a number of layers on a stage, counted from a first one; NULL without memory. */
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

#endif
