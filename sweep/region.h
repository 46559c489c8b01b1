/** @file region.h  Lower bounds of all layouts of a unit: the shortest times of the parts of the
 * model in any of its rows. A cell whose shortest step with them cannot matter is skipped before
 * any lane of it is made. */
#ifndef CALC_SWEEP_REGION_H
#define CALC_SWEEP_REGION_H

#include "bound.h"
#include "rows.h"

/** The parts of the model, on one processor and for one micro-batch [s]. */
typedef struct calc_region {
    bool known; /**< not by rule */
    double dense_s, moe_s, embedding_s, head_s;
    double overhead_s; /**< of a step */
} calc_region;

/** The region of a table that is profiled. */
calc_region calc_region_of(const calc_rows *rows);

/** No step of a cell is shorter [s]. @param floor  of the cell */
double calc_region_least_s(const calc_region *region, const calc_floor *floor);

#endif
