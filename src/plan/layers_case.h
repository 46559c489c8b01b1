/** @file layers_case.h  A candidate made ready to be solved: the options of its layers and ends,
 * and the time that switching between them takes. And a lower bound of the step of every list of
 * its layers, without solving it: a relaxation in which stages may have fractions of layers, and
 * layers any mixture of options. */
#ifndef CALC_PLAN_LAYERS_CASE_H
#define CALC_PLAN_LAYERS_CASE_H

#include "layerwise/stage.h"
#include "plan/layers_list.h"

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
 *  @return CALC_OK; CALC_ERR_RULE if there are none; CALC_ERR_NOMEM */
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
