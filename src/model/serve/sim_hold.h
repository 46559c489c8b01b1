/** @file sim_hold.h  Requests of a simulation that an engine holds for some steps, as hold.h says.
 */
#ifndef CALC_MODEL_SIM_HOLD_H
#define CALC_MODEL_SIM_HOLD_H

#include "model/serve/sim_step.h"

/** Whether a stream has nothing to do. */
bool calc_sim_idle(const calc_sim_stream *stream);

/** Whether requests that wait may join the pass that a stream begins now; counts its steps. */
bool calc_sim_takes(const calc_sim *sim, calc_sim_server *server, calc_sim_stream *stream,
                    double at_s);

/** After a pass with prompts an engine looks for more; one that gathers them begins anew. */
void calc_sim_prefilled(const calc_sim *sim, calc_sim_stream *stream);

#endif
