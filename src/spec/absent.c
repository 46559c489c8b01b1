#include "spec/absent.h"

#include <string.h>

#include "spec/field.h"

/* Set a default that is not zero. */
static void put(const calc_field *field, void *member)
{
    if (field->type == CALC_TYPE_INT) {
        *(int64_t *)member = (int64_t)field->absent;
    } else if (field->type == CALC_TYPE_REAL && field->flags & CALC_OPTIONAL) {
        *(double *)member = field->absent * calc_field_scale(field);
    } else if (field->type == CALC_TYPE_OP && field->flags & CALC_OPTIONAL) {
        *(calc_network_op *)member = (calc_network_op){1, field->absent};
    } else if (field->type == CALC_TYPE_OBJECT) {
        calc_absent_fill(field->table, member);
    }
}

void calc_absent_fill(const calc_table *table, void *object)
{
    memset(object, 0, table->size);
    for (size_t i = 0; i < table->count; i++) {
        put(&table->rows[i], (char *)object + table->rows[i].offset);
    }
}

bool calc_absent_is(const calc_field *field, const void *member)
{
    const calc_network_op *op = member;
    switch (field->type) {
    case CALC_TYPE_NOTE:
        return true;
    case CALC_TYPE_SYSTEM:
    case CALC_TYPE_ENGINE: /* both begin with a name */
        return *(const char *)member == '\0';
    case CALC_TYPE_OP:
        return (op->scalar == 0 && op->offset == 0) ||
               (op->scalar == 1 && op->offset == field->absent);
    case CALC_TYPE_CURVE:
        return ((const calc_curve *)member)->count == 0;
    case CALC_TYPE_OBJECT:
        for (size_t i = 0; i < field->table->count; i++) {
            const calc_field *row = &field->table->rows[i];
            if (!calc_absent_is(row, (const char *)member + row->offset)) {
                return false;
            }
        }
        return true;
    case CALC_TYPE_LIST:
    case CALC_TYPE_MAP:
        return false;
    default:
        return calc_member_number(field, member) == field->absent;
    }
}

/* Fields of an execution that may say "auto" (CALC_AUTO), and those that do. */

uint32_t calc_automatic_bit(const calc_field *field)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    uint32_t bit = 1;
    for (size_t i = 0; i < table->count; i++) {
        if (&table->rows[i] == field) {
            return field->flags & CALC_AUTO ? bit : 0;
        }
        bit <<= table->rows[i].flags & CALC_AUTO ? 1 : 0;
    }
    return 0;
}

void calc_automatic_set(calc_exec *exec, const calc_field *field)
{
    exec->automatic |= calc_automatic_bit(field);
    calc_member_set(field, (char *)exec + field->offset, field->type == CALC_TYPE_INT);
}

/* Fields of the execution that have no effect given the values of the others: how tokens reach
 * experts that are all on one rank, how one rank splits a sequence. A sweep tries only one of
 * their values, and advice never suggests changing them. */

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
    case ROW_expert_par_overlap: /* it also hides the communication of split experts */
        return app->num_experts == 0 || (!exchange && s->expert_tensor_par <= 1);
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
        return app->vocab_size == 0;
    case ROW_fused_cross_entropy:
        return app->vocab_size == 0 || exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    case ROW_recompute_early_stop:
        return !again && s->activation_recompute <= CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
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
