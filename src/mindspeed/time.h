/** @file time.h  Samples of a configuration's step time. */
#ifndef CALC_MINDSPEED_TIME_H
#define CALC_MINDSPEED_TIME_H

#include "mindspeed/compose.h"

/** Builds the model and the execution of a configuration. @return false if calc has none */
typedef bool calc_mindspeed_time_exec(const void *context, const calc_mindspeed_config *config,
                                      calc_app *app, calc_exec *exec);

/** Reads the profile of a configuration's modules. @return false if there is none */
typedef bool calc_mindspeed_time_modules(const void *context, const calc_mindspeed_config *config,
                                         calc_mindspeed_module_times *out);

/** The inputs for times. Borrows. */
typedef struct calc_mindspeed_judge {
    const calc_mindspeed_job *job;
    const calc_system *system;
    calc_mindspeed_time_exec *exec;
    const void *exec_context;
    calc_mindspeed_operators *operators;  /**< NULL: calc's times without spread */
    calc_mindspeed_comm *comm;            /**< NULL: calc's collectives */
    calc_mindspeed_time_modules *modules; /**< NULL: times from operators; else from modules if they
                                           *  were profiled, without spread */
    const void *modules_context;
} calc_mindspeed_judge;

/** Fills in samples [s]. With operators, the i-th samples of all configurations use the same draw
 *  of all operators, so that configurations can be compared sample by sample.
 *  @param count  with operators, their sampling.samples
 *  @return false, with infinite samples, if calc has no such execution, if its time is not valid,
 *  or if out of memory */
bool calc_mindspeed_time(const calc_mindspeed_judge *judge, const calc_mindspeed_config *config,
                         double *samples_s, size_t count);

#endif
