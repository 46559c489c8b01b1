/** @file exec.h  A configuration as calc's execution: what the script says of the model and of how
 * it is computed, with the sizes of the configuration in place of the script's. */
#ifndef CALC_MINDSPEED_EXEC_H
#define CALC_MINDSPEED_EXEC_H

#include "formats/plan.h"
#include "mindspeed/config.h"

/** The model and the execution of a configuration. Ring attention and Ulysses together are
 *  hierarchical context parallelism with Ulysses inside; stages are even, and scheduled 1F1B,
 *  whatever the script says of them.
 *  @param plan  what the script says
 *  @return CALC_OK; or CALC_ERR_RULE or CALC_ERR_RANGE with an error added */
CALC_MUST_USE calc_status calc_mindspeed_exec_of(const calc_plan *plan,
                                                 const calc_mindspeed_config *config, calc_app *app,
                                                 calc_exec *exec, calc_errors *errors);

#endif
