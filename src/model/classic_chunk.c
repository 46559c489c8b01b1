#include "model/classic_chunk.h"

#include "model/offload.h"

void calc_classic_chunk_of(const calc_app *app, const calc_system *system, const calc_exec *e,
                           calc_classic_chunk *out)
{
    calc_layer layers[CALC_MAX_LAYERS];
    size_t count = calc_block_layers(app, e, layers);
    calc_block_profile(app, system, e, CALC_COMPAT_NONE, layers, count, &out->block);
    out->optimizer = (calc_optimizer_block){0};
    if (e->training) {
        calc_optimizer context = calc_optimizer_of(system, e);
        calc_optimizer_profile(&context, layers, count, &out->optimizer);
    }
    int64_t microbatches = e->batch_size / e->data_par / e->microbatch_size;
    out->pipeline = calc_pipeline_split(app->num_blocks, e->pipeline_par, e->pipeline_interleaving,
                                        microbatches);
    calc_step_block b = calc_step_block_of(&out->block);
    calc_offload offload = calc_offload_of(e, &out->block, &out->optimizer);
    double base_blocks = out->pipeline.base_blocks;
    out->fw_message_s = calc_pipeline_message_s(&system->networks[e->pipeline_par_net],
                                                calc_pipeline_message_bytes(app, e),
                                                out->pipeline.stages, CALC_COMPAT_NONE);
    out->bw_message_s = e->training ? out->fw_message_s : 0;
    out->fw = calc_step_pass_of(b.fw_base_s, b.fw_edge_s, b.fw_mem_s, out->fw_message_s,
                                calc_memory_tier_s(&system->mem2, offload.fw_bytes), base_blocks);
    out->bw = calc_step_pass_of(b.bw_base_s, b.bw_edge_s, b.bw_mem_s, out->bw_message_s,
                                calc_memory_tier_s(&system->mem2, offload.bw_bytes), base_blocks);
}
