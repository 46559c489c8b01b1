/** @file placed.h  The stages of a pipeline one by one. A layout whose stages are listed
 *  (calc_exec.stages) has a calc_layout for every pair of a chip and what is recomputed; each stage
 *  is of one of them. Stages that are all alike have one, and its classes. */
#ifndef CALC_MODEL_STAGES_PLACED_H
#define CALC_MODEL_STAGES_PLACED_H

#include "model/stages/layout.h"

/** Pairs of a chip and what is recomputed: those that a list may have (spec/rules_stages.c), and on
 *  every chip none. */
enum { CALC_MAX_RECIPES = 8 + CALC_MAX_CHIPS };

/** A chunk of a stage of a list. */
typedef struct calc_placed_chunk {
    double dense, moe;       /**< blocks of each kind */
    double recompute_blocks; /**< of them that recompute */
} calc_placed_chunk;

/** Borrows the documents and points into itself: not to be copied. */
typedef struct calc_placed {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    bool listed;
    int64_t stages, chunks;
    size_t count;                             /**< recipes */
    calc_exec recipe_exec[CALC_MAX_RECIPES];  /**< of a list: what each recomputes */
    int chip[CALC_MAX_RECIPES];               /**< as in calc_stage_run */
    calc_layout recipe[CALC_MAX_RECIPES];     /**< without a list: the layout */
    int recipe_of[CALC_MAX_PLACES];           /**< of a list: by stage */
    calc_placed_chunk chunk[CALC_MAX_PLACES]; /**< of a list: along the model */
} calc_placed;

/** One stage: what its step is put together from (stage_step.h). */
typedef struct calc_placed_stage {
    const calc_layout *layout;
    calc_stage_terms terms;
    calc_stage_links links;
    calc_stage_class class; /**< all of its blocks; .stages = 1, .position = the stage */
} calc_placed_stage;

/** Fill it. The inputs must have passed calc_check(). */
void calc_placed_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_kernel_table *measured, calc_placed *out);

/** A stage of it. */
void calc_placed_stage_of(const calc_placed *placed, int64_t stage, calc_placed_stage *out);

/** Passes over a chunk of a stage, with its messages; and its blocks and ends as if it were a class
 *  of its own.
 *  @param chunks  of a stage: 2 with ZB-V and DualPipeV */
calc_stage_pass calc_placed_chunk_pass(const calc_placed *placed, const calc_placed_stage *at,
                                       int64_t chunks, int64_t chunk);
calc_stage_class calc_placed_chunk_class(const calc_placed *placed, const calc_placed_stage *at,
                                         int64_t chunks, int64_t chunk);

/** Share of a chunk's blocks that recompute; 1 on stages where none does. */
double calc_placed_chunk_recompute(const calc_placed *placed, const calc_placed_stage *at,
                                   int64_t chunk);

/** Passes over all of a stage. */
calc_stage_pass calc_placed_pass(const calc_placed *placed, const calc_placed_stage *at);

/** What a stage holds. */
calc_stage_memory calc_placed_memory(const calc_placed *placed, const calc_placed_stage *at);

/** The pipeline of a list [s]: exact (schedule_steady.h). */
double calc_placed_pipeline_s(const calc_placed *placed);

#endif
