/** @file stage_rows.h  The table of parts for layouts that are lists of stages: one row per
 *  combination of what the cost of a block depends on, for one unit. */
#ifndef CALC_SWEEP_STAGE_ROWS_H
#define CALC_SWEEP_STAGE_ROWS_H

#include "calc.h"
#include "model/stages.h"
#include "space.h"

enum { CALC_STAGE_STATES = 8 /**< combinations of optimizer_sharding and zero_stage */ };

/** One row. Its context borrows from it and from the table. */
typedef struct calc_stage_row {
    calc_exec exec;
    calc_cost_context context;
    calc_stage_parts parts;
    size_t network;       /**< position of tensor_par_net */
    bool offloads;        /**< something to tier 2: calc_run() evaluates its points */
    int64_t data_network; /**< the data_par_net that experts use, too; -1: they do not */
    calc_stage_terms terms[CALC_STAGE_STATES]; /**< calc_stage_terms_row(), by state */
} calc_stage_row;

/** How data parallelism keeps its state. */
typedef struct calc_stage_state_choice {
    bool sharding;
    int64_t zero;
} calc_stage_state_choice;

/** The table. Reused from unit to unit. */
typedef struct calc_stage_rows {
    calc_shape shape;
    size_t count, capacity;
    calc_stage_row *row;
    size_t networks_count;
    int64_t networks[CALC_MAX_NETWORKS];
    size_t datas; /**< values of data_par_net that rows differ in, or one that does not matter */
    int64_t data[CALC_MAX_NETWORKS];
    bool pinned;   /**< the base says what tiles would vary: it has Calculon's fields otherwise */
    size_t states; /**< the first one shards nothing, if it is in the space */
    bool alone_first; /**< the first one is for cells without replicas only */
    calc_stage_state_choice state[CALC_STAGE_STATES];
} calc_stage_rows;

/** Fill the table for a unit's base: everything but what cells and lanes vary.
 *  @param profile  false: only which rows there are
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_stage_rows_fill(calc_stage_rows *rows, const calc_space *space,
                                               const calc_app *app, const calc_system *system,
                                               const calc_exec *base, bool profile);

void calc_stage_rows_free(calc_stage_rows *rows);

#endif
