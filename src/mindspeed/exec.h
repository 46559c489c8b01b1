/** @file exec.h  Builds calc's execution for a configuration: the script's settings of the model
 *  and its execution, with the sizes of the configuration in place of the script's. */
#ifndef CALC_MINDSPEED_EXEC_H
#define CALC_MINDSPEED_EXEC_H

#include "formats/plan.h"
#include "mindspeed/config.h"

/** Builds the model and the execution of a configuration. Ring attention together with Ulysses
 *  becomes hierarchical context parallelism with Ulysses inside. Stages are even and scheduled
 *  1F1B, whatever the script sets.
 *  @param plan  the script's settings
 *  @return CALC_OK; or CALC_ERR_RULE or CALC_ERR_RANGE with an error added */
CALC_MUST_USE calc_status calc_mindspeed_exec_of(const calc_plan *plan,
                                                 const calc_mindspeed_config *config, calc_app *app,
                                                 calc_exec *exec, calc_errors *errors);

#endif
