/** @file exec.h  Builds calc's execution for a configuration: the script's settings of the model
 *  and its execution, with the sizes of the configuration in place of the script's. */
#ifndef CALC_MINDSPEED_EXEC_H
#define CALC_MINDSPEED_EXEC_H

#include "formats/plan.h"
#include "mindspeed/arguments.h"

/** Builds the model and the execution of a configuration. Ring attention together with Ulysses
 *  becomes hierarchical context parallelism with Ulysses inside. Stages are even and scheduled
 *  1F1B, whatever the script sets.
 *  @param plan  the script's settings
 *  @return CALC_OK; or CALC_ERR_RULE or CALC_ERR_RANGE with an error added */
CALC_MUST_USE calc_status calc_mindspeed_exec_of(const calc_plan *plan,
                                                 const calc_mindspeed_config *config, calc_app *app,
                                                 calc_exec *exec, calc_errors *errors);

/** Answers of calc's model. */
typedef struct calc_mindspeed_modelled {
    double step_s;      /**< time of a training step; infinite: calc cannot lay it out */
    double peak_bytes;  /**< peak of the fullest device; infinite as above */
    double layer_bytes; /**< activations that one layer keeps for one micro-batch */
    bool fits;          /**< it fits the memory and the networks of the system */
    char why[320];      /**< reason why it cannot be laid out; else "" */
} calc_mindspeed_modelled;

/** Evaluates a configuration.
 *  @param plan  the script's settings */
calc_mindspeed_modelled calc_mindspeed_modelled_of(const calc_plan *plan, const calc_system *system,
                                                   const calc_mindspeed_config *config);

#endif
