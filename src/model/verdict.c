#include "model/verdict.h"

#include <math.h>

/** Blocks per processor that offload needs: one computed, one coming, one going. */
#define OFFLOAD_BLOCKS 3

/* The same of the experts' own split of the ranks. */
static double expert_ranks(const calc_exec *e, int64_t index)
{
    if (e->strategy.expert_par <= 1 && e->strategy.expert_tensor_par <= 1) {
        return 1;
    }
    int64_t expert =
        e->strategy.expert_par_net < 0 ? e->strategy.data_par_net : e->strategy.expert_par_net;
    int64_t split = e->strategy.expert_tensor_par_net < 0 ? e->strategy.tensor_par_net
                                                          : e->strategy.expert_tensor_par_net;
    int64_t replica = e->strategy.expert_data_par_net < 0 ? e->strategy.data_par_net
                                                          : e->strategy.expert_data_par_net;
    double ep = e->strategy.expert_par > 1 ? (double)e->strategy.expert_par : 1;
    double etp = e->strategy.expert_tensor_par > 1 ? (double)e->strategy.expert_tensor_par : 1;
    double replicas = (double)e->num_procs / ((double)e->pipeline_par * ep * etp);
    double ranks = 1;
    ranks *= expert == index ? ep : 1;
    ranks *= split == index ? etp : 1;
    ranks *= replica == index && replicas > 1 ? replicas : 1;
    ranks *= e->pipeline_par_net == index ? (double)e->pipeline_par : 1;
    return ranks;
}

double calc_verdict_network_ranks(const calc_exec *exec, int64_t index)
{
    double ranks = 1;
    ranks *= exec->strategy.tensor_par_net == index ? (double)exec->strategy.tensor_par : 1;
    ranks *= exec->pipeline_par_net == index ? (double)exec->pipeline_par : 1;
    ranks *= exec->strategy.data_par_net == index ? (double)exec->strategy.data_par : 1;
    if (exec->strategy.context_par > 1) {
        int64_t net = exec->strategy.context_par_net < 0 ? exec->strategy.tensor_par_net
                                                         : exec->strategy.context_par_net;
        ranks *= net == index ? (double)exec->strategy.context_par : 1;
    }
    double experts = expert_ranks(exec, index);
    return ranks > experts ? ranks : experts;
}

calc_verdict calc_verdict_network(const calc_network *network, double ranks)
{
    if (ranks == 1) {
        return CALC_VERDICT_OK;
    }
    double size = (double)network->size;
    if (ranks > size) {
        return CALC_VERDICT_NETWORK_SIZE;
    }
    bool filled = fmod(size, ranks) == 0;
    return network->must_be_filled && !filled ? CALC_VERDICT_NETWORK_FILL : CALC_VERDICT_OK;
}

calc_verdict calc_verdict_networks(const calc_system *system, const calc_exec *exec)
{
    const calc_network *last = &system->networks[system->networks_count - 1];
    if (exec->rank_order != CALC_RANK_ORDER_NETWORKS) {
        return exec->num_procs > last->size ? CALC_VERDICT_NETWORK_SIZE : CALC_VERDICT_OK;
    }
    for (int64_t i = 0; i < system->networks_count; i++) {
        calc_verdict verdict =
            calc_verdict_network(&system->networks[i], calc_verdict_network_ranks(exec, i));
        if (verdict != CALC_VERDICT_OK) {
            return verdict;
        }
    }
    return CALC_VERDICT_OK;
}

bool calc_verdict_offload_blocks(const calc_exec *exec, double blocks_per_proc)
{
    bool offloads = exec->strategy.weight_offload || exec->strategy.activations_offload ||
                    exec->strategy.optimizer_offload;
    return offloads && blocks_per_proc < OFFLOAD_BLOCKS;
}

calc_verdict calc_verdict_of(const calc_system *system, const calc_exec *exec, bool fit,
                             double blocks, double tier1_bytes, double tier2_bytes)
{
    calc_verdict verdict = calc_verdict_networks(system, exec);
    if (verdict != CALC_VERDICT_OK) {
        return verdict;
    }
    if (!fit) {
        return CALC_VERDICT_INTERLEAVING;
    }
    if (calc_verdict_offload_blocks(exec, blocks)) {
        return CALC_VERDICT_OFFLOAD_BLOCKS;
    }
    if (tier1_bytes > system->chip.mem1.capacity_bytes) {
        return CALC_VERDICT_MEM1_CAPACITY;
    }
    if (tier2_bytes > system->chip.mem2.capacity_bytes) {
        return CALC_VERDICT_MEM2_CAPACITY;
    }
    return CALC_VERDICT_OK;
}
