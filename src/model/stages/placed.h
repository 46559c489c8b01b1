/** @file placed.h  The stages of a pipeline one by one. A layout whose stages or layers are listed
 *  (calc_exec.stages, .layers) has a calc_layout for every recipe: a pair of a chip and a
 *  recomputation; with layers, how they are split and sharded, too. Each listed stage has one of
 *  them; with listed layers it has slices, one for each recipe in it. If all stages are alike there
 *  is one recipe, with its classes. */
#ifndef CALC_MODEL_STAGES_PLACED_H
#define CALC_MODEL_STAGES_PLACED_H

#include "calc.h"
#include "model/stages/layout.h"
#include "model/stages/stage_spent.h"
#include "spec/layer_list.h"

/** For one micro-batch [s]; both 0 where the layers hold the same. */
typedef struct calc_reshard {
    double fw_s, bw_s; /**< activations, and their gradients on the way back */
} calc_reshard;

/** From layers of one strategy to those of the next.
 *
 *  A rank gathers the shards it needs and slices: d = tensor_par * context_par ranks share a
 *  sequence, s of them hold different tokens of it (all with sequence parallelism, else
 *  context_par). From layers a to layers b it gathers the shards of lcm(d_a, d_b) / d_a * s_a /
 *  gcd(s_a, s_b) ranks, and nothing where that is 1. Gradients go the other way. Not hidden behind
 *  anything.
 *
 *  @param a, b  executions of the strategies, as calc_layer_list_exec() makes them */
calc_reshard calc_reshard_of(const calc_app *app, const calc_system *system, const calc_exec *a,
                             const calc_exec *b);

/** How many ranks' shards a rank gathers from layers a to layers b: 1, if none. */
int64_t calc_reshard_ranks(const calc_exec *a, const calc_exec *b);

enum {
    /** Recipes that a list of layers may have; a list of stages has fewer (spec/stage_list.c),
     *  and on every chip one without recomputation. */
    CALC_MAX_RECIPES = CALC_MAX_LAYER_RECIPES,
    CALC_MAX_PLACED_PARTS = CALC_MAX_LAYER_RUNS + CALC_MAX_PLACES + 2
};

/** Layers of one recipe that follow one another in a chunk, with an end of the model or both. */
typedef struct calc_placed_part {
    int recipe;
    calc_stage_class class; /**< as if it were a stage; without a position */
} calc_placed_part;

/** A chunk of a stage of a list. */
typedef struct calc_placed_chunk {
    double dense, moe;       /**< blocks of each kind */
    double recompute_blocks; /**< of them that recompute; not of listed layers */
    int part, parts;         /**< of listed layers: the first one, and how many */
    calc_reshard reshard;    /**< before and between them */
} calc_placed_chunk;

/** Borrows the documents and points into itself: not to be copied. */
typedef struct calc_placed {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    bool listed;  /**< stages, or layers */
    bool layered; /**< layers */
    bool fit;     /**< whether the blocks, chunks and micro-batches do: else there is no step */
    int64_t stages, chunks;
    size_t count;                                 /**< recipes */
    calc_exec recipe_exec[CALC_MAX_RECIPES];      /**< of a list: with each one's recomputation */
    int chip[CALC_MAX_RECIPES];                   /**< as in calc_stage_run */
    calc_layout recipe[CALC_MAX_RECIPES];         /**< without a list: the layout */
    int recipe_of[CALC_MAX_PLACES];               /**< of a list: by stage, the recipe of most
                                                       blocks */
    calc_placed_chunk chunk[CALC_MAX_PLACES];     /**< of a list: along the model */
    calc_placed_part part[CALC_MAX_PLACED_PARTS]; /**< of listed layers, along the model */
} calc_placed;

/** One stage: the terms of its step (stage_step.h). */
typedef struct calc_placed_stage {
    const calc_layout *layout;
    calc_stage_terms terms;
    calc_stage_links links;
    calc_stage_class class; /**< all of its blocks; in a list .stages = 1, .position = the stage */
} calc_placed_stage;

/** Fill it. The inputs must have passed calc_check().
 *  @param parts  as calc_layout_of() takes them, where nothing is listed; or NULL */
void calc_placed_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_kernel_table *measured,
                    const calc_stage_parts *parts, calc_placed *out);

/** Entries of it along the pipeline: each stage of a list, else the classes of equal stages. */
size_t calc_placed_entries(const calc_placed *placed);

/** One of them: .class has all of a stage's blocks, and says how many stages it stands for. */
void calc_placed_entry_of(const calc_placed *placed, size_t entry, calc_placed_stage *out);

/** The entry that a stage is in. */
void calc_placed_stage_of(const calc_placed *placed, int64_t stage, calc_placed_stage *out);

/** A slice of a stage: its layers of one recipe, as if there were no others, without messages. A
 *  stage whose layers are not listed is its only slice.
 *  @return whether it has so many; else nothing is filled */
bool calc_placed_slice_of(const calc_placed *placed, int64_t stage, size_t slice,
                          calc_placed_stage *out);

/** Messages of a chunk, as far as they are exposed [s]. With layers, the messages of the part
 *  before them: where stages meet, the later one rearranges arriving activations, and gradients
 *  before they are sent. */
calc_reshard calc_placed_messages(const calc_placed *placed, const calc_placed_stage *at,
                                  int64_t chunk);

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

/** Memory of a stage, and the part of it for weights. */
calc_stage_memory calc_placed_memory(const calc_placed *placed, const calc_placed_stage *at);
calc_stage_state calc_placed_state(const calc_placed *placed, const calc_placed_stage *at);

/** Its reduction behind its passes, and its optimizer [s]. */
calc_stage_reduction calc_placed_reduction(const calc_placed *placed, const calc_placed_stage *at,
                                           const calc_stage_pass *pass);
double calc_placed_optimizer_s(const calc_placed *placed, const calc_placed_stage *at);

/** Breakdown of its passes. */
calc_stage_spent calc_placed_spent(const calc_placed *placed, const calc_placed_stage *at);

/** The pipeline [s]: of a list exact (schedule_steady.h), else in closed form. NaN: it does not
 *  fit. */
double calc_placed_pipeline_s(const calc_placed *placed);

/** Time that its last stage takes after its own micro-batches: stage_deferred.h. */
double calc_placed_drain_s(const calc_placed *placed);
calc_stage_deferred calc_placed_deferred(const calc_placed *placed);

#endif
