/** @file modelled.h  Evaluates a configuration by calc's own model, where nothing was measured. */
#ifndef CALC_MINDSPEED_MODELLED_H
#define CALC_MINDSPEED_MODELLED_H

#include "mindspeed/exec.h"

/** Answers of calc's model. */
typedef struct calc_mindspeed_modelled {
    double step_s;      /**< time of a training step; infinite: calc cannot lay it out */
    double peak_bytes;  /**< peak of the fullest device; infinite as above */
    double layer_bytes; /**< activations that one layer keeps for one micro-batch */
    bool fits;          /**< it fits the memory and the networks of the system */
    char why[320];      /**< reason why it cannot be laid out; else "" */
} calc_mindspeed_modelled;

/** Evaluates a configuration.
 *  @param plan  the script's settings (exec.h) */
calc_mindspeed_modelled calc_mindspeed_modelled_of(const calc_plan *plan, const calc_system *system,
                                                   const calc_mindspeed_config *config);

#endif
