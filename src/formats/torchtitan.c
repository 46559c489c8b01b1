/* TorchTitan: a TOML file. The model is one of TorchTitan's flavours. */
#include "formats/framework.h"

enum { INTERLEAVED = 100 /* CALC_PLAN_LOOPED: 1F1B with chunks */ };

static const calc_word models[] = {{"llama3", 0},
                                   {"llama3", 1},
                                   {"llama3", 2},
                                   {"deepseek_v3", 3},
                                   {"deepseek_v3", 4},
                                   {"deepseek_v3", 5},
                                   {0}};
static const calc_word flavors[] = {{"8B", 0},   {"70B", 1},  {"405B", 2}, {"16B", 3},
                                    {"236B", 4}, {"671B", 5}, {0}};
static const calc_word reshard[] = {{"always", 3}, {"never", 2}, {0}};
static const calc_word schedules[] = {
    {"Interleaved1F1B", INTERLEAVED + CALC_PIPELINE_SCHEDULE_1F1B},
    {"1F1B", CALC_PIPELINE_SCHEDULE_1F1B},
    {"GPipe", CALC_PIPELINE_SCHEDULE_GPIPE},
    {"InterleavedZeroBubble", CALC_PIPELINE_SCHEDULE_ZB_H1},
    {"ZBVZeroBubble", CALC_PIPELINE_SCHEDULE_ZB_V},
    {"DualPipeV", CALC_PIPELINE_SCHEDULE_DUALPIPE_V},
    {0}};
static const calc_word rotate[] = {
    {"allgather", CALC_CONTEXT_PAR_TYPE_ALL_GATHER}, {"alltoall", CALC_CONTEXT_PAR_TYPE_RING}, {0}};
static const calc_word backend[] = {{"standard", 0}, {"deepep", 1}, {0}};
static const calc_word param[] = {
    {"bfloat16", CALC_DATATYPE_BFLOAT16}, {"float32", CALC_DATATYPE_FLOAT32}, {0}};
static const calc_word state[] = {
    {"float32", CALC_FORMAT_FLOAT32}, {"bfloat16", CALC_FORMAT_BFLOAT16}, {0}};
static const calc_word compiled[] = {
    {"model", CALC_PLAN_COMPILED_BLOCKS}, {"loss", CALC_PLAN_COMPILED_LOSS}, {0}};
static const calc_word recompute[] = {{"none", 0}, {"selective", 3}, {"full", 2}, {0}};
static const calc_word every[] = {{"op", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {"4", 4},
                                  {"5", 5},  {"6", 6}, {"7", 7}, {"8", 8}, {0}};

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(WORDS, MODEL, "model.name", .words = models)
    CALC_ROW(WORDS, MODEL, "model.flavor", .words = flavors)
    CALC_ROW(NUMBER, LOCAL_BATCH, "training.local_batch_size")
    CALC_ROW(NUMBER, BATCH, "training.global_batch_size")
    CALC_ROW(NUMBER, SEQ, "training.seq_len")
    CALC_ROW(WORDS, PRECISION, "training.mixed_precision_param", .words = param)
    CALC_ROW(WORDS, STATE, "training.dtype", .words = state)
    CALC_ROW(SWITCH, STATE_OFFLOAD, "training.enable_cpu_offload", .value = 1)
    CALC_ROW(NUMBER, REPLICATED, "parallelism.data_parallel_replicate_degree")
    CALC_ROW(NUMBER, SHARD_DATA, "parallelism.data_parallel_shard_degree")
    CALC_ROW(WORDS, SHARDED, "parallelism.fsdp_reshard_after_forward", .words = reshard)
    CALC_ROW(NUMBER, TENSOR, "parallelism.tensor_parallel_degree")
    CALC_ROW(SWITCH, TENSOR_OVERLAP, "parallelism.enable_async_tensor_parallel", .value = 1)
    CALC_ROW(NUMBER, PIPELINE, "parallelism.pipeline_parallel_degree")
    CALC_ROW(WORDS, LOOPED, "parallelism.pipeline_parallel_schedule", .words = schedules)
    CALC_ROW(NUMBER, CHUNK_BLOCKS, "parallelism.pipeline_parallel_layers_per_stage")
    CALC_ROW(NUMBER, MICROBATCH, "parallelism.pipeline_parallel_microbatch_size")
    CALC_ROW(NUMBER, ENDS, "parallelism.pipeline_parallel_first_stage_less_layers")
    CALC_ROW(NUMBER, ENDS, "parallelism.pipeline_parallel_last_stage_less_layers")
    CALC_ROW(NUMBER, CONTEXT, "parallelism.context_parallel_degree")
    CALC_ROW(WORDS, CONTEXT_TYPE, "parallelism.context_parallel_rotate_method", .words = rotate)
    CALC_ROW(NUMBER, EXPERT, "parallelism.expert_parallel_degree")
    CALC_ROW(NUMBER, EXPERT_TENSOR, "parallelism.expert_tensor_parallel_degree")
    CALC_ROW(WORDS, DEEPEP, "parallelism.expert_parallel_comm_backend", .words = backend)
    CALC_ROW(WORDS, RECOMPUTE, "activation_checkpoint.mode", .words = recompute)
    CALC_ROW(WORDS, RECOMPUTE_EVERY, "activation_checkpoint.selective_ac_option", .words = every)
    CALC_ROW(SWITCH, EAGER, "compile.enable", .value = 0)
    CALC_ROW(SET, COMPILED, "compile.components", .words = compiled)
    CALC_ROW_DEFAULT(RECOMPUTE, 3)
    CALC_ROW_DEFAULT(EAGER, 1)
    CALC_ROW_DEFAULT(PORTABLE, 1)
    CALC_ROW_DEFAULT(LOSS_PARALLEL, 1)
    CALC_ROW_DEFAULT(TENSOR_SWITCHES, 0) /* DTensor waits for what it redistributes */
    CALC_ROW_DEFAULT(SEQ_PAR, 1)
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(STATE, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(EXPERT_TENSOR, 1)
    CALC_ROW_DEFAULT(SPLITS_EXPERTS, 1)
    CALC_ROW_DEFAULT(SHARDED, 3)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 1)
    CALC_ROW_DEFAULT(GATHER_OVERLAP, 1)
};
/* clang-format on */

const calc_framework calc_framework_torchtitan = {.name = "torchtitan",
                                                  .reads = true,
                                                  .title = "TorchTitan",
                                                  .version = "0.2.2",
                                                  .launch = "CONFIG_FILE=this file ./run_train.sh",
                                                  .platforms = CALC_ON(CUDA) | CALC_ON(ROCM),
                                                  .syntax = CALC_SYNTAX_TOML,
                                                  .rows = rows,
                                                  .count = sizeof rows / sizeof *rows};
