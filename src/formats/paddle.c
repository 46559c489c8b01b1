/* PaddleNLP: the JSON file of llm/run_pretrain.py. It names a model that PaddleNLP knows. */
#include "formats/framework.h"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(WORDS, MODEL, "model_name_or_path",
        .words = "meta-llama/Meta-Llama-3-8B=0 meta-llama/Meta-Llama-3-70B=1 meta-llama/Meta-Llama-3.1-405B=2 deepseek-ai/DeepSeek-V2-Lite=3 "
                 "deepseek-ai/DeepSeek-V2=4 deepseek-ai/DeepSeek-V3=5")
    CALC_ROW_CONSTANT("do_train", .text = "true")
    CALC_ROW(NUMBER, SEQ, "max_seq_length") CALC_ROW(NUMBER, MICROBATCH, "per_device_train_batch_size")
    CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps") CALC_ROW(NUMBER, TENSOR, "tensor_parallel_degree", .unset = true)
    /* Words of value 0 affect neither time nor memory here. */
    CALC_ROW(SET, TENSOR_SWITCHES, "tensor_parallel_config",
        .words = "enable_mp_async_allreduce=1 enable_sp_async_reduce_scatter=2 enable_mp_skip_c_identity=0 enable_mp_fused_linear_param_grad_add=0 "
                 "enable_delay_scale_loss=0 sync_param=0 sync_grad=0 sync_moment=0 replace_with_c_embedding=0 replace_with_parallel_cross_entropy=0")
    CALC_ROW(SWITCH, SEQ_PAR, "sequence_parallel", .value = 1)
    CALC_ROW(NUMBER, PIPELINE, "pipeline_parallel_degree", .unset = true) CALC_ROW(NUMBER, CHUNKS, "virtual_pp_degree")
    CALC_ROW(SET, PIPELINE_SWITCHES, "pipeline_parallel_config",
        .words = "enable_sharding_comm_overlap=1 enable_dp_comm_overlap=1 enable_overlap_p2p_comm=2 use_dualpipev=4 enable_delay_scale_loss=0 "
                 "enable_release_grads=0 enable_timer=0 enable_clear_every_step_cache=0 disable_p2p_cache_shape=0 disable_partial_send_recv=0 "
                 "disable_batch_p2p_comm=0 disable_non_batch_p2p_comm=0 best_unbalanced_scheduler=0")
    CALC_ROW(WORDS, SHARDED, "sharding", .words = "stage1=1 stage2=2 stage3=3 true=1 false=0", .when = CALC_PLAN_SHARDED)
    CALC_ROW(NUMBER, SHARD_REPLICAS, "sharding_parallel_degree", .unset = true)
    CALC_ROW(SET, SHARDING_SWITCHES, "sharding_parallel_config",
        .words = "enable_stage1_overlap=1 enable_stage2_overlap=2 split_param=4 enable_stage1_allgather_overlap=8 enable_stage1_broadcast_overlap=8 "
                 "enable_stage1_tensor_fusion=0 disable_stage1_reduce_avg=0 enable_release_grads=0")
    CALC_ROW(NUMBER, RING_RANKS, "context_parallel_degree", .unset = true) CALC_ROW(NUMBER, HEADS_RANKS, "sep_parallel_degree", .unset = true)
    CALC_ROW_CONSTANT("use_expert_parallel", .text = "true", .when = CALC_PLAN_EXPERTS)
    CALC_ROW(NUMBER, EXPERT, "expert_parallel_degree", .unset = true)
    CALC_ROW(WORDS, STAGES_FIRST, "hybrid_parallel_topo_order", .words = "pp_first=0 sharding_first=1")
    CALC_ROW(IS, PRECISION, "bf16", .value = CALC_DATATYPE_BFLOAT16) CALC_ROW(IS, PRECISION, "fp16", .value = CALC_DATATYPE_FLOAT16)
    CALC_ROW_CONSTANT("fp16_opt_level", .text = "O2")
    CALC_ROW(SWITCH, WIDE_GRAD, "amp_master_grad", .value = 1) CALC_ROW(SWITCH, OPT_OFFLOAD, "offload_optim", .value = 1)
    CALC_ROW(SWITCH, RECOMPUTES, "recompute", .value = 1)
    CALC_ROW(WORDS, RECOMPUTE, "recompute_granularity", .words = "full=2 core_attn=1", .when = CALC_PLAN_RECOMPUTES)
    CALC_ROW(SWITCH, FLASH, "use_flash_attention", .value = 1) CALC_ROW(SWITCH, UNFUSED_ROPE, "use_fused_rope", .value = 0)
    CALC_ROW(SWITCH, FUSED_NORM, "use_fused_rms_norm", .value = 1)
    CALC_ROW_DEFAULT(EAGER, 1) CALC_ROW_DEFAULT(LOSS_COPIES, 1) CALC_ROW_DEFAULT(TENSOR_SWITCHES, 0) CALC_ROW_DEFAULT(STAGE_OVERLAP, 0)
    CALC_ROW_DEFAULT(GATHER_OVERLAP, 0) CALC_ROW_DEFAULT(WIDE_GRAD, 0) CALC_ROW_DEFAULT(FLASH, 0) CALC_ROW_DEFAULT(UNFUSED_ROPE, 1)
    CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_TO_ALL) CALC_ROW_DEFAULT(EXPERT_TENSOR, 1)
};
/* clang-format on */

static CALC_REFUSALS(refusals)
{
    /* enable_sharding_comm_overlap implies enable_dp_comm_overlap, which has an accuracy issue */
    bool reduces =
        e->pipeline_par > 1 && s->zero_stage == 1 && s->data_par_overlap && s->data_par > 1;
    CALC_REFUSE(e->pipeline_par > 1 && s->zero_stage >= 2,
                "zero_stage 2 and 3 exclude pipeline stages");
    CALC_REFUSE(s->zero_stage == 3 && s->data_par_overlap,
                "zero_stage 3 waits for its gradients and excludes data_par_overlap");
    CALC_REFUSE(reduces && !calc_divides(s->data_par, s->fsdp_par),
                "data_par_overlap of sharded pipeline stages excludes a smaller fsdp_par");
    CALC_REFUSE(s->grad_datatype != CALC_FORMAT_FLOAT32 && s->zero_stage == 1 &&
                    (reduces || s->param_gather_overlap == CALC_CHOICE_TRUE),
                "data_par_overlap and param_gather_overlap with optimizer_sharding need "
                "grad_datatype float32");
}

/* clang-format off */
const calc_framework calc_framework_paddle = {.name = "paddle", .title = "PaddleNLP", .version = "3.0",
    .launch = "python -m paddle.distributed.launch run_pretrain.py this file, in llm/",
    .command = "python -m paddle.distributed.launch --master \"$MASTER_ADDR:$MASTER_PORT\" --nnodes \"$PET_NNODES\" "
               "run_pretrain.py \"$FILE\" \"$@\"",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN) | CALC_ON(XPU), .syntax = CALC_SYNTAX_JSON,
    .launched = true, CALC_FRAMEWORK_ROWS(rows, paddle), CALC_FRAMEWORK_REFUSALS(refusals)};
/* clang-format on */
