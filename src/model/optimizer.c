#include "model/optimizer.h"

#include "model/processor.h"

/** Adam with weight decay: arithmetic per weight. */
#define FLOP_PER_WEIGHT 11
/** Master weights and moments are single precision. */
#define STATE_ELEMENT_BYTES 4

calc_optimizer calc_optimizer_of(const calc_system *system, const calc_exec *exec)
{
    return (calc_optimizer){
        .shards = exec->optimizer_sharding ? (double)exec->data_par : 1,
        .element_bytes = calc_datatype_bytes(exec->datatype),
        .mode = system->processing_mode,
        .memory = &system->mem1,
        .vector = &system->vector[exec->datatype],
    };
}

double calc_optimizer_flop(const calc_optimizer *optimizer, const calc_layer *layer)
{
    return layer->weights / optimizer->shards * FLOP_PER_WEIGHT;
}

double calc_optimizer_bytes(const calc_optimizer *optimizer, const calc_layer *layer)
{
    double moments = 2 * layer->weights * STATE_ELEMENT_BYTES;
    double master =
        optimizer->element_bytes < STATE_ELEMENT_BYTES ? layer->weights * STATE_ELEMENT_BYTES : 0;
    return (master + moments) / optimizer->shards;
}

double calc_optimizer_grad_bytes(const calc_optimizer *optimizer, const calc_layer *layer)
{
    return layer->weights * optimizer->element_bytes / optimizer->shards;
}

double calc_optimizer_layer_s(const calc_optimizer *optimizer, const calc_layer *layer,
                              double *flop_s, double *mem_s)
{
    *flop_s = calc_engine_s(optimizer->vector, calc_optimizer_flop(optimizer, layer));
    *mem_s = calc_memory_tier_s(optimizer->memory, calc_optimizer_bytes(optimizer, layer));
    return calc_processing_s(optimizer->mode, *flop_s, *mem_s);
}

void calc_optimizer_profile(const calc_optimizer *optimizer, const calc_layer *layers, size_t count,
                            calc_optimizer_block *out)
{
    *out = (calc_optimizer_block){0};
    for (size_t i = 0; i < count; i++) {
        const calc_layer *layer = &layers[i];
        if (layer->weights == 0) {
            continue;
        }
        double flop_s;
        double mem_s;
        out->step_s += calc_optimizer_layer_s(optimizer, layer, &flop_s, &mem_s);
        out->flop_s += flop_s;
        out->mem_s += mem_s;
        double state_bytes = calc_optimizer_bytes(optimizer, layer);
        out->flop += calc_optimizer_flop(optimizer, layer);
        out->bytes += state_bytes;
        out->state_bytes += state_bytes;
        out->grad_bytes += calc_optimizer_grad_bytes(optimizer, layer);
    }
}
