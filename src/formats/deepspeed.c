/* DeepSpeed: a JSON file. The model and its pipeline stages are defined in code. */
#include "formats/framework.h"

static const calc_word cpu[] = {{"cpu", 1}, {"none", 0}, {0}};
static const calc_word format[] = {{"fp32", CALC_FORMAT_FLOAT32},
                                   {"fp16", CALC_FORMAT_FLOAT16},
                                   {"bf16", CALC_FORMAT_BFLOAT16},
                                   {0}};

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, BATCH, "train_batch_size")
    CALC_ROW(NUMBER, MICROBATCH, "train_micro_batch_size_per_gpu")
    CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps")
    CALC_ROW(IS, PRECISION, "bf16.enabled", .value = CALC_DATATYPE_BFLOAT16)
    CALC_ROW(IS, PRECISION, "fp16.enabled", .value = CALC_DATATYPE_FLOAT16)
    CALC_ROW(WORDS, GRAD, "data_types.grad_accum_dtype", .words = format)
    CALC_ROW(NUMBER, SHARDED, "zero_optimization.stage")
    CALC_ROW(SWITCH, GRAD_OVERLAP, "zero_optimization.overlap_comm", .value = 1)
    CALC_ROW(WORDS, OPT_OFFLOAD, "zero_optimization.offload_optimizer.device", .words = cpu, .when = CALC_PLAN_OPT_OFFLOAD)
    CALC_ROW(WORDS, WEIGHT_OFFLOAD, "zero_optimization.offload_param.device", .words = cpu, .when = CALC_PLAN_WEIGHT_OFFLOAD)
    CALC_ROW(NUMBER, SHARD_RANKS, "zero_optimization.mics_shard_size", .when = CALC_PLAN_HYBRID)
    CALC_ROW(NUMBER, TENSOR, "tensor_parallel.autotp_size")
    CALC_ROW(NUMBER, CONTEXT, "sequence_parallel_size")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "activation_checkpointing.cpu_checkpointing", .value = 1)
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(LOSS_COPIES, 1)
    CALC_ROW_DEFAULT(GRAD_OFFLOAD, 1)
    CALC_ROW_DEFAULT(OFFLOAD_BUFFERS, 1.5) /* additional_buffer_factor of its estimators */
    CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ULYSSES)
};
/* clang-format on */

const calc_framework calc_framework_deepspeed = {
    .name = "deepspeed",
    .reads = true,
    .title = "DeepSpeed",
    .version = "0.19.5",
    .launch = "deepspeed TRAIN.py --deepspeed_config this file",
    .platforms = CALC_ON(CUDA) | CALC_ON(ROCM) | CALC_ON(CANN),
    .syntax = CALC_SYNTAX_JSON,
    .elsewhere =
        " num_procs activation_recompute recompute_modules recompute_blocks recompute_group "
        "distribute_saved_activations ",
    .rows = rows,
    .count = sizeof rows / sizeof *rows};
