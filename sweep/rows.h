/** @file rows.h  The table of parts: one row per combination of fields that the cost of a block
 *  depends on, for one unit, with the terms of each choice of fields that change neither operators
 *  nor their times. */
#ifndef CALC_SWEEP_ROWS_H
#define CALC_SWEEP_ROWS_H

#include "calc.h"
#include "model/stages/stage_parts.h"
#include "space.h"
#include "spec/rules.h"
#include "variants.h"

enum {
    CALC_ROW_CHOICES = 64, /**< combinations of sharding, zero_stage and offload */
    CALC_ROW_WEIGHTS = 8   /**< lists of layers with weights that are told apart */
};

/** Choices that a row leaves open: how data parallelism keeps its state, and the use of the second
 *  memory tier. */
typedef struct calc_row_choice {
    bool activations, sharding;
    int64_t zero;
    bool weights, optimizer;
    bool alone; /**< for cells without replicas only */
} calc_row_choice;

/** Level of sharding by data parallelism: calc_zero_stage(). */
static inline int64_t calc_row_choice_zero(const calc_row_choice *c)
{
    const calc_strategy strategy = {.optimizer_sharding = c->sharding, .zero_stage = c->zero};
    return calc_zero_stage(&strategy);
}

/** Gradients and weights are sharded beside stages, or experts on several ranks, only if somebody
 *  asks for it: Megatron-FSDP has neither (docs/frameworks.md).
 *  @param split  whether there are several stages, or ranks of experts */
static inline bool calc_row_choice_unusual(const calc_space *space, bool split,
                                           const calc_row_choice *c)
{
    return space->axis[CALC_AXIS_zero_stage].standard && split && c->zero >= 2;
}

/** Steps of the optimizer for rows of the same weights. */
typedef struct calc_row_optimizer {
    bool known;
    calc_optimizer_step step[CALC_BLOCK_KINDS];
} calc_row_optimizer;

/** A block by rule, with a state that ranks share. */
typedef struct calc_row_rule {
    calc_rule_part without;  /**< memory without it, */
    calc_block_memory state; /**< and of one that shares with nobody */
    double travel_bytes;     /**< to and from the second tier, backward, beside the state */
} calc_row_rule;

/** One row. Its context borrows from it and from the table. */
typedef struct calc_row {
    calc_exec exec;
    calc_cost_context context;
    calc_stage_parts parts;
    size_t spread;        /**< position of expert_par */
    size_t network;       /**< position of tensor_par_net */
    int64_t data_network; /**< the data_par_net that experts use, too; -1: they do not */
    size_t choices;       /**< it has so many: the first ones of the table */
    size_t terms;         /**< position of the first of its terms in the table */
    size_t weights;       /**< rows with the same number have the same layers with weights; at
                               CALC_ROW_WEIGHTS nothing is known */
} calc_row;

/** Rows that are legal where others are: points are counted by these. */
typedef struct calc_row_kind {
    size_t spread, network;
    int64_t data_network;
    size_t choices, rows;
} calc_row_kind;

/** The table. Reused from unit to unit. */
typedef struct calc_rows {
    calc_shape shape; /**< of the first spread: experts on a rank aside, of all */
    calc_exec common; /**< of all rows, whatever their strategies */
    size_t count, capacity;
    calc_row *row;
    size_t kinds;
    /** Where networks are chosen there is one spread. */
    calc_row_kind kind[2 * CALC_MAX_NETWORKS * CALC_MAX_NETWORKS];
    calc_spreads spreads;
    calc_shape shape_of[CALC_SPREADS];       /**< of each of them */
    calc_stage_terms *terms;                 /**< calc_stage_terms_row() of what each row has */
    calc_row_rule (*rule)[CALC_BLOCK_KINDS]; /**< of each of them, by rule */
    size_t terms_capacity, rules_capacity;
    size_t networks_count;
    int64_t networks[CALC_MAX_NETWORKS];
    size_t datas; /**< values of data_par_net that rows differ in, or one that does not matter */
    int64_t data[CALC_MAX_NETWORKS];
    size_t choices;
    size_t resident; /**< of them, without offload of activations: these come first */
    calc_row_choice choice[CALC_ROW_CHOICES];
    bool unusual[CALC_ROW_CHOICES]; /**< with experts on several ranks no cell has it */
    calc_stage_timed *timed;        /**< rooms for some layouts' operators; */
    size_t timings;                 /**< rooms were taken so often, the oldest first */
} calc_rows;

/** Whether a row has a choice. */
static inline bool calc_row_has(const calc_rows *rows, const calc_row *row, size_t choice)
{
    bool split = rows->spreads.expert_par[row->spread] > 1;
    return choice < row->choices && !(split && rows->unusual[choice]);
}

/** Put a choice into a strategy. */
void calc_row_choice_put(const calc_row_choice *choice, calc_strategy *strategy);

/** Fill the table for a unit's base: everything except fields that cells and lanes vary, and the
 *  terms.
 *  @param profiled  false: only which rows there are
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_rows_fill(calc_rows *rows, const calc_space *space,
                                         const calc_app *app, const calc_system *system,
                                         const calc_exec *base, calc_compat compat, bool profiled);

/** Fill the terms of a table that is profiled. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_rows_terms(calc_rows *rows);

/** Steps of the optimizer by rule for a row, computed once for all rows of its weights.
 *  @param of_weights  CALC_ROW_WEIGHTS of them
 *  @param shards      ranks that share the state
 *  @return NULL: there are none, or they are of this row only */
const calc_optimizer_step *calc_row_optimizer_of(calc_row_optimizer *of_weights,
                                                 const calc_row *row, const calc_strategy *strategy,
                                                 double shards);

/** Memory that the rows of the table take, with their terms. */
size_t calc_rows_bytes(const calc_rows *rows);

void calc_rows_free(calc_rows *rows);

#endif
