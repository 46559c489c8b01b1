/** @file layers_option.h  What one layer, or one end of the model, takes and holds with each
 *  strategy that it may have: the numbers of stage_step.h, block by block. */
#ifndef CALC_PLAN_LAYERS_OPTION_H
#define CALC_PLAN_LAYERS_OPTION_H

#include "model/stages/layout.h"

/** Parts of the model. Where dense layers and those with experts take turns, a layer is their mean,
 *  and of kind CALC_LAYERS_MOE. */
typedef enum calc_layers_kind {
    CALC_LAYERS_DENSE,
    CALC_LAYERS_MOE,
    CALC_LAYERS_EMBEDDING,
    CALC_LAYERS_HEAD,
    CALC_LAYERS_PARTS
} calc_layers_kind;

/** One of them. Times of a step are sums over its parts, but for what hides behind others. */
typedef struct calc_layers_part {
    double micro_s;            /**< a micro-batch, forward and backward; */
    double fw_s, wgrad_s;      /**< of it */
    double reduce_s, gather_s; /**< gradients and updated weights on the link, in a step */
    double reduce_room_s;      /**< what of its passes can hide the former, */
    double gather_room_s;      /**< and the latter */
    double optimizer_s;        /**< in a step */
    double held_bytes;         /**< weights, gradients, optimizer */
    double flight_bytes;       /**< activations of a micro-batch in flight */
    double working_bytes;      /**< beside them, while a pass runs through it: activations, */
    double passing_bytes;      /**< and sharded weights and gradients that are whole then */
} calc_layers_part;

/** A strategy. */
typedef struct calc_layers_option {
    calc_layer_strategy strategy;
    int group;      /**< options of a group follow one another at no cost */
    bool ends;      /**< embedding and head may have it */
    bool layers[2]; /**< layers of a kind may have it */
    calc_layers_part part[CALC_LAYERS_PARTS];
    double framework_bytes[2][2], framework_head_bytes;
    double message_s; /**< between stages, of all chunks and both ways, what is not hidden */
    double tied_s;    /**< gradients of a table that both ends share, in a step */
} calc_layers_option;

/** What the options of a layout have in common. */
typedef struct calc_layers_common {
    double stages, chunks, microbatches;
    double growth;     /**< of the pipeline's time: stragglers */
    double after_s;    /**< of a step: overhead */
    double contention; /**< of links and passes beside them */
    double last_share; /**< of the link's time that nothing is left to hide behind */
    double used_share, reserved_bytes, capacity_bytes;
    int layers[2];          /**< dense, with experts */
    calc_stage_terms terms; /**< of the base: for what micro-batches are in flight */
    calc_pipeline_schedule schedule;
} calc_layers_common;

/** What layouts with a strategy have in common with those of others.
 *  @param layout  of any of them */
calc_layers_common calc_layers_common_of(const calc_layout *layout);

/** Its parts and what goes with them; the members before .part are left alone.
 *  @param layout  with that strategy everywhere */
void calc_layers_option_of(const calc_layout *layout, calc_layers_option *out);

/** Micro-batches that a stage holds at its peak. */
double calc_layers_in_flight(const calc_layers_common *common, int stage);

/** What of a stage's gradients and weights is not hidden [s]. @param part  sums over the stage */
double calc_layers_exposed_s(const calc_layers_common *common, const calc_layers_part *part);

/** Lines that are nowhere above it, in a part's time on the link and its room: what is exposed of
 *  communication that hides, and of one that is longer than what it hides behind.
 *  @param share  of the latter, in [0, 1]; the rest is the former's */
double calc_layers_exposed_line_s(const calc_layers_common *common, double link_s, double room_s,
                                  double share);

/** Whether it is longer. */
bool calc_layers_is_longer(const calc_layers_common *common, double link_s, double room_s);

/** Add `times` of a part to sums; working_bytes and passing_bytes are the most. */
void calc_layers_part_add(calc_layers_part *sum, const calc_layers_part *part, double times);

#endif
