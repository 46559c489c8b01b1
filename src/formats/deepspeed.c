/* DeepSpeed: a JSON file. The model and its pipeline stages are defined in code. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

#include "base/error.h"

#define ONE "1 is assumed where the other sizes leave it open"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, BATCH, "train_batch_size", .assumed = "it follows from the other sizes")
    CALC_ROW(NUMBER, MICROBATCH, "train_micro_batch_size_per_gpu", .assumed = ONE)
    CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps", .assumed = ONE)
    CALC_ROW(IS, PRECISION, "bf16.enabled", .value = CALC_DATATYPE_BFLOAT16, .assumed = "bfloat16 is assumed; --set datatype= of calc run changes it")
    CALC_ROW(IS, PRECISION, "bfloat16.enabled", .value = CALC_DATATYPE_BFLOAT16, .read_only = true)
    CALC_ROW(IS, PRECISION, "fp16.enabled", .value = CALC_DATATYPE_FLOAT16, .assumed = "float16 is assumed; --set datatype= of calc run changes it")
    CALC_ROW(WORDS, GRAD, "data_types.grad_accum_dtype", .words = "fp32=float32 fp16=float16 bf16=bfloat16")
    CALC_ROW(NUMBER, SHARDED, "zero_optimization.stage")
    CALC_ROW(SWITCH, GRAD_OVERLAP, "zero_optimization.overlap_comm", .value = 1)
    CALC_ROW(WORDS, OPT_OFFLOAD, "zero_optimization.offload_optimizer.device", .words = "cpu=1 none=0", .when = CALC_PLAN_OPT_OFFLOAD)
    CALC_ROW(DECIMAL, OFFLOAD_SHARE, "zero_optimization.offload_optimizer.ratio", .when = CALC_PLAN_OPT_OFFLOAD)
    CALC_ROW(SWITCH, OPT_OFFLOAD, "zero_optimization.cpu_offload", .value = 1, .read_only = true)
    CALC_ROW(SWITCH, WEIGHT_OFFLOAD, "zero_optimization.cpu_offload_param", .value = 1, .read_only = true)
    CALC_ROW(WORDS, WEIGHT_OFFLOAD, "zero_optimization.offload_param.device", .words = "cpu=1 none=0", .when = CALC_PLAN_WEIGHT_OFFLOAD)
    CALC_ROW(NUMBER, SHARD_RANKS, "zero_optimization.mics_shard_size", .when = CALC_PLAN_HYBRID)
    CALC_ROW(NUMBER, TENSOR, "tensor_parallel.autotp_size")
    CALC_ROW(NUMBER, CONTEXT, "sequence_parallel_size")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "activation_checkpointing.cpu_checkpointing", .value = 1)
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 0)
    CALC_ROW_DEFAULT(LOSS_COPIES, 1)
    CALC_ROW_DEFAULT(GRAD_OFFLOAD, 1)
    CALC_ROW_DEFAULT(OFFLOAD_BUFFERS, 1.5) /* additional_buffer_factor of its estimators */
    CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ULYSSES)
    CALC_ROW_UNREAD(MODEL, "compression_training.* sparse_attention.* progressive_layer_drop.*")
    CALC_ROW_UNREAD(COST, "communication_data_type fp32_allreduce seq_parallel_comm_data_type prescale_gradients sparse_gradients disable_allgather amp.* optimizer.type=AdamW *.allgather_partitions=true *.allgather_bucket_size "
        "*.reduce_scatter=true *.reduce_bucket_size *.offload_*.buffer_* *.offload_*.pipeline* *.offload_*.max_in_cpu *.offload_*.nvme_path *.offload_*.super_offload zero_optimization.sub_group_size zero_optimization.stage3_*_size "
        "zero_optimization.stage3_max_* zero_optimization.stage3_*_threshold zero_optimization.round_robin_gradients zero_optimization.zero_hpz_partition_size=1 zero_optimization.zero_quantized_* "
        "zero_optimization.mics_hierarchical_params_gather zero_optimization.memory_efficient_linear=true zero_optimization.zenflow.* zero_optimization.legacy_stage1 zero_optimization.use_multi_rank_bucket_allreduce=true zero_optimization.stage3_use_all_reduce_* zero_optimization.stage3_allgather_sequential "
        "zero_optimization.zeropp_loco_param.* zero_optimization.save_muon_* *.offload_optimizer.convert_grad_on_cpu=true *.offload_optimizer.cpuadam_cores_perc fp16.fp16_master_weights_and_grads activation_checkpointing.* compile.* zero_force_ds_cpu_optimizer=true "
        "elasticity.enabled autotuning.enabled curriculum_learning.enabled data_efficiency.enabled quantize_training.enabled hybrid_engine.enabled graph_harvesting torch_autocast.enabled tensor_parallel.* pipeline.* "
        "zero_optimization.contiguous_gradients=true checkpoint.use_node_local_storage eigenvalue.enabled flops_profiler.enabled use_data_before_expert_parallelism")
    CALC_ROW_UNREAD(HARMLESS, "steps_per_print vocabulary_size zero_optimization.pipeline_loading_checkpoint zero_optimization.enable_sanity_checks wall_clock_breakdown memory_breakdown dump_state gradient_clipping gradient_predivide_factor optimizer.params.* scheduler.* fp16.* bf16.* *.pin_memory *.fast_init "
        "zero_optimization.load_from_fp32_weights zero_optimization.elastic_checkpoint zero_optimization.stage3_gather_* zero_optimization.ignore_unused_parameters zero_optimization.log_trace_cache_warnings "
        "zero_optimization.override_module_apply zero_optimization.leaf_module.* zero_optimization.cpu_offload_use_pin_memory zero_allow_untested_optimizer aio.* flops_profiler.* tensorboard.* wandb.* csv_monitor.* comet.* comms_logger.* "
        "data_efficiency.* curriculum_learning.* elasticity.* autotuning.* checkpoint.* eigenvalue.* quantize_training.* hybrid_engine.* torch_autocast.* dataloader_drop_last nebula.* timers.* weight_quantization.* "
        "optimizer.legacy_fusion")
};
/* clang-format on */

/* ---- Layouts that it refuses ----------------------------------------------------------------- */

static CALC_REFUSALS(refusals)
{
    /* runtime/pipe/engine.py: the model must be a PipelineModule, which a configuration cannot
     * create */
    CALC_REFUSE(e->pipeline_par > 1,
                "pipeline_par is a PipelineModule in the code of the model, not a setting");
    /* runtime/pipe/engine.py: ZeRO-2 and 3 with a PipelineModule */
    CALC_REFUSE(e->pipeline_par > 1 && s->zero_stage >= 2,
                "zero_stage 2 and 3 exclude pipeline stages");
    /* moe/layer.py: ep_size is an argument of the layer */
    CALC_REFUSE(a->num_experts > 0 && s->expert_par > 1,
                "expert_par is an argument in the code of the model, not a setting");
    /* runtime/zero/config.py: offload_param needs stage 3, offload_optimizer stage 1 or above */
    CALC_REFUSE(s->weight_offload && s->zero_stage < 3, "weight_offload needs zero_stage 3");
    CALC_REFUSE(s->optimizer_offload && s->zero_stage == 0,
                "optimizer_offload needs zero_stage of at least 1");
    /* runtime/engine.py: MiCS is a kind of stage 3 */
    CALC_REFUSE(s->zero_stage > 0 && s->zero_stage < 3 &&
                    s->fsdp_par < s->data_par * s->context_par,
                "fsdp_par below all replicas needs zero_stage 3");
}

/* ---- What follows from the settings ---------------------------------------------------------- */

/* Number of replicas, if the number of processors is known; else 0. */
static double replicas_of(const calc_plan *plan)
{
    double each = VALUE(TENSOR) * VALUE(PIPELINE) * VALUE(CONTEXT);
    return SAYS(PROCS) ? floor(VALUE(PROCS) / each) : 0;
}

/* runtime/config.py, _configure_train_batch_size: batch = micro-batch * accumulation steps *
 * replicas; any one of these may be missing. */
static calc_status settle_product(calc_plan *plan, calc_errors *errors)
{
    double replicas = replicas_of(plan);
    if (!SAYS(PROCS) && SAYS(BATCH) && SAYS(MICROBATCH) && SAYS(MICROBATCHES)) {
        SET(DATA, floor(VALUE(BATCH) / VALUE(MICROBATCH) / VALUE(MICROBATCHES)));
    }
    if (!SAYS(BATCH) || !(replicas >= 1)) {
        return CALC_OK;
    }
    double batch = VALUE(BATCH);
    double passes = VALUE(MICROBATCHES);
    if (!SAYS(MICROBATCH)) {
        double each = batch / replicas / passes;
        if (each >= 1 && each == floor(each)) {
            SET(MICROBATCH, each);
            return CALC_OK;
        }
    } else if (!SAYS(MICROBATCHES) || VALUE(MICROBATCH) * passes * replicas == batch) {
        return CALC_OK;
    }
    return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                           "the global batch of %.0f is not micro-batch * accumulation * replicas: "
                           "%.0f * %.0f * %.0f",
                           batch, VALUE(MICROBATCH), passes, replicas);
}

static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    /* runtime/zero/config.py: a missing overlap_comm. */
    if (VALUE(SHARDED) == 3 && !SAYS(GRAD_OVERLAP)) {
        SET(GRAD_OVERLAP, 1);
    }
    return settle_product(plan, errors);
}

/* clang-format off */
const calc_framework calc_framework_deepspeed = {.name = "deepspeed", .title = "DeepSpeed", .version = "0.19.5",
    .launch = "deepspeed TRAIN.py --deepspeed_config this file",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN) | CALC_ON(HPU), .syntax = CALC_SYNTAX_JSON,
    .elsewhere = " num_procs activation_recompute recompute_modules recompute_blocks recompute_group distribute_saved_activations ",
    .settle = settle, CALC_FRAMEWORK_ROWS(rows), CALC_FRAMEWORK_REFUSALS(refusals)};
/* clang-format on */
