#include "model/data_par.h"

#include "model/network.h"

double calc_data_par_block_s(const calc_system *system, const calc_exec *exec, double bytes)
{
    if (!calc_data_par_reduces(exec)) {
        return 0;
    }
    const calc_network *net = &system->networks[exec->data_par_net];
    double ranks = (double)exec->data_par;
    if (exec->optimizer_sharding) {
        return calc_network_s(net, &net->ops.reduce_scatter, bytes, ranks) +
               calc_network_s(net, &net->ops.all_gather, bytes, ranks);
    }
    return calc_network_s(net, &net->ops.all_reduce, bytes, ranks);
}

double calc_data_par_required_bytes_per_s(const calc_system *system, const calc_exec *exec,
                                          double chunk_bytes, double window_s)
{
    if (window_s <= 0) {
        return 0;
    }
    const calc_network_ops *ops = &system->networks[exec->data_par_net].ops;
    double scalar = exec->optimizer_sharding ? ops->reduce_scatter.scalar + ops->all_gather.scalar
                                             : ops->all_reduce.scalar;
    return chunk_bytes / window_s * scalar;
}
