/** @file problem.h  A pipeline whose stages may differ, from the view of a planner: the number of
 *  layers in each chunk of each stage, and how many of them recompute their activations.
 *
 *  Costs are linear in these counts. Layers are of two kinds, and those of kind 0 (dense) come
 *  before those of kind 1 (with experts) along the model. Any unit of time and any unit of memory
 *  will do if used throughout: the names say seconds and bytes. */
#ifndef CALC_BALANCE_PROBLEM_H
#define CALC_BALANCE_PROBLEM_H

#include "model/schedule/schedule_sim.h"

enum {
    CALC_BALANCE_KINDS = 2,
    CALC_BALANCE_CHIPS = 8,         /**< kinds of processors in one pipeline */
    CALC_BALANCE_STAGES = 256,      /**< at most */
    CALC_BALANCE_PLACES = 512,      /**< stages times chunks, at most */
    CALC_BALANCE_MOST_LAYERS = 1024 /**< of the model, both kinds together, at most */
};

/** Treatment of a layer's activations between its passes. */
typedef enum calc_balance_recompute {
    CALC_BALANCE_NONE,      /**< all are kept */
    CALC_BALANCE_SELECTIVE, /**< some parts are computed again */
    CALC_BALANCE_FULL,      /**< only the layer's input is kept */
    CALC_BALANCE_RECOMPUTES
} calc_balance_recompute;

/** One layer of a kind on one kind of processor, for one micro-batch. */
typedef struct calc_balance_layer {
    double fw_s, agrad_s, wgrad_s;                /**< without recomputation */
    double again_s[CALC_BALANCE_RECOMPUTES];      /**< extra time of the backward pass; [0] = 0 */
    double held_bytes;                            /**< weights, gradients, optimizer state */
    double flight_bytes[CALC_BALANCE_RECOMPUTES]; /**< activations of a micro-batch in flight */
    double again_fw_s;  /**< more of the forward pass if any layer of its place recomputes in full:
                             waits for the host, and less of its backward pass if it does not */
    double whole_bytes; /**< more while it is processed: shares that other ranks hold. A stage has
                             room for a mean layer's, of which its ends are part */
} calc_balance_layer;

/** A stage: one rank of the pipeline. */
typedef struct calc_balance_stage {
    int chip;             /**< index in calc_balance_problem.layer */
    double fixed_bytes;   /**< in addition to its layers: ends, framework, working memory */
    double working_bytes; /**< extra if any layer recomputes in full */
    double whole_bytes;   /**< of its ends: calc_balance_layer.whole_bytes */
    /** Less where it has layers of kind 0 alone, of kind 1 alone, or none; and where one recomputes
     *  in full. */
    double less_bytes[CALC_BALANCE_KINDS + 1][2];
    double limit_bytes; /**< INFINITY: none */
} calc_balance_stage;

/** A chunk of a stage without its layers: messages, and the ends of the model. */
typedef struct calc_balance_place {
    double fw_s, agrad_s, wgrad_s;
    double flight_bytes;
    double again_s, again_bytes; /**< more agrad_s and flight_bytes, or less, if any of its layers
                                      recomputes in full: the head does as they do */
} calc_balance_place;

/** The layers of a chunk by kind, and how many of them recompute in each way. */
typedef struct calc_balance_share {
    int layers[CALC_BALANCE_KINDS];
    int selective[CALC_BALANCE_KINDS], full[CALC_BALANCE_KINDS]; /**< of them */
} calc_balance_share;

/** Places are counted along the model: place = chunk * stages + stage. No schedule has its places
 * in the shape of a V, or two parts of the model on a stage. */
typedef struct calc_balance_problem {
    calc_schedule_shape shape; /**< stages, chunks, micro-batches and schedule */
    /** 1F1B with chunks as MindSpore orders it with less memory: half of the warm-up. */
    bool less_memory;
    int layers[CALC_BALANCE_KINDS]; /**< of the model */
    int chips;
    calc_balance_layer layer[CALC_BALANCE_CHIPS][CALC_BALANCE_KINDS];
    calc_balance_stage stage[CALC_BALANCE_STAGES];
    calc_balance_place place[CALC_BALANCE_PLACES];
    bool may_select, may_full; /**< which recomputation is allowed; */
    bool may_mix;              /**< both in one chunk */
    /** It is not said which layers of a chunk recompute in full: as many of each kind as there are
     *  of it. Shares count those of kind 0 first. */
    bool spread;
    /** Stages on one chip recompute the same number of layers in full, or all they have if that is
     *  less; if false, every chunk chooses. */
    bool alike_on_chip;
    int least_layers, most_layers; /**< of a place; 0 most: no bound */
    bool ends_alone;               /**< the first and the last place may have none */
    /** What follows the pipeline and depends on the division counts, too (calc_balance_score_s());
     *  NULL: the pipeline alone does. */
    const struct calc_balance_chip *chip;
    double least_end_s; /**< of it, what every division has: calc_balance_least_end_s() */
} calc_balance_problem;

/** Index of a chunk of a stage in calc_balance_problem.place and in calc_schedule_sim.pass. */
int calc_balance_place_of(const calc_schedule_shape *shape, int stage, int chunk);

/** The stage of a place. */
int calc_balance_stage_of(const calc_schedule_shape *shape, int place);

/** The fewest layers of a place. */
int calc_balance_least_of(const calc_balance_problem *problem, int place);

/** The fewest layers of the places of a stage, all of its chunks. */
int calc_balance_least_on(const calc_balance_problem *problem, int stage);

/** A micro-batch on a place with its layers. */
calc_schedule_pass calc_balance_pass_of(const calc_balance_problem *problem, int place,
                                        const calc_balance_share *share);

/** Bytes that a place holds for its layers, independent of micro-batches in flight. */
double calc_balance_held_bytes(const calc_balance_problem *problem, int place,
                               const calc_balance_share *share);

/** Bytes of a stage that are not per layer, without those of its places. @param layers  by kind
 *  @param again  one of them recomputes in full */
double calc_balance_once_bytes(const calc_balance_problem *problem, int stage,
                               const double layers[CALC_BALANCE_KINDS], bool again);

/** The least of them, but for working_bytes, whatever its layers are. */
double calc_balance_least_once_bytes(const calc_balance_problem *problem, int stage);

/** Bytes that each micro-batch in flight adds to that. */
double calc_balance_flight_bytes(const calc_balance_problem *problem, int place,
                                 const calc_balance_share *share);

/* Recomputation chosen for the layers of a chunk: with one chunk per stage every
 * stage chooses by itself, since a shorter backward pass never makes a step longer. */

/** How many layers of a place may recompute in full; if it has fewer, all do. */
typedef struct calc_balance_range {
    int least, most;
} calc_balance_range;

/** Any number. */
#define CALC_BALANCE_ANY ((calc_balance_range){0, CALC_BALANCE_MOST_LAYERS})

/** A choice for given layers. */
typedef struct calc_balance_choice {
    bool fits;
    calc_balance_share share;
    calc_schedule_pass pass;
    double bytes;
} calc_balance_choice;

/** Memory that a stage with one chunk needs. @param flight  micro-batches in flight at most */
double calc_balance_stage_bytes(const calc_balance_problem *problem, int stage, double flight,
                                const calc_balance_share *share);

/** The choice with the shortest backward pass that fits on a stage with one chunk; among equals the
 *  one that needs least. If none fits: one with the least need.
 *  @param dense, moe  layers of kind 0 and 1
 *  @param flight      micro-batches in flight at most
 *  @param more_bytes  added to the limit of the stage */
calc_balance_choice calc_balance_choose(const calc_balance_problem *problem, int stage, int dense,
                                        int moe, double flight, calc_balance_range full,
                                        double more_bytes);

#endif
