#include "spec/idle.h"

#include "spec/field.h"

/* The fields of the execution, in the order of their rows. */
enum {
#define CALC_FIELD(name, type, arg, ...) ROW_##name,
#include "calc/exec.fields.h"
#undef CALC_FIELD
};

bool calc_idle(const calc_app *app, const calc_exec *exec, const calc_field *field)
{
    const calc_strategy *s = &exec->strategy;
    bool ordered = exec->rank_order != CALC_RANK_ORDER_NETWORKS;
    bool experts = app->num_experts > 0;
    bool exchange =
        experts && s->expert_par > 1 && s->dispatch_type != CALC_DISPATCH_TYPE_REPLICATED;
    bool tiled = s->tensor_par > 1 && (s->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_RING ||
                                       s->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE);
    bool sequence = s->context_par > 1;
    bool flash = s->flash_attention || s->attention_type == CALC_ATTENTION_TYPE_FLASH;
    bool again = exec->training && (exec->layers.count > 0 || exec->stages.count > 0 ||
                                    s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL);
    switch (field - calc_table_of(CALC_KIND_EXEC)->rows) {
    case ROW_dispatch_type:
        return !experts || (s->expert_par <= 1 && s->expert_tensor_par <= 1);
    case ROW_dispatch_datatype:
    case ROW_combine_datatype:
        return !exchange;
    case ROW_expert_par_overlap: /* it also hides the communication of split experts, or leaves
                                    tiles alone */
        return app->num_experts == 0 || (!exchange && s->expert_tensor_par <= 1 && !tiled);
    case ROW_expert_par_net:
        return !exchange || ordered;
    case ROW_expert_tensor_par_net:
        return app->num_experts == 0 || s->expert_tensor_par <= 1 || ordered;
    case ROW_expert_data_par_net:
        return app->num_experts == 0 || ordered;
    case ROW_capacity_factor:
    case ROW_moe_imbalance:
    case ROW_rank_capacity_factor:
    case ROW_unfused_experts:
    case ROW_fused_experts:
    case ROW_looped_experts:
        return app->num_experts == 0;
    case ROW_paged_stash:
        return app->num_experts == 0 || s->rank_capacity_factor <= 0;
    case ROW_delayed_wgrad:
        return app->num_experts == 0 || (!exchange && s->expert_tensor_par <= 1) ||
               s->expert_par_overlap != CALC_EXPERT_PAR_OVERLAP_BATCH;
    case ROW_context_par_type:
    case ROW_context_par_balance:
        return !sequence;
    case ROW_context_par_inner:
        return !sequence || s->context_par_type != CALC_CONTEXT_PAR_TYPE_HIERARCHICAL;
    case ROW_context_par_net:
        return !sequence || ordered;
    case ROW_attention_kernel:
    case ROW_attention_datatype:
        return !flash;
    case ROW_grad_offload:
        return !s->optimizer_offload;
    case ROW_offload_buffers:
        return !s->optimizer_offload && !s->weight_offload;
    case ROW_mlp_tiles:
        return app->num_experts > 0 && app->dense_blocks == 0 && app->moe_every <= 1;
    case ROW_patches_per_image:
        return s->images_per_sequence <= 0;
    case ROW_encoder_trained:
        return app->encoder.hidden == 0 || !exec->training || s->trained != CALC_TRAINED_ALL;
    case ROW_loss_share:
    case ROW_loss_chunks:
    case ROW_fused_cross_entropy:
        return app->vocab_size == 0;
    case ROW_distribute_saved_activations:
        return !again ||
               (exec->layers.count == 0 &&
                (s->tensor_par == 1 || s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG));
    case ROW_recompute_group:
        return !again;
    case ROW_optimizer:
        return !exec->training;
    case ROW_trained_blocks:
        return s->trained == CALC_TRAINED_ALL;
    case ROW_frozen_datatype:
        return exec->training && s->trained == CALC_TRAINED_ALL &&
               (app->encoder.hidden == 0 || s->encoder_trained == CALC_ENCODER_TRAINED_ALL);
    case ROW_lora_modules:
    case ROW_lora_fused:
    case ROW_lora_dropout:
    case ROW_dora:
        return s->lora_rank == 0;
    case ROW_lora_experts:
        return s->lora_rank == 0 || !experts;
    case ROW_deferred_head_wgrad:
        return exec->pipeline_par == 1 || app->vocab_size == 0 || !exec->training ||
               exec->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B;
    case ROW_pipeline_balance:
    case ROW_pipeline_par_overlap:
        return exec->pipeline_par == 1;
    case ROW_param_gather_datatype:
        return exec->layers.count == 0 && s->zero_stage <= 0 && !s->optimizer_sharding;
    case ROW_optimizer_shards:
        return exec->layers.count == 0 &&
               (s->zero_stage > 0 ? s->zero_stage != 1 : !s->optimizer_sharding);
    default:
        return false;
    }
}
