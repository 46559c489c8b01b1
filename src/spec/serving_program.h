/** @file serving_program.h  Programs that serve a model, as far as they are not a matter of speed:
 *  how they spread experts. */
#ifndef CALC_SPEC_SERVING_PROGRAM_H
#define CALC_SPEC_SERVING_PROGRAM_H

#include "calc.h"

/** Whether experts are spread over exactly the ranks that split all layers: these have all tokens,
 *  and none is sent. */
bool calc_serving_program_replicates(const calc_strategy *strategy);

/** How programs bring tokens to experts that are spread over expert_par * expert_tensor_par ranks:
 *  not at all where all ranks have them; otherwise once to every rank, and where tensor parallelism
 *  splits attention, too, its ranks have different tokens. Sets dispatch_type and
 *  tensor_par_comm_type. */
void calc_serving_program_spread(calc_strategy *strategy);

#endif
