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
    CALC_ROW(NUMBER, SHARDED, "zero_optimization.stage") CALC_ROW(SWITCH, GRAD_OVERLAP, "zero_optimization.overlap_comm", .value = 1)
    CALC_ROW(WORDS, OPT_OFFLOAD, "zero_optimization.offload_optimizer.device", .words = "cpu=1 none=0", .when = CALC_PLAN_OPT_OFFLOAD)
    CALC_ROW(DECIMAL, OFFLOAD_SHARE, "zero_optimization.offload_optimizer.ratio", .when = CALC_PLAN_OPT_OFFLOAD)
    CALC_ROW(SWITCH, OPT_OFFLOAD, "zero_optimization.cpu_offload", .value = 1, .read_only = true)
    CALC_ROW(SWITCH, WEIGHT_OFFLOAD, "zero_optimization.cpu_offload_param", .value = 1, .read_only = true)
    CALC_ROW(WORDS, WEIGHT_OFFLOAD, "zero_optimization.offload_param.device", .words = "cpu=1 none=0", .when = CALC_PLAN_WEIGHT_OFFLOAD)
    CALC_ROW(NUMBER, SHARD_RANKS, "zero_optimization.mics_shard_size", .when = CALC_PLAN_HYBRID)
    CALC_ROW(NUMBER, TENSOR, "tensor_parallel.autotp_size") CALC_ROW(NUMBER, CONTEXT, "sequence_parallel_size")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "activation_checkpointing.cpu_checkpointing", .value = 1)
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32) CALC_ROW_DEFAULT(GRAD_OVERLAP, 0) CALC_ROW_DEFAULT(LOSS_COPIES, 1) CALC_ROW_DEFAULT(GRAD_OFFLOAD, 1)
    CALC_ROW_DEFAULT(OFFLOAD_BUFFERS, 1.5) /* additional_buffer_factor of its estimators */
    CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ULYSSES)
};
/* clang-format on */

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

/* runtime/config.py, _configure_train_batch_size: batch = micro-batch * accumulation steps *
 * replicas; any one of these may be missing. */
static calc_status settle_product(calc_plan *plan, calc_errors *errors)
{
    double each = VALUE(TENSOR) * VALUE(PIPELINE) * VALUE(CONTEXT);
    double replicas = SAYS(PROCS) ? floor(VALUE(PROCS) / each) : 0;
    double batch = SAYS(BATCH) ? VALUE(BATCH) : 0, passes = VALUE(MICROBATCHES);
    if (!SAYS(PROCS) && SAYS(BATCH) && SAYS(MICROBATCH) && SAYS(MICROBATCHES)) {
        double data = batch / VALUE(MICROBATCH) / passes;
        SET(DATA, fmax(1, floor(data)));
        replicas = data == floor(data) ? 0 : VALUE(DATA);
    }
    if (!SAYS(BATCH) || !(replicas >= 1)) {
        return CALC_OK;
    }
    if (!SAYS(MICROBATCH)) {
        double microbatch = batch / replicas / passes;
        if (microbatch >= 1 && microbatch == floor(microbatch)) {
            SET(MICROBATCH, microbatch);
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
    .command = "torchrun \"${1:?the script that trains}\" --deepspeed --deepspeed_config \"$FILE\" \"${@:2}\"",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN) | CALC_ON(HPU), .syntax = CALC_SYNTAX_JSON,
    .elsewhere = " num_procs activation_recompute recompute_modules recompute_blocks recompute_group distribute_saved_activations ",
    .reconcile = settle, CALC_FRAMEWORK_ROWS(rows, deepspeed), CALC_FRAMEWORK_REFUSALS(refusals)};
/* clang-format on */
