#include "model/offload.h"

calc_offload calc_offload_of(const calc_exec *exec, const calc_block *block,
                             const calc_optimizer_block *optimizer)
{
    double weight_bytes = exec->weight_offload ? block->weight_bytes : 0;
    double activation_bytes =
        exec->activations_offload ? calc_offload_activation_bytes(exec, block) : 0;
    double optimizer_bytes = exec->optimizer_offload ? optimizer->state_bytes : 0;
    return (calc_offload){
        /* In forward weights come in while activations go out: the link is duplex. */
        .fw_bytes = calc_max(weight_bytes, activation_bytes),
        .bw_bytes = exec->training ? weight_bytes + activation_bytes + optimizer_bytes : 0,
    };
}

calc_offload_bandwidths calc_offload_required(const calc_exec *exec, const calc_block *block,
                                              const calc_optimizer_block *optimizer,
                                              double fw_window_s, double bw_window_s)
{
    calc_offload bytes = calc_offload_of(exec, block, optimizer);
    calc_offload_bandwidths out = {
        .activation = calc_offload_activation_bytes(exec, block) / fw_window_s,
        .weight = block->weight_bytes / fw_window_s,
        .layout = bytes.fw_bytes / fw_window_s,
    };
    if (exec->training) {
        out.optimizer = (optimizer->grad_bytes + optimizer->state_bytes) / bw_window_s;
        out.layout = calc_max(out.layout, bytes.bw_bytes / bw_window_s);
    }
    return out;
}
