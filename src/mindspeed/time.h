/** @file time.h  Time of a step of a configuration, as samples of what it may be. */
#ifndef CALC_MINDSPEED_TIME_H
#define CALC_MINDSPEED_TIME_H

#include "mindspeed/compose.h"

/** The model and the execution that a configuration is. @return false if calc has none */
typedef bool calc_mindspeed_time_exec(const void *context, const calc_mindspeed_config *config,
                                      calc_app *app, calc_exec *exec);

/** The profile of a configuration's modules. @return false if there is none */
typedef bool calc_mindspeed_time_modules(const void *context, const calc_mindspeed_config *config,
                                         calc_mindspeed_module_times *out);

/** What times are judged by. Borrows. */
typedef struct calc_mindspeed_judge {
    const calc_mindspeed_job *job;
    const calc_system *system;
    calc_mindspeed_time_exec *exec;
    const void *exec_context;
    calc_mindspeed_operators *operators;  /**< NULL: calc's times without spread */
    calc_mindspeed_comm *comm;            /**< NULL: calc's collectives */
    calc_mindspeed_time_modules *modules; /**< NULL: by operators; else by modules where they were
                                               profiled, without spread */
    const void *modules_context;
} calc_mindspeed_judge;

/** Fill in samples [s]. With operators the i-th sample of every configuration is of the same draw
 *  of all operators, so that configurations can be compared sample by sample.
 *  @param count  with operators, their sampling.samples
 *  @return false, with samples that are infinite, if calc has no such execution, if its time is
 *  none, or if memory is short */
bool calc_mindspeed_time(const calc_mindspeed_judge *judge, const calc_mindspeed_config *config,
                         double *samples_s, size_t count);

#endif
