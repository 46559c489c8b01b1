/** @file simulation.h  Simulates one step of a layout, operation by operation, for pictures. */
#ifndef CALC_CLI_RUN_SIMULATION_H
#define CALC_CLI_RUN_SIMULATION_H

#include "cli/shell/inputs.h"
#include "model/timeline.h"

/** Owns its arrays. Borrows the inputs; not to be copied. Start with {0}. */
typedef struct calc_simulation {
    calc_timeline timeline;
    double pipeline_s;
    calc_schedule_stage *stage; /**< [timeline.shape.stages] */
    calc_schedule_events events;
    int64_t *live; /**< [timeline.shape.stages] scratch: activations each stage holds */
} calc_simulation;

/** Simulate a step.
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED, CALC_ERR_RANGE or CALC_ERR_NOMEM, with an error */
CALC_MUST_USE calc_status calc_simulation_run(calc_simulation *simulation,
                                              const calc_inputs *inputs, calc_errors *errors);

/** Whether an event and the next one are a forward and a backward that run at once. Not for the
 *  last event. */
bool calc_simulation_paired(const calc_schedule_event *event);

/** Free the arrays; fine on {0}. */
void calc_simulation_free(calc_simulation *simulation);

/** calc_run_exact() with a workspace of its own. */
CALC_MUST_USE calc_status calc_simulation_stats(const calc_inputs *inputs, calc_stats *stats,
                                                calc_errors *errors);

#endif
