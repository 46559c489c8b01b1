/** @file evaluate.h  The step and the memory of given shares: exact for the schedule's order of
 *  operations, whatever the times of the stages. */
#ifndef CALC_BALANCE_EVALUATE_H
#define CALC_BALANCE_EVALUATE_H

#include <stdint.h>

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

/** The choice with the shortest backward pass that fits on a stage with one chunk; among equals the
 *  one that needs least. If none fits: one with the least need.
 *  @param dense, moe  layers of kind 0 and 1
 *  @param flight      micro-batches in flight at most
 *  @param more_bytes  added to the limit of the stage */
calc_balance_choice calc_balance_choose(const calc_balance_problem *problem, int stage, int dense,
                                        int moe, double flight, calc_balance_range full,
                                        double more_bytes);

typedef struct calc_balance_answer {
    double step_s; /**< from the first forward to the last operation */
    double peak_bytes[CALC_BALANCE_STAGES];
    double most_bytes;  /**< of the stage with the largest need */
    bool fits;          /**< every stage within its limit */
    int worst_stage;    /**< that exceeds its limit by most, or has least left */
    double lacks_bytes; /**< by how much it exceeds it; 0 if all fit */
} calc_balance_answer;

/** Simulate a step. Time is the longest path through the operations; messages count as part of the
 *  places only. With many micro-batches a few are simulated and the rest is extrapolated, exactly
 *  up to rounding. 1F1B with chunks goes by parts.
 *
 *  The memory of a stage is the maximum over all prefixes of its order: its fixed bytes, those held
 *  by its layers, and the activations of each chunk from the start of a forward to the end of the
 *  weight gradient.
 *  @param problem  of a shape that calc_schedule_check() accepts
 *  @param share    [stages * chunks] in the order of places
 *  @return CALC_OK; CALC_ERR_RULE if the schedule cannot run on the shape */
calc_status calc_balance_evaluate(const calc_balance_problem *problem,
                                  const calc_balance_share *share, calc_balance_answer *out);

/* 1F1B with one chunk per stage, in rounds: the step of any stages in a few steps
 * of arithmetic per stage and micro-batch, without lists of operations.
 *
 * In round i a stage does the forward of micro-batch i + p-1-stage, then the backward of
 * micro-batch i; rounds before 0 are the warm-up. A forward needs the forward of the previous
 * stage in the previous round; a backward needs the backward of the next stage in the same
 * round. */

/** Time of a step [s]. Once every stage is delayed from one round to the next by the time of the
 *  busiest one, all rounds until forwards run out are the same, and are skipped.
 *  @param stages        1 ... CALC_BALANCE_STAGES
 *  @param microbatches  1 or more
 *  @param fw_s, bw_s    [stages] a micro-batch forward, and backward with the weight gradient */
double calc_balance_rounds_s(int stages, int64_t microbatches, const double *fw_s,
                             const double *bw_s);

/* How many micro-batches of each chunk a stage has in flight, from the start of
 * their forward to the end of their weight gradient, all through its order of operations. */

/** For each stage, the counts that no other counts of it exceed in every part. The peak memory of a
 *  stage is the maximum over them. */
typedef struct calc_balance_flights {
    int parts;
    int first[CALC_BALANCE_STAGES + 1]; /**< first row of a stage in live; [stages] is the end */
    int *live;                          /**< [row][part] */
    double *row_bytes;                  /**< [row] for whoever counts with them */
} calc_balance_flights;

/** To be freed by calc_balance_flights_end(). */
void calc_balance_flights_begin(calc_balance_flights *flights, const calc_balance_problem *problem);
void calc_balance_flights_end(calc_balance_flights *flights);

/** The most that a stage holds. @param share  [places] */
double calc_balance_flights_bytes(const calc_balance_flights *flights,
                                  const calc_balance_problem *problem, int stage,
                                  const calc_balance_share *share);

/* 1F1B with several chunks per stage, as MindSpore orders it: micro-batches in
 * parts of one per stage; the first part also has the remainder.
 *
 * Every stage does the forwards part by part, and within a part chunk by chunk; the backwards
 * likewise, from the last chunk to the first. It begins with forwards alone: one part of all
 * chunks but the last, and 2 for each stage behind it, or 1 with less memory; then forwards and
 * backwards alternate. Where a part has a micro-batch per stage and the memory is not halved, this
 * is Megatron's order (schedule_order.h). Source: MindSpore's interleaved pipeline scheduler
 * (parallel optimizer of the graph compiler, ENABLE_LESS_MEM_VPP). */

typedef struct calc_balance_parts {
    int64_t stages, chunks, microbatches;
    int64_t first; /**< micro-batches of the first part */
    int64_t slack; /**< forwards of the warm-up for each stage behind */
} calc_balance_parts;

calc_balance_parts calc_balance_parts_of(const calc_schedule_shape *shape, bool less_memory);

/** A forward or backward of a stage. */
typedef struct calc_balance_turn {
    int64_t chunk, microbatch;
} calc_balance_turn;

/** The k-th forward (of every stage), or backward. */
calc_balance_turn calc_balance_forward(const calc_balance_parts *parts, int64_t k);
calc_balance_turn calc_balance_backward(const calc_balance_parts *parts, int64_t k);

/** Forwards before the first backward. */
int64_t calc_balance_warm_up(const calc_balance_parts *parts, int64_t stage);

/** A forward or backward of a micro-batch, and the passes that it waits for: the one before it on
 * its stage, and one along the model; -1: none. */
typedef struct calc_balance_pass {
    int what; /**< 2 place, or 2 place + 1 backward */
    int before, input;
} calc_balance_pass;

/** How many there are. */
size_t calc_balance_passes(const calc_balance_parts *parts);

/** All passes of a step, each behind those that it waits for, by whose indices it names them.
 *  @param pass, room  [calc_balance_passes()], both written */
void calc_balance_passes_of(const calc_balance_parts *parts, calc_balance_pass *pass, int *room);

/** Time of a step, every pass simulated [s]. @param take_s  [what]
 *  @param end_s  [passes], written: when each of them ends */
double calc_balance_passes_s(const calc_balance_pass *pass, size_t passes, const double *take_s,
                             double *end_s);

/** Workspace of simulated steps, and the passes of the last two shapes. Starts with zeros. */
typedef struct calc_balance_room {
    void *bytes;
    size_t size;
    calc_balance_parts parts[2];
    calc_balance_pass *pass[2];
} calc_balance_room;

void calc_balance_room_end(calc_balance_room *room);

/** The step alone [s]. */
double calc_balance_step_s(const calc_balance_problem *problem, const calc_balance_share *share,
                           calc_balance_room *room);

#endif
