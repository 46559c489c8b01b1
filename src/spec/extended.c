#include "spec/extended.h"

bool calc_extended_app(const calc_app *a)
{
    return a->structure_type != CALC_STRUCTURE_TYPE_GPT || a->ffn_type || a->norm_type ||
           a->position_type || a->bias || a->dropout || a->tied_embeddings || a->causal ||
           a->window_size || a->global_every || a->kv_heads || a->qk_norm || a->q_lora_rank ||
           a->kv_lora_rank || a->vocab_size || a->num_experts || a->shared_feedforward ||
           a->mtp_blocks;
}

static bool extended_exec(const calc_exec *e)
{
    return e->structure_type != CALC_STRUCTURE_TYPE_GPT || e->seq_size || e->flash_attention ||
           e->attention_kernel || e->attention_type > CALC_ATTENTION_TYPE_MULTIQUERY ||
           e->rank_order || e->context_par > 1 || e->expert_par > 1 || e->expert_tensor_par > 1 ||
           e->pipeline_schedule || e->pipeline_balance || e->first_stage_blocks ||
           e->last_stage_blocks || e->pipeline_par_overlap || e->zero_stage || e->fsdp_par ||
           e->param_gather_overlap || e->memory_model || e->matrix_datatype || e->vector_datatype ||
           e->weight_datatype || e->activation_datatype || e->grad_datatype ||
           e->grad_reduce_datatype || e->master_datatype || e->optimizer_moment_datatype ||
           e->scaling || e->recompute_modules || e->recompute_blocks ||
           e->activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES ||
           e->tensor_par_overlap > CALC_TENSOR_PAR_OVERLAP_PIPE || e->fused_cross_entropy ||
           e->unfused_rope || e->eager || e->unfused_experts || e->cuda_graph > 0 ||
           e->framework_mem || e->offload_share > 0 || e->software_efficiency > 0 ||
           e->datatype == CALC_DATATYPE_FLOAT4 || e->inference.phase;
}

static bool extended_op(const calc_op_rate *o)
{
    return o->efficiency > 0 || o->latency_fixed_s > 0 || o->latency_step_s > 0;
}

static bool extended_network(const calc_network *n)
{
    const calc_op_rates *o = &n->op_parameters;
    return extended_op(&o->p2p) || extended_op(&o->reduce_scatter) || extended_op(&o->all_gather) ||
           extended_op(&o->all_reduce) || extended_op(&o->all_to_all) || n->latency_log2_s > 0 ||
           n->bandwidth_curve.count > 0 || n->oversubscription > 0 || n->reduction_in_network;
}

static bool extended_system(const calc_system *s)
{
    const calc_attention_rates *a = &s->attention;
    const calc_host *h = &s->host;
    const calc_overlap_shares *o = &s->overlap;
    bool any = s->sustained > 0 || a->fw_efficiency > 0 || a->bw_efficiency > 0 ||
               a->launch_s > 0 || a->softmax_size > 0 || a->generic_efficiency > 0 ||
               a->unfused_efficiency > 0 || s->grouped.efficiency > 0 ||
               s->grouped.wgrad_bytes > 0 || s->grouped.processing_mode || s->launch.matrix_s > 0 ||
               s->launch.vector_s > 0 || h->block_s > 0 || h->moe_block_s > 0 || h->expert_s > 0 ||
               h->tensor_par_growth > 0 || h->recompute_growth > 0 || o->tensor_par_fused > 0 ||
               o->tensor_par_async > 0 || o->data_par > 0 || o->expert_par > 0 ||
               o->pipeline_par > 0 || o->contention > 0 || s->eager_traffic > 0 ||
               s->expert_activation_traffic > 0 || s->quantize_bytes > 0 ||
               s->block_scaled_efficiency > 0 || s->permute_efficiency > 0 ||
               s->optimizer_efficiency > 0 || s->step_overhead_s > 0 || s->straggler_growth > 0 ||
               s->mem_reserved_bytes > 0 || s->mem_fragmentation > 0;
    for (int64_t i = 0; i < s->networks_count && !any; i++) {
        any = extended_network(&s->networks[i]);
    }
    return any;
}

bool calc_extended(const calc_app *app, const calc_system *system, const calc_exec *exec)
{
    return calc_extended_app(app) || extended_exec(exec) || extended_system(system);
}
