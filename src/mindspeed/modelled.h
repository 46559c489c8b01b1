/** @file modelled.h  A configuration by calc's own model: what is not measured. */
#ifndef CALC_MINDSPEED_MODELLED_H
#define CALC_MINDSPEED_MODELLED_H

#include "mindspeed/exec.h"

/** Answers of calc's model. */
typedef struct calc_mindspeed_modelled {
    double step_s;      /**< of a training step; infinite: calc cannot lay it out */
    double peak_bytes;  /**< of the fullest device; infinite likewise */
    double layer_bytes; /**< activations that one layer keeps of one micro-batch */
    bool fits;          /**< in the memory of the system, and on its networks */
    char why[320];      /**< why it cannot be laid out; else "" */
} calc_mindspeed_modelled;

/** Compute a configuration.
 *  @param plan  what the script says (exec.h) */
calc_mindspeed_modelled calc_mindspeed_modelled_of(const calc_plan *plan, const calc_system *system,
                                                   const calc_mindspeed_config *config);

#endif
