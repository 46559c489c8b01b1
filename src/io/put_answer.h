/** @file put_answer.h  Writes parts of the answer to a run, as members of the open JSON object, and
 *  which ranks communicate. */
#ifndef CALC_IO_PUT_ANSWER_H
#define CALC_IO_PUT_ANSWER_H

#include "calc.h"
#include "io/json_put.h"
#include "io/output.h"

/** "reasons": verdict, text and hint of each. */
void calc_put_reasons(calc_put *put, const calc_reason *reason, size_t count);

/** "layers": the name and every statistic of each. */
void calc_put_layers(calc_put *put, const calc_layer_stats *layer, size_t count);

/** "stages": every statistic of each. */
void calc_put_stages(calc_put *put, const calc_stage_stats *stage, size_t count);

/** Write {"rank": {"tensor": [...], "pipeline": next, "data": [...]}, ...} for every rank.
 *  Rank = data * tensor_par * pipeline_par + stage * tensor_par + tensor. A group of one is left
 *  out; "pipeline" is the next stage, the first after the last. Same content as Calculon's. */
void calc_peers_save(calc_output *out, const calc_exec *exec);

#endif
