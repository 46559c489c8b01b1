/** @file layers_list.h  The candidates of a planner of layers: layouts of its space that differ
 * only in fields that each layer may set for itself; and the time and memory of a layer, and of the
 * ends of the model, with such an option. */
#ifndef CALC_PLAN_LAYERS_LIST_H
#define CALC_PLAN_LAYERS_LIST_H

#include "layerwise/stage.h"
#include "model/stages/layout.h"
#include "plan/planner.h"

/** Parts of the model. Where dense layers and layers with experts take turns, a layer is their mean
 *  and of kind CALC_LAYERS_MOE. */
typedef enum calc_layers_kind {
    CALC_LAYERS_DENSE,
    CALC_LAYERS_MOE,
    CALC_LAYERS_EMBEDDING,
    CALC_LAYERS_HEAD,
    CALC_LAYERS_PARTS
} calc_layers_kind;

/** Numbers of one part. Times of a step are sums over its parts, except for communication hidden
 *  behind other parts. */
typedef struct calc_layers_part {
    double micro_s;            /**< a micro-batch, forward and backward, with */
    double fw_s, wgrad_s;      /**< forward, and gradients of weights */
    double reduce_s, gather_s; /**< gradients and updated weights on the link, in a step */
    double reduce_room_s;      /**< time of its passes that can hide reduce_s, */
    double gather_room_s;      /**< and gather_s */
    double optimizer_s;        /**< in a step */
    double held_bytes;         /**< weights, gradients, optimizer */
    double flight_bytes;       /**< activations of a micro-batch in flight */
    double working_bytes;      /**< in addition while a pass runs through it: activations, */
    double passing_bytes;      /**< and sharded weights and gradients gathered for the pass */
} calc_layers_part;

/** A strategy. */
typedef struct calc_layers_option {
    calc_layer_strategy strategy;
    int group;      /**< options of a group follow one another at no cost */
    bool ends;      /**< embedding and head may have it */
    bool layers[2]; /**< layers of a kind may have it */
    calc_layers_part part[CALC_LAYERS_PARTS];
    double framework_bytes[2][2], framework_head_bytes;
    double message_s; /**< exposed messages between stages, of all chunks, both ways */
    double tied_s;    /**< gradients of a table that both ends share, in a step */
} calc_layers_option;

/** Numbers common to the options of a layout. */
typedef struct calc_layers_common {
    double stages, chunks, microbatches;
    double growth;     /**< factor on the pipeline's time: stragglers */
    double after_s;    /**< of a step: overhead */
    double contention; /**< between links and passes that run at the same time */
    double last_share; /**< share of the link's time that no pass is left to hide */
    double used_share, reserved_bytes, capacity_bytes;
    int layers[2];          /**< dense, with experts */
    calc_stage_terms terms; /**< of the base: to count micro-batches in flight */
    calc_pipeline_schedule schedule;
} calc_layers_common;

/** Micro-batches in flight on a stage at its peak. */
double calc_layers_in_flight(const calc_layers_common *common, int stage);

/** Exposed time of a stage's communication of gradients and weights [s]. @param part  sums over the
 *  stage */
double calc_layers_exposed_s(const calc_layers_common *common, const calc_layers_part *part);

/** A linear lower bound of the exposed time of one communication, in its time on the link and the
 *  time that can hide it: a mean of two lines, one tight where communication is hidden, the other
 *  where it is longer than the passes that hide it.
 *  @param share  weight of the latter, in [0, 1]; the former has the rest */
double calc_layers_exposed_line_s(const calc_layers_common *common, double link_s, double room_s,
                                  double share);

/** Whether communication is longer than the passes that can hide it. */
bool calc_layers_is_longer(const calc_layers_common *common, double link_s, double room_s);

/** Add a part `times` times to sums; working_bytes and passing_bytes are maxima. */
void calc_layers_part_add(calc_layers_part *sum, const calc_layers_part *part, double times);

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

/** Fill it. @return as calc_units_walk(); it must be freed in any case */
CALC_MUST_USE calc_status calc_layers_list_make(const calc_planner *planner,
                                                calc_layers_list *list);
void calc_layers_list_free(calc_layers_list *list);

/** Owns its options; free with calc_layers_case_free(). */
typedef struct calc_layers_case {
    const calc_layers_candidate *candidate;
    calc_layers_common common;
    int options;
    calc_layers_option *option;
    bool cut; /**< there were more options than the search can handle */
    int groups;
    double switch_s[CALC_LAYERWISE_GROUPS * CALC_LAYERWISE_GROUPS];
    /** The same with shortest paths, so that no detour is shorter, as calc_layerwise_stage
     *  requires; never larger than switch_s. */
    double detour_s[CALC_LAYERWISE_GROUPS * CALC_LAYERWISE_GROUPS];
    double micro_weight; /**< weight of the slowest stage's micro-batch in a step: their number
                              times 1 + growth */
} calc_layers_case;

/** Collect the options of a candidate's layers and ends. *out must be freed in any case.
 *  @return CALC_OK, or CALC_ERR_RULE if there are none */
CALC_MUST_USE calc_status calc_layers_case_of(const calc_planner *planner,
                                              const calc_layers_candidate *candidate,
                                              calc_layers_case *out);

void calc_layers_case_free(calc_layers_case *out);

/** Whether a stage has the embedding, or the head. */
static inline bool calc_layers_is_first(int stage)
{
    return stage == 0;
}

static inline bool calc_layers_is_last(const calc_layers_case *c, int stage)
{
    return stage == (int)c->common.stages - 1;
}

/** Time and memory of a stage beside its layers. @param ends  option of embedding and head */
calc_layers_part calc_layers_ends_of(const calc_layers_case *c, int ends, int stage);

/** Memory left for the layers, including all that they hold while a pass runs through them [bytes].
 *  @param layers  whether there are any of each kind */
double calc_layers_room_bytes(const calc_layers_case *c, int ends, int stage, const int layers[2]);

/** Bytes that a layer holds on a stage. @param in_flight  calc_layers_in_flight() */
static inline double calc_layers_bytes(const calc_layers_part *p, double in_flight)
{
    return p->held_bytes + in_flight * p->flight_bytes;
}

/** A linear lower bound of calc_layers_weighted_s(), at these weights of the two lines of gradients
 *  and of weights: calc_layers_exposed_line_s(). @param part  of a layer, or sums over a stage */
double calc_layers_least_s(const calc_layers_case *c, const calc_layers_part *part, double reduce,
                           double gather);

/** Time that the slowest stage adds to a step, divided by micro_weight [s]: a micro-batch, and its
 *  share of the work at the end of the step. @param part  sums over the stage */
double calc_layers_weighted_s(const calc_layers_case *c, const calc_layers_part *part);

/** A lower bound of a step [s]; INFINITY if the layers do not fit.
 *  @param ends  option of embedding and head; -1: any */
double calc_layers_bound_s(const calc_layers_case *c, int ends);

/** Bounds of a pipeline that hold for every division of its layers. */
typedef struct calc_layers_floor {
    double through_s; /**< least time of a micro-batch on all stages together */
    double stage_s;   /**< and on a stage before others, until the next one may begin */
    double forward;   /**< largest share of the forward pass in layers and ends, */
    double between_s; /**< and forward time beside these: messages, and two switches */
    double after_s;   /**< time of a step after the pipeline */
} calc_layers_floor;

/** @param ends  option of embedding and head; -1: any */
calc_layers_floor calc_layers_floor_of(const calc_layers_case *c, int ends);

/** The weighted time (calc_layers_weighted_s) that a stage may take in a step of a given length.
 *  Two arguments bound it. Before the stage's first pass and after its last one a micro-batch is on
 *  the stages before it. And while the first micro-batch goes through all stages and back, the
 *  stage also has to process all others, except for the forwards that fit in between. */
double calc_layers_allowed_s(const calc_layers_case *c, const calc_layers_floor *floor, int stage,
                             double step_s);

#endif
