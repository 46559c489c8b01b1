#include "report/breakdown.h"

#include <math.h>
#include <string.h>

static const char *const time_labels[CALC_BREAKDOWN_TIMES] = {
    "forward",
    "backward",
    "optimizer",
    "recompute",
    "repeated communication",
    "pipeline bubble",
    "tensor-parallel comm.",
    "pipeline comm.",
    "data-parallel comm.",
    "forward offload",
    "backward offload",
    "embedding and head",
    "context-parallel comm.",
    "expert-parallel comm.",
    "waiting for the host",
    "stragglers",
    "fixed overhead",
};

static const char *const space_labels[CALC_BREAKDOWN_SPACES] = {
    "weights",   "activations", "checkpoints", "activation gradients",   "weight gradients",
    "optimizer", "head",        "framework",   "fragmentation, reserve", "cached keys and values",
};

const char *calc_breakdown_time_label(size_t part)
{
    return time_labels[part];
}

const char *calc_breakdown_space_label(size_t part)
{
    return space_labels[part];
}

const char *calc_breakdown_space_name(size_t part, bool ours)
{
    enum { AT_HAND = 3 };
    return ours && part == AT_HAND ? "block at hand" : space_labels[part];
}

void calc_breakdown_times(const calc_stats *s, double time_s[CALC_BREAKDOWN_TIMES])
{
    const double parts[CALC_BREAKDOWN_TIMES] = {
        s->fw_time,
        s->bw_time,
        s->optim_step_time,
        s->recompute_time,
        s->recomm_exposed_time,
        s->bubble_time,
        s->tp_comm_exposed_time,
        s->pp_comm_exposed_time,
        s->dp_comm_exposed_time,
        s->fw_offload_exposed_time,
        s->bw_offload_exposed_time,
        s->head_time,
        s->cp_comm_exposed_time,
        s->ep_comm_exposed_time,
        s->host_time,
        s->straggler_time,
        s->overhead_time,
    };
    memcpy(time_s, parts, sizeof parts);
}

void calc_breakdown_spaces(const calc_exec *exec, const calc_stats *s, int tier,
                           double space_bytes[CALC_BREAKDOWN_SPACES])
{
    bool weights = exec->strategy.weight_offload;
    bool modules = exec->strategy.offload_modules != 0;
    bool activations = exec->strategy.activations_offload || modules;
    bool optimizer = exec->strategy.optimizer_offload;
    bool full = exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    double share = exec->strategy.offload_share > 0 ? exec->strategy.offload_share : 1;
    /* Gradients are offloaded with the state only where the model computes which part of them
     * stays. */
    bool gradients = optimizer && !isnan(s->act_grad_space_with_offload);
    const double tier1[CALC_BREAKDOWN_SPACES] = {
        weights ? s->weight_space_with_offload : s->weight_space,
        activations ? s->act_space_with_offload : s->act_space,
        !activations ? s->act_checkpoint_size
        : full       ? s->act_checkpoint_size_with_offload
                     : 0,
        s->act_grad_space,
        optimizer ? s->weight_grad_space_with_offload : s->weight_grad_space,
        optimizer ? s->optimizer_space_with_offload : s->optimizer_space,
        s->head_space,
        s->framework_space,
        s->mem_overhead,
        s->kv_cache_space,
    };
    const double tier2[CALC_BREAKDOWN_SPACES] = {
        weights ? s->weight_space * share : 0,
        modules                ? s->act_space - s->act_space_with_offload
        : activations && !full ? s->act_space * share
                               : 0,
        activations && full ? s->act_checkpoint_size * share : 0,
        0,
        optimizer && exec->strategy.grad_offload ? s->weight_grad_space * share
        : gradients                              ? s->block_weight_grad_space * s->blocks_per_proc
                                                 : 0,
        optimizer ? s->optimizer_space * share : 0,
    };
    memcpy(space_bytes, tier == 1 ? tier1 : tier2, sizeof tier1);
}

/* ---- Losses of peak performance -------------------------------------------------------------- */

static const char *const loss_labels[CALC_BREAKDOWN_LOSSES] = {
    "kernels below peak",   "recomputation", "exposed communication", "offload", "pipeline bubble",
    "waiting for the host", "optimizer",     "stragglers, overhead",
};

void calc_breakdown_losses(const calc_stats *s, double share[CALC_BREAKDOWN_LOSSES])
{
    const double lost_s[CALC_BREAKDOWN_LOSSES] = {
        s->fw_time + s->bw_time + s->head_time - s->model_flops_utilization * s->total_time,
        s->recompute_time,
        s->recomm_exposed_time + s->tp_comm_exposed_time + s->cp_comm_exposed_time +
            s->ep_comm_exposed_time + s->pp_comm_exposed_time + s->dp_comm_exposed_time,
        s->fw_offload_exposed_time + s->bw_offload_exposed_time,
        s->bubble_time,
        s->host_time,
        s->optim_step_time,
        s->straggler_time + s->overhead_time,
    };
    for (int i = 0; i < CALC_BREAKDOWN_LOSSES; i++) {
        share[i] = lost_s[i] / s->total_time;
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_part(calc_put *put, const char *label, double value)
{
    if (value != 0 && isfinite(value)) {
        calc_put_number(put, label, value);
    }
}

void calc_breakdown_put_time(calc_put *put, const char *key, const calc_stats *stats)
{
    double time_s[CALC_BREAKDOWN_TIMES];
    calc_breakdown_times(stats, time_s);
    calc_put_object(put, key, CALC_PUT_LINE);
    for (size_t i = 0; i < CALC_BREAKDOWN_TIMES; i++) {
        put_part(put, time_labels[i], time_s[i]);
    }
    calc_put_close(put);
}

void calc_breakdown_put_losses(calc_put *put, const char *key, const calc_stats *stats)
{
    double share[CALC_BREAKDOWN_LOSSES];
    calc_breakdown_losses(stats, share);
    calc_put_object(put, key, CALC_PUT_LINE);
    for (int i = 0; i < CALC_BREAKDOWN_LOSSES; i++) {
        calc_put_number(put, loss_labels[i], share[i]);
    }
    calc_put_close(put);
}

void calc_breakdown_put_memory(calc_put *put, const char *key, const calc_exec *exec,
                               const calc_stats *stats, int tier, bool ours)
{
    double space_bytes[CALC_BREAKDOWN_SPACES];
    calc_breakdown_spaces(exec, stats, tier, space_bytes);
    calc_put_object(put, key, CALC_PUT_LINE);
    for (size_t i = 0; i < CALC_BREAKDOWN_SPACES; i++) {
        put_part(put, calc_breakdown_space_name(i, ours), space_bytes[i]);
    }
    calc_put_close(put);
}
