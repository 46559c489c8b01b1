#include "model/pipeline.h"

#include <math.h>

#include "model/layer.h"
#include "model/network.h"

calc_pipeline calc_pipeline_split(int64_t num_blocks, int64_t pipeline_par,
                                  int64_t pipeline_interleaving, int64_t num_microbatches)
{
    int64_t uneven = num_blocks % pipeline_par;
    int64_t blocks_per_proc = num_blocks / pipeline_par + (uneven != 0);
    int64_t blocks_per_chunk = blocks_per_proc / pipeline_interleaving;
    double stages = (double)pipeline_par;
    double chunks = (double)pipeline_interleaving;
    bool chunks_fit = blocks_per_proc % pipeline_interleaving == 0;
    /* A step goes through the pipeline in rounds of one micro-batch per stage. */
    int64_t last_round = num_microbatches % pipeline_par;
    calc_pipeline out = {
        .stages = stages,
        .chunks = chunks,
        .microbatches = (double)num_microbatches,
        .blocks_per_proc = (double)blocks_per_proc,
        .missing_blocks = uneven == 0 ? 0 : (double)(pipeline_par - uneven),
        .blocks_per_chunk = chunks_fit ? (double)blocks_per_chunk : NAN,
        .base_blocks = chunks_fit ? (double)(blocks_per_chunk - 1) : NAN,
        .in_flight = (double)(num_microbatches < pipeline_par ? num_microbatches : pipeline_par),
        .extra_bubbles = last_round == 0
                             ? 0
                             : (double)((pipeline_interleaving - 1) * (pipeline_par - last_round)),
        .last_round = last_round == 0 ? stages : (double)last_round,
        .chunks_fit = chunks_fit,
    };
    out.rounds = out.microbatches * chunks + (stages - 1) + out.extra_bubbles;
    if (pipeline_interleaving > 1) {
        out.in_flight *= 1 + (stages - 1) / (chunks * stages);
    }
    return out;
}

double calc_pipeline_message_bytes(const calc_app *app, const calc_exec *exec)
{
    if (exec->pipeline_par == 1) {
        return 0;
    }
    double tokens = (double)exec->microbatch_size * (double)app->seq_size;
    if (exec->tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR) {
        tokens /= (double)exec->tensor_par;
    }
    return tokens * (double)app->hidden * calc_datatype_bytes(exec->datatype);
}

double calc_pipeline_message_s(const calc_network *network, double bytes, double stages,
                               calc_compat compat)
{
    if ((stages == 1 || bytes == 0) && compat != CALC_COMPAT_CALCULON) {
        return 0;
    }
    return calc_network_s(network, &network->ops.p2p, bytes, 2);
}
