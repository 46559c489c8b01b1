#include "model/tensor_par.h"

#include "model/network.h"
#include "model/processor.h"

calc_tensor_par calc_tensor_par_of(const calc_system *system, const calc_exec *exec)
{
    return (calc_tensor_par){
        .ranks = (double)exec->tensor_par,
        .element_bytes = calc_datatype_bytes(exec->datatype),
        .type = exec->tensor_par_comm_type,
        .overlap = exec->tensor_par_overlap,
        .mode = system->processing_mode,
        .network = &system->networks[exec->tensor_par_net],
        .memory = &system->mem1,
        .matrix = &system->matrix[exec->datatype],
        .vector = &system->vector[exec->datatype],
    };
}

/* Whether the place reduce-scatters and all-gathers instead of all-reducing: an edge block of
 * p2p_rs_ag already scatters what it hands to the next stage. */
static bool is_split(const calc_tensor_par *tp, calc_block_place place)
{
    return tp->type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG ||
           (tp->type == CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG && place == CALC_EDGE_BLOCK);
}

/* The operation of a pass; NULL for an identity. */
static const calc_network_op *operation(const calc_tensor_par *tp, const calc_layer *layer,
                                        calc_stage stage, calc_block_place place)
{
    if (layer->comm == CALC_LAYER_COMM_NONE || tp->ranks == 1 ||
        (stage == CALC_STAGE_WGRAD && !(layer->flags & CALC_LAYER_RECOMM))) {
        return NULL;
    }
    const calc_network_ops *ops = &tp->network->ops;
    bool split = is_split(tp, place);
    /* The weight-gradient pass repeats what forward did. */
    bool reduces = layer->conjugate ? stage != CALC_STAGE_AGRAD : stage == CALC_STAGE_AGRAD;
    if (reduces) {
        return split ? &ops->reduce_scatter : &ops->all_reduce;
    }
    return split ? &ops->all_gather : NULL;
}

double calc_tensor_par_bytes(const calc_tensor_par *tp, const calc_layer *layer, calc_stage stage,
                             calc_block_place place)
{
    return operation(tp, layer, stage, place) ? layer->comm_bytes : 0;
}

double calc_tensor_par_tile_bytes(const calc_tensor_par *tp, const calc_layer *layer,
                                  calc_stage stage, calc_block_place place)
{
    double bytes = calc_tensor_par_bytes(tp, layer, stage, place);
    return layer->comm == CALC_LAYER_COMM_OVERLAPPED ? bytes / tp->ranks : bytes;
}

double calc_tensor_par_link_s(const calc_tensor_par *tp, const calc_layer *layer, calc_stage stage,
                              calc_block_place place)
{
    if (layer->comm == CALC_LAYER_COMM_NONE || tp->ranks == 1) {
        return 0;
    }
    const calc_network_op *op = operation(tp, layer, stage, place);
    double network_s = op ? calc_network_s(tp->network, op, layer->comm_bytes, tp->ranks) : 0;
    if (layer->comm == CALC_LAYER_COMM_ALONE) {
        return network_s + calc_processing_s(tp->mode, calc_tensor_par_flop_s(tp, layer, stage),
                                             calc_tensor_par_mem_s(tp, layer, stage));
    }
    calc_stage reducing = layer->conjugate ? CALC_STAGE_FW : CALC_STAGE_AGRAD;
    if (stage == reducing) {
        double elements = layer->comm_bytes / tp->element_bytes;
        network_s += calc_engine_s(tp->vector, elements * (tp->ranks - 1) / tp->ranks);
    }
    return network_s;
}

calc_tensor_par_times calc_tensor_par_overlapped(const calc_tensor_par *tp, const calc_layer *layer,
                                                 double flop_s, double mem_s, double base_link_s)
{
    if (layer->comm == CALC_LAYER_COMM_ALONE) {
        return (calc_tensor_par_times){0, base_link_s};
    }
    double compute_s = calc_processing_s(tp->mode, flop_s, mem_s);
    if (base_link_s == 0) {
        return (calc_tensor_par_times){compute_s, 0};
    }
    double usage = tp->network->processor_usage;
    double tiles = tp->ranks;
    double slowed_flop_s = flop_s / (1 - usage);
    double slowed_compute_s = calc_processing_s(tp->mode, slowed_flop_s, mem_s);
    double link_tile_s = base_link_s / tiles;
    double compute_tile_s = compute_s / tiles;
    double excess_tile_s = link_tile_s - slowed_flop_s / tiles;
    calc_tensor_par_times times;
    if (excess_tile_s > 0) {
        times.processing_s = compute_tile_s + (tiles - 1) * (slowed_compute_s / tiles);
        times.exposed_s = (tiles - 1) * excess_tile_s;
    } else {
        times.processing_s =
            compute_tile_s + (tiles - 1) * compute_tile_s + (tiles - 1) * link_tile_s * usage;
        times.exposed_s = 0;
    }
    if (tp->overlap == CALC_TENSOR_PAR_OVERLAP_PIPE) {
        times.exposed_s += link_tile_s;
        times.processing_s += link_tile_s;
    }
    return times;
}

double calc_tensor_par_required_bytes_per_s(const calc_tensor_par *tp, const calc_layer *layer,
                                            double flop_s, calc_stage stage, calc_block_place place)
{
    if (layer->comm != CALC_LAYER_COMM_OVERLAPPED) {
        return 0;
    }
    double slowed_flop_s = flop_s / (1 - tp->network->processor_usage);
    return calc_tensor_par_tile_bytes(tp, layer, stage, place) / (slowed_flop_s / tp->ranks);
}
