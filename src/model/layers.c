/* calc_layers(): the statistics of each layer of the block. */
#include <math.h>

#include "calc.h"
#include "model/block.h"
#include "model/operator_stats.h"
#include "model/optimizer.h"
#include "model/tensor_par.h"
#include "spec/extended.h"

/* One pass over a layer, in the order of its statistics. */
typedef struct layer_pass {
    double flop, bytes, intensity, processing_s;
    double tile_bytes[CALC_BLOCK_PLACES], comm_bytes[CALC_BLOCK_PLACES];
    double link_s[CALC_BLOCK_PLACES], exposed_s[CALC_BLOCK_PLACES];
} layer_pass;

/* FLOP per byte; 0 for no arithmetic, infinite for arithmetic on nothing. */
static double intensity(double flop, double bytes)
{
    return flop == 0 ? 0 : bytes == 0 ? INFINITY : flop / bytes;
}

static layer_pass evaluate(const calc_tensor_par *tp, const calc_layer *layer, calc_stage stage)
{
    layer_pass p = {.flop = layer->flop[stage], .bytes = layer->bytes[stage]};
    p.intensity = intensity(p.flop, p.bytes);
    for (calc_block_place place = CALC_BASE_BLOCK; place < CALC_BLOCK_PLACES; place++) {
        p.tile_bytes[place] = calc_tensor_par_tile_bytes(tp, layer, stage, place);
        p.comm_bytes[place] = calc_tensor_par_bytes(tp, layer, stage, place);
        p.link_s[place] = calc_tensor_par_link_s(tp, layer, stage, place);
    }
    calc_tensor_par_times times = calc_tensor_par_overlapped(
        tp, layer, calc_tensor_par_flop_s(tp, layer, stage),
        calc_tensor_par_mem_s(tp, layer, stage), p.link_s[CALC_BASE_BLOCK]);
    p.processing_s = times.processing_s;
    bool alone = layer->comm == CALC_LAYER_COMM_ALONE;
    for (calc_block_place place = CALC_BASE_BLOCK; place < CALC_BLOCK_PLACES; place++) {
        p.exposed_s[place] = alone ? p.link_s[place] : times.exposed_s;
    }
    return p;
}

static calc_layer_stats layer_stats(const calc_tensor_par *tp, const calc_optimizer *optimizer,
                                    const calc_layer *layer)
{
    enum { BASE = CALC_BASE_BLOCK, EDGE = CALC_EDGE_BLOCK };
    layer_pass fw = evaluate(tp, layer, CALC_STAGE_FW);
    layer_pass agrad = evaluate(tp, layer, CALC_STAGE_AGRAD);
    layer_pass wgrad = evaluate(tp, layer, CALC_STAGE_WGRAD);
    double optim_flop = calc_optimizer_flop(optimizer, layer);
    double optim_bytes = calc_optimizer_bytes(optimizer, layer);
    double optim_flop_s;
    double optim_mem_s;
    return (calc_layer_stats){
        .name = layer->name,
        .inputs_size = layer->inputs,
        .outputs_size = layer->outputs,
        .fw_flops = fw.flop,
        .fw_mem_accessed = fw.bytes,
        .fw_arithmetic_intensity = fw.intensity,
        .fw_processing_time = fw.processing_s,
        .baseblock_fw_tp_comm_tile = fw.tile_bytes[BASE],
        .edgeblock_fw_tp_comm_tile = fw.tile_bytes[EDGE],
        .baseblock_fw_tp_comm_size = fw.comm_bytes[BASE],
        .edgeblock_fw_tp_comm_size = fw.comm_bytes[EDGE],
        .baseblock_fw_tp_comm_time = fw.link_s[BASE],
        .edgeblock_fw_tp_comm_time = fw.link_s[EDGE],
        .baseblock_fw_tp_comm_time_exposed = fw.exposed_s[BASE],
        .edgeblock_fw_tp_comm_time_exposed = fw.exposed_s[EDGE],
        .agrad_flops = agrad.flop,
        .agrad_mem_accessed = agrad.bytes,
        .agrad_arithmetic_intensity = agrad.intensity,
        .agrad_processing_time = agrad.processing_s,
        .baseblock_bw_tp_comm_tile = agrad.tile_bytes[BASE],
        .edgeblock_bw_tp_comm_tile = agrad.tile_bytes[EDGE],
        .baseblock_bw_tp_comm_size = agrad.comm_bytes[BASE],
        .edgeblock_bw_tp_comm_size = agrad.comm_bytes[EDGE],
        .baseblock_bw_tp_comm_time = agrad.link_s[BASE],
        .edgeblock_bw_tp_comm_time = agrad.link_s[EDGE],
        .baseblock_bw_tp_comm_time_exposed = agrad.exposed_s[BASE],
        .edgeblock_bw_tp_comm_time_exposed = agrad.exposed_s[EDGE],
        .wgrad_flops = wgrad.flop,
        .wgrad_mem_accessed = wgrad.bytes,
        .wgrad_arithmetic_intensity = wgrad.intensity,
        .wgrad_processing_time = wgrad.processing_s,
        .baseblock_recomm_tile = wgrad.tile_bytes[BASE],
        .edgeblock_recomm_tile = wgrad.tile_bytes[EDGE],
        .baseblock_recomm_size = wgrad.comm_bytes[BASE],
        .edgeblock_recomm_size = wgrad.comm_bytes[EDGE],
        .baseblock_recomm_time = wgrad.link_s[BASE],
        .edgeblock_recomm_time = wgrad.link_s[EDGE],
        .baseblock_recomm_time_exposed = wgrad.exposed_s[BASE],
        .edgeblock_recomm_time_exposed = wgrad.exposed_s[EDGE],
        .optim_flops = optim_flop,
        .optim_mem_accessed = optim_bytes,
        .optim_arithmetic_intensity = intensity(optim_flop, optim_bytes),
        .optim_processing_time =
            calc_optimizer_layer_s(optimizer, layer, &optim_flop_s, &optim_mem_s),
        .weight = layer->weight_bytes,
        .activation = layer->activation_bytes,
        .weight_grad = calc_optimizer_grad_bytes(optimizer, layer),
        .activation_grad = layer->activation_grad_bytes,
        .optimizer = optim_bytes,
    };
}

size_t calc_layers(const calc_app *app, const calc_system *system, const calc_exec *exec,
                   calc_layer_stats *out, size_t capacity)
{
    if (calc_extended(app, system, exec)) {
        return calc_operator_stats(app, system, exec, out, capacity);
    }
    calc_layer layers[CALC_MAX_LAYERS];
    size_t count = calc_block_layers(app, exec, layers);
    calc_tensor_par tp = calc_tensor_par_of(system, exec);
    calc_optimizer optimizer = calc_optimizer_of(system, exec);
    for (size_t i = 0; i < count && i < capacity; i++) {
        out[i] = layer_stats(&tp, &optimizer, &layers[i]);
    }
    return count;
}
