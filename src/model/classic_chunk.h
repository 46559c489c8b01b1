/** @file classic_chunk.h  One chunk of a layout that uses Calculon's fields only, with everything
 *  it is made of: Calculon charges all chunks of all stages alike. Without its known defects. */
#ifndef CALC_MODEL_CLASSIC_CHUNK_H
#define CALC_MODEL_CLASSIC_CHUNK_H

#include "model/block.h"
#include "model/optimizer.h"
#include "model/pipeline.h"
#include "model/step.h"

typedef struct calc_classic_chunk {
    calc_block block;
    calc_optimizer_block optimizer;
    calc_pipeline pipeline;
    calc_step_pass fw, bw;             /**< one micro-batch, messages and offload included */
    double fw_message_s, bw_message_s; /**< 0 where none is sent */
} calc_classic_chunk;

/** Fill it. If the chunks do not divide the blocks (pipeline.chunks_fit), times are NaN. */
void calc_classic_chunk_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                           calc_classic_chunk *out);

#endif
